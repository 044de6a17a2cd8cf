"""Whether a byte of a failed HTTP request can have reached the platform, and what people are told about it."""

import asyncio
from functools import cache
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from rejoinder.open_files import TOO_MANY_OPEN, has_too_many_open
from rejoinder.posting import ConnectionClosed

NOT_WRITTEN = (
    ConnectionClosed,
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientProxyConnectionError,
    aiohttp.InvalidURL,
)
FAILED = (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError, OSError)
"""Everything that a request can raise, including failures before anything was written."""

CONNECT_SECONDS = 10.0
"""Seconds, from looking up the address to the end of the handshake."""


def was_written(problem: Exception) -> bool:
    """False if it is certain that the platform has seen nothing of the request."""
    return not isinstance(problem, NOT_WRITTEN) and not _was_closed_before(problem)


def is_ours(problem: Exception) -> bool:
    """Whether the fault lies with this process, so that it says nothing about the platform."""
    return has_too_many_open(problem)


def reason_of(problem: Exception) -> str:
    """What went wrong, for people."""
    return TOO_MANY_OPEN if is_ours(problem) else str(problem) or type(problem).__name__


def unanswered(platform: str, reason: str, *, ours: bool = False) -> str:
    """The sentence about a call without an answer. `platform`: its name, perhaps with its address."""
    return reason if ours else f"{platform} does not answer ({reason})"


def timeout(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds, connect=_to_connect(seconds))


@cache
def connect_timeout(seconds: float) -> aiohttp.ClientTimeout:
    """A timeout for the connecting only, for a caller that itself gives up the call after so many seconds."""
    return aiohttp.ClientTimeout(total=None, connect=_to_connect(seconds))


def _to_connect(seconds: float) -> float:
    """Shorter than the whole call: otherwise nobody would know that nothing was written."""
    return min(seconds * 0.9, CONNECT_SECONDS)


def proxy_for(root: str) -> tuple[str | None, aiohttp.BasicAuth | None]:
    """The proxy that the environment names. With `trust_env` aiohttp would look it up for every call, in a thread."""
    address = URL(root)
    named = None if proxy_bypass(address.host or "") else getproxies().get(address.scheme)
    if named is None:
        return None, None
    proxy = URL(named)
    auth = aiohttp.BasicAuth(proxy.user, proxy.password or "") if proxy.user is not None else None
    return str(proxy.with_user(None)), auth


def server_of(root: str) -> str:
    """The server of an API, as a sentence about it may name it: without a login and a path."""
    return str(URL(root).origin())


def _was_closed_before(problem: Exception) -> bool:
    """Whether the connection kept from the last call was already closed, so that aiohttp did not write a byte to it."""
    cause = problem.__cause__
    return isinstance(cause, aiohttp.ClientConnectionResetError) and "closing transport" in str(cause)

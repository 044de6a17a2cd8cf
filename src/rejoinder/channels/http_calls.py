"""What channels that speak HTTP share: when a request surely did not leave us, and the way out of this network."""

from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

CONNECT_SECONDS = 10.0
KEPT_SECONDS = 15.0
"""Keep no connection for long: if the platform has closed it meanwhile, the fate of a message becomes unknown."""

NOT_WRITTEN = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientProxyConnectionError,
    aiohttp.InvalidURL,
)


def timeout(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, CONNECT_SECONDS))


def was_closed_before(problem: Exception) -> bool:
    """Whether the connection kept from the last call was already closed, so that aiohttp did not write a byte to it."""
    cause = problem.__cause__
    return isinstance(cause, aiohttp.ClientConnectionResetError) and "closing transport" in str(cause)


def opened_session(root: str, headers: dict[str, str] | None = None) -> aiohttp.ClientSession:
    """A session for calls to this address, by the proxy that the environment names."""
    proxy, auth = _proxy_for(root)
    return aiohttp.ClientSession(
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        connector=aiohttp.TCPConnector(keepalive_timeout=KEPT_SECONDS, limit=0),
        proxy=proxy,
        proxy_auth=auth,
    )


def _proxy_for(root: str) -> tuple[str | None, aiohttp.BasicAuth | None]:
    """With `trust_env` aiohttp would look it up for every call, in a thread."""
    address = URL(root)
    named = None if proxy_bypass(address.host or "") else getproxies().get(address.scheme)
    if named is None:
        return None, None
    proxy = URL(named)
    auth = aiohttp.BasicAuth(proxy.user, proxy.password or "") if proxy.user is not None else None
    return str(proxy.with_user(None)), auth

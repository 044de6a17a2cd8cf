"""Invitations to the chat page: made, listed and revoked from a chat, the console and the command line (IN-61)."""

import socket
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from rejoinder.channels.web import Settings as WebSettings
from rejoinder.channels.web.logins import LOGINS, Invited, found, invitation, invite, invited
from rejoinder.channels.web.records import PAGE
from rejoinder.errors import BadUse
from rejoinder.events import ChangeInvitations
from rejoinder.store.base import OperatorStore, PutFact, SharedStore, StoreReader
from rejoinder.store.rooms import scope_of

if TYPE_CHECKING:
    from rejoinder.channels.web.channel import WebChannel

NO_LOGIN = (
    "nobody needs a login here: the page is open only to this machine, and people choose a name when they open it; to "
    "invite people, set channels.web.host or channels.web.token"
)


class Invitations:
    """`address`: where invited people reach the page; None: the page needs no login."""

    def __init__(self, web: "WebChannel", address: str | None) -> None:
        self.closed = "" if address is not None else NO_LOGIN
        self._journal = web.journal
        self._address = address
        self._on_change: list[Callable[[], Awaitable[None]]] = []

    def on_change(self, call: Callable[[], Awaitable[None]]) -> None:
        """Registers a function to call when logins have changed."""
        self._on_change.append(call)

    async def _changed(self) -> None:
        for call in self._on_change:
            await call()

    async def begin(self) -> None:
        """Stores the address, for invitations that are made outside the gateway."""
        await self._journal.keep_address(self._address)

    async def listed(self) -> tuple[Invited, ...]:
        return await self._journal.invited()

    async def invite(self, name: str) -> tuple[str, str]:
        """Returns the name as it is shown, and the link. Raises `BadUse`."""
        if self._address is None:
            raise BadUse(NO_LOGIN)
        person, token = await self._journal.invite(name)
        await self._changed()
        return person.name, invitation(self._address, token)

    async def revoke(self, who: str) -> str:
        """Returns the name of the person whose login has ended. Raises `BadUse`."""
        person = await self._journal.revoke(who)
        await self._changed()
        return person.name

    async def command(self, change: ChangeInvitations) -> str:
        try:
            match change.what:
                case "invite":
                    return made(*await self.invite(change.name))
                case "revoke":
                    return f"{await self.revoke(change.name)} can no longer log in."
                case "list":
                    return _list(await self.listed())
        except BadUse as problem:
            return _sentence(problem)


def _sentence(problem: BadUse) -> str:
    return f"{str(problem)[:1].upper()}{str(problem)[1:]}."


def made(name: str, link: str) -> str:
    ends = f"/invite revoke {name} ends it, and so does another /invite {name}:"
    return f"Anybody who opens this link is {name} here, so send it only to {name}; {ends} {link}"


def _list(invited: tuple[Invited, ...]) -> str:
    if not invited:
        return "Nobody is invited."
    return "\n".join(f"- {each.person.name} ({each.person.id}), since {since(each):%Y-%m-%d}" for each in invited)


def since(invited: Invited) -> datetime:
    return datetime.fromtimestamp(invited.made / 1000, UTC)


def public_address(facts: WebSettings, listening: socket.socket) -> str:
    """The address at which other machines reach the page, as far as we can know it."""
    if facts.hosts:
        port = listening.getsockname()[1]
        return f"https://{facts.hosts[0]}" if facts.trusted_proxies else f"http://{facts.hosts[0]}:{port}"
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = _own_address(listening.family) or {"0.0.0.0": "127.0.0.1", "::": "::1"}[host]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _own_address(family: int) -> str | None:
    """The address from which this machine would connect to others; nothing is sent."""
    far = ("192.0.2.1", 9) if family == socket.AF_INET else ("2001:db8::1", 9)
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as trying:
            trying.connect(far)
            return trying.getsockname()[0]
    except OSError:
        return None


# --- beside a gateway -------------------------------------------------------------------------------


async def _page(store: StoreReader) -> tuple[str, tuple[str, ...]]:
    """The log of the page in this store, and the agents on it."""
    for log in await store.logs():
        if (agents := await store.fact(scope_of(log, PAGE), "agents")) is not None:
            return log, msgspec.json.decode(agents, type=tuple[str, ...])
    raise BadUse("no chat page has been served from this store yet; start one with `rejoinder run`")


async def command_of_worker(store: SharedStore, change: ChangeInvitations) -> str:
    """The processes that serve the page find the change in the store (SC-15)."""
    try:
        match change.what:
            case "invite":
                return made(*await invite_by_operator(store, change.name))
            case "revoke":
                return f"{await revoke_by_operator(store, change.name)} can no longer log in."
            case "list":
                return _list(await invited_by_operator(store))
    except BadUse as problem:
        return _sentence(problem)


async def invite_by_operator(store: OperatorStore | SharedStore, name: str) -> tuple[str, str]:
    log, agents = await _page(store)
    address = await store.fact(scope_of(log, PAGE), "address")
    if address is None:
        raise BadUse(NO_LOGIN)
    logins = scope_of(log, LOGINS)
    now = int((await store.now()).timestamp() * 1000)
    person, token, row = invite(await store.facts(logins), name, agents, now)
    await store.write(PutFact(logins, person.id, row))
    return person.name, invitation(address.decode(), token)


async def revoke_by_operator(store: OperatorStore | SharedStore, who: str) -> str:
    log, agents = await _page(store)
    logins = scope_of(log, LOGINS)
    person = found(await store.facts(logins), who, agents)
    await store.write(PutFact(logins, person.id, None))
    return person.name


async def invited_by_operator(store: StoreReader) -> tuple[Invited, ...]:
    """Empty if no chat page has been served yet."""
    return tuple([each for log in await store.logs() for each in invited(await store.facts(scope_of(log, LOGINS)))])

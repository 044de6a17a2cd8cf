"""Invitations to the chat page: made, listed and revoked from a chat, the console and the command line (IN-61)."""

import socket
import sqlite3
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rejoinder.channels.web import Settings as WebSettings
from rejoinder.channels.web import journal_path, logins, reading
from rejoinder.channels.web.journal import Journal
from rejoinder.channels.web.logins import Invited, invitation
from rejoinder.channels.web.schema import VERSION
from rejoinder.errors import BadUse, StoreUnavailable
from rejoinder.events import ChangeInvitations
from rejoinder.sqlite_faults import fault_in

if TYPE_CHECKING:
    from rejoinder.channels.web.channel import WebChannel

NO_LOGIN = (
    "nobody needs a login here: the page is open to this machine only, and who opens it says who they are; to invite "
    "people, set channels.web.host or channels.web.token"
)


async def _nobody_to_tell() -> None:
    """Until the pages are served."""


class Invitations:
    """`address`: where invited people reach the page; None: nobody needs a login there."""

    def __init__(self, web: "WebChannel", address: str | None) -> None:
        self._keeper = web.keeper
        self._address = address
        self.changed: Callable[[], Awaitable[None]] = _nobody_to_tell
        """Called when logins have changed."""

    async def begin(self) -> None:
        """Notes the address for invitations that are made beside the gateway."""
        await self._keeper.change(Journal.keep_address, self._address)

    async def listed(self) -> tuple[Invited, ...]:
        return await self._keeper.ask(logins.invited)

    async def invite(self, name: str) -> tuple[str, str]:
        """The name as it is shown, and the link. Raises `BadUse`."""
        if self._address is None:
            raise BadUse(NO_LOGIN)
        person, token = await self._keeper.change(Journal.invite, name)
        await self.changed()
        return person.name, invitation(self._address, token)

    async def revoke(self, who: str) -> str:
        """The name of the person whose login has ended. Raises `BadUse`."""
        person = await self._keeper.change(Journal.revoke, who)
        await self.changed()
        return person.name

    async def command(self, asked: ChangeInvitations) -> str:
        try:
            match asked.what:
                case "invite":
                    return made(*await self.invite(asked.name))
                case "revoke":
                    return f"{await self.revoke(asked.name)} has no login any more."
                case "list":
                    return _list(await self.listed())
        except BadUse as problem:
            return f"{str(problem)[:1].upper()}{str(problem)[1:]}."


def made(name: str, link: str) -> str:
    ends = f"/invite revoke {name} ends it, and so does another /invite {name}:"
    return f"Whoever opens this link is {name} here, so send it to {name} alone; {ends} {link}"


def _list(invited: tuple[Invited, ...]) -> str:
    if not invited:
        return "Nobody is invited."
    return "\n".join(f"- {each.person.name} ({each.person.id}), since {since(each):%Y-%m-%d}" for each in invited)


def since(invited: Invited) -> datetime:
    return datetime.fromtimestamp(invited.made / 1000, UTC)


def public_address(facts: WebSettings, listening: socket.socket) -> str:
    """Where other machines reach the page, as far as we can know."""
    if facts.hosts:
        port = listening.getsockname()[1]
        return f"https://{facts.hosts[0]}" if facts.trusted_proxies else f"http://{facts.hosts[0]}:{port}"
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = _own_address(listening.family) or {"0.0.0.0": "127.0.0.1", "::": "::1"}[host]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _own_address(family: int) -> str | None:
    """The address by which this machine would reach others; nothing is sent."""
    far = ("192.0.2.1", 9) if family == socket.AF_INET else ("2001:db8::1", 9)
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as trying:
            trying.connect(far)
            return trying.getsockname()[0]
    except OSError:
        return None


# --- beside a gateway -------------------------------------------------------------------------------


@contextmanager
def room_log(store: str) -> Generator[sqlite3.Connection]:
    """The room log of this store, for one short transaction, whether or not a gateway runs on it."""
    path = journal_path(store)
    if not Path(path).is_file():
        raise StoreUnavailable("missing", path)
    with fault_in(path), closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as db:
        found = db.execute("SELECT version FROM journal").fetchone()
        if found is None or found[0] != VERSION:
            raise StoreUnavailable("newer" if found is not None and found[0] > VERSION else "older", path)
        db.execute("BEGIN IMMEDIATE")
        yield db
        db.execute("COMMIT")


def invite_beside(store: str, name: str, now: datetime) -> tuple[str, str]:
    with room_log(store) as db:
        if (address := reading.address(db)) is None:
            raise BadUse(NO_LOGIN)
        person, token = logins.invite(db, name, reading.agents(db), int(now.timestamp() * 1000))
        return person.name, invitation(address, token)


def revoke_beside(store: str, who: str) -> str:
    with room_log(store) as db:
        return logins.revoke(db, who, reading.agents(db)).name


def invited_beside(store: str) -> tuple[Invited, ...]:
    """Empty where no chat page has been served yet."""
    if not Path(journal_path(store)).is_file():
        return ()
    with room_log(store) as db:
        return logins.invited(db)

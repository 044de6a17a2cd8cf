"""`rejoinder pair`: lists and lets in people who are waiting; lists and invites people to the chat page."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from rejoinder.cli.options import AsJson, File, print_json
from rejoinder.cli.stores import finish, store_to_read, store_to_write, who_acts
from rejoinder.errors import BadUse, RejoinderError

if TYPE_CHECKING:
    from rejoinder.channels.web.logins import Invited
    from rejoinder.store.base import PairingRequest


class Link(Struct, frozen=True):
    """An invitation that was made just now, with the keys of `--json`."""

    name: str
    link: str
    gateway: str | None


class AdmittedSender(Struct, frozen=True):
    """The person who was let in, and the gateway that lets them in, with the keys of `--json`."""

    channel: str
    account: str
    sender: str
    gateway: str | None


def pair(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[[approve] CODE | invite NAME | revoke NAME]",
            help="The code to approve, or who gets or loses a login to the chat page.",
        ),
    ] = None,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """List who is waiting and who is invited; `approve CODE`, `invite NAME` to the chat page, or `revoke NAME`."""
    match words or []:
        case []:
            _show(finish(_waiting(file)), finish(_people(file)), as_json)
        case ["invite" | "revoke"]:
            raise BadUse("name the person: `rejoinder pair invite NAME`, `rejoinder pair revoke NAME`")
        case ["invite", *name]:
            _tell_link(finish(_invite(file, " ".join(name))), as_json)
        case ["revoke", *name]:
            _tell_revoked(*finish(_revoke(file, " ".join(name))), as_json)
        case ["approve"]:
            raise BadUse("which code? `rejoinder pair` lists them, `rejoinder pair approve CODE` lets one in")
        case [word, *_] if word != "approve" and (meant := _meant(word)):
            raise BadUse(f"there is no command 'pair {word}'; did you mean `rejoinder pair {meant}`?")
        case [code] | ["approve", code]:
            _tell(finish(_approve(file, code)), as_json)
        case _:
            raise BadUse("one code at a time: `rejoinder pair approve CODE`")


def _meant(word: str) -> str | None:
    """The command that was probably meant. If a code should ever look like one, `approve CODE` still accepts it."""
    from rejoinder.config.wording import nearest

    return nearest(word, ("approve", "invite", "revoke"))


async def _waiting(file: str | None) -> "tuple[PairingRequest, ...]":
    async with store_to_read(file) as store:
        requests, now = await store.all_pairing_requests(), await store.now()
    return tuple(request for request in requests if request.expires > now)


async def _approve(file: str | None, code: str) -> AdmittedSender:
    from rejoinder.store.base import PairSender

    async with store_to_write(file) as store:
        request = await store.write(PairSender(code, await store.now()))
        if request is None:
            raise RejoinderError(f"no pairing request has the code {code.upper()}; it may have expired")
        return AdmittedSender(request.channel, request.account, request.sender, await store.gateway())


async def _people(file: str | None) -> "tuple[Invited, ...]":
    from rejoinder.programs.invitations import invited_by_operator

    async with store_to_read(file) as store:
        return await invited_by_operator(store)


async def _invite(file: str | None, name: str) -> Link:
    from rejoinder.programs.invitations import invite_by_operator

    async with store_to_write(file) as store:
        return Link(*await invite_by_operator(store, name), await store.gateway())


async def _revoke(file: str | None, who: str) -> tuple[str, str | None]:
    from rejoinder.programs.invitations import revoke_by_operator

    async with store_to_write(file) as store:
        return await revoke_by_operator(store, who), await store.gateway()


def _tell_link(made: Link, as_json: bool) -> None:
    if as_json:
        print_json(made)
        return
    print(f"{made.name} logs in with this link, which is not shown again: {made.link}")
    print(who_acts(made.gateway, "accepts it"))


def _tell_revoked(name: str, gateway: str | None, as_json: bool) -> None:
    if as_json:
        print_json({"revoked": name, "gateway": gateway})
    else:
        print(f"{name} can no longer log in. {who_acts(gateway, 'locks them out')}")


def _tell(let_in: AdmittedSender, as_json: bool) -> None:
    from rejoinder.unicode_repair import one_line

    if as_json:
        print_json(let_in)
    else:
        who = one_line(let_in.sender)
        print(f"{who} is let in on {let_in.channel}. {who_acts(let_in.gateway, 'lets them in')}")


def _show(requests: "tuple[PairingRequest, ...]", invited: "tuple[Invited, ...]", as_json: bool) -> None:
    from rich.text import Text

    from rejoinder.cli.layout import ago, console, print_table
    from rejoinder.durations import duration_text
    from rejoinder.unicode_repair import harmless

    if as_json:
        people = [{"person": each.person.id, "name": each.person.name, "since": _since(each)} for each in invited]
        print_json({"waiting": requests, "invited": people})
        return
    out, now = console(), datetime.now(UTC)
    if not requests:
        out.print("Nobody is waiting to be let in.")

    def row(request: "PairingRequest") -> list[Text]:
        account = "" if request.account == "default" else f"/{request.account}"
        return [
            Text(request.code, "bold"),
            Text(harmless(request.channel + account)),
            Text(harmless(request.sender)),
            Text(ago(request.asked, now), "dim"),
            Text(f"in {duration_text((request.expires - now).total_seconds())}", "dim"),
        ]

    if requests:
        print_table(out, ["code", "channel", "who", "asked", "expires"], map(row, requests))
        if out.is_terminal:
            out.print("\nLet one in: rejoinder pair approve CODE", style="dim")
    if invited:
        out.print()
        rows = ([Text(each.person.id), Text(each.person.name), Text(ago(_since(each), now), "dim")] for each in invited)
        print_table(out, ["invited", "name", "since"], rows)


def _since(invited: "Invited") -> datetime:
    return datetime.fromtimestamp(invited.made / 1000, UTC)

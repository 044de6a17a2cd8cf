"""`rejoinder pair`: lists strangers who wait to be let in, and lets them in."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from rejoinder.cli.options import AsJson, File, print_json
from rejoinder.cli.stores import finish, store_to_read, store_to_write, who_acts
from rejoinder.errors import BadUse, RejoinderError

if TYPE_CHECKING:
    from rejoinder.store.base import Knock


class LetIn(Struct, frozen=True):
    """Who was let in, and the gateway that was told, with the keys of `--json`."""

    channel: str
    account: str
    sender: str
    gateway: str | None


def pair(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[approve] CODE", help="The code that is to be let in.")
    ] = None,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """List the pairing codes that wait, or let in who has one: `rejoinder pair approve CODE`."""
    match words or []:
        case []:
            _show(finish(_waiting(file)), as_json)
        case ["approve"]:
            raise BadUse("which code? `rejoinder pair` lists them, `rejoinder pair approve CODE` lets one in")
        case [code] | ["approve", code]:
            _tell(finish(_approve(file, code)), as_json)
        case _:
            raise BadUse("one code at a time: `rejoinder pair approve CODE`")


async def _waiting(file: str | None) -> "tuple[Knock, ...]":
    async with store_to_read(file) as store:
        knocks = await store.all_knocks()
    now = datetime.now(UTC)
    return tuple(knock for knock in knocks if knock.expires > now)


async def _approve(file: str | None, code: str) -> LetIn:
    from rejoinder.store.base import ApproveKnock

    async with store_to_write(file) as store:
        knock = await store.write(ApproveKnock(code, datetime.now(UTC)))
        if knock is None:
            raise RejoinderError(f"no pairing request has the code {code.upper()}; it may have expired")
        return LetIn(knock.channel, knock.account, knock.sender, await store.gateway())


def _tell(let_in: LetIn, as_json: bool) -> None:
    from rejoinder.letters import one_line

    if as_json:
        print_json(let_in)
    else:
        who = one_line(let_in.sender)
        print(f"{who} is let in on {let_in.channel}. {who_acts(let_in.gateway, 'knows it')}")


def _show(knocks: "tuple[Knock, ...]", as_json: bool) -> None:
    from rich.text import Text

    from rejoinder.cli.layout import ago, console, print_table
    from rejoinder.durations import lasted
    from rejoinder.letters import harmless

    if as_json:
        print_json({"waiting": knocks})
        return
    out, now = console(), datetime.now(UTC)
    if not knocks:
        out.print("Nobody waits to be let in.")
        return

    def row(knock: "Knock") -> list[Text]:
        account = "" if knock.account == "default" else f"/{knock.account}"
        return [
            Text(knock.code, "bold"),
            Text(harmless(knock.channel + account)),
            Text(harmless(knock.sender)),
            Text(ago(knock.asked, now), "dim"),
            Text(f"in {lasted((knock.expires - now).total_seconds())}", "dim"),
        ]

    print_table(out, ["code", "channel", "who", "asked", "expires"], map(row, knocks))
    if out.is_terminal:
        out.print("\nLet one in: rejoinder pair approve CODE", style="dim")

"""`rejoinder send`: sends a message of the operator's by the gateway, like an answer."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from rejoinder.cli.options import AsJson, File, print_json
from rejoinder.cli.stores import finish, store_to_write, who_acts
from rejoinder.errors import BadUse

if TYPE_CHECKING:
    from rejoinder.events import Route


class SendReport(Struct, frozen=True):
    """The planned message, and the gateway that sends it, with the keys of `--json`."""

    parts: tuple[int, ...]
    gateway: str | None


def send(
    channel: Annotated[str, typer.Option("--channel", metavar="NAME", help="A channel of the configuration.")],
    chat: Annotated[str, typer.Option("--chat", metavar="ID", help="The chat, by the platform's id.")],
    text: Annotated[
        str | None, typer.Argument(help="The message, as Markdown; without it, standard input is read.")
    ] = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="ID", help="A thread or topic of the chat.")] = None,
    account: Annotated[
        str,
        typer.Option(
            "--account",
            metavar="NAME",
            help="Which account of the channel sends it.",
            show_default="the only one, or the first",
        ),
    ] = "default",
    silent: Annotated[bool, typer.Option("--silent", help="Send it without a notification.")] = False,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """Write a message to a chat; the running gateway sends it, or the next one that starts."""
    from rejoinder.events import Route

    said = text if text is not None else _typed()
    said.encode()  # refuses half a character, as in any argument: the platform would get a question mark
    planned = finish(_plan(file, Route(channel, chat, thread, account), said, silent))
    if as_json:
        print_json(planned)
    else:
        from rejoinder.cli.layout import counted

        parts = f"part {planned.parts[0]}" if len(planned.parts) == 1 else counted(len(planned.parts), "part")
        print(f"Planned: {parts}. {who_acts(planned.gateway, 'sends it')}")


def _typed() -> str:
    if sys.stdin.isatty():
        print("Write the message, then press Ctrl-D.", file=sys.stderr)
    return sys.stdin.buffer.read().decode("utf-8", "replace")


async def _plan(file: str | None, route: "Route", text: str, silent: bool) -> SendReport:
    from rejoinder.cli.chat import read_settings
    from rejoinder.programs import serving
    from rejoinder.programs.agent_choice import with_agent
    from rejoinder.programs.sending import check_chat, spoken
    from rejoinder.store.base import PlanParts

    settings, _, _ = with_agent(read_settings(file), None)
    served = serving.with_page(settings)  # the channels that `run` serves
    parts = spoken(served, route, text, silent=silent)
    if not parts:
        raise BadUse("there is nothing to send: the text is empty")
    async with store_to_write(file) as store:
        await check_chat(store, served, route)
        planned = await store.write(PlanParts(parts, await store.now()))
        return SendReport(tuple(part.id for part in planned), await store.gateway())

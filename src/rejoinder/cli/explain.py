"""`rejoinder explain`: what became of a message, and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.options import AsJson, File, print_json
from rejoinder.cli.stores import finish, store_to_read

if TYPE_CHECKING:
    from rejoinder.cli.explanation import Explanation, MessageReference


def explain_message(
    message: Annotated[
        str, typer.Argument(metavar="MESSAGE", help="The platform's id, a handle such as m42, or the word last.")
    ],
    channel: Annotated[str | None, typer.Option("--channel", metavar="NAME", help="Look only in this channel.")] = None,
    chat: Annotated[str | None, typer.Option("--chat", metavar="ID", help="Look only in this chat.")] = None,
    thread: Annotated[
        str | None,
        typer.Option("--thread", metavar="ID", help="Look only in this thread; '' is the chat outside its threads."),
    ] = None,
    account: Annotated[
        str | None, typer.Option("--account", metavar="NAME", help="Look only in this account of the channel.")
    ] = None,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """Show what happened to a message: what each stage decided and why, its turn, and what was sent."""
    from rejoinder.cli.explanation import MessageReference

    explanation = finish(_explain(file, MessageReference(message, channel, chat, thread, account)))
    if as_json:
        print_json(explanation)
    else:
        from rejoinder.cli.explain_view import show

        show(explanation)


async def _explain(file: str | None, wanted: "MessageReference") -> "Explanation":
    from rejoinder.cli.explanation import explain

    async with store_to_read(file) as store:
        return await explain(store, wanted)

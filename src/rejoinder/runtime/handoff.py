"""What one agent says to another, by a hand-off (OD-50) or by name in its answer (IN-21), where the platform does not
tell agents of each other's messages.

It is a message like any bot's, and goes the way of all: counted against the loop cap, decided by the same stages,
a row in the inbox before the answer that holds it is planned. So a crash can lose neither, and an answer that is
asked for again finds the row under the same id.
"""

from msgspec.structs import replace

from rejoinder.events import Inbound, Mention, Sender


def handed_over(asked: Inbound, agent: str, to: str, words: str, id: str) -> Inbound:
    """`asked`: what the agent was answering; `id`: the same in every attempt at that turn."""
    token = f"@{to}"
    return replace(said(asked, agent, f"{token} {words}".rstrip(), id), mentions=(Mention(to, token=token),))


def said(asked: Inbound, agent: str, text: str, id: str) -> Inbound:
    """An answer as the others of the room hear it; whom it names stands in its words."""
    return Inbound(
        asked.channel,
        event_id=id,
        message_id="",
        chat=asked.chat,
        sender=Sender(agent, agent, is_bot=True),
        text=text,
        account=asked.account,
        thread=asked.thread,
    )

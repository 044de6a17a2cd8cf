"""What one agent hands over to another (OD-50), where the platform does not tell agents of each other's messages.

It is a message like any bot's, and goes the way of all: counted against the loop cap, decided by the same stages,
a row in the inbox before the answer that holds it is planned. So a crash can lose neither, and an answer that is
asked for again finds the row under the same id.
"""

from rejoinder.events import Inbound, Mention, Sender


def handed_over(asked: Inbound, agent: str, to: str, words: str, id: str) -> Inbound:
    """`asked`: what the agent was answering; `id`: the same in every attempt at that turn."""
    token = f"@{to}"
    return Inbound(
        asked.channel,
        event_id=id,
        message_id="",
        chat=asked.chat,
        sender=Sender(agent, agent, is_bot=True),
        text=f"{token} {words}".rstrip(),
        account=asked.account,
        thread=asked.thread,
        mentions=(Mention(to, token=token),),
    )

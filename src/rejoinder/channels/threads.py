"""When an answer opens a thread (CH-24), for channels whose threads have the id of the message they hang under: pure.

A channel's settings record has `threads: Threads = "auto"`; its parse asks `new_thread` and puts what that returns into
`Inbound.opens`.
"""

from typing import Literal

from rejoinder.events import NewThread

Threads = Literal["off", "auto", "always"]
"""`auto`: a mention opens one; `always`: every answer opens one; `off`: answers appear in the chat."""
LONGEST_TITLE = 80
UNTITLED = "Conversation"


def new_thread(threads: Threads, message: str, text: str, *, mentioned: bool) -> NewThread | None:
    """The thread that the answer to this message opens. Call it only where a thread can be opened: not in a direct
    chat, not inside a thread and not in a forum post. `text`: the message without the mention of the bot."""
    if threads == "off" or (threads == "auto" and not mentioned):
        return None
    return NewThread(message, title_of(text))


def title_of(text: str) -> str:
    """The first words of the first line that is not empty."""
    line = next((line for line in map(str.strip, text.splitlines()) if line), "")
    if len(line) <= LONGEST_TITLE:
        return line or UNTITLED
    cut = line[: LONGEST_TITLE - 1]
    words = cut.rpartition(" ")[0] if " " in cut else cut
    return f"{words.rstrip()}…"

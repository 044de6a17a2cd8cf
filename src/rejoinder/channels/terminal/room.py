"""The one chat of a terminal: its messages are numbered as they appear, and the id is the handle that people see."""

from msgspec.structs import replace

from rejoinder.bounded import Bounded
from rejoinder.channels.terminal.clean import excerpt
from rejoinder.events import Chat, Inbound, Quote, Sender

REMEMBERED = 10_000
LONGEST_EXCERPT = 40


class TerminalRoom:
    def __init__(self) -> None:
        self._count = 0
        self._commands = 0
        self._excerpts: Bounded[str, str] = Bounded(REMEMBERED)

    def __contains__(self, handle: object) -> bool:
        return handle in self._excerpts

    def add(self, text: str) -> str:
        """Numbers a message and returns its handle."""
        self._count += 1
        handle = f"m{self._count}"
        self.remember(handle, text)
        return handle

    def remember(self, handle: str, text: str) -> None:
        self._excerpts[handle] = excerpt(text, LONGEST_EXCERPT)

    def forget(self, handle: str) -> None:
        self._excerpts.pop(handle, None)

    def mention(self, handle: str) -> str:
        """How to refer to a message: its handle and its first words."""
        words = self._excerpts.get(handle, "")
        return f"{handle} “{words}”" if words else handle

    def say(self, channel: str, text: str, reply_to: str | None = None) -> Inbound:
        """Something typed here, as the gateway takes it. Lone surrogates are replaced."""
        return _inbound(channel, self.add(text), text.encode("utf-8", "replace").decode("utf-8"), reply_to)

    def command(self, channel: str, text: str) -> Inbound:
        """The command for a key; it was not typed, so it is not a message of the chat."""
        self._commands += 1
        return replace(_inbound(channel, f"key-{self._commands}", text, None), entry="native")


def _inbound(channel: str, id: str, text: str, reply_to: str | None) -> Inbound:
    return Inbound(
        channel=channel,
        event_id=id,
        message_id=id,
        chat=Chat("terminal"),
        sender=Sender("you", name="you", display_name="you"),
        text=text,
        reply_to=None if reply_to is None else Quote(reply_to),
    )

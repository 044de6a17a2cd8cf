"""The ground truth: what people could see, from which instant on, and what was asked of the platform.

Frames are only ever added. What a chat looks like now is read from them, so no later state can hide an earlier one.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.testing.patience import PATIENCE

BOT = "bot"
"""The author of what the gateway says."""

Kind = Literal["message", "edit", "delete", "reaction", "typing", "preview"]


class Frame(Struct, frozen=True, omit_defaults=True):
    """From `at` on people in the chat see this. A reaction's text is the emoji that stand there now; a preview is no
    message, and is gone with the next one."""

    at: float
    chat: str
    kind: Kind
    by: str = BOT
    message: str = ""
    text: str = ""
    thread: str | None = None
    reply_to: str | None = None
    silent: bool = False
    buttons: tuple[str, ...] = ()
    pinged: tuple[str, ...] = ()
    """The people it pinged."""
    place: int = 0
    """The position of a message in the chat, whenever it was seen first; 0: after those that were seen before it."""
    files: tuple[str, ...] = ()
    only_for: str = ""
    """The one person who sees it; empty: everybody."""


class Call(Struct, frozen=True, omit_defaults=True):
    """Something that was asked of the platform, and the status it answered with; 0: it answered nothing."""

    at: float
    verb: str
    chat: str
    status: int
    name: str = ""
    payload: dict[str, Any] = {}
    said: str = ""
    too_early: bool = False
    """Inside the time in which the platform had said to wait."""


class Seen(Struct, frozen=True):
    """A message as it stands in the chat."""

    id: str
    chat: str
    by: str
    text: str
    reply_to: str | None = None
    thread: str | None = None
    buttons: tuple[str, ...] = ()
    reactions: str = ""
    edits: int = 0
    place: int = 0
    files: tuple[str, ...] = ()
    only_for: str = ""


class Truth:
    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.calls: list[Call] = []
        self.shown: Callable[[Frame], None] = lambda frame: None
        """Called with every frame as it is shown."""
        self._changed = asyncio.Event()

    def show(self, frame: Frame) -> None:
        self.frames.append(frame)
        self.shown(frame)
        self._wake()

    def note(self, call: Call) -> None:
        self.calls.append(call)
        self._wake()

    def messages(self, chat: str | None = None, by: str | None = BOT) -> list[Seen]:
        """The messages that are there now, in their order in the chat; of one chat, of one author, or of all."""
        return [
            seen
            for seen in standing(self.frames)
            if (chat is None or seen.chat == chat) and (by is None or seen.by == by)
        ]

    async def until(self, holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Returns as soon as the condition holds; it is checked again whenever something changes."""
        try:
            async with asyncio.timeout(seconds):
                while not holds():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"it did not come about; what people saw:\n{self.transcript()}") from None

    def transcript(self) -> str:
        return "\n".join(
            f"{frame.chat} {frame.by} {frame.kind} {frame.message} {frame.text!r}" for frame in self.frames
        )

    def _wake(self) -> None:
        self._changed.set()


def standing(frames: Iterable[Frame]) -> list[Seen]:
    """The messages that are there after these frames."""
    there: dict[tuple[str, str], Seen] = {}
    for frame in frames:
        key = (frame.chat, frame.message)
        match frame.kind:
            case "message":
                there[key] = Seen(
                    frame.message,
                    frame.chat,
                    frame.by,
                    frame.text,
                    frame.reply_to,
                    frame.thread,
                    frame.buttons,
                    place=frame.place,
                    files=frame.files,
                    only_for=frame.only_for,
                )
            case "edit":
                before = there[key]
                there[key] = replace(before, text=frame.text, buttons=frame.buttons, edits=before.edits + 1)
            case "reaction" if key in there:
                there[key] = replace(there[key], reactions=frame.text)
            case "delete":
                there.pop(key, None)
            case _:
                pass
    return sorted(there.values(), key=lambda seen: seen.place)


def by_bot(frames: Sequence[Frame]) -> list[Frame]:
    return [frame for frame in frames if frame.by == BOT]

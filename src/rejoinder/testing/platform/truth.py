"""The ground truth: what people could see, from which moment on, and the calls to the platform.

Frames are only ever added. The present state of a chat is computed from them, so no later state can hide an earlier
one.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.testing.patience import PATIENCE

BOT = "bot"
"""The author of the gateway's messages."""

Kind = Literal["message", "edit", "delete", "reaction", "typing", "preview"]


class Frame(Struct, frozen=True, omit_defaults=True):
    """What people in the chat see from `at` on. A reaction's text is all emoji that are on the message now; a preview
    is not a message, and disappears with the next one."""

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
    """The position of a message in the chat, whenever it was first seen; 0: after those that were seen before it."""
    files: tuple[str, ...] = ()
    only_for: str = ""
    """The one person who sees it; empty: everybody."""


class Call(Struct, frozen=True, omit_defaults=True):
    """A call to the platform, with the status of the answer; 0: there was no answer."""

    at: float
    verb: str
    chat: str
    status: int
    name: str = ""
    payload: dict[str, Any] = {}
    said: str = ""
    too_early: bool = False
    """Whether it came while the platform had said to wait."""


class Seen(Struct, frozen=True):
    """A message as it is now in the chat."""

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
        """The present messages, in the order of the chat; those of one chat, of one author, or all."""
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
            raise AssertionError(f"it did not happen; what people saw:\n{self.transcript()}") from None

    def transcript(self) -> str:
        return "\n".join(
            f"{frame.chat} {frame.by} {frame.kind} {frame.message} {frame.text!r}" for frame in self.frames
        )

    def _wake(self) -> None:
        self._changed.set()


def standing(frames: Iterable[Frame]) -> list[Seen]:
    """The messages that exist after these frames."""
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

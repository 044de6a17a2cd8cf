"""The connected browsers: which frames each of them gets, and how many may wait for a slow one.

Rule 1: each browser has one queue of frames, in the order of the journal.
Rule 2: a browser that does not keep up is disconnected; it comes back and gets what it missed. Nothing waits for it.
Rule 3: events are sent in the order of their numbers, each once. One that comes too early waits until those before it
        have come, from the process that wrote them or from the log.
Rule 4: while something is read for a browser, new events are held back from it, and sent after what was read.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Container

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.web.live import LiveFrame, LiveInlet, LiveOutlet, TextGrew, utf16
from rejoinder.channels.web.nouns import Message
from rejoinder.channels.web.protocol import Delta, SubagentsChanged, ToBrowser, TypingNow, encode
from rejoinder.channels.web.records import BrowserEvent

MOST_FRAMES = 2000
MOST_CHARACTERS = 4_000_000

BROKEN, TOO_SLOW, OTHER_PROTOCOL, LOGGED_OUT, LEFT, GOING_AWAY, TRY_LATER = 4000, 4001, 4002, 4003, 1000, 1001, 1013
"""Why a socket is closed; `docs/web-protocol.md` says what a page does about each."""

Transmit = Callable[[str], Awaitable[None]]


class TransientFrame(Struct, frozen=True):
    """A frame that is not stored. `message`: the id of the message that grew, if one did."""

    message: str
    frame: str


class BrowserConnection:
    """One browser's queue of frames that wait to be written."""

    def __init__(self, person: str) -> None:
        self.person = person
        self.closed: int | None = None
        self._frames: deque[str] = deque()
        self._waiting = 0
        self._news = asyncio.Event()
        self._held: list[BrowserEvent | TransientFrame] | None = None

    def put(self, frame: str) -> None:
        if self.closed is not None:
            return
        self._frames.append(frame)
        self._waiting += len(frame)
        if len(self._frames) > MOST_FRAMES or self._waiting > MOST_CHARACTERS:
            self._frames.clear()
            self.close(TOO_SLOW)
        self._news.set()

    def tell(self, frame: ToBrowser) -> None:
        self.put(encode(frame).decode())

    def follow(self, happened: BrowserEvent | TransientFrame) -> None:
        """Passes on an event, or holds it back."""
        if self._held is None:
            self.put(happened.frame)
        else:
            self._held.append(happened)

    def hold(self) -> None:
        """Holds back events from now on."""
        self._held = []

    def held(self) -> list[BrowserEvent]:
        """The events that were held back, for the caller to pass on, without the growth of messages."""
        held, self._held = self._held or [], None
        return [each for each in held if isinstance(each, BrowserEvent)]

    def release(self, shown: Container[str]) -> None:
        """Passes on what was held back. `shown`: messages of which the browser has all words so far."""
        held, self._held = self._held or [], None
        for each in held:
            if isinstance(each, BrowserEvent) or each.message not in shown:
                self.put(each.frame)

    def close(self, code: int) -> None:
        """Closes the connection, after the frames that are already waiting."""
        if self.closed is None:
            self.closed = code
        self._news.set()

    async def write(self, transmit: Transmit) -> int:
        """Writes frames until the connection is closed; returns the close code."""
        while True:
            while self._frames:
                frame = self._frames.popleft()
                self._waiting -= len(frame)
                await transmit(frame)
            if self.closed is not None:
                return self.closed
            self._news.clear()
            await self._news.wait()


class Growing:
    """A message while it is being written. Its growth is shown live; it is stored only when it is complete."""

    def __init__(self, message: Message, audience: str | None) -> None:
        self.message = message
        self.audience = audience
        self._pieces = [message.text]
        self._length = utf16(message.text)

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    @property
    def snapshot(self) -> Message:
        return replace(self.message, text=self.text, growing=True)

    def append(self, text: str) -> Delta:
        at = self._length
        self._pieces.append(text)
        self._length += utf16(text)
        return Delta(self.message.room, self.message.id, at, text)

    def grew_elsewhere(self, grew: TextGrew) -> Delta | None:
        """None: an earlier update was lost, so the message does not grow any more until it is complete."""
        return self.append(grew.text) if grew.at == self._length else None


class Hub:
    def __init__(self) -> None:
        self.elsewhere: LiveOutlet | None = None
        """Collects updates for the browsers of other processes, if there are any."""
        self._inlet = LiveInlet(self._show_from_elsewhere)
        self.connections: set[BrowserConnection] = set()
        self.growing: dict[str, Growing] = {}
        self.dropped = 0
        self.came = asyncio.Event()
        """A browser has connected."""
        self.told_to = 0
        """The number of the last event that was sent."""
        self.gap = asyncio.Event()
        """Set when an event came but one before it has not."""
        self._early: dict[int, BrowserEvent] = {}
        self._closing = False

    def begin_sharing_live(self) -> None:
        """From now on, live updates go to other processes, too."""
        self.elsewhere = LiveOutlet()

    def join(self, connection: BrowserConnection) -> None:
        self.connections.add(connection)
        self.came.set()
        if self._closing:
            connection.close(GOING_AWAY)

    def leave(self, connection: BrowserConnection) -> None:
        self.connections.discard(connection)
        self.dropped += connection.closed == TOO_SLOW

    def show_out(self, person: str) -> None:
        """Disconnects a person whose login is no longer valid."""
        for connection in self.connections:
            if connection.person == person:
                connection.close(LOGGED_OUT)

    def begin(self, seq: int) -> None:
        """Follows the log from this number on."""
        self.told_to = seq
        self._early.clear()
        self.gap.clear()

    def tell(self, told: BrowserEvent) -> None:
        if told.seq > self.told_to:
            self._early[told.seq] = told
        while (following := self._early.pop(self.told_to + 1, None)) is not None:
            self.told_to += 1
            self._know_growing(following)
            self._spread(following, following.audience, None)
        if self._early:
            self.gap.set()
        self._inlet.told(self.told_to)

    def _know_growing(self, told: BrowserEvent) -> None:
        """Keeps track of growing messages, whichever process writes them, so that all browsers see the same."""
        if told.begins is not None:
            self.growing.setdefault(told.begins.id, Growing(told.begins, told.audience))
        if told.ends:
            self.growing.pop(told.ends, None)

    def receive_live_update(self, said: str) -> None:
        """Takes a live update from another process."""
        if self._inlet.hear(said, self.told_to):
            self.gap.set()

    def _show_from_elsewhere(self, frame: TextGrew | LiveFrame) -> None:
        if isinstance(frame, LiveFrame):
            return self._spread(TransientFrame("", frame.frame), frame.audience, frame.but)
        growing = self.growing.get(frame.message)
        if growing is not None and (delta := growing.grew_elsewhere(frame)) is not None:
            self._spread(TransientFrame(delta.message, encode(delta).decode()), growing.audience, None)

    def show(self, frame: Delta | TypingNow | SubagentsChanged, audience: str | None, but: str | None = None) -> None:
        """Sends a frame to the connected browsers without storing it."""
        if self.elsewhere is not None:
            self.elsewhere.show(frame, audience, but)
        if self.connections:
            message = frame.message if isinstance(frame, Delta) else ""
            self._spread(TransientFrame(message, encode(frame).decode()), audience, but)

    def _spread(self, happened: BrowserEvent | TransientFrame, audience: str | None, but: str | None) -> None:
        for connection in self.connections:
            if (audience is None or connection.person == audience) and connection.person != but:
                connection.follow(happened)

    def seen_growing(self, person: str) -> list[Growing]:
        return [each for each in self.growing.values() if each.audience in (None, person)]

    def as_it_stands(self, message: Message) -> Message:
        """A message from the journal, with its live text if it is growing."""
        growing = self.growing.get(message.id)
        return replace(message, text=growing.text, growing=True) if growing is not None else message

    def close(self) -> None:
        self._closing = True
        for connection in self.connections:
            connection.close(GOING_AWAY)

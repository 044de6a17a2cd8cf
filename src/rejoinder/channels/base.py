"""The contract of a channel: messages come in through `deliver`, parts go out through `send`.

The smallest channel fits on a screen: `name`, `limits`, `listen(deliver)`, `send(part)`. What else a channel can do it
declares by having the methods: `isinstance(channel, CanReact)`. A call does not raise when the platform refuses it: it
returns an `Outcome`.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, Protocol, runtime_checkable

from msgspec import Struct

from rejoinder.events import (
    Attachment,
    EarlierMessage,
    FileKind,
    Inbound,
    LengthUnit,
    MenuCommand,
    Part,
    ReplyContext,
    Route,
)
from rejoinder.events.outcomes import Delivered as Delivered  # what `send` returns is part of this contract
from rejoinder.events.outcomes import Outcome as Outcome
from rejoinder.events.outcomes import Refusal as Refusal
from rejoinder.events.outcomes import Rejected as Rejected
from rejoinder.events.outcomes import RetryAfter as RetryAfter
from rejoinder.events.outcomes import Unknown as Unknown
from rejoinder.filetypes import FileLimits as FileLimits
from rejoinder.room_log import ChannelStorage, RoomEntry


class Limits(Struct, frozen=True):
    """How long one message may be, counted as the platform counts."""

    length: int | None = None
    unit: LengthUnit = "characters"
    title: int = 100
    """Characters of a thread's title."""


# --- the channel --------------------------------------------------------------------------------


class Inlet(Protocol):
    """Takes the messages that a channel receives from its platform."""

    async def __call__(
        self,
        *messages: Inbound,
        cursor: str | None = None,
        places: Mapping[str, str] | None = None,
        within: float | None = None,
    ) -> None:
        """Returns when they are durable; only then may the channel confirm them to the platform.

        `cursor`, how far the platform has been read, is stored in the same transaction, even without a message (DU-1).
        `places`: the same for single places of the platform, by name; places that are not named keep their value.
        `within`: raises NotStored if that takes more seconds than the platform waits (CH-5). Then the channel
        answers "busy" if the platform knows that answer, and otherwise confirms nothing.
        """
        ...

    async def cursor(self) -> str | None:
        """The stored cursor: how far this channel has read its platform."""
        ...

    async def suggest(self, typed: Inbound, option: str) -> tuple[str, ...]:
        """Suggested values for an option of a command that a person is typing (CH-9). `typed` is the message that would
        be sent now; its `invoked` holds the options typed so far. Empty for a person who may not use the command."""
        ...

    async def places(self) -> dict[str, str]:
        """The values stored for single places."""
        ...


class Channel(Protocol):
    name: str
    limits: Limits

    async def listen(self, deliver: Inlet) -> None:
        """Runs until the channel is closed."""
        ...

    async def send(self, part: Part) -> Outcome: ...


@runtime_checkable
class DeduplicatesByKey(Protocol):
    """Takes a part with the same key only once, however often it is sent; `send` then returns the first one's id."""

    deduplicates_by_key: Literal[True]


@runtime_checkable
class CanFind(Protocol):
    """Can look up whether an unconfirmed part arrived."""

    async def find(self, part: Part, since: datetime) -> Outcome:
        """Delivered, RetryAfter (it certainly did not arrive, or is taken only once: send it again), or Unknown.

        `since`: when the part was planned; it cannot have arrived earlier.
        """
        ...


@runtime_checkable
class CanFindFiles(Protocol):
    """Cannot put a key on a message with files, so it has to be told which messages are certainly different ones."""

    async def find_files(self, part: Part, since: datetime, others: Collection[str]) -> Outcome:
        """Like `find`, for a part with files. `others`: the ids of messages that are certainly not this part."""
        ...


@runtime_checkable
class CanFindOpening(Protocol):
    """Cannot look up a sent message, but can look for the opening of a draft."""

    async def find_opening(self, part: Part, older: Sequence[str], newer: Sequence[str]) -> Outcome:
        """Delivered, Rejected (not found), RetryAfter or Unknown (ask again later).

        `older`, `newer`: ids of messages that were there before the opening, and of some that certainly are not it.
        """
        ...


@runtime_checkable
class CanClose(Protocol):
    """Holds connections that must be closed cleanly."""

    async def close(self) -> None: ...


@runtime_checkable
class CanCheck(Protocol):
    """Can check whether its platform would serve it now, without reading or sending anything."""

    async def check(self) -> str:
        """Returns what it found, in a few words; raises ChannelStopped if the platform would not serve it."""
        ...


@runtime_checkable
class KnowsItself(Protocol):
    """Knows the bot's own id and name on the platform, so that a mention of the bot is recognised."""

    own_id: str
    own_name: str


@runtime_checkable
class CanPrepareToSend(Protocol):
    """Can send without listening. If several processes serve an account, one listens and all of them send (SC-11)."""

    async def prepare_to_send(self) -> None:
        """Learns the bot's identity on the platform and gets ready to send, without listening. Waits until the platform
        answers; raises ChannelStopped as `listen` does."""
        ...


@runtime_checkable
class ListensEverywhere(Protocol):
    """Receives its messages by HTTP, so it listens in every process, not only in one (SC-10)."""

    @property
    def listens_everywhere(self) -> bool: ...


DEFAULT_ACCOUNT = "default"
"""The name of the account of a channel that has only one."""


@runtime_checkable
class HasAccount(Protocol):
    """One of several accounts of a channel, each listening for itself (CH-4). A channel without it is the only
    account, or puts the account into each message itself."""

    account: str


@runtime_checkable
class ReportsTrouble(Protocol):
    """While it keeps trying to read, it can say why it cannot; empty when everything is fine."""

    @property
    def trouble(self) -> str: ...


@runtime_checkable
class StoresTrouble(Protocol):
    """Stores a problem that only a running gateway can find, for `rejoinder doctor` to show (CH-12)."""

    def trouble_in(self, places: Mapping[str, str]) -> str:
        """The problem that was stored with these places, as a sentence; empty when everything is fine."""
        ...


@runtime_checkable
class ReportsPlaceTrouble(Protocol):
    """Knows the places where it lacks a permission it needs; it serves the other places meanwhile (CH-13)."""

    @property
    def place_troubles(self) -> tuple[str, ...]:
        """A sentence for each of these places, which says what to do."""
        ...


@runtime_checkable
class ReportsLiveness(Protocol):
    """Knows when the connection last proved to work (CH-7): a heartbeat acknowledged, a poll answered, a ping returned.
    Messages count as well; they need not be reported here."""

    @property
    def last_sign(self) -> float | None:
        """When that was, by `time.monotonic`; None: it has not happened yet."""
        ...

    @property
    def stale_after(self) -> float:
        """Seconds without a sign after which the connection counts as dead."""
        ...


@runtime_checkable
class AcknowledgesPresses(Protocol):
    """Its platform shows a pressed button as busy until the press is acknowledged."""

    async def acknowledge_press(self, context: ReplyContext) -> None:
        """The press has been handled, and there is nothing to say to the person."""
        ...


@runtime_checkable
class RetitlesThreads(Protocol):
    """Can use a `Part.title` for a thread that exists already, too."""

    retitles_threads: Literal[True]


@runtime_checkable
class OpensPlaces(Protocol):
    """Has chats where each message opens a new place, whose id is known only afterwards, such as a post in a forum."""

    def opens_place(self, route: Route) -> bool: ...


@runtime_checkable
class KnowsBotReaders(Protocol):
    """Knows whether other people's bots read a place in which they have said nothing: on Discord, a bot that has
    written in a channel also reads the channel's threads (CH-23)."""

    def is_read_by_bots(self, route: Route) -> bool: ...


@runtime_checkable
class PrefersQueue(Protocol):
    """Has a queue mode that suits it better than the default; a configured mode takes precedence (TU-4)."""

    queue_mode: str


@runtime_checkable
class ShowsMenu(Protocol):
    """Has the platform's own menu of commands."""

    def take_menu(self, menu: tuple[MenuCommand, ...]) -> None:
        """Called once, before `listen`."""
        ...


@runtime_checkable
class HasNativeCommands(Protocol):
    """A command chosen from its menu arrives with its options in `Inbound.invoked`, not as text (CH-9)."""

    native_commands: Literal[True]


@runtime_checkable
class CanReact(Protocol):
    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        """`author`: the agent that reacts; empty if the gateway itself reacts."""
        ...


class OutgoingFile(Struct, frozen=True):
    """A file of a part, read from the store, so that the same key always sends the same bytes, even if the agent has
    changed the file since (DU-4)."""

    id: str
    name: str
    """Safe to show and to put into a header: no path, no line break, no control character."""
    mime: str
    """Recognised by its bytes."""
    size: int
    kind: FileKind
    chunks: Callable[[], AsyncIterator[bytes]]
    """Its bytes piece by piece, so that no channel has to hold a whole file. Each call starts from the beginning."""


@runtime_checkable
class CanSendFiles(Protocol):
    """Sends files with a message: `send` is called for parts without files, `send_files` for parts with files.

    The gateway stores each file before it plans the part that names it, and keeps it as long as the part may have to be
    sent."""

    file_limits: FileLimits

    async def send_files(self, part: Part, files: tuple[OutgoingFile, ...]) -> Outcome:
        """One message with these files, and the words of the part as their caption; no more files than
        `file_limits.album`, and only kinds that may stand together.

        `Rejected(..., "kind")`: the platform cannot show a file as its kind; it is sent once more, as a document.
        """
        ...


@runtime_checkable
class LimitsFilesByPlace(Protocol):
    """Takes larger files in some places than `file_limits` says."""

    def file_limits_at(self, route: Route) -> FileLimits: ...


@runtime_checkable
class UsesStore(Protocol):
    """Keeps data of its own in the gateway's store, such as the rooms of a channel that is a platform itself."""

    async def use_store(self, kept: ChannelStorage) -> None:
        """Called once, before anything is heard or sent."""
        ...


@runtime_checkable
class EndsAbandonedMessages(Protocol):
    """Keeps growing messages in a room log, so it can find those that no process continues."""

    async def end_abandoned_messages(self, left: tuple[RoomEntry, ...]) -> None:
        """Ends messages that the last owner of these places left half-written; they may still be completed later."""
        ...


@runtime_checkable
class FollowsLog(Protocol):
    """Shows people a room log to which other processes write as well (SC-14)."""

    def poll_log(self) -> None:
        """Called about once a second, since other processes may have written to the log; returns at once."""
        ...


MOST_LIVE_BYTES: Final = 7000
"""The largest live update that other processes can be sent."""


@runtime_checkable
class SharesLiveUpdates(Protocol):
    """Shows people short-lived updates that are not stored, such as a message while it is written, also if they are
    connected to another process (SC-14). Any of these updates may be lost."""

    name: str

    def begin_sharing_live(self) -> None:
        """Called if there are other processes, before anything is heard or sent."""
        ...

    async def next_live_updates(self) -> tuple[str, ...]:
        """Waits for updates that the other processes need. Each has at most `MOST_LIVE_BYTES` bytes in UTF-8."""
        ...

    def receive_live_update(self, said: str) -> None:
        """Takes an update from the same channel in another process."""
        ...


@runtime_checkable
class CanFetch(Protocol):
    """Leaves the files of a message on the platform. They are fetched only when an agent is about to read the message,
    so people without access cannot make the gateway load anything."""

    async def fetch(self, file: Attachment, limit: int) -> bytes | None:
        """The file's content; None if it is larger than `limit`, or cannot be fetched."""
        ...


@runtime_checkable
class CanReadThread(Protocol):
    """Can read the history of a thread; an agent is given it in its first turn there (TU-31)."""

    async def thread_before(self, route: Route, message: str, limit: int) -> tuple[EarlierMessage, ...]:
        """The latest messages of the thread before this one, in order, as everybody there sees them."""
        ...


@runtime_checkable
class CanEdit(Protocol):
    async def edit(self, route: Route, message: str, part: Part) -> Outcome: ...


@runtime_checkable
class CanDelete(Protocol):
    async def delete(self, route: Route, message: str) -> Outcome: ...


@runtime_checkable
class CanType(Protocol):
    async def typing(self, route: Route, *, author: str = "") -> None:
        """`author`: the agent that is working."""
        ...


@runtime_checkable
class CanStopTyping(Protocol):
    """Shows the typing sign until a message is sent, so it has to be told when none will be."""

    async def stop_typing(self, route: Route) -> None:
        """The turn is over, whether it said anything or not."""
        ...


@runtime_checkable
class CanStream(Protocol):
    """Shows a message while it is written: `begin` opens it, `append` adds to it, `complete` ends it."""

    async def begin(self, part: Part) -> Outcome: ...

    async def append(self, route: Route, message: str, text: str) -> None: ...

    async def complete(self, route: Route, message: str) -> None: ...


@runtime_checkable
class ShowsOpenDrafts(Protocol):
    """Marks a message as still being written until it gets the final edit, even one that changes no text."""

    def is_open(self, route: Route, message: str) -> bool: ...


@runtime_checkable
class CanPreview(Protocol):
    """Shows a draft without sending a message: a preview disappears by itself, or when the message comes."""

    def previews(self, route: Route) -> bool:
        """Whether the channel can show previews in this place."""
        ...

    async def preview(self, part: Part, draft: int) -> Outcome:
        """Replaces the last preview of the same draft."""
        ...


@runtime_checkable
class LimitsFrameRate(Protocol):
    """Has places where a growing message may be changed less often than elsewhere."""

    def frame_rate(self, route: Route) -> tuple[int, float] | None:
        """How many changes are allowed there at once, and how many a second after that."""
        ...


@runtime_checkable
class RelaysAgentMessages(Protocol):
    """Delivers a message of one of our agents as an incoming message, too, so that other agents receive it (IN-25)."""

    relays_agent_messages: Literal[True]


@runtime_checkable
class ShowsTranscripts(Protocol):
    """Shows the transcript of a voice note below it (ME-4)."""

    async def show_transcript(self, route: Route, message: str, words: str) -> None: ...


@runtime_checkable
class ShowsSubagents(Protocol):
    """Shows the sub-agents of a chat (TU-36)."""

    async def subagents_changed(self, route: Route) -> None:
        """A sub-agent has begun or ended there."""
        ...


@runtime_checkable
class CanNotifyOperator(Protocol):
    """Can show the operator a line that is not a message of the chat, in places where the operator is the reader."""

    async def notify_operator(self, route: Route, text: str) -> None: ...


@runtime_checkable
class NamesAgents(Protocol):
    """Has its own names for agents; sentences to its people should use these."""

    def shown_agent(self, agent: str) -> str: ...

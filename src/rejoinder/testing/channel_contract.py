"""The promises that every channel keeps, as tests to inherit:

    class TestMyChannel(ChannelContract):
        personality = "telegram"

        def open(self, platform):
            return MyChannel(platform.url)

They run against a `FakePlatform` of that personality. A channel for another platform overrides `platform` and returns
its own fake: a `PlayedPlatform`. The tests are coroutines: pytest-asyncio with `asyncio_mode = "auto"` runs them.
"""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

from rejoinder.channels.base import (
    CanClose,
    CanDelete,
    CanEdit,
    CanReact,
    CanType,
    Channel,
    Delivered,
    KnowsItself,
    Outcome,
    Rejected,
    RetryAfter,
    Unknown,
)
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Inbound, Part
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform import FakePlatform
from rejoinder.testing.platform.faults import Kind

ANN, TEAM = "ann", "#team"
NO_SUCH_MESSAGE = "999999"


class PlayedPlatform(Protocol):
    """A fake platform, as the contract needs it. People and chats have names here: `ann` is a person and her direct
    chat, `#team` a group."""

    @property
    def truth(self) -> Any:
        """What people can see: `messages(chat, by="bot")` returns the messages of the bot, or of this person, each with
        `id`, `text`, `reply_to` and, as one text, `reactions`. Each of `frames` has a `kind` (`typing` for the typing
        sign) and an author `by`, such as `bot`."""
        ...

    async def __aenter__(self) -> Any: ...

    async def __aexit__(self, *exception: object) -> None:
        """Takes the platform down; may be called twice."""
        ...

    async def says(self, chat: str, person: str, text: str) -> Any: ...

    async def hears(self, chat: str, text: str | None = None) -> Any:
        """Waits for the bot's message with this text, or for its next message."""
        ...

    def id_of(self, person: str, /) -> str: ...

    def fault(self, kind: Kind, *, on: Any) -> Any:
        """Sets what happens to the next call of this sort: `send`, `poll`, `typing` or `event`."""
        ...


class RecordingInlet:
    """An inlet that keeps all messages. Like a store, it outlives the channel, and it can be set to fail."""

    def __init__(self) -> None:
        self.given: list[Inbound] = []
        self.kept: dict[str, Inbound] = {}
        self.refused = 0
        self.broken = False
        self._cursor: str | None = None
        self._places: dict[str, str] = {}
        self._changed = asyncio.Event()

    async def __call__(
        self,
        *messages: Inbound,
        cursor: str | None = None,
        places: Mapping[str, str] | None = None,
        within: float | None = None,
    ) -> None:
        self._changed.set()
        if self.broken:
            self.refused += 1
            raise StoreUnavailable("full", "of this test")
        self.given += messages
        for message in messages:
            self.kept.setdefault(message.event_id, message)
        self._cursor = cursor or self._cursor
        self._places |= places or {}

    async def suggest(self, typed: Inbound, option: str) -> tuple[str, ...]:
        return ()

    async def cursor(self) -> str | None:
        return self._cursor

    async def places(self) -> dict[str, str]:
        return self._places

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._changed.clear()
            await self._changed.wait()

    async def message(self, text: str) -> Inbound:
        """Waits for the message with this text."""
        await self.until(lambda: text in self.texts)
        return next(message for message in self.kept.values() if message.text == text)

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.kept.values()]


class Opened:
    """A channel that serves a platform where ann has written, and the place where she wrote."""

    def __init__(self, channel: Channel, platform: PlayedPlatform, inlet: RecordingInlet, first: Inbound) -> None:
        self.channel = channel
        self.platform = platform
        self.inlet = inlet
        self.first = first
        self.route = first.route

    async def send(self, text: str = "hello") -> str:
        outcome = await self.channel.send(Part(self.route, text))
        assert isinstance(outcome, Delivered), outcome
        return outcome.message


class ChannelContract:
    """Inherit it in a test class; `open` returns a channel that serves the platform."""

    personality: str = ""
    """The platform that `FakePlatform` plays, unless `platform` returns another fake."""
    patience: float = PATIENCE
    """Seconds: anything that takes longer is stuck, not slow."""
    outcomes: Mapping[Kind, Callable[[Outcome], bool]] = {
        "429": lambda outcome: isinstance(outcome, RetryAfter) and outcome.limited and (outcome.seconds or 0) > 0,
        "5xx": lambda outcome: isinstance(outcome, RetryAfter) and not outcome.limited,
        "400": lambda outcome: isinstance(outcome, Rejected) and outcome.why == "formatting",
        "401": lambda outcome: isinstance(outcome, Rejected) and outcome.why == "account",
        "403": lambda outcome: isinstance(outcome, Rejected) and outcome.why == "gone",
        "drop": lambda outcome: isinstance(outcome, Unknown),
        "accept-drop": lambda outcome: isinstance(outcome, Unknown),
        "half-open": lambda outcome: isinstance(outcome, Unknown),
    }
    """The outcome that `send` has to report for each fault of the platform."""

    @abstractmethod
    def open(self, platform: Any) -> Channel: ...

    def platform(self) -> PlayedPlatform:
        """The platform that a test runs against, not yet entered: a `FakePlatform`, or your own `PlayedPlatform`."""
        return FakePlatform(self.personality)

    # --- in -----------------------------------------------------------------------------------------

    async def test_a_message_comes_in(self) -> None:
        """IN-1: a message arrives with its place, its sender and its words."""
        async with self._opened() as opened:
            assert opened.first.channel == opened.channel.name
            assert opened.first.chat.kind == "direct"
            assert opened.first.sender.id == opened.platform.id_of(ANN)
            assert not opened.first.sender.is_self
            await opened.platform.says(TEAM, ANN, "in the group")
            heard = await opened.inlet.message("in the group")
            assert heard.chat.kind == "group"
            assert heard.chat.id != opened.first.chat.id

    async def test_it_knows_itself(self) -> None:
        """IN-20: nothing comes in before the channel knows who it is."""
        async with self._opened() as opened:
            if isinstance(opened.channel, KnowsItself):
                assert opened.channel.own_id
                assert opened.channel.own_id != opened.first.sender.id

    async def test_what_cannot_be_kept_is_not_confirmed(self) -> None:
        """DU-15: while messages cannot be stored, none is acknowledged; a message comes again, and is stored then."""
        async with self._opened() as opened:
            opened.inlet.broken = True
            await opened.platform.says(ANN, ANN, "keep me")
            await opened.inlet.until(lambda: opened.inlet.refused > 0)
            opened.inlet.broken = False
            await opened.inlet.message("keep me")

    async def test_it_goes_on_where_it_was(self) -> None:
        """DU-1: after a restart, messages from meanwhile come, and earlier ones do not come again."""
        async with asyncio.timeout(self.patience), self.platform() as platform:
            inlet = RecordingInlet()
            async with self._listening(platform, inlet):
                await platform.says(ANN, ANN, "one")
                await inlet.message("one")
            await platform.says(ANN, ANN, "two")
            async with self._listening(platform, inlet):
                await platform.says(ANN, ANN, "three")
                await inlet.message("three")
            assert [message.text for message in inlet.given] == ["one", "two", "three"]

    async def test_the_same_message_twice_is_one_event(self) -> None:
        """DU-1: the event id is that of the message, whatever number its envelope has."""
        async with self._opened() as opened:
            opened.platform.fault("duplicate", on="event")
            await opened.platform.says(ANN, ANN, "again")
            await opened.platform.says(ANN, ANN, "after it")
            await opened.inlet.message("after it")
            assert opened.inlet.texts == [opened.first.text, "again", "after it"]

    # --- out ----------------------------------------------------------------------------------------

    async def test_what_is_sent_is_seen(self) -> None:
        """DE-31: a message is delivered, under the id that people's replies would name."""
        async with self._opened() as opened:
            message = await opened.send("hello, ann")
            assert (await opened.platform.hears(ANN, "hello, ann")).id == message

    async def test_a_reply_shows_what_it_answers(self) -> None:
        """OD-61: a reply is a native reply to the intended message."""
        async with self._opened() as opened:
            await opened.channel.send(Part(opened.route, "yes", reply_to=opened.first.message_id))
            assert (await opened.platform.hears(ANN)).reply_to == opened.first.message_id

    async def test_a_reply_to_nothing_is_refused(self) -> None:
        """OD-61: if the message to reply to is missing, nothing is sent, so that it can be sent once without the
        reply."""
        async with self._opened() as opened:
            outcome = await opened.channel.send(Part(opened.route, "yes", reply_to=NO_SUCH_MESSAGE))
            assert isinstance(outcome, Rejected), outcome
            assert outcome.why == "target"
            assert not opened.platform.truth.messages(ANN)

    async def test_an_edit_changes_the_message(self) -> None:
        """DU-3: however often an edit is made, there is one message with the last text."""
        async with self._opened() as opened:
            channel, part = opened.channel, Part(opened.route, "whole")
            if not isinstance(channel, CanEdit):
                return
            message = await opened.send("who")
            for _ in range(2):
                assert isinstance(await channel.edit(opened.route, message, part), Delivered)
            assert [seen.text for seen in opened.platform.truth.messages(ANN)] == ["whole"]
            missing = await channel.edit(opened.route, NO_SUCH_MESSAGE, part)
            assert isinstance(missing, Rejected), missing
            assert missing.why == "target"

    async def test_a_reaction_comes_and_goes(self) -> None:
        """OD-70: a reaction appears on a person's message."""
        async with self._opened() as opened:
            channel = opened.channel
            if not isinstance(channel, CanReact):
                return
            assert isinstance(await channel.react(opened.route, opened.first.message_id, "👍"), Delivered)
            assert self._reactions(opened) == "👍"
            gone = await channel.react(opened.route, opened.first.message_id, "👍", remove=True)
            assert isinstance(gone, Delivered)
            assert self._reactions(opened) == ""

    async def test_a_message_can_be_taken_back(self) -> None:
        """OD-44: a deleted message is gone, and deleting it twice is not an error."""
        async with self._opened() as opened:
            if not isinstance(opened.channel, CanDelete):
                return
            message = await opened.send()
            for _ in range(2):
                assert isinstance(await opened.channel.delete(opened.route, message), Delivered)
            assert not opened.platform.truth.messages(ANN)

    async def test_the_typing_sign_never_fails(self) -> None:
        """TU-24: the typing sign is shown, and a platform that refuses it does no harm."""
        async with self._opened() as opened:
            if not isinstance(opened.channel, CanType):
                return
            await opened.channel.typing(opened.route)
            assert [frame.kind for frame in opened.platform.truth.frames if frame.by == "bot"] == ["typing"]
            opened.platform.fault("5xx", on="typing")
            await opened.channel.typing(opened.route)

    # --- what goes wrong ----------------------------------------------------------------------------

    async def test_every_fault_is_told_as_what_it_is(self) -> None:
        """DE-31: a fault is reported as rejected, as to be tried again, or as unknown; nothing is raised or guessed."""
        for kind, holds in self.outcomes.items():
            async with self._opened() as opened:
                opened.platform.fault(kind, on="send")
                outcome = await opened.channel.send(Part(opened.route, "hello"))
                assert holds(outcome), f"{kind}: {outcome}"
                accepted = len(opened.platform.truth.messages(ANN))
                assert accepted == (kind == "accept-drop"), kind

    async def test_nobody_there_is_no_harm(self) -> None:
        """DE-32: a platform that is down has accepted nothing, so the message may be sent again."""
        async with self._opened() as opened:
            await opened.platform.__aexit__()
            await asyncio.sleep(0)  # the channel notices the end of its connections before the next call
            outcome = await opened.channel.send(Part(opened.route, "hello"))
            assert isinstance(outcome, RetryAfter), outcome

    async def test_it_survives_an_outage(self) -> None:
        """DE-32: messages from while the platform did not answer come when it answers again."""
        async with self._opened() as opened:
            for kind in ("5xx", "drop"):
                opened.platform.fault(kind, on="poll")
            await opened.platform.says(ANN, ANN, "wake up")
            await opened.platform.says(ANN, ANN, "are you there?")
            await opened.inlet.message("are you there?")

    # --- how they are set up ------------------------------------------------------------------------

    def _reactions(self, opened: Opened) -> str:
        seen = opened.platform.truth.messages(ANN, by=ANN)
        return next(each.reactions for each in seen if each.id == opened.first.message_id)

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Opened]:
        async with asyncio.timeout(self.patience), self.platform() as platform:
            inlet = RecordingInlet()
            async with self._listening(platform, inlet) as channel:
                await platform.says(ANN, ANN, "first")
                yield Opened(channel, platform, inlet, await inlet.message("first"))

    @asynccontextmanager
    async def _listening(self, platform: PlayedPlatform, inlet: RecordingInlet) -> AsyncGenerator[Channel]:
        channel = self.open(platform)
        task = asyncio.create_task(channel.listen(inlet))
        try:
            yield channel
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            if isinstance(channel, CanClose):
                await channel.close()

"""The channel: one bot account, with what it receives (intake.py) and what it sends (outgoing.py)."""

import asyncio
import logging
from contextlib import suppress
from datetime import datetime
from typing import Literal

from rejoinder.channels.accounts import section_of
from rejoinder.channels.base import DEFAULT_ACCOUNT, Delivered, Inlet, Outcome, OutgoingFile, Rejected
from rejoinder.channels.discord import BOOSTED, FILES, LIMITS
from rejoinder.channels.discord.api import Api
from rejoinder.channels.discord.check import check_bot
from rejoinder.channels.discord.client import Client
from rejoinder.channels.discord.connection import GatewayConnection, Timings
from rejoinder.channels.discord.emoji import in_reaction
from rejoinder.channels.discord.files import Files
from rejoinder.channels.discord.guild_tracker import GuildTracker
from rejoinder.channels.discord.history import History
from rejoinder.channels.discord.http import SingleAttemptClient
from rejoinder.channels.discord.intake import Intake
from rejoinder.channels.discord.interaction_replies import InteractionReplies
from rejoinder.channels.discord.outcomes import UNKNOWN_EMOJI, UNKNOWN_MESSAGE, Answer, Ok, Refused, failure
from rejoinder.channels.discord.outgoing import Outgoing
from rejoinder.channels.discord.parse import BotIdentity, parse_said
from rejoinder.channels.discord.place_troubles import PlaceTroubles
from rejoinder.channels.discord.places import Place, Places, place_of
from rejoinder.channels.discord.reading import EventReader
from rejoinder.channels.discord.retrying import until_answered
from rejoinder.channels.discord.wire import THREADS, Channel, convert
from rejoinder.channels.threads import Threads
from rejoinder.errors import NotStored, StoreUnavailable
from rejoinder.events import Attachment, EarlierMessage, MenuCommand, Part, ReplyContext, Route
from rejoinder.filetypes import FileLimits
from rejoinder.secret import Secret

log = logging.getLogger(__name__)

CHANNEL = "/channels/{channel_id}"
REACTION = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"
TYPING = "/channels/{channel_id}/typing"
TYPING_SECONDS = 8.0


class DiscordBot:
    limits = LIMITS
    file_limits = FILES
    native_commands: Literal[True] = True

    def __init__(
        self,
        name: str,
        token: Secret,
        http: SingleAttemptClient,
        *,
        threads: Threads = "auto",
        pace: Timings | None = None,
        account: str = DEFAULT_ACCOUNT,
    ) -> None:
        self.name = name
        self.account = account
        self._section = section_of(name, account)
        self.own_id = ""
        self.own_name = ""
        self.menu: tuple[MenuCommand, ...] = ()
        self._token = token
        self._threads: Threads = threads
        self._pace = pace or Timings()
        self._places = Places()
        self.client = Client(http, lambda kind, data: self._intake.hear(self.client.ws, kind, data))
        self._api = Api(self.client)
        self._reception = InteractionReplies(self._section, self._api)
        self._troubles = PlaceTroubles(self._section, self._places)
        surroundings = GuildTracker(self._places, self._troubles)
        self._history = History(self._section, self._api, self._places, self._pace)
        self._outgoing = Outgoing(self._api, http, self._troubles, self._places, self._reception, self._history)
        reader, spent = EventReader(self._places, self._look_up, self._outgoing.echoed), http.allowance
        self._intake = Intake(self._section, self._places, surroundings, reader, self._reception, spent)
        self._connection = GatewayConnection(
            self._section, self.client, self._api, self._pace, self._intake.room, spent
        )
        self._files = Files(self._section, self._api)
        self._http = http

    @property
    def trouble(self) -> str:
        return self._connection.trouble

    @property
    def place_troubles(self) -> tuple[str, ...]:
        return self._troubles.sentences

    @property
    def last_sign(self) -> float | None:
        return self._connection.last_sign

    @property
    def stale_after(self) -> float:
        return self._connection.stale_after

    # --- in -----------------------------------------------------------------------------------------

    def take_menu(self, menu: tuple[MenuCommand, ...]) -> None:
        self.menu = menu

    async def prepare_to_send(self) -> None:
        await self._connection.log_in(self._token.reveal())
        self._know_itself()

    async def listen(self, deliver: Inlet) -> None:
        await self.prepare_to_send()
        cursor = await self._intake.recall(deliver, self._pace.first_pause)
        await self._reception.offer(self.own_id, self.menu)
        log.info("%s: serving %s", self._section, self.own_name)
        try:
            await asyncio.gather(self.take(deliver), self._connection.run(cursor))
        finally:
            self._intake.stop()
            await self._connection.hang_up()
            with suppress(StoreUnavailable, NotStored):  # if so, the events come again and are recognised
                await self._intake.keep_position(deliver)

    async def take(self, deliver: Inlet) -> None:
        """Delivers the events that the client receives, until it is cancelled."""
        me = BotIdentity(self.name, self.own_id, self.own_name, self._places.own_roles, self._threads)
        await self._intake.run(me, deliver, self._history.catch_up, self._pace.first_pause)

    def _know_itself(self) -> None:
        user = self.client.user
        assert user is not None, "it has logged in"
        self.own_id, self.own_name = str(user.id), user.name

    async def check(self) -> str:
        await self._connection.log_in(self._token.reveal(), once=True)
        self._know_itself()
        return await check_bot(self._section, self._api, self.own_id, self.own_name)

    async def close(self) -> None:
        await self._connection.hang_up()
        await self._http.close()

    async def _look_up(self, channel: str) -> Place | None:
        """Asks until Discord answers: a message that is assigned to the wrong place is as good as lost."""
        found = await self._ask_about(channel)
        if found is None:
            log.warning("%s: could not find out what kind of channel %s is", self._section, channel)
            return None
        around = found.parent_id if found.type in THREADS else None
        if around and self._places.get(around) is None and (parent := await self._ask_about(around)) is not None:
            self._places.learn(parent)
        return self._places.learn(found)

    async def _ask_about(self, channel: str) -> Channel | None:
        answer = await until_answered(self._pace, lambda: self._api.call("GET", CHANNEL, channel_id=channel))
        return convert(answer.result, Channel) if isinstance(answer, Ok) else None

    # --- out ----------------------------------------------------------------------------------------

    def file_limits_at(self, route: Route) -> FileLimits:
        return BOOSTED.get(self._places.level_at(place_of(route)), FILES)

    def is_read_by_bots(self, route: Route) -> bool:
        """A bot that has written in a channel reads the channel's threads, too."""
        around = (self._places.get(place) for place in (route.chat, route.thread) if place)
        return any(place is not None and place.bots for place in around)

    async def send(self, part: Part) -> Outcome:
        return await self.send_files(part, ())

    async def send_files(self, part: Part, files: tuple[OutgoingFile, ...]) -> Outcome:
        return await self._outgoing.send(part, files)

    async def find(self, part: Part, since: datetime) -> Outcome:
        return await self._outgoing.find(part, since, self.own_id)

    async def acknowledge_press(self, context: ReplyContext) -> None:
        await self._reception.withdraw(context)

    async def edit(self, route: Route, message: str, part: Part) -> Outcome:
        return await self._outgoing.edit(route, message, part)

    async def delete(self, route: Route, message: str) -> Outcome:
        return await self._outgoing.delete(route, message)

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        if not message.isdecimal():
            return Rejected(f"there is no message {message!r}", "target")
        shown = in_reaction(emoji, self._places.emojis_at(place_of(route)))
        method = "DELETE" if remove else "PUT"
        answer: Answer = Refused(404, UNKNOWN_MESSAGE, "Unknown Message")
        for place in _around(route, message):
            answer = await self._api.call(method, REACTION, channel_id=place, message_id=message, emoji=shown)
            if not isinstance(answer, Refused) or answer.code != UNKNOWN_MESSAGE:
                break
        if isinstance(answer, Ok) or (remove and isinstance(answer, Refused) and answer.code == UNKNOWN_EMOJI):
            return Delivered(message)
        return failure(answer)

    async def typing(self, route: Route, *, author: str = "") -> None:
        try:
            async with asyncio.timeout(TYPING_SECONDS):
                answer = await self._api.call("POST", TYPING, channel_id=place_of(route))
        except TimeoutError:
            return log.debug("%s: Discord did not answer when asked to show the typing sign", self._section)
        if not isinstance(answer, Ok):
            log.debug("%s: the typing sign was not shown: %s", self._section, answer)

    async def thread_before(self, route: Route, message: str, limit: int) -> tuple[EarlierMessage, ...]:
        if not message.isdecimal():
            return ()
        answer = await self._history.latest(place_of(route), limit, before=message)
        return tuple(parse_said(each) for each in reversed(answer.result)) if isinstance(answer, Ok) else ()

    async def fetch(self, file: Attachment, limit: int) -> bytes | None:
        return await self._files.fetch(file, limit)


def _around(route: Route, message: str) -> tuple[str, ...]:
    """Where a message may be found: in the thread, or in the channel around it, where the thread's first message is."""
    if route.thread is None:
        return (route.chat,)
    return (route.chat, route.thread) if message == route.thread else (route.thread, route.chat)

"""Messages of other programs, at `POST /api/messages`: who may write where. Each message is taken once.

Rule 1: a program writes only in chats and to agents that its token names.
Rule 2: a message is identified by its program and its key, as long as the inbox keeps it (30 days, DU-1). The same key
        again gives the same answer and no second message; with a different message it is refused.
Rule 3: it is processed like every message. Its sender is a bot, so it cannot run commands.
"""

import asyncio
import time
from hmac import compare_digest

from rejoinder.app import Gateway
from rejoinder.channels.base import DEFAULT_ACCOUNT
from rejoinder.channels.web.answers import no_such_room
from rejoinder.channels.web.channel import WebChannel
from rejoinder.channels.web.journal import InvalidRequest
from rejoinder.channels.web.nouns import Person, Room
from rejoinder.channels.web.records import request_id
from rejoinder.config.programs import ApiToken
from rejoinder.events import Chat, Inbound, Route, Sender
from rejoinder.inbound.ids import split
from rejoinder.web.services import PostedMessage, ProgramMessage, Refusal

LONGEST_TEXT = 100_000
"""The most characters of one message."""
AT_ONCE, A_SECOND = 60, 1.0
"""How many messages a program may send at once, and how many more each second."""


class WriteRate:
    """Limits how fast a program may write: a bucket that fills up again."""

    def __init__(self, now: float) -> None:
        self._left, self._at = float(AT_ONCE), now

    def wait(self, now: float) -> float:
        """Seconds until the program may write again; 0: it may write now, and this message was counted."""
        self._left, self._at = min(AT_ONCE, self._left + (now - self._at) * A_SECOND), now
        if self._left < 1:
            return (1 - self._left) / A_SECOND
        self._left -= 1
        return 0.0


class Incoming:
    def __init__(self, gateway: Gateway, web: WebChannel) -> None:
        self._gateway = gateway
        self._web = web
        self._paces: dict[str, WriteRate] = {}
        self._one_at_a_time: dict[str, asyncio.Lock] = {}

    def name_of(self, token: str) -> str | None:
        """The program with this token. Compares all tokens, so that the time it takes reveals nothing."""
        found = None
        for name, program in self._gateway.configured.api.tokens.items():
            if compare_digest(program.token.reveal().encode(), token.encode("utf-8", "surrogatepass")):
                found = name
        return found

    async def post(self, program: str, message: ProgramMessage, key: str) -> PostedMessage:
        """Raises `Refusal`."""
        now = time.monotonic()
        if wait := self._paces.setdefault(program, WriteRate(now)).wait(now):
            raise Refusal(429, "this program is writing too fast; wait a moment", {"retry-after": str(int(wait) + 1)})
        if not message.text.strip():
            raise Refusal(422, "this message is empty; put something into text")
        if len(message.text) > LONGEST_TEXT:
            raise Refusal(422, f"this text is too long; the most is {LONGEST_TEXT} characters")
        token = self._gateway.configured.api.tokens.get(program)
        if token is None:
            raise Refusal(401, "this token is no longer valid")
        route = _route(message, token)
        async with self._one_at_a_time.setdefault(program, asyncio.Lock()):
            return await self._post(program, message, key, route, token)

    async def _post(
        self, program: str, message: ProgramMessage, key: str, route: Route, token: ApiToken
    ) -> PostedMessage:
        sender = Person(f"api:{program}", program)
        id = f"w{request_id(sender.id, key)}"
        for event in await self._gateway.store.events_of(id):
            before = event.inbound
            if before.sender.id != sender.id:
                continue
            if (before.route, before.text) != (route, message.text) or message.agent not in ("", before.addressee):
                raise Refusal(
                    409, "this Idempotency-Key was used for another message; take a new key for a new message"
                )
            return PostedMessage(id, message.chat, before.addressee)
        if route.channel == self._web.name:
            agent = await self._on_page(sender, message, key, route, token)
        else:
            agent = await self._elsewhere(sender, id, message, route, token)
        return PostedMessage(id, message.chat, agent)

    async def _on_page(self, sender: Person, message: ProgramMessage, key: str, route: Route, token: ApiToken) -> str:
        """On the chat page, people see the message in the room."""
        room: Room | None = await self._web.journal.room_for_programs(route.chat)
        if room is None:
            raise Refusal(422, no_such_room(route.chat))
        agent = _agent(message, token, room.agents)
        try:
            await self._web.journal.say_for_program(sender, key, room, message.text, message.thread, agent)
        except InvalidRequest as refusal:
            raise Refusal(422, str(refusal)) from None
        return agent

    async def _elsewhere(self, sender: Person, id: str, message: ProgramMessage, route: Route, token: ApiToken) -> str:
        """The platform does not show the message: only the agent's answer appears in the chat."""
        configured = self._gateway.configured.channels.get(route.channel)
        if configured is None or route.channel not in self._gateway.channels:
            raise Refusal(422, f"the channel {route.channel} is not served here")
        latest = await self._gateway.store.latest_event(route.channel, route.chat)
        if latest is None:
            raise Refusal(
                422,
                f"no message has come from {message.chat} in the last weeks, so the gateway does not know this chat; "
                "write something there first",
            )
        common, before = configured.common, latest.inbound
        agents = common.agents or tuple(filter(None, (common.agent,)))
        there = tuple(each for each in agents if not before.chat.agents or each in before.chat.agents)
        agent = _agent(message, token, there)
        is_direct = before.chat.kind == "direct"
        await self._gateway.dispatch(
            Inbound(
                route.channel,
                event_id=id,
                message_id=id,
                chat=Chat(route.chat, before.chat.kind, before.chat.title, before.chat.agents, before.chat.former),
                sender=Sender(sender.id, sender.name, sender.name, is_bot=True),
                text=message.text,
                account=route.account,
                thread=route.thread,
                entry="http",
                addressee=agent,
                peer=(before.peer or before.sender.id) if is_direct else "",
                unseen=True,
            )
        )
        return agent


def _route(message: ProgramMessage, token: ApiToken) -> Route:
    wanted = split(message.chat)
    for entry in map(split, token.chats):
        if (entry.channel, entry.id) == (wanted.channel, wanted.id) and entry.account in (None, wanted.account):
            return Route(wanted.channel or "", wanted.id, message.thread, wanted.account or DEFAULT_ACCOUNT)
    raise Refusal(403, f"this token may not write in {message.chat!r}; it may write in: {', '.join(token.chats)}")


def _agent(message: ProgramMessage, token: ApiToken, there: tuple[str, ...]) -> str:
    """`there`: the agents in the chat."""
    if message.agent and message.agent not in token.agents:
        raise Refusal(403, f"this token may not use {message.agent!r}; it may use: {', '.join(token.agents)}")
    fitting = [each for each in token.agents if each in there and message.agent in ("", each)]
    if not fitting:
        wanted = message.agent or "none of the agents of this token"
        raise Refusal(422, f"{wanted} is not in {message.chat}; there are: {', '.join(there) or 'none'}")
    return fitting[0]

"""The sessions of one agent, all in one process.

Rule 1: the process starts with the first turn, and again with the first turn after it died; its sessions are loaded,
not started over.
Rule 2: if the agent refuses to load a session, a new one begins: it gets the old conversation, and the person is told.
If loading takes too long, the turn fails and the session keeps its id.
Rule 3: only the most recent sessions are remembered; the store knows the ids of the others and supplies them again.
Rule 4: a cancelled prompt has to end before the next one of its session begins; an agent that does not end it is
restarted. An agent that mistakes the next prompt for the cancelled one, and ends it with nothing, is asked once more.
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

from rejoinder.agents.acp import Settings, wire
from rejoinder.agents.acp.connection import AcpConnection, AcpRun, PermissionRules, settled
from rejoinder.agents.acp.options import SessionOptions
from rejoinder.agents.acp.saved import Saved
from rejoinder.agents.acp.servers import OURS, described, our_server
from rejoinder.agents.base import (
    MOST_REMEMBERED_SESSIONS,
    AgentEvent,
    Done,
    Exchange,
    ModelSelected,
    SessionOpened,
    ToolSource,
)
from rejoinder.agents.failures import RunFailed, failed
from rejoinder.agents.jsonrpc import RpcError
from rejoinder.environment import environment_for
from rejoinder.events import PromptPart, PromptText, Turn

CANCEL_SECONDS = 10.0
"""How long an agent may take to end a cancelled turn before it is restarted."""
OFFER_SECONDS = 20.0
"""How long a person has to wait when they ask what the agent offers."""
PAST = "What was said in this conversation before, as the gateway kept it; your own memory of it is lost:"


class Offers:
    """What the agent offered in the session that it opened last. `levels` is None before it has opened one."""

    def __init__(self) -> None:
        self.models: tuple[str, ...] = ()
        self.modes: tuple[str, ...] = ()
        self.levels: tuple[str, ...] | None = None

    def learn(self, options: SessionOptions) -> None:
        self.models, self.modes, self.levels = options.models, options.modes, options.levels


class _Session:
    """What we know about one of our sessions at the agent."""

    def __init__(self, saved: Saved | None = None) -> None:
        self.id = saved.id if saved else None
        self.told_id = self.id  # the id that the gateway has
        self.is_elsewhere = saved is not None and saved.is_elsewhere
        self.connection: AcpConnection | None = None
        self.options: SessionOptions | None = None
        self.loaded = False  # for the turn that begins
        self.lost = False  # it could not be loaded, and the person does not know yet
        self.told_system = ""
        self.abandoned: asyncio.Future[Any] | None = None
        self.ends_by = 0.0  # when an abandoned prompt must have ended
        self.cancelled = False  # whether its last prompt was

    @property
    def is_at_rest(self) -> bool:
        return self.abandoned is None or self.abandoned.done()


class AcpSessions:
    def __init__(self, name: str, settings: Settings, question_seconds: float, tools: ToolSource | None = None) -> None:
        self._name = name
        self._settings = settings
        self._question_seconds = question_seconds
        self._sessions: dict[str, _Session] = {}
        self._spare: _Session | None = None  # opened to learn what the agent offers; the next new session uses it
        self._connection: AcpConnection | None = None
        self._connecting = asyncio.Lock()
        self.offers = Offers()
        self._tools = tools

    def take_tools(self, source: ToolSource) -> None:
        self._tools = source

    def forget(self, session: str) -> None:
        self._sessions.pop(session, None)

    def _known(self, session: str, saved: Saved | None) -> _Session:
        """What we know about the session. Beyond the limit, the least recently used idle session is forgotten."""
        known = self._sessions.pop(session, None)
        if known is None and saved is None:
            known, self._spare = self._spare, None
        known = self._sessions[session] = known or _Session(saved)
        if len(self._sessions) > MOST_REMEMBERED_SESSIONS:
            at_rest = (each for each, other in self._sessions.items() if other.is_at_rest and other is not known)
            self._sessions.pop(next(at_rest, ""), None)
        return known

    def cancel(self, session: str) -> None:
        known = self._sessions.get(session)
        if known is not None and known.id is not None and known.connection is not None:
            known.connection.cancel(known.id)
            known.cancelled = True

    def answer(self, question: str, option: str | None) -> None:
        if self._connection is not None:
            self._connection.answer(question, option)

    @property
    def is_alive(self) -> bool:
        return self._connection is not None and self._connection.dead is None

    @property
    def steers(self) -> bool | None:
        """Whether it takes a message into a running turn; None: not known yet."""
        if self._settings.steer == "cancel":
            return True
        return None if self._connection is None else self._connection.abilities.queues

    @property
    def hears(self) -> bool:
        """Whether it takes recordings. While that is not known, it gets them; if it cannot hear, it is told so in
        words."""
        return self._connection is None or self._connection.abilities.audio

    def announced_commands(self) -> frozenset[str]:
        return frozenset() if self._connection is None else self._connection.announced

    def last_output(self) -> str:
        return "" if self._connection is None else self._connection.last_output()

    async def close(self) -> None:
        # Not under the lock: a start that is in progress has to be interrupted too.
        if self._connection is not None:
            await self._connection.stop()
            self._connection = None

    # --- a turn -------------------------------------------------------------------------------------

    async def events(
        self, turn: Turn, saved: Saved | None, past: tuple[Exchange, ...]
    ) -> AsyncGenerator[AgentEvent, None]:
        """`past`: the earlier conversation of this session, for an agent that has lost it."""
        session = self._known(turn.session, saved)
        await self._end_abandoned(session)
        connection = await self._connected()
        try:
            knows_nothing = await self._open(connection, session, turn.session)
            if session.id is not None and (session.lost or session.id != session.told_id):
                session.told_id = session.id
                yield SessionOpened(session.id, session.lost)
                session.lost = False
            if model := await self._configured(connection, session, turn):
                yield ModelSelected(model)
        except RpcError as refused:
            raise RunFailed(connection.refusal(refused)) from refused
        parts = (*retold(past), *turn.parts) if knows_nothing else turn.parts
        again = session.cancelled  # an agent may end the turn after a cancelled one with nothing (TU-35)
        while True:
            run = self._begin(connection, session, turn, parts)
            async with aclosing(self._run_events(connection, session, run)) as events:
                async for event in events:
                    if isinstance(event, Done) and again and event.stop != "cancelled" and run.translation.said_nothing:
                        break
                    yield event
                else:
                    return
            again = False

    def _begin(self, connection: AcpConnection, session: _Session, turn: Turn, parts: tuple[PromptPart, ...]) -> AcpRun:
        assert session.id is not None
        system = turn.system or self._settings.system_prompt
        news = "" if system == session.told_system else system
        asked = wire.prompt(session.id, news, parts, connection.abilities)
        run = connection.begin(session.id, asked, turn.permissions, loaded=session.loaded)
        session.loaded = session.cancelled = False
        session.told_system = system
        session.abandoned = run.prompt
        return run

    @staticmethod
    async def _run_events(
        connection: AcpConnection, session: _Session, run: AcpRun
    ) -> AsyncGenerator[AgentEvent, None]:
        try:
            async with aclosing(run.events()) as events:
                async for event in events:
                    yield event
            session.abandoned = None
        except RunFailed:
            session.told_system = ""  # the agent does not say whether it has kept any of the prompt
            raise
        finally:
            session.cancelled = session.cancelled or not run.prompt.done()
            connection.leave(run)
            session.ends_by = asyncio.get_running_loop().time() + CANCEL_SECONDS

    def steer(self, turn: Turn) -> bool:
        """Takes a message into the running turn: as a further prompt if the agent queues prompts; otherwise, if that is
        configured, it cancels the prompt and replaces it."""
        session = self._sessions.get(turn.session)
        if session is None or session.id is None or (connection := session.connection) is None:
            return False
        asked = wire.prompt(session.id, "", turn.parts, connection.abilities)
        if connection.abilities.queues:
            return connection.add_prompt(session.id, asked)
        return self._settings.steer == "cancel" and connection.replace_prompt(session.id, asked)

    # --- the process and its sessions ---------------------------------------------------------------

    async def check(self) -> str:
        version = (await self._connected()).abilities.version
        return f"{self._settings.command[0]} starts and speaks version {version} of the protocol"

    async def learn(self) -> Offers:
        """What the agent offers. If it has opened no session yet it opens one, which the next turn uses."""
        if self.offers.levels is None:
            spare = _Session()
            try:
                async with asyncio.timeout(OFFER_SECONDS):
                    await self._open(await self._connected(), spare, None)
            except (RunFailed, RpcError, TimeoutError):
                return self.offers  # a turn would say why; a question about models has to be answered anyway
            if self._tools is None:  # with tools, each session has a token, so a session cannot be opened in advance
                self._spare = spare
        return self.offers

    async def _connected(self) -> AcpConnection:
        async with self._connecting:
            if self._connection is not None and self._connection.dead is None:
                return self._connection
            if self._connection is not None:
                await self._connection.stop()
            settings = self._settings
            rules = PermissionRules(settings.permissions, settings.allow, self._question_seconds)
            self._connection = connection = AcpConnection(self._name, rules)
            try:
                await connection.open(settings.command, self._cwd(), self._environment(), settings.start_timeout)
                if settings.auth_method:
                    way = {"methodId": settings.auth_method}
                    await connection.ask("authenticate", way, settings.start_timeout)
            except BaseException as problem:
                await connection.stop("it did not start")
                if isinstance(problem, RpcError):
                    raise RunFailed(connection.refusal(problem)) from problem
                raise
            return connection

    async def _end_abandoned(self, session: _Session) -> None:
        connection, abandoned = session.connection, session.abandoned
        if abandoned is not None and connection is not None and connection.dead is None:
            # This wait may itself be cancelled: the prompt stays abandoned until it is known to be over.
            left = session.ends_by - asyncio.get_running_loop().time()
            if not await settled(abandoned, max(left, 0)):
                await connection.stop("it did not end a cancelled turn")
        session.abandoned = None

    async def _open(self, connection: AcpConnection, session: _Session, key: str | None) -> bool:
        """Opens or loads the session in this process. Returns whether the agent has lost its conversation.

        `key`: the gateway's key of the session; None: it belongs to no session yet."""
        if session.connection is connection:
            return False
        result: Any = None
        known, loaded, servers = session.id, False, self._servers(connection, key)
        if known is not None and connection.abilities.load and not session.is_elsewhere:
            try:
                asked = wire.load_session(known, self._cwd(), servers)
                result = await connection.load(known, asked, self._settings.load_timeout)
                loaded = True
            except RpcError as refused:
                if refused.code == wire.AUTH_REQUIRED:
                    raise
        if not loaded:
            result = await connection.ask(
                "session/new", wire.new_session(self._cwd(), servers), self._settings.start_timeout
            )
            try:
                session.id = wire.session_id(result)
            except ValueError as problem:
                raise RunFailed(failed("format", f"not an answer to session/new: {problem}")) from problem
        assert session.id is not None
        session.lost, session.loaded = known is not None and not loaded, loaded
        session.is_elsewhere = False
        session.connection = connection
        session.told_system = ""
        session.cancelled = False
        session.options = options = SessionOptions(session.id, result, self._settings)
        self.offers.learn(options)
        return not loaded

    def _servers(self, connection: AcpConnection, key: str | None) -> tuple[dict[str, Any], ...]:
        """The configured servers and the gateway's own, with a new token for this session. Agents connect to them while
        the session opens, so the token has to be valid before that."""
        servers = described(self._settings.mcp_servers)
        if self._tools is None or key is None or OURS in self._settings.mcp_servers:
            return servers
        token = self._tools.issue()
        self._tools.bind(token, key)
        return (*servers, our_server(self._tools.url, token, over_http=connection.abilities.mcp_over_http))

    async def _configured(self, connection: AcpConnection, session: _Session, turn: Turn) -> str | None:
        assert session.options is not None
        if (offers := connection.changed.pop(session.id or "", None)) is not None:
            session.options.replace(offers)
        ask = partial(connection.ask, seconds=self._settings.start_timeout)
        try:
            return await session.options.configure(ask, turn)
        finally:
            self.offers.learn(session.options)

    def _cwd(self) -> str:
        return str(Path(self._settings.cwd).expanduser().resolve())

    def _environment(self) -> dict[str, str]:
        theirs = {name: value.reveal() for name, value in self._settings.env.items()}
        return {**environment_for(os.environ, self._settings.pass_env), **theirs}


def retold(past: tuple[Exchange, ...]) -> tuple[PromptPart, ...]:
    """A conversation that the agent has lost, as the beginning of its prompt."""
    if not past:
        return ()
    parts: list[PromptPart] = [PromptText(PAST)]
    for exchange in past:
        parts += [PromptText("[They said]"), *exchange.parts, PromptText(f"[You answered]\n{exchange.answer}")]
    return (*parts, PromptText("[Now]"))

"""The sessions of one agent, all in one process.

Rule 1: the process starts with the first turn, and again with the first turn after it died; sessions it had are
loaded, not started over.
Rule 2: if the agent refuses to load a session, a new one begins; if loading takes too long, the turn fails and the
session keeps its id.
Rule 3: only the most recent sessions are remembered; the store knows the ids of the others and supplies them again.
Rule 4: a cancelled prompt has to end before the next one of its session begins; an agent that does not end it is
restarted.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from msgspec import structs

from rejoinder.agents.acp import Settings, wire
from rejoinder.agents.acp.connection import Connection, Rules, settled
from rejoinder.agents.acp.wire import Option
from rejoinder.agents.base import REMEMBERED, AgentEvent, ModelSelected, SessionOpened
from rejoinder.agents.failures import RunFailed, failed
from rejoinder.agents.jsonrpc import Refused
from rejoinder.agents.think import nearest_level
from rejoinder.environment import passed
from rejoinder.events import Turn

CANCEL_SECONDS = 10.0
"""How long an agent may take to end a cancelled turn before it is restarted."""


class _Session:
    """What we know about one of our sessions at the agent."""

    def __init__(self, saved: str | None = None) -> None:
        self.id = saved
        self.connection: Connection | None = None
        self.options: dict[str, Option] = {}
        self.default_model: str | None = None
        self.default_level: str | None = None
        self.own_options: dict[str, str | bool] = {}  # its own values of options that `/exec` has set
        self.told_system = ""
        self.abandoned: asyncio.Future[Any] | None = None
        self.ends_by = 0.0  # when an abandoned prompt has to have ended

    @property
    def is_at_rest(self) -> bool:
        return self.abandoned is None or self.abandoned.done()


class Sessions:
    def __init__(self, name: str, settings: Settings, question_seconds: float) -> None:
        self._name = name
        self._settings = settings
        self._question_seconds = question_seconds
        self._sessions: dict[str, _Session] = {}
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self.models: tuple[str, ...] = ()

    def forget(self, session: str) -> None:
        self._sessions.pop(session, None)

    def _known(self, session: str, saved: str | None) -> _Session:
        """What we know about the session. Beyond the limit the least recently used one at rest is forgotten."""
        known = self._sessions[session] = self._sessions.pop(session, None) or _Session(saved)
        if len(self._sessions) > REMEMBERED:
            at_rest = (each for each, other in self._sessions.items() if other.is_at_rest and other is not known)
            self._sessions.pop(next(at_rest, ""), None)
        return known

    def cancel(self, session: str) -> None:
        known = self._sessions.get(session)
        if known is not None and known.id is not None and known.connection is not None:
            known.connection.cancel(known.id)

    def answer(self, question: str, option: str | None) -> None:
        if self._connection is not None:
            self._connection.answer(question, option)

    @property
    def is_alive(self) -> bool:
        return self._connection is not None and self._connection.dead is None

    def announced(self) -> frozenset[str]:
        return frozenset() if self._connection is None else self._connection.announced

    def last_words(self) -> str:
        return "" if self._connection is None else self._connection.last_words()

    async def close(self) -> None:
        # Not under the lock: a start that is in progress has to be interrupted too.
        if self._connection is not None:
            await self._connection.stop()
            self._connection = None

    async def events(self, turn: Turn, saved: str | None) -> AsyncGenerator[AgentEvent, None]:
        session = self._known(turn.session, saved)
        await self._end_abandoned(session)
        connection = await self._connected()
        known = session.id
        try:
            await self._open(connection, session)
            if session.id != known and session.id is not None:
                yield SessionOpened(session.id)
            if model := await self._configure(connection, session, turn):
                yield ModelSelected(model)
        except Refused as refused:
            raise RunFailed(connection.refusal(refused)) from refused
        assert session.id is not None
        system = turn.system or self._settings.system_prompt
        news = "" if system == session.told_system else system
        asked = wire.prompt(session.id, news, turn.parts, images=connection.abilities.images)
        run = connection.begin(session.id, asked, turn.permissions)
        session.told_system = system
        session.abandoned = run.prompt
        try:
            async with aclosing(run.events()) as events:
                async for event in events:
                    yield event
            session.abandoned = None
        except RunFailed:
            session.told_system = ""  # the agent does not say whether it has kept any of the prompt
            raise
        finally:
            connection.leave(run)
            session.ends_by = asyncio.get_running_loop().time() + CANCEL_SECONDS

    async def check(self) -> str:
        version = (await self._connected()).abilities.version
        return f"{self._settings.command[0]} starts and speaks version {version} of the protocol"

    async def _connected(self) -> Connection:
        async with self._connecting:
            if self._connection is not None and self._connection.dead is None:
                return self._connection
            if self._connection is not None:
                await self._connection.stop()
            settings = self._settings
            rules = Rules(settings.permissions, settings.allow, self._question_seconds)
            self._connection = connection = Connection(self._name, rules)
            try:
                await connection.open(settings.command, self._cwd(), self._environment(), settings.start_timeout)
                if settings.auth_method:
                    way = {"methodId": settings.auth_method}
                    await connection.ask("authenticate", way, settings.start_timeout)
            except BaseException as problem:
                connection.dead = connection.dead or "it did not start"
                await connection.stop()
                if isinstance(problem, Refused):
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

    async def _open(self, connection: Connection, session: _Session) -> None:
        if session.connection is connection:
            return
        result: Any = None
        if session.id is not None and connection.abilities.load:
            try:
                asked = wire.load_session(session.id, self._cwd())
                result = await connection.ask("session/load", asked, self._settings.load_timeout)
            except Refused as refused:
                if refused.code == wire.AUTH_REQUIRED:
                    raise
                session.id = None
        else:
            session.id = None
        if session.id is None:
            asked = wire.new_session(self._cwd())
            result = await connection.ask("session/new", asked, self._settings.start_timeout)
            try:
                session.id = wire.session_id(result)
            except ValueError as problem:
                raise RunFailed(failed("format", f"not an answer to session/new: {problem}")) from problem
        session.connection = connection
        session.told_system = ""
        session.options = wire.options(result)
        model = session.options.get("model")
        session.default_model = str(model.current) if model is not None else None
        self.models = tuple(model.values) if model is not None else ()
        session.default_level = None
        session.own_options.clear()

    async def _configure(self, connection: Connection, session: _Session, turn: Turn) -> str | None:
        """Sets options, model and thinking as wanted; returns the model if it changed."""
        for name, value in self._settings.options.items():
            await self._set(connection, session, name, value)
        for key, name in self._settings.exec_options.items():
            await self._place(connection, session, name, turn.host if key == "host" else turn.node)
        wanted = turn.model or self._settings.model or session.default_model or ""
        wanted = self._settings.models.get(wanted, wanted)
        changed = bool(wanted) and await self._set(connection, session, "model", wanted)
        # After the model: the levels on offer depend on it.
        option = session.options.get("thought_level")
        if option is not None:
            # A level holds for the turn that asked for it; after that the agent's own choice applies again.
            level = nearest_level(turn.think, option.values) if turn.think else session.default_level
            if level is not None and level in option.values:
                session.default_level = session.default_level or str(option.current)
                await self._set(connection, session, "thought_level", level)
        return wanted if changed else None

    async def _place(self, connection: Connection, session: _Session, name: str, value: str | None) -> None:
        """Where it runs what it runs; without a wish, what it had before anybody had one."""
        if value is None:
            value = str(session.own_options.pop(name)) if name in session.own_options else None
        elif name not in session.own_options and (option := _called(session.options, name)) is not None:
            session.own_options[name] = option.current
        if value is not None:
            await self._set(connection, session, name, value)

    async def _set(self, connection: Connection, session: _Session, name: str, value: str | bool) -> bool:
        options = session.options
        option = _called(options, name)
        if option is not None and option.current == value:
            return False
        if option is None or (option.values and value not in option.values):
            offered = ", ".join(option.values) if option is not None else f"no option called {name}"
            kind = "model_not_found" if name == "model" else "format"
            raise RunFailed(failed(kind, f"{name} cannot be set to {value}; the agent offers: {offered}"))
        asked = option.setting(session.id or "", value)
        result = await connection.ask(option.method, asked, self._settings.start_timeout)
        changed = wire.options(result)
        session.options = {**options, option.category: _now(option, value), **changed}
        return True

    def _cwd(self) -> str:
        return str(Path(self._settings.cwd).expanduser().resolve())

    def _environment(self) -> dict[str, str]:
        theirs = {name: value.reveal() for name, value in self._settings.env.items()}
        return {**passed(os.environ, self._settings.pass_env), **theirs}


def _called(options: Mapping[str, Option], name: str) -> Option | None:
    """The option with this category or id."""
    return options.get(name) or next((option for option in options.values() if option.id == name), None)


def _now(option: Option, value: str | bool) -> Option:
    return structs.replace(option, current=value)

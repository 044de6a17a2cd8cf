"""One running agent process and the traffic with it: requests, updates, questions.

The protocol's Python package brings its own connection. We use only the package's schema, because that connection
buffers a line without bound, starts a task for every update, so that their order depends on the scheduler, and leaves
an agent's descendants alive. This module uses a Peer on an AgentProcess instead.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

import rejoinder
from rejoinder.agents.acp import wire
from rejoinder.agents.acp.permissions import Options, Policy, chosen, decide, denied, granted, grants, ordered
from rejoinder.agents.acp.translation import Translation
from rejoinder.agents.base import AgentEvent, Failed, Option, Question, TextDelta, Thought
from rejoinder.agents.failures import RunFailed, failed, kind_of, too_many_open
from rejoinder.agents.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Peer, PeerGone, RpcError
from rejoinder.agents.process import AgentProcess, start_process
from rejoinder.documents import is_object
from rejoinder.events import Strictness
from rejoinder.open_files import has_too_many_open

BACKLOG, BACKLOG_CHARS = 10_000, 4_000_000
"""How many events of a run, or characters in them, may wait for a slow reader before the agent has to wait."""


REPLAY_BEGINS, REPLAY_PAUSE, MOST_REPLAY = 1.0, 0.3, 15.0
"""Seconds after a load: until a history begins at the latest, the pause that ends it, and how long to wait for it."""


class PermissionRules(Struct, frozen=True):
    """How permission requests are answered."""

    policy: Policy
    allowed: tuple[str, ...]
    seconds: float


class AcpRun:
    """One turn while it is being answered: a prompt, and further ones that steer it. Its events wait until they are
    read.

    `strict`: how its requests are answered, whatever the rules allow. `loaded`: the session was loaded for this turn.
    """

    def __init__(
        self,
        connection: "AcpConnection",
        session: str,
        asked: dict[str, Any],
        strict: Strictness | None,
        *,
        loaded: bool,
    ) -> None:
        self.session = session
        self.strict: Strictness | None = strict
        self.translation = Translation(wire.texts_of(asked), loaded=loaded)
        self.waiting: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        self.prompt: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        """Done when the last of its prompts is, with the answer to that prompt."""
        self.following: deque[Callable[[], asyncio.Future[Any]]] = deque()
        """Prompts that replace the one that is being ended."""
        self._prompts = 0
        self._waiting_chars = 0
        self._connection = connection

    def add(self, prompt: "asyncio.Future[Any]") -> None:
        self._prompts += 1
        prompt.add_done_callback(self._answered)

    def _answered(self, prompt: "asyncio.Future[Any]") -> None:
        self._prompts -= 1
        failed = None if prompt.cancelled() else prompt.exception()
        if self.following and failed is None and not prompt.cancelled():
            for event in self.translation.next_prompt():
                self.put(event)
            self.add(self.following.popleft()())
            return
        if self.prompt.done() or (self._prompts and failed is None and not prompt.cancelled()):
            return
        if prompt.cancelled():
            self.prompt.cancel()
        elif failed is not None:
            self.prompt.set_exception(failed)
            self.prompt.exception()  # marks it as retrieved: asyncio must not report an abandoned run's error as lost
        else:
            self.prompt.set_result(prompt.result())
        self.waiting.put_nowait(None)

    def put(self, event: AgentEvent) -> None:
        self._waiting_chars += _chars(event)
        self.waiting.put_nowait(event)

    @property
    def is_behind(self) -> bool:
        return self.waiting.qsize() > BACKLOG or self._waiting_chars > BACKLOG_CHARS

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        while (event := await self.waiting.get()) is not None:
            self._waiting_chars -= _chars(event)
            self._connection.balance()
            yield event
        try:
            result = self.prompt.result()
        except PeerGone:
            raise RunFailed(self._connection.crash()) from None
        except RpcError as refused:
            raise RunFailed(self._connection.refusal(refused)) from refused
        for event in self.translation.finish(result):
            yield event


def _chars(event: AgentEvent) -> int:
    return len(event.text) if isinstance(event, TextDelta | Thought) else 0


class _Updates:
    """A session that is being loaded: knows when its last update came."""

    def __init__(self) -> None:
        self._last: float | None = None

    def came(self) -> None:
        self._last = asyncio.get_running_loop().time()

    async def quiet(self) -> None:
        """Returns when no update has come for a while; if none came before the answer, the history may still come."""
        clock = asyncio.get_running_loop().time
        until = clock() + (REPLAY_BEGINS if self._last is None else REPLAY_PAUSE)
        while (left := until - clock()) > 0:
            await asyncio.sleep(left)
            until = max(until, (self._last or 0) + REPLAY_PAUSE)


class _PermissionRequest(Struct, frozen=True):
    request: Any
    run: AcpRun
    options: Options
    timer: asyncio.TimerHandle


class AcpConnection:
    """Opened once. When `dead` gives a reason, the connection is over and a new one has to be opened."""

    def __init__(self, name: str, rules: PermissionRules) -> None:
        self.dead: str | None = None
        self.abilities = wire.Abilities()
        self._name = name
        self._rules = rules
        self._runs: dict[str, AcpRun] = {}
        self._questions: dict[str, _PermissionRequest] = {}
        self._question_number = 0
        self.announced: frozenset[str] = frozenset()  # the slash commands it has
        self.changed: dict[str, Any] = {}  # what sessions offer now, if the agent said so by itself
        self._loading: dict[str, _Updates] = {}
        self._paused = False
        self._process: AgentProcess | None = None
        self._peer = Peer(self._send, self)

    # --- its life -----------------------------------------------------------------------------

    async def open(self, command: tuple[str, ...], cwd: str, env: dict[str, str], seconds: float) -> None:
        try:
            self._process = await start_process(command, cwd=cwd, env=env, on_line=self._peer.take, on_gone=self._gone)
        except OSError as problem:
            if has_too_many_open(problem):
                raise RunFailed(too_many_open(command[0])) from problem
            sentence = f"The program of this agent ({command[0]}) cannot be started; its operator has to install it."
            raise RunFailed(Failed("unreachable", sentence, f"{command[0]} in {cwd}: {_why(problem)}")) from problem
        try:
            said = await self.ask("initialize", wire.initialize(rejoinder.__version__), seconds)
            self.abilities = wire.abilities(said)
        except (RpcError, ValidationError) as problem:
            raise RunFailed(failed("format", f"{command[0]} does not speak the protocol: {problem}")) from problem
        if self.abilities.version != wire.VERSION:
            spoken = self.abilities.version
            detail = f"{command[0]} speaks version {spoken} of the protocol, we speak {wire.VERSION}"
            raise RunFailed(failed("format", detail))

    async def stop(self, reason: str = "it was stopped") -> None:
        self.dead = self.dead or reason  # even if there never was a process
        for asked in self._questions.values():
            asked.timer.cancel()
        self._questions.clear()
        if self._process is not None:
            await self._process.stop(reason)

    def last_output(self) -> str:
        return "" if self._process is None else self._process.last_output()

    def crash(self) -> Failed:
        words = self.last_output()
        return failed("crashed", f"{self.dead}" + (f"; its last output: {words[-2000:]}" if words else ""))

    def refusal(self, refused: RpcError) -> Failed:
        if refused.code == wire.AUTH_REQUIRED:
            ways = ", ".join(self.abilities.sign_in) or "the agent does not say how"
            sentence = "This agent is not signed in; its operator has to do that."
            return Failed("auth", sentence, f"{refused}; ways to sign in: {ways}")
        return failed(kind_of(str(refused)) or "other", f"the agent answered: {refused}")

    # --- our requests -------------------------------------------------------------------------

    async def ask(self, method: str, params: Any, seconds: float) -> Any:
        """Raises Refused; RunFailed when the agent does not answer in time or dies."""
        try:
            async with asyncio.timeout(seconds):
                return await self._peer.ask(method, params)
        except TimeoutError:
            raise RunFailed(failed("timeout", f"{method} was not answered within {seconds:g} s")) from None
        except PeerGone:
            raise RunFailed(self.crash()) from None

    async def load(self, session: str, params: Any, seconds: float) -> Any:
        """Loads a session, and waits until its history has come: some agents still send it after they have answered
        (TU-35)."""
        updates = self._loading[session] = _Updates()
        try:
            result = await self.ask("session/load", params, seconds)
            with suppress(TimeoutError):
                async with asyncio.timeout(MOST_REPLAY):
                    await updates.quiet()
            return result
        finally:
            del self._loading[session]

    def begin(
        self, session: str, asked: dict[str, Any], strict: Strictness | None = None, *, loaded: bool = False
    ) -> AcpRun:
        run = self._runs[session] = AcpRun(self, session, asked, strict, loaded=loaded)
        run.add(self._peer.ask("session/prompt", asked))
        return run

    def add_prompt(self, session: str, asked: dict[str, Any]) -> bool:
        """Steers the running turn of this session with a further prompt; False: there is none."""
        run = self._runs.get(session)
        if run is None or run.prompt.done():
            return False
        run.add(self._peer.ask("session/prompt", asked))
        return True

    def replace_prompt(self, session: str, asked: dict[str, Any]) -> bool:
        """Ends the prompt of the running turn and goes on in it with this one; False: there is none."""
        run = self._runs.get(session)
        if run is None or run.prompt.done():
            return False
        run.following.append(partial(self._peer.ask, "session/prompt", asked))
        self.cancel(session)
        return True

    def cancel(self, session: str) -> None:
        """The agent will answer the prompt with `cancelled`; open questions are answered that way at once."""
        if session in self._runs:
            self._peer.tell("session/cancel", {"sessionId": session})
            self._drop_questions(self._runs[session])

    def leave(self, run: AcpRun) -> None:
        """The caller no longer listens. Whatever else comes from this run is discarded (TU-20)."""
        run.following.clear()
        if not run.prompt.done():
            self.cancel(run.session)
        self._drop_questions(run)
        if self._runs.get(run.session) is run:
            del self._runs[run.session]
        self.balance()

    def answer(self, question: str, option: str | None) -> None:
        asked = self._questions.pop(question, None)
        if asked is not None:
            asked.timer.cancel()
            self._peer.answer(asked.request, wire.permission_answer(chosen(asked.options, option)))

    def balance(self) -> None:
        """Makes the agent wait while a reader is far behind."""
        paused = any(run.is_behind for run in self._runs.values())
        if paused != self._paused and self._process is not None:
            self._paused = paused
            self._process.pause(paused)

    # --- its requests -------------------------------------------------------------------------

    def notified(self, method: str, params: Any) -> None:
        if method == "session/update" and is_object(params):
            session = str(params.get("sessionId"))
            self.announced = wire.announced(params, self.announced)
            if (offers := wire.changed_offers(params)) is not None:
                self.changed[session] = offers
            if (updates := self._loading.get(session)) is not None:
                updates.came()
            run = self._runs.get(session)
            if run is not None:
                for event in run.translation.events(params, asyncio.get_running_loop().time()):
                    run.put(event)
                self.balance()

    def requested(self, id: Any, method: str, params: Any) -> None:
        if method != "session/request_permission":
            self._peer.refuse(id, METHOD_NOT_FOUND, f"rejoinder does not support {method}")
            return
        try:
            asked = wire.permission(params)
        except ValidationError as problem:
            self._peer.refuse(id, INVALID_PARAMS, f"not a permission request: {problem.error_count()} errors")
            return
        run = self._runs.get(asked.session)
        if run is None:
            self._peer.answer(id, wire.permission_answer(None))
            return
        title = asked.title or run.translation.title_of(asked.tool) or asked.command
        kind = asked.kind or run.translation.kind_of(asked.tool)
        match decide(self._rules.policy, self._rules.allowed, kind, title, run.strict):
            case "allow":
                self._peer.answer(id, wire.permission_answer(granted(asked.options)))
            case "deny":
                self._peer.answer(id, wire.permission_answer(denied(asked.options)))
            case "ask":
                what = title if asked.command in title else f"{title}: {asked.command}"
                text, about = (
                    f"May I use a tool ({kind})? {what}".strip(),
                    run.translation.about(asked.tool) + asked.about,
                )
                self._put_question(id, run, ordered(asked.options), text, about)

    def noise(self, line: str) -> None:
        if self._process is not None:
            self._process.keep_words(f"(on stdout) {line}")

    def _put_question(self, request: Any, run: AcpRun, options: Options, text: str, about: str) -> None:
        self._question_number += 1
        question = f"{self._name}-{id(self):x}-{self._question_number}"
        timer = asyncio.get_running_loop().call_later(self._rules.seconds, self.answer, question, None)
        self._questions[question] = _PermissionRequest(request, run, options, timer)
        offered = tuple([Option(id, name, grants(kind)) for id, name, kind in options])
        run.put(Question(question, text, offered, about))

    def _drop_questions(self, run: AcpRun) -> None:
        for question, asked in list(self._questions.items()):
            if asked.run is run:
                del self._questions[question]
                asked.timer.cancel()
                self._peer.answer(asked.request, wire.permission_answer(None))

    def _gone(self, reason: str) -> None:
        self.dead = reason
        self._peer.gone(reason)

    def _send(self, line: bytes) -> None:
        if self._process is not None:
            self._process.write_line(line)


async def settled(prompt: "asyncio.Future[Any]", seconds: float) -> bool:
    """Whether an abandoned prompt ended in time."""
    if not prompt.done():
        with suppress(TimeoutError, PeerGone, RpcError):
            async with asyncio.timeout(seconds):
                await asyncio.shield(prompt)
    return prompt.done()


def _why(problem: OSError) -> str:
    return "there is no such program on the PATH" if isinstance(problem, FileNotFoundError) else str(problem.strerror)

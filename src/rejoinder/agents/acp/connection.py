"""One running agent process and the traffic with it: requests, updates, questions.

The protocol's Python package brings its own connection. We use only the package's schema, because that connection
buffers a line without bound, starts a task for every update, so that their order depends on the scheduler, and leaves
an agent's descendants alive. This module uses a Peer on an AgentProcess instead.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

import rejoinder
from rejoinder.agents.acp import wire
from rejoinder.agents.acp.permissions import Options, Policy, chosen, decide, denied, granted
from rejoinder.agents.base import AgentEvent, Failed, Option, Question, TextDelta, Thought
from rejoinder.agents.failures import RunFailed, failed, kind_of
from rejoinder.agents.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Gone, Peer, Refused
from rejoinder.agents.process import AgentProcess, start_process
from rejoinder.documents import is_object
from rejoinder.events import Strictness

BACKLOG, BACKLOG_CHARS = 10_000, 4_000_000
"""How many events of a run, or characters in them, may wait for a slow reader before the agent has to wait."""


class Rules(Struct, frozen=True):
    """How permission requests are answered."""

    policy: Policy
    allowed: tuple[str, ...]
    seconds: float


class Run:
    """One prompt while it is being answered. Its events wait here until they are read."""

    def __init__(
        self, connection: "Connection", session: str, prompt: "asyncio.Future[Any]", strict: Strictness | None
    ) -> None:
        self.session = session
        self.prompt = prompt
        self.strict: Strictness | None = strict
        self.translation = wire.Translation()
        self.waiting: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        self._waiting_chars = 0
        self._connection = connection
        prompt.add_done_callback(self._answered)

    def _answered(self, prompt: "asyncio.Future[Any]") -> None:
        if not prompt.cancelled():
            prompt.exception()  # marks it as retrieved: asyncio must not report an abandoned run's error as lost
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
        except Gone:
            raise RunFailed(self._connection.crash()) from None
        except Refused as refused:
            raise RunFailed(self._connection.refusal(refused)) from refused
        for event in self.translation.finish(result):
            yield event


def _chars(event: AgentEvent) -> int:
    return len(event.text) if isinstance(event, TextDelta | Thought) else 0


class _Asked(Struct, frozen=True):
    request: Any
    run: Run
    options: Options
    timer: asyncio.TimerHandle


class Connection:
    """Opened once. When `dead` gives a reason, the connection is over and a new one has to be opened."""

    def __init__(self, name: str, rules: Rules) -> None:
        self.dead: str | None = None
        self.abilities = wire.Abilities(0, False, False, "", ())
        self._name = name
        self._rules = rules
        self._runs: dict[str, Run] = {}
        self._questions: dict[str, _Asked] = {}
        self._question_number = 0
        self.announced: frozenset[str] = frozenset()  # the slash commands it has
        self._paused = False
        self._process: AgentProcess | None = None
        self._peer = Peer(self._send, self)

    # --- its life -----------------------------------------------------------------------------

    async def open(self, command: tuple[str, ...], cwd: str, env: dict[str, str], seconds: float) -> None:
        try:
            self._process = await start_process(command, cwd=cwd, env=env, on_line=self._peer.take, on_gone=self._gone)
        except OSError as problem:
            sentence = f"The program of this agent ({command[0]}) cannot be started; its operator has to install it."
            raise RunFailed(Failed("unreachable", sentence, f"{command[0]} in {cwd}: {_why(problem)}")) from problem
        try:
            said = await self.ask("initialize", wire.initialize(rejoinder.__version__), seconds)
            self.abilities = wire.abilities(said)
        except (Refused, ValidationError) as problem:
            raise RunFailed(failed("format", f"{command[0]} does not speak the protocol: {problem}")) from problem
        if self.abilities.version != wire.VERSION:
            spoken = self.abilities.version
            detail = f"{command[0]} speaks version {spoken} of the protocol, we speak {wire.VERSION}"
            raise RunFailed(failed("format", detail))

    async def stop(self, reason: str = "it was stopped") -> None:
        for asked in self._questions.values():
            asked.timer.cancel()
        self._questions.clear()
        if self._process is not None:
            await self._process.stop(reason)

    def last_words(self) -> str:
        return "" if self._process is None else self._process.last_words()

    def crash(self) -> Failed:
        words = self.last_words()
        return failed("crashed", f"{self.dead}" + (f"; its last words: {words[-2000:]}" if words else ""))

    def refusal(self, refused: Refused) -> Failed:
        if refused.code == wire.AUTH_REQUIRED:
            ways = ", ".join(self.abilities.sign_in) or "the agent does not say how"
            sentence = "This agent is not signed in; its operator has to do that."
            return Failed("auth", sentence, f"{refused}; ways to sign in: {ways}")
        return failed(kind_of(str(refused)) or "other", f"the agent answered: {refused}")

    # --- what we ask of it --------------------------------------------------------------------

    async def ask(self, method: str, params: Any, seconds: float) -> Any:
        """Raises Refused; RunFailed when the agent does not answer in time or dies."""
        try:
            async with asyncio.timeout(seconds):
                return await self._peer.ask(method, params)
        except TimeoutError:
            raise RunFailed(failed("timeout", f"{method} was not answered within {seconds:g} s")) from None
        except Gone:
            raise RunFailed(self.crash()) from None

    def begin(self, session: str, prompt: dict[str, Any], strict: Strictness | None = None) -> Run:
        """`strict`: how this run's requests are answered, whatever the rules allow."""
        run = self._runs[session] = Run(self, session, self._peer.ask("session/prompt", prompt), strict)
        return run

    def cancel(self, session: str) -> None:
        """The agent will answer the prompt with `cancelled`; open questions are answered that way at once."""
        if session in self._runs:
            self._peer.tell("session/cancel", {"sessionId": session})
            self._drop_questions(self._runs[session])

    def leave(self, run: Run) -> None:
        """The caller no longer listens. Whatever else comes from this run is discarded (TU-20)."""
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

    # --- what it asks of us -------------------------------------------------------------------

    def notified(self, method: str, params: Any) -> None:
        if method == "session/update" and is_object(params):
            self.announced = wire.announced(params, self.announced)
            run = self._runs.get(str(params.get("sessionId")))
            if run is not None:
                for event in run.translation.events(params):
                    run.put(event)
                self.balance()

    def requested(self, id: Any, method: str, params: Any) -> None:
        if method != "session/request_permission":
            self._peer.refuse(id, METHOD_NOT_FOUND, f"rejoinder does not do {method}")
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
        title = asked.title or run.translation.title_of(asked.tool)
        match decide(self._rules.policy, self._rules.allowed, asked.kind, title, run.strict):
            case "allow":
                self._peer.answer(id, wire.permission_answer(granted(asked.options)))
            case "deny":
                self._peer.answer(id, wire.permission_answer(denied(asked.options)))
            case "ask":
                self._put_question(id, run, asked, title)

    def noise(self, line: str) -> None:
        if self._process is not None:
            self._process.keep_words(f"(on stdout) {line}")

    def _put_question(self, request: Any, run: Run, asked: wire.Permission, title: str) -> None:
        self._question_number += 1
        question = f"{self._name}-{id(self):x}-{self._question_number}"
        timer = asyncio.get_running_loop().call_later(self._rules.seconds, self.answer, question, None)
        self._questions[question] = _Asked(request, run, asked.options, timer)
        text = f"May I use a tool ({asked.kind})? {title}".strip()
        run.put(Question(question, text, tuple([Option(id, name) for id, name, _ in asked.options])))

    def _drop_questions(self, run: Run) -> None:
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
        with suppress(TimeoutError, Gone, Refused):
            async with asyncio.timeout(seconds):
                await asyncio.shield(prompt)
    return prompt.done()


def _why(problem: OSError) -> str:
    return "there is no such program on the PATH" if isinstance(problem, FileNotFoundError) else str(problem.strerror)

"""A function as an agent."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rejoinder.agents.base import Done, Failed, RunLimits, TextDelta, ToolEnded, ToolStarted
from rejoinder.agents.python import Settings, open_agent, text_of
from rejoinder.agents.python.function import PythonAgent
from rejoinder.errors import BadConfiguration
from rejoinder.events import PromptText, Turn
from rejoinder.testing.agent_contract import AgentContract, Agents, a_turn, begun, everything
from rejoinder.testing.agent_contract import text_of as text_in

EXAMPLES = str(Path(__file__).parents[2] / "examples")


def as_asked(text: str) -> Turn:
    """As the gateway asks: with a block that says who does."""
    block = PromptText('<sender_context-a1b2>\n{"schema":"rejoinder.sender.v1"}\n</sender_context-a1b2>')
    return Turn("session-1", (block, PromptText(text)))


def agent_of(call: Callable[[Turn], Any]) -> PythonAgent:
    return PythonAgent("mine", Settings(call="-:-"), call)


def plain(turn: Turn) -> str:
    return f"You said {text_of(turn)}"


async def waiting(turn: Turn) -> str:
    await asyncio.sleep(0)
    return plain(turn)


def pieces(turn: Turn) -> Iterator[str]:
    yield "You said "
    yield text_of(turn)


async def async_pieces(turn: Turn) -> AsyncIterator[str]:
    for piece in pieces(turn):
        await asyncio.sleep(0)
        yield piece


def a_list(turn: Turn) -> list[Any]:
    return [TextDelta("You said "), None, "", text_of(turn), Done()]


class Callable_:
    def __call__(self, turn: Turn) -> Any:
        return waiting(turn)


def raising(turn: Turn) -> Iterator[str]:
    yield "Well, "
    raise LookupError("no such thing")


async def raising_async(turn: Turn) -> str:
    raise LookupError("no such thing")


def with_tool(turn: Turn) -> Iterator[Any]:
    yield ToolStarted("1", "thinking")
    yield ToolEnded("1", True)
    yield "Done."


class AsyncCallable:
    async def __call__(self, turn: Turn) -> AsyncIterator[str]:
        async for piece in async_pieces(turn):
            yield piece


async def handing_back(turn: Turn) -> AsyncIterator[str]:
    return async_pieces(turn)


@pytest.mark.parametrize(
    "call",
    [plain, waiting, pieces, async_pieces, a_list, Callable_(), AsyncCallable(), handing_back, lambda t: waiting(t)],
)
async def test_ways_to_be_a_function(call: Callable[[Turn], Any]):
    """TU-32: plain or async, a value or a generator: the same answer."""
    events = await everything(agent_of(call))
    assert text_in(events) == "You said Hello"
    assert events[-1] == Done()


class _Contract(AgentContract):
    broken_call: Callable[[Turn], Any]

    def slow(self, turn: Turn) -> Any:
        raise NotImplementedError

    @asynccontextmanager
    async def agents(self) -> AsyncIterator[Agents]:
        broken = type(self).__dict__["broken_call"]
        yield Agents(agent_of(plain), agent_of(broken), agent_of(self.slow), agent_of(with_tool))


class TestPlainContract(_Contract):
    broken_call = raising

    def slow(self, turn: Turn) -> Iterator[str]:
        yield "Let me see"
        threading.Event().wait()
        yield "never said"


class TestAsyncContract(_Contract):
    broken_call = raising_async

    async def slow(self, turn: Turn) -> AsyncIterator[str]:
        yield "Let me see"
        await asyncio.Event().wait()


@pytest.mark.parametrize("call", [raising, raising_async])
async def test_an_exception_says_where(call: Callable[[Turn], Any]):
    """An exception is a Failed; the operator reads what and in which line."""
    last = (await everything(agent_of(call)))[-1]
    assert isinstance(last, Failed)
    assert "LookupError: no such thing at " in last.detail
    assert "test_python.py" in last.detail


@pytest.mark.parametrize(("said", "kind"), [(42, "int"), ({"text": "hi"}, "dict"), (b"hi", "bytes")])
async def test_what_is_no_answer(said: object, kind: str):
    last = (await everything(agent_of(lambda turn: said)))[-1]
    assert isinstance(last, Failed)
    assert f"not {kind}" in last.detail


def raises(problem: BaseException, way: str) -> Callable[[Turn], Any]:
    def plain(turn: Turn) -> str:
        raise problem

    async def waiting(turn: Turn) -> str:
        raise problem

    async def streaming(turn: Turn) -> AsyncIterator[str]:
        yield "Well, "
        raise problem

    async def while_ending(turn: Turn) -> AsyncIterator[Any]:
        try:
            yield Failed("crashed", "It went wrong.", f"{type(problem).__name__}: ")
        finally:
            raise problem

    return {"plain": plain, "waiting": waiting, "streaming": streaming, "while ending": while_ending}[way]


@pytest.mark.parametrize("way", ["plain", "waiting", "streaming", "while ending"])
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, BaseException])
async def test_whatever_a_function_raises_ends_its_turn_and_nothing_else(kind: type[BaseException], way: str):
    """TU-20: the gateway goes on, and the person is told."""
    last = (await everything(agent_of(raises(kind("stop"), way))))[-1]
    assert isinstance(last, Failed)
    assert last.kind == "crashed"
    assert kind.__name__ in last.detail or "cancelled" in last.detail


def shouted(text: str) -> str:
    return text.upper()


async def shouted_in_pieces(text: "str", /) -> AsyncIterator[str]:
    yield text.upper()


def shouted_further(text: str | None, *, further: Any) -> str:
    assert further.take() == []
    return (text or "").upper()


def annotated_for_checkers_only(turn: "Unknown") -> str:  # type: ignore[name-defined] # noqa: F821
    return text_of(turn).upper()  # type: ignore[reportUnknownArgumentType]


def annotated_with_a_turn(turn: Turn | None = None) -> str:
    assert turn is not None
    return text_of(turn).upper()


@pytest.mark.parametrize(
    "call",
    [shouted, shouted_in_pieces, shouted_further, annotated_for_checkers_only, annotated_with_a_turn],
)
async def test_a_function_that_asks_for_text_gets_it(call: Callable[..., Any]):
    """TU-32: annotated `str`, it is given what people said; otherwise the turn."""
    events = [event async for event in agent_of(call).run(as_asked("hello"))]
    assert text_in(events) == "HELLO"


def without_parameter() -> str:
    return ""


def with_two(turn: Turn, other: int) -> str:
    return ""


def further_first(further: Any, turn: Turn) -> str:
    return ""


def with_keyword(turn: Turn, *, key: str) -> str:
    return ""


def with_number(number: int) -> str:
    return ""


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (without_parameter, "cannot be given a turn (too many positional arguments)"),
        (with_two, "cannot be given a turn (missing a required argument: 'other')"),
        (further_first, "cannot be given a turn (multiple values for argument 'further')"),
        (with_keyword, "cannot be given a turn (missing a required"),
        (with_number, "wants 'number' to be of type int, which it is never given"),
    ],
)
def test_a_function_that_cannot_be_called_is_refused_at_the_start(call: Callable[..., Any], why: str):
    """TU-32: not with its first turn; and it says how to write it."""
    with pytest.raises(BadConfiguration) as refusal:
        agent_of(call)
    assert why in str(refusal.value)
    assert "`def answer(text: str):`" in str(refusal.value)


async def test_a_plain_function_runs_beside_the_loop():
    """A function that blocks stops nobody else."""
    release = threading.Event()

    def blocking(turn: Turn) -> str:
        release.wait()
        return "at last"

    run = asyncio.create_task(everything(agent_of(blocking)))
    assert text_in(await everything(agent_of(plain))) == "You said Hello"
    release.set()
    assert text_in(await run) == "at last"


async def test_a_generator_does_not_run_away():
    """A generator without end waits for its reader, and ends when nobody reads any more."""
    produced = 0
    ended = threading.Event()

    def endless(turn: Turn) -> Iterator[str]:
        nonlocal produced
        try:
            while True:
                produced += 1
                yield "x"
        finally:
            ended.set()

    async with begun(agent_of(endless), a_turn()):
        pass
    assert await asyncio.to_thread(ended.wait, 10)
    assert produced < 1000


async def test_silence_is_given_up():
    """TU-20: a plain function that never returns is left alone after the idle timeout."""
    agent = agent_of(lambda turn: threading.Event().wait())
    agent.take_limits(RunLimits(idle=0.05))
    last = (await everything(agent))[-1]
    assert isinstance(last, Failed)
    assert last.kind == "timeout"


async def test_found_by_name():
    """`module:function`, from a directory of one's own."""
    agent = open_agent("shout", Settings(call="python_agent:shout", path=EXAMPLES))
    assert text_in(await everything(agent, as_asked("be quiet"))) == "BE QUIET "


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("nonsense", "module:function"),
        ("no_such_module_at_all:x", "cannot import 'no_such_module_at_all'"),
        ("python_agent:shuot", "no function 'shuot' in 'python_agent'; there are: .*shout"),
    ],
)
def test_not_found(call: str, words: str):
    """The error is the help."""
    with pytest.raises(BadConfiguration, match=words):
        open_agent("shout", Settings(call=call, path=EXAMPLES))

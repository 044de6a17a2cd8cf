"""People who say anything at any time to an agent that does anything: whatever comes of it, all of it comes to an end.

One number gives one conversation, as far as the clock lets it; a failure names it.
"""

import asyncio
import logging
import re
from contextlib import aclosing
from random import Random

import pytest

from rejoinder.agents.base import (
    AgentEvent,
    Done,
    Exchange,
    Failed,
    PlanChanged,
    Question,
    SegmentEnded,
    TextDelta,
    Thought,
    ToolEnded,
    ToolStarted,
    Usage,
)
from rejoinder.app import MEMORY, Gateway, with_channel
from rejoinder.config.agents import AgentDefaults
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, GatewaySettings, MessagesSettings, QueueSection, Settings
from rejoinder.events import PromptText
from rejoinder.inbound.settings import CommandsSettings, ElevatedSettings, GroupSettings
from rejoinder.runtime.tasks import Tasks
from rejoinder.session import SessionSettings
from rejoinder.testing import FakeChannel, FakeMessenger
from rejoinder.testing.patience import PATIENCE
from rejoinder.turns.modes import DropPolicy, Grouping, Mode

NAPS = (0, 0, 0.001, 0.01, 0.03)
MODES = [str(mode) for mode in Mode]
WORDS = (
    "Hello ",
    "**bold",
    "\n\n",
    "[[reply_to:m1]]\n",
    "NO_REPLY",
    '<react emoji="heart"/>',
    "```py\nx",
    "",
    "\ud83d",
)
FAILURES = ("billing", "rate_limit", "timeout", "overloaded", "context_overflow", "unreachable", "crashed", "other")
SAID = (
    *(
        "/stop",
        "stop",
        "/new",
        "/new again",
        "/compact",
        "/status",
        "/help",
        "/usage full",
        "/reset",
        "/why",
        "/model n",
    ),
    *(
        "/model n",
        "/elevated full",
        "/exec security=deny",
        "/think high go",
        "/verbose on",
        "/approve {q}",
        "/approve {q} deny",
    ),
    *(f"/queue {mode}{rest}" for mode in MODES for rest in ("", " do it")),
)


class Boom(Exception):
    """What this agent itself fails with."""


class Wild:
    name = "wild"
    think_levels = ("off", "low", "high")
    shows_thoughts = True
    models = ("m", "n")
    fallbacks = ("n", "o")

    def __init__(self, random: Random) -> None:
        self.random = random
        self.at_once: set[str] = set()
        self.wrong: list[str] = []
        self._waiting: list[asyncio.Future[str | None]] = []

    async def run(self, turn):
        if turn.session in self.at_once:
            self.wrong.append(f"two runs of {turn.session} at once")
        self.at_once.add(turn.session)
        try:
            for _ in range(self.random.randrange(8)):
                async with aclosing(self._step()) as step:
                    async for event in step:
                        yield event
            if self.random.random() < 0.9:
                yield self._end()
        finally:
            self.at_once.discard(turn.session)

    async def _step(self):
        chance = self.random.random()
        if chance < 0.75:
            yield self._event()
        elif chance < 0.82:
            answer = asyncio.get_running_loop().create_future()
            self._waiting.append(answer)
            yield Question(str(len(self._waiting) - 1), "May I?", ("Yes", "No"))
            if self.random.random() < 0.8:
                await answer
        elif chance < 0.97:
            await asyncio.sleep(self.random.choice(NAPS))
        else:
            raise Boom

    def _event(self) -> AgentEvent:
        choose = self.random.choice
        text = TextDelta(choose(WORDS))
        tool, ended = (
            ToolStarted(choose("ab"), choose(("ls", "", "web_search x"))),
            ToolEnded(choose("abc"), True, "out"),
        )
        usage = Usage(7, 1, self.random.randrange(2000))
        return choose((text, text, text, Thought("hm"), tool, ended, SegmentEnded(), usage, PlanChanged(("a",))))

    def _end(self) -> AgentEvent:
        if self.random.random() < 0.9:
            return Done()
        kind, wait = self.random.choice(FAILURES), self.random.choice((None, 0.0, 0.01))
        return Failed(kind, "It failed.", transient=self.random.random() < 0.5, retry_after=wait)

    async def answer(self, question, option) -> None:
        if not (waiting := self._waiting[int(question)]).done():
            waiting.set_result(option)

    async def compact(self, session):
        await asyncio.sleep(self.random.choice(NAPS))
        return self.random.choice((True, False, Exchange((PromptText("In short."),), "Yes.")))

    def recall(self, session, past) -> None:
        """It remembers nothing."""


class Steered(Wild):
    async def steer(self, turn) -> bool:
        await asyncio.sleep(self.random.choice(NAPS))
        return self.random.random() < 0.6


def settings(random: Random) -> Settings:
    choose = random.choice
    common = CommonChannelSettings(
        dm="open",
        groups="open",
        require_mention=choose((True, False)),
        status_reactions=choose((True, False)),
        streaming=choose((None, "off")),
        group={"heard": GroupSettings(mode="listen")},
    )
    queue = QueueSection(
        mode=choose(list(Mode)),
        debounce_ms=choose((0, 1, 20)),
        cap=choose((1, 2, 5)),
        drop=choose(list(DropPolicy)),
        grouping=choose(list(Grouping)),
    )
    limits = GatewaySettings(
        max_runs=choose((1, 2, 256)), idle_timeout_s=choose((0.2, 5)), hard_timeout_s=5, question_timeout_s=0.05
    )
    scopes = choose(("per-sender", "shared")), choose(("per-thread", "per-chat", "per-sender"))
    return with_channel(
        Settings(
            channels={"fake": ConfiguredChannel("fake", common, None)},
            messages=MessagesSettings(queue=queue),
            gateway=limits,
            agent_defaults=AgentDefaults(
                context_tokens=choose((None, 1000)),
                verbose_default=choose((None, "on", "full")),
                reasoning_default=choose((None, "on", "stream")),
            ),
            session=SessionSettings(scope=scopes[0], group_scope=scopes[1]),
            commands=CommandsSettings(elevated=ElevatedSettings(enabled=True, allow_from=("fake:ann",))),
        ),
        "fake",
        "wild",
        ("ann",),
    )


async def talk(channel: FakeMessenger, random: Random) -> None:
    for _ in range(random.randrange(3, 18)):
        who = random.choice(("ann", "bob", "cid"))
        kind, chat = random.choice((("direct", who), ("direct", who), ("group", "lab"), ("group", "heard")))
        asked = re.findall(r"/approve (\S+) allows", "\n".join(shown.text for shown in channel.messages.values()))
        text = random.choice(SAID) if random.random() < 0.5 else "hello"
        text = text.format(q=random.choice(asked or ["q1"]))
        await channel.says(text, sender=who, chat=chat, kind=kind, mention=random.random() < 0.5)
        await asyncio.sleep(random.choice(NAPS))


async def left_over(gateway: Gateway) -> list[str]:
    """Whatever did not come to an end."""
    census, lanes = await gateway.store.count_rows(), gateway.engine.lanes
    found = [f"{name}: {rows}" for name, rows, ended in (
        ("events", census.events, {"settled", "routed"}),
        ("inputs", census.inputs, {"taken", "steered", "summarised", "dropped"}),
        ("turns", census.turns, {"closed"}),
    ) if set(rows) - ended]  # fmt: skip
    waits = [lane for lane in lanes._lanes.values() if lane.waiting or lane._inputs]
    rooms = lanes._slots._running or lanes._slots._asking
    questions = gateway.engine.turn_runner.questions._kept
    shown = gateway.channels["fake"].messages.values()
    open_ones = [each.text for each in shown if each.author == "bot" and not each.complete and not each.deleted]
    return [*found, *map(str, (census.runs or "", waits or "", rooms or "", questions or "", open_ones or ""))]


@pytest.mark.parametrize("seed", range(20))
async def test_all_of_it_comes_to_an_end(seed, caplog):
    """TU-2, TU-20: nothing waits, nothing runs, no question is open, no run was beside another of its session."""
    random = Random(seed)
    agent = random.choice((Wild, Steered))(random)
    channel = random.choice((FakeChannel, FakeMessenger))()
    said = settings(random)
    async with Tasks() as tasks, Gateway(said, agents={"wild": agent}, channels=[channel], store=MEMORY) as gateway:
        tasks.start("serve", gateway.serve())
        await channel.until(lambda: channel.listens)
        await talk(channel, random)
        async with asyncio.timeout(PATIENCE):
            await gateway.tasks.idle(besides=gateway.listening.tasks)
        assert not [left for left in await left_over(gateway) if left]
        await channel.close()
    assert not agent.wrong
    failures = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert not [each.message for each in failures if each.exc_info is None or not isinstance(each.exc_info[1], Boom)]

"""Performs what a decision asks for beside words and turns (IN-62).

An effect may answer itself: with what was asked for, or why it could not be had. That stands in the place of
the decision's own replies: nobody is told that something was done which was not.
"""

from collections.abc import Callable, Mapping
from typing import assert_never

from msgspec.structs import replace

from rejoinder.agents.base import Agent, CanCompact, CanForget
from rejoinder.events import (
    AnswerQuestion,
    ApprovePairing,
    AskPairing,
    CompactSession,
    EditAllowList,
    Effect,
    Overhear,
    ResetBotTurns,
    ResetSession,
    SessionEnded,
    SessionStarted,
    ShowConfig,
    StopRun,
    UseTool,
)
from rejoinder.inbound.bots import BotTurns
from rejoinder.inbound.groups import overhear
from rejoinder.runtime.abilities import can
from rejoinder.runtime.access import Access
from rejoinder.runtime.compaction import Compaction
from rejoinder.runtime.conversations import Conversation
from rejoinder.runtime.hooks import Tell
from rejoinder.runtime.lanes import Lanes
from rejoinder.runtime.questions import Questions
from rejoinder.runtime.sessions import Sessions


class Effects:
    def __init__(
        self,
        agents: Mapping[str, Agent],
        lanes: Lanes,
        sessions: Sessions,
        compaction: Compaction,
        questions: Questions,
        access: Access,
        show_config: Callable[[str], str],
        tell: Tell,
    ) -> None:
        self._agents = agents
        self._lanes = lanes
        self._sessions = sessions
        self._compaction = compaction
        self._questions = questions
        self._access = access
        self._show_config = show_config
        self._tell = tell

    async def perform(self, effect: Effect, conversation: Conversation, agent: str) -> str | None:
        """None when it is done and there is nothing to add."""
        place = (conversation.route.channel, conversation.route.account)
        match effect:
            case StopRun(route=route):
                await self._lanes.stop(self._lanes.at(route))
            case ResetSession(session=session, why=why):
                await self._reset(session, agent)
                self._tell(SessionEnded(session, agent, conversation.route, why))
                self._tell(SessionStarted(session, agent, conversation.route))
            case CompactSession(session=session):
                return await self._compact(session, agent)
            case AnswerQuestion(question=question, option=option, sender=sender):
                return self._questions.answer(question, option, conversation.route, sender)
            case Overhear(said=said):
                handle = conversation.messages.handle(said.message_id) or ""
                conversation.overheard = overhear(conversation.overheard, replace(said, handle=handle))
            case ResetBotTurns():
                conversation.bot_turns = BotTurns()
            case AskPairing():
                self._access.knock(effect)
            case ApprovePairing(code=code):
                self._access.approve(place, code)
            case ShowConfig(key=key):
                return self._show_config(key)
            case EditAllowList():
                self._access.edit(effect)
            case UseTool(tool=tool):
                return f"There is no tool {tool}."
            case _:
                assert_never(effect)
        return None

    async def _reset(self, session: str, agent: str) -> None:
        """Everybody forgets: the lane what waits, the agent what was said, we under which name it kept it."""
        await self._lanes.forget(session)
        speaker = self._agents[agent]
        if can(speaker, CanForget):
            speaker.forget(session)
        await self._sessions.save_as(session, None)

    async def _compact(self, session: str, agent: str) -> str | None:
        speaker = self._agents[agent]
        if not can(speaker, CanCompact):
            return f"The agent {agent} keeps its memory itself: /new begins anew."
        if (lane := self._lanes.get(session)) is not None and lane.is_running:
            return "The agent is at work; /compact again when it has answered."
        return (
            None
            if await self._compaction.compact(session, self._agents[agent])
            else "There was nothing to shorten, or it did not work."
        )

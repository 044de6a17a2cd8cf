"""Performs what a decision asks for besides words and turns (IN-62).

An effect may give its own answer: the requested information, or why it failed. This replaces the decision's own
replies, so the user is never told that something was done when it was not. Changes that have to survive a crash are not
made here: the effect returns verbs, which are written in the commit that stores the decision.
"""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, assert_never

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.agents.base import CanCompact, CanForget
from rejoinder.errors import StoreUnavailable, Superseded
from rejoinder.events import (
    AnswerQuestion,
    ApprovePairing,
    AskPairing,
    AskSubagents,
    ChangeDebug,
    ChangeInvitations,
    CompactSession,
    EditAllowList,
    Effect,
    ExportSession,
    Inbound,
    Overhear,
    ReportFailure,
    ResendParts,
    ResetBotTurns,
    ResetSession,
    RestartGateway,
    ReviseMessage,
    Route,
    RunShell,
    SessionEnded,
    SessionStarted,
    ShowConfig,
    ShowContext,
    SpeakText,
    StopRun,
    UseTool,
    WriteConfig,
)
from rejoinder.inbound.abort import reply_to_stop
from rejoinder.inbound.bots import BotTurns
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import PASS, StageResult
from rejoinder.runtime.abilities import can
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.session.parts import SessionParts
from rejoinder.session import Session
from rejoinder.store.base import AskHome, ClearBotTurns, InboxEvent, PutAgentSession, StopWork, Verb

log = logging.getLogger(__name__)


def _nothing() -> None:
    """The default: nothing is left to do."""


class EffectResult(Struct, frozen=True):
    """The verbs to write for an effect, what to do once they are written, and what the effect says in answer."""

    verbs: tuple[Verb[Any], ...] = ()
    then: Callable[[], None] = _nothing
    says: str | None = None


DONE = EffectResult()


class EffectContext(Struct, frozen=True):
    """The decision for which an effect is performed."""

    event: InboxEvent
    message: InboundMessage
    session: Session | None
    """The session as the decision leaves it; None if the decision was made before the session was looked up."""
    conversation: Conversation
    agent: str
    """The agent whose session it is about."""
    members: tuple[str, ...]
    """The agents that hear what is said here."""
    now: datetime


GatewayCommand = (
    ShowContext
    | ExportSession
    | RestartGateway
    | RunShell
    | ChangeDebug
    | ChangeInvitations
    | WriteConfig
    | AskSubagents
    | SpeakText
)
Revise = Callable[[ReviseMessage, Conversation], Awaitable[EffectResult]]
RunCommand = Callable[[GatewayCommand, EffectContext], Awaitable[EffectResult]]


class Effects:
    def __init__(self, parts: SessionParts, access: Access, run_command: RunCommand, revise: Revise) -> None:
        self._agents = parts.services.agents
        self._settings = parts.services.settings
        self._hooks = parts.services.hooks
        self._parts = parts
        self._access = access
        self._run_command = run_command
        self._revise = revise

    def as_turn(self, result: StageResult, agent: str) -> StageResult | None:
        """Turns a request for work by the agent into a turn, which waits for earlier turns and can be stopped (TU-23).

        Returns None if the decision requests no such work.
        """
        wanted = [effect for effect in result.effects if isinstance(effect, CompactSession)]
        if not wanted or not can(self._agents[agent], CanCompact):
            return None
        others = tuple([effect for effect in result.effects if not isinstance(effect, CompactSession)])
        message = replace(result.message, agents=(agent,), compacts=True, prompt=wanted[-1].instructions)
        return replace(result, message=message, outcome=PASS, effects=others)

    async def perform(self, effect: Effect, asking: EffectContext) -> EffectResult:
        conversation, agent, members, now = asking.conversation, asking.agent, asking.members, asking.now
        place = (conversation.route.channel, conversation.route.account)
        match effect:
            case StopRun(route=route):
                await self._parts.subagents.stop(route)
                await self._parts.queue.lanes.stop(self._parts.queue.lanes.at(route))
                return await self._stop_elsewhere(route, asking)
            case ResetSession(session=session):
                await self._reset(session, agent)
                return self._has_reset(effect, conversation, agent, now)
            case CompactSession():
                return EffectResult(says=f"The agent {agent} keeps its own memory; /new starts a new session.")
            case AnswerQuestion(question=question, option=option, sender=sender):
                pressed = _pressed(asking.event.inbound)
                answered = self._parts.questions.answer(question, option, conversation.route, sender, pressed)
                return EffectResult(answered.verbs, answered.then, answered.says)
            case ReviseMessage():
                return await self._revise(effect, conversation)
            case Overhear(said=said):
                return EffectResult(then=lambda: conversation.overheard.hear(said, members))
            case ResetBotTurns():
                return EffectResult((ClearBotTurns(conversation.route),), lambda: _let_bots_go_on(conversation))
            case AskPairing():
                return EffectResult((self._access.request_pairing(effect, now),), lambda: self._access.changed(place))
            case ApprovePairing(code=code):
                return EffectResult((self._access.approve(code, now),), lambda: self._access.changed(place))
            case ReportFailure(what=what, detail=detail):
                log.error("%s failed: %s", what, detail)
            case ShowConfig(key=key):
                return EffectResult(says=self._settings.now.show_config(key))
            case EditAllowList():
                return EffectResult(self._access.edit(effect), lambda: self._access.changed(place))
            case ResendParts(route=route):
                return EffectResult(says=await self._resend(route, conversation.outbox))
            case UseTool(tool=tool):
                return EffectResult(says=f"There is no tool {tool}.")
            case ShowContext() | ExportSession() | RestartGateway() | RunShell():
                return await self._attempted(effect, asking)
            case ChangeDebug() | ChangeInvitations() | WriteConfig() | AskSubagents() | SpeakText():
                return await self._attempted(effect, asking)
            case _:
                assert_never(effect)
        return DONE

    async def _stop_elsewhere(self, route: Route, asking: EffectContext) -> EffectResult:
        """Stops work of other homes for this place: sessions of jobs may be at home elsewhere (SC-15)."""
        services = self._parts.services
        if services.shards == 1:
            return DONE
        found = await services.store.sessions_at_work(route, beside=True)
        elsewhere = [each for each in found if not services.is_at_home(each)]
        if not elsewhere:
            return DONE
        runs = replace(asking.message.facts.run_facts, nothing_to_stop=False)
        stop = StopWork(route, asking.event.id)
        return EffectResult(
            tuple([AskHome(each, stop) for each in elsewhere]), says=reply_to_stop(asking.message, runs)
        )

    async def _resend(self, route: Route | None, outbox: Outbox) -> str:
        """Sends again what was never confirmed or was given up, and runs again what is quarantined (DU-2, DU-3)."""
        sent, again = await outbox.resend(route), await self._parts.queue.readmission.want(route)
        sentences = [f"Sent again: {sent}."] * bool(sent) + [f"Run again: {again}."] * bool(again)
        if sentences:
            return " ".join(sentences)
        return "Nothing is waiting to be sent again." if route is None else "Nothing here is waiting to be sent again."

    async def _attempted(self, command: GatewayCommand, asking: EffectContext) -> EffectResult:
        """Runs a command. If it fails, the person gets a sentence and the log the details (IN-60)."""
        try:
            return await self._run_command(command, asking)
        except (StoreUnavailable, Superseded):
            raise  # the message is decided again
        except Exception as problem:
            log.exception("%s failed", type(command).__name__)
            return EffectResult(says=f"That failed ({type(problem).__name__}); the gateway's log has the details.")

    async def _reset(self, session: str, agent: str) -> None:
        """The lane forgets what waits, and the agent what was said; the commit clears its saved session id."""
        await self._parts.subagents.stop_of(session)
        await self._parts.queue.lanes.forget(session)
        speaker = self._agents[agent]
        if can(speaker, CanForget):
            speaker.forget(session)

    def _has_reset(self, reset: ResetSession, conversation: Conversation, agent: str, now: datetime) -> EffectResult:
        hooks, who = self._hooks, (reset.session, agent, conversation.route)
        ended, started = SessionEnded(*who, reset.why, now), SessionStarted(*who, now)

        def tell() -> None:
            hooks.tell(ended, kept=True)
            hooks.tell(started, kept=True)

        return EffectResult((PutAgentSession(reset.session, None), *hooks.kept(ended), *hooks.kept(started)), tell)


def _let_bots_go_on(conversation: Conversation) -> None:
    conversation.set_bot_turns(BotTurns())


def _pressed(inbound: Inbound) -> str:
    """The message whose button was pressed, if the answer came by a button."""
    return inbound.reply_to.message_id if inbound.entry == "button" and inbound.reply_to is not None else ""

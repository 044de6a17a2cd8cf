"""Does what `/subagents`, `/kill` and `/steer` ask for (TU-36)."""

from rejoinder.events import AskSubagents
from rejoinder.runtime.place.effects import EffectContext, EffectResult
from rejoinder.runtime.session.subagents import SubagentParent, Subagents
from rejoinder.session import Session
from rejoinder.store.base import StoredSubagent
from rejoinder.turns.subagents import SpawnRequest

ALL = "all"


class SubagentCommands:
    def __init__(self, subagents: Subagents) -> None:
        self._subagents = subagents

    async def run(self, request: AskSubagents, asking: EffectContext) -> EffectResult:
        session = asking.session
        assert session is not None, "commands are read when their session is known"
        match request.what:
            case "list":
                return EffectResult(says=await self._subagents.listing(session.key))
            case "spawn":
                return EffectResult(says=await self._spawn(request, asking, session))
            case "kill" if request.name.lower() == ALL:
                ended = await self._subagents.stop_of(session.key)
                return EffectResult(says=f"Stopped: {ended}." if ended else "No sub-agent is at work here.")
            case _:
                kept = await self._subagents.find(session.key, request.name)
                if kept is None:
                    return EffectResult(says=f"There is no sub-agent called {request.name}; /subagents lists them.")
                return EffectResult(says=await self._about(request, _by(asking, session), kept))

    async def _spawn(self, request: AskSubagents, asking: EffectContext, session: Session) -> str:
        started = await self._subagents.start(SpawnRequest(request.name, request.text), _by(asking, session))
        if isinstance(started, str):
            return started
        return f"Sub-agent {started.name} is at work. /subagents log {started.name} shows what it does."

    async def _about(self, request: AskSubagents, by: SubagentParent, kept: StoredSubagent) -> str:
        match request.what:
            case "log":
                return await self._subagents.log(kept)
            case "kill":
                ended = await self._subagents.kill([kept])
                return f"Stopped {kept.name}." if ended else f"{kept.name} is not at work."
            case "send" | "steer":
                why = await self._subagents.send(kept, request.text, by, steer=request.what == "steer")
                return why or f"Told {kept.name}."
            case _:
                return await self._subagents.info(kept)


def _by(asking: EffectContext, session: Session) -> SubagentParent:
    """The person who wrote the command."""
    message = asking.message
    sender = message.inbound.sender
    return SubagentParent(
        session.key,
        asking.agent,
        asking.conversation.route,
        () if sender.is_bot else (sender.id,),
        message.actor.role == "owner",
        f"command/{asking.event.id}",
        by_person=True,
    )

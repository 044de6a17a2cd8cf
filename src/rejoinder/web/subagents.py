"""The sub-agents of a room of the page, from the store, and what those in this process are doing."""

from datetime import datetime

from rejoinder.channels.web.nouns import Room, Subagent, SubagentLine
from rejoinder.session import agent_of
from rejoinder.store.base import LogLine, StoredSubagent, log_of
from rejoinder.web.services import PageServices

MOST = 50
"""The most runs to list."""
MOST_ENTRIES = 100
MOST_CHARACTERS = 40_000
"""The most characters of a log, which a browser reads in one go."""
LONGEST_TASK = 500


class RoomSubagents:
    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._channel = services.channel.name

    async def listed(self, room: Room, person: str) -> tuple[Subagent, ...]:
        here, sees = await self._services.store.subagents_at(self._channel, room.id, MOST), self._services.sees_subagent
        return tuple([_subagent(stored) for stored in here if await sees(person, room, stored)])

    async def log(self, room: Room, person: str, subagent: str) -> tuple[tuple[SubagentLine, ...], bool] | None:
        store = self._services.store
        stored = await store.subagent(subagent)
        if stored is None or (stored.route.channel, stored.route.chat) != (self._channel, room.id):
            return None
        if not await self._services.sees_subagent(person, room, stored):
            return None
        entries = await store.transcript(stored.session, stored.started, MOST_ENTRIES)
        return _latest(log_of(stored, entries, *self._services.doing(stored.session)))


def _subagent(stored: StoredSubagent) -> Subagent:
    return Subagent(
        stored.session,
        stored.name,
        stored.agent,
        stored.state,
        stored.task[:LONGEST_TASK],
        _milliseconds(stored.started),
        None if stored.ended is None else _milliseconds(stored.ended),
        agent_of(stored.root),
        stored.route.thread,
        "" if stored.parent == stored.root else stored.parent,
        stored.result[:LONGEST_TASK] if stored.state == "failed" else "",
    )


def _latest(log: list[LogLine]) -> tuple[tuple[SubagentLine, ...], bool]:
    left, shown = MOST_CHARACTERS, list[SubagentLine]()
    for line in reversed(log):
        if left <= 0:
            break
        shown.append(SubagentLine(line.kind, line.text if len(line.text) <= left else f"…{line.text[-left:]}"))
        left -= len(line.text)
    return tuple(reversed(shown)), left < 0 or len(shown) < len(log)


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)

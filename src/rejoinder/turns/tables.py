"""The tables of this floor as Markdown: docs/turns.md and docs/cron.md are filled from `BLOCKS`."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Final

from rejoinder.tables import table
from rejoinder.turns.fallback import ON_FAILURE
from rejoinder.turns.job import OBSTACLES
from rejoinder.turns.modes import MODES, Mode, QueueSettings
from rejoinder.turns.phases import ON_ARRIVAL, ON_EVENT, OnArrival, OnEvent, Phase
from rejoinder.turns.status import EMOJI
from rejoinder.turns.suspicion import VERDICTS


def mode_table() -> str:
    return table(
        ["mode", "a message that comes while a run is active", "gathers", "debounce", "cap and drop"],
        (
            [f"`{mode}`", traits.meaning, *map(_yes, (traits.gathers, traits.debounced, traits.capped))]
            for mode, traits in MODES.items()
        ),
    )


def settings_table() -> str:
    defaults = QueueSettings()
    fields = QueueSettings.__struct_fields__
    return table(["setting", "default"], ([f"`{field}`", f"`{getattr(defaults, field)}`"] for field in fields))


def phase_list() -> str:
    return _list(Phase)


def arrival_table() -> str:
    """What an arrival does, by phase and mode."""
    grid = table(
        ["phase", *(f"`{mode}`" for mode in Mode)],
        ([_word(phase), *(_word(ON_ARRIVAL[phase, mode]) for mode in Mode)] for phase in Phase),
    )
    return f"{grid}\n\n{_list(OnArrival)}"


def event_table() -> str:
    """What every other event does, by phase and event."""
    events = list(dict.fromkeys(event for _, event in ON_EVENT))
    grid = table(
        ["phase", *(event.__name__ for event in events)],
        ([_word(phase), *(_word(ON_EVENT[phase, event]) for event in events)] for phase in Phase),
    )
    return f"{grid}\n\n{_list(each for each in OnEvent if each is not OnEvent.NOTHING)}"


def failure_table() -> str:
    return table(
        ["failure", "means", "again", "next model", "cool-down"],
        (
            [
                f"`{kind}`",
                each.meaning,
                "once" if each.retry else "no",
                _yes(each.next_model),
                _yes(each.cools_down),
            ]
            for kind, each in ON_FAILURE.items()
        ),
    )


def status_table() -> str:
    return table(["state", "reaction"], ([f"`{state}`", emoji] for state, emoji in EMOJI.items()))


def obstacle_table() -> str:
    """Why a tick passes without a turn."""
    return table(
        ["reason", "of", "also by hand"],
        ([each.reason, each.whose, _yes(each.also_by_hand)] for each in OBSTACLES),
    )


def suspicion_table() -> str:
    """When a turn that a crash interrupted runs again."""
    return table(
        ["crashes in which it was under way", "of these, alone", "it runs again"],
        ([_at_least(least.crashes), _at_least(least.alone), verdict.value] for least, verdict in VERDICTS),
    )


BLOCKS: Final[dict[str, Callable[[], str]]] = {
    "queue-modes": mode_table,
    "queue-settings": settings_table,
    "lane-phases": phase_list,
    "lane-arrivals": arrival_table,
    "lane-events": event_table,
    "model-failures": failure_table,
    "status-reactions": status_table,
    "clock-obstacles": obstacle_table,
    "suspicion": suspicion_table,
}


def _list(members: Iterable[Enum]) -> str:
    return "\n".join(f"- **{_word(member)}**: {member.value}" for member in members)


def _at_least(count: int) -> str:
    return f"{count} or more" if count else "any number"


def _word(member: Enum) -> str:
    return "" if member is OnEvent.NOTHING else member.name.lower()


def _yes(mark: bool) -> str:
    return "yes" if mark else "no"

"""The tables of this floor as Markdown: docs/turns.md is filled from here."""

from collections.abc import Iterable

from rejoinder.turns.lane import ON_ARRIVAL, ON_EVENT, Do, Phase
from rejoinder.turns.modes import MODES, Mode, QueueSettings


def mode_table() -> str:
    """The modes as a Markdown table, for the docs."""
    rows = ["| mode | a message that comes while a run is active | gathers | debounce | cap and drop |"]
    rows.append("|---|---|---|---|---|")
    for mode, traits in MODES.items():
        marks = " | ".join(
            "yes" if mark else "no" for mark in (traits.gathers, traits.debounced, traits.capped)
        )
        rows.append(f"| `{mode}` | {traits.meaning} | {marks} |")
    return "\n".join(rows)


def settings_table() -> str:
    """The queue's settings with their defaults as a Markdown table, for the docs."""
    defaults = QueueSettings()
    rows = ["| setting | default |", "|---|---|"]
    rows += [f"| `{field}` | `{getattr(defaults, field)}` |" for field in QueueSettings.__struct_fields__]
    return "\n".join(rows)


def phase_list() -> str:
    return "\n".join(f"- **{phase.name.lower()}**: {phase.value}" for phase in Phase)


def arrival_table() -> str:
    """What an arrival does, phase by mode, as a Markdown table."""
    head = " | ".join(f"`{mode}`" for mode in Mode)
    rows = [f"| phase | {head} |", "|---" * (len(Mode) + 1) + "|"]
    for phase in Phase:
        cells = " | ".join(_word(ON_ARRIVAL[phase, mode]) for mode in Mode)
        rows.append(f"| {phase.name.lower()} | {cells} |")
    return "\n".join((*rows, "", _legend(ON_ARRIVAL.values())))


def event_table() -> str:
    """What every other event does, phase by event, as a Markdown table."""
    events = list(dict.fromkeys(event for _, event in ON_EVENT))
    head = " | ".join(event.__name__ for event in events)
    rows = [f"| phase | {head} |", "|---" * (len(events) + 1) + "|"]
    for phase in Phase:
        cells = " | ".join(_word(ON_EVENT[phase, event]) for event in events)
        rows.append(f"| {phase.name.lower()} | {cells} |")
    return "\n".join((*rows, "", _legend(ON_EVENT.values())))


def _word(do: Do) -> str:
    return "" if do is Do.NOTHING else do.name.lower()


def _legend(used: Iterable[Do]) -> str:
    shown = set(used) - {Do.NOTHING}
    return "\n".join(f"- **{do.name.lower()}**: {do.value}" for do in Do if do in shown)

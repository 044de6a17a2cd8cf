"""The docs say what the code does."""

import re
from pathlib import Path

from rejoinder.turns.fallback import ON_FAILURE
from rejoinder.turns.modes import MODES
from rejoinder.turns.phases import Phase
from rejoinder.turns.signals import Event
from rejoinder.turns.tables import BLOCKS, arrival_table, event_table, failure_table, mode_table, phase_list

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_are_as_generated() -> None:
    """Every block of docs/turns.md and docs/cron.md that this floor fills is known and up to date."""
    text = "\n".join((DOCS / page).read_text("utf-8") for page in ("turns.md", "cron.md"))
    found = re.findall(r"<!-- generated: (\S+) -->\n(.*?)\n?<!-- end -->", text, re.DOTALL)
    assert dict(found) == {name: make() for name, make in BLOCKS.items()}


def test_the_tables_name_everything() -> None:
    """Each mode, phase, event and failure has its row or column."""
    assert all(f"| `{mode}` | {traits.meaning} |" in mode_table() for mode, traits in MODES.items())
    assert all(f"| {phase.name.lower()} |" in arrival_table() for phase in Phase)
    assert all(phase.value in phase_list() for phase in Phase)
    names = {event.__name__ for event in Event.__args__} - {"MessageArrived"}
    assert all(f" {name} |" in event_table() for name in names)
    assert all(f"| `{kind}` |" in failure_table() for kind in ON_FAILURE)
    assert "| `overloaded` | the provider is overloaded | once | yes | yes |" in failure_table()

"""What a kind of agent declares is read without loading what it needs to answer."""

import subprocess
import sys

from rejoinder.config.kinds import agent_kinds

HEAVY = ("aiohttp", "acp", "xllamacpp", "emoji", "starlette", "sqlite3")

PROGRAM = f"""
import sys
from rejoinder.config.kinds import INSTALLED, agent_kinds
kinds = agent_kinds()
assert len(kinds) >= 8 and set(INSTALLED.agents) == set(kinds), kinds
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & set({HEAVY!r})))
"""


def test_reading_all_declarations_loads_no_provider():
    """CH-1: configuration, docs and the search for an agent read declarations; only `open` imports a client or SDK."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_what_a_kind_says_of_its_sessions_and_files():
    """SC-7: sessions of a program and of a model on this machine stay with the machine. Only a program reads files."""
    kinds = agent_kinds()
    assert {name for name, kind in kinds.items() if kind.machine_bound} == {"acp", "local"}
    assert {name for name, kind in kinds.items() if kind.reads_files} == {"acp"}
    assert [name for name, kind in kinds.items() if kind.last_resort] == ["tour"]


def test_the_record_of_a_kind_is_its_own():
    """One record for each kind, in the module that declares it."""
    for name, kind in agent_kinds().items():
        assert kind.settings.__module__ == f"rejoinder.agents.{name}"

"""Rooms that may not know each other say the same words: here they are laid side by side."""

from typing import get_args

from rejoinder.agents.base import FailureKind
from rejoinder.agents.failures import SENTENCES
from rejoinder.agents.thinking_levels import LEVELS as OF_AGENTS
from rejoinder.config.schema import QueueSection as Configured
from rejoinder.errors import FAULTS, Fault
from rejoinder.inbound.directives.levels import LEVELS
from rejoinder.inbound.rules import USUAL_QUEUE
from rejoinder.inbound.settings import ThinkLevel
from rejoinder.session import QueueDrop, QueueMode
from rejoinder.turns.modes import DropPolicy, Mode, QueueSettings


def test_levels_of_thinking():
    """IN-52: what a person may type, an operator may write and an agent understands."""
    assert tuple(LEVELS["think"]) == get_args(ThinkLevel) == OF_AGENTS


def test_modes_of_the_queue():
    """TU-3, TU-5: what a person may choose is what a lane does."""
    assert set(get_args(QueueMode)) == set(Mode)
    assert set(get_args(QueueDrop)) == set(DropPolicy)


def test_defaults_of_the_queue():
    """TU-4: what is told to people before anybody chose is what holds then."""
    usual, written = QueueSettings(), Configured()
    assert type(USUAL_QUEUE)(usual.mode, usual.debounce_ms, usual.cap, usual.drop) == USUAL_QUEUE
    shared = [name for name in QueueSettings.__struct_fields__ if name != "mode"]
    assert {name: getattr(written, name) for name in shared} == {name: getattr(usual, name) for name in shared}


def test_failures_of_agents():
    """TU-22: every failure has a sentence for the person who waits."""
    assert set(SENTENCES) == set(get_args(FailureKind))


def test_faults_of_the_store():
    """DU-15: every fault has its advice."""
    assert set(FAULTS) == set(get_args(Fault))

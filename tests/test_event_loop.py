import asyncio

import uvloop

from rejoinder import event_loop

SQLITE = "sqlite:rejoinder.db"


def test_a_process_that_serves_runs_on_uvloop():
    with asyncio.Runner(loop_factory=event_loop.fast_loop(SQLITE)) as runner:
        assert isinstance(runner.get_loop(), uvloop.Loop)


def test_without_uvloop_it_runs_on_pythons_own(monkeypatch):
    monkeypatch.setattr(event_loop, "uvloop", None)
    with asyncio.Runner(loop_factory=event_loop.fast_loop(SQLITE)) as runner:
        assert isinstance(runner.get_loop(), asyncio.SelectorEventLoop)


def test_with_postgresql_it_runs_on_pythons_own():
    """uvloop does not say that a watched socket has failed: a gateway would wait for a server that is gone."""
    assert event_loop.fast_loop("postgresql://here/chats") is None

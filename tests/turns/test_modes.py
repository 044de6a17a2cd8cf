"""Which queue settings apply, and what the docs say of them."""

import msgspec
import pytest

from rejoinder.turns.modes import MODES, DropPolicy, Mode, QueueOverride, QueueSettings, resolve

LAYERS = ("inline", "session", "channel", "gateway", "plugin")


def test_the_defaults() -> None:
    """TU-4, TU-6: collect, 1000 ms, cap 20, summarize; batches of 10 messages and 24000 tokens."""
    expected = QueueSettings(Mode.COLLECT, 1000, 20, DropPolicy.SUMMARIZE, max_batch=10, max_batch_tokens=24_000)
    assert resolve() == expected


@pytest.mark.parametrize("highest", range(len(LAYERS)))
def test_the_nearest_layer_wins(highest: int) -> None:
    """TU-4: inline directive > session > channel > global > the channel plug-in's default."""
    said = {name: QueueOverride(cap=at + 1) for at, name in enumerate(LAYERS) if at >= highest}
    assert resolve(**said).cap == highest + 1


def test_each_field_is_looked_up_by_itself() -> None:
    """TU-4: `/queue cap=5` leaves the session's mode and the channel's debounce alone."""
    settings = resolve(
        inline=QueueOverride(cap=5),
        session=QueueOverride(mode=Mode.STEER),
        channel=QueueOverride(debounce_ms=0),
    )
    assert settings == QueueSettings(mode=Mode.STEER, cap=5, debounce_ms=0)


@pytest.mark.parametrize("text", ['{"cap": 0}', '{"debounce_ms": -1}', '{"mode": "stear"}', '{"cpa": 3}'])
def test_settings_that_cannot_be_obeyed_are_refused(text: str) -> None:
    """TU-4: at load, not at the first message."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=QueueOverride)


def test_every_mode_has_its_traits() -> None:
    """TU-3."""
    assert set(MODES) == set(Mode)

"""What a process that serves for long may take for granted."""

import gc

from rejoinder.testing import ScriptedAgent, conversation


async def test_what_a_turn_leaves_behind_goes_away_by_itself():
    """A turn makes no cycle: the collector has nothing to find, so it need not come for every message."""
    async with conversation(ScriptedAgent("One.", "Two.", "Three.")) as chat:
        await chat.says("begin")  # what is made once for a conversation is made here
        await chat.hears("One.")
        await chat.rests()
        gc.collect()
        for answer in ("Two.", "Three."):
            await chat.says("go on")
            await chat.hears(answer)
        await chat.rests()
        ours = [kind for kind in _cycles() if kind.__module__.startswith("rejoinder.")]
    assert ours == []


def _cycles() -> list[type]:
    """The types of all that can only be freed by the collector."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return [type(thing) for thing in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()

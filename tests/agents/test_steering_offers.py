"""What is said while a run is under way: taken in, or left for a turn of its own."""

import asyncio

from rejoinder.agents.base import CanSteer
from rejoinder.agents.python import Settings, text_of
from rejoinder.agents.python.function import PythonAgent
from rejoinder.agents.steering_offers import SteeringOffers
from rejoinder.events import PromptText, Turn
from rejoinder.testing.agent_contract import a_turn, everything
from rejoinder.testing.agent_contract import text_of as text_in


def said(text: str) -> Turn:
    return Turn("session-1", (PromptText(text),))


async def test_taken_is_taken_once_and_in_order():
    """TU-3: never both."""
    further = SteeringOffers()
    offers = [asyncio.ensure_future(further.offer(said(text))) for text in ("one", "two")]
    await asyncio.sleep(0)
    assert [text_of(turn) for turn in further.take()] == ["one", "two"]
    assert further.take() == []
    assert await asyncio.gather(*offers) == [True, True]


async def test_what_is_not_taken_when_the_run_ends_is_refused():
    """TU-9: nothing is lost between the last look and the end."""
    further = SteeringOffers()
    offer = asyncio.ensure_future(further.offer(said("one")))
    await asyncio.sleep(0)
    further.close()
    assert not await offer
    assert not await further.offer(said("two"))


async def test_who_gave_up_waiting_has_taken_it_back():
    """TU-3: it runs after, so the run must not answer it too."""
    further = SteeringOffers()
    offer = asyncio.ensure_future(further.offer(said("one")))
    await asyncio.sleep(0)
    offer.cancel()
    await asyncio.wait([offer])
    assert further.take() == []


async def test_a_plain_function_takes_from_its_thread():
    """TU-32: the ability `steer`, of a function with a parameter for it."""
    begun, go = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def shout(turn: Turn, further: SteeringOffers):
        yield "Hello"
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(go.wait(), loop).result(5)
        for meanwhile in further.take():
            yield f" and {text_of(meanwhile)}"

    agent = PythonAgent("mine", Settings(call="-:-"), shout)
    assert isinstance(agent, CanSteer)
    run = asyncio.ensure_future(everything(agent, a_turn("hello")))
    await begun.wait()
    offer = asyncio.ensure_future(agent.steer(said("goodbye")))
    await asyncio.sleep(0)
    go.set()
    assert text_in(await run) == "Hello and goodbye"
    assert await offer
    assert not await agent.steer(said("too late"))


async def test_a_function_without_a_place_for_it_refuses():
    agent = PythonAgent("mine", Settings(call="-:-"), lambda turn: "Hello")
    assert not await agent.steer(said("more"))

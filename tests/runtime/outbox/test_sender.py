"""One sender per conversation: order, outcomes, limits, restarts."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from rejoinder.channels.base import Delivered, Limits, Rejected, RetryAfter, Unknown
from rejoinder.channels.telegram import CHANNEL
from rejoinder.errors import StoreUnavailable
from rejoinder.events import DeliveryFailed, Part, ReplySent, Route
from rejoinder.outbound import plan, verdict
from rejoinder.outbound.budget import Rate
from rejoinder.outbound.draft import Streaming
from rejoinder.outbound.operations import Amend, React, Say, decode, keyed, kind, words
from rejoinder.outbound.plan import AnswerWording
from rejoinder.rendering import RenderOptions
from rejoinder.runtime import account_pace, write_batch
from rejoinder.runtime.outbox import yielding_calls
from rejoinder.runtime.outbox.delivery_results import Sent
from rejoinder.runtime.outbox.performing import intent
from rejoinder.store.base import YIELDING, ClaimPart, MarkSent, MarkUnknown, PartIntent, PlanParts, RetryPart
from rejoinder.testing import FakeDeduplicator, FakeMessenger
from rejoinder.testing.patience import PATIENCE, until
from tests.runtime.places import place

ROUTE = Route("fake", "room")
PLAIN = Part(ROUTE, "*hi*")
SAY = Say(Part(ROUTE, "hi"))
FORMATTED = Say(Part(ROUTE, "hi", html="<b>hi</b>"), PLAIN)
REPLY = Say(Part(ROUTE, "hi", reply_to="7"))
EDIT = Amend("5", Part(ROUTE, "hi"))
REACT = React("5", "👀")


class Finder(FakeMessenger):
    """Can look up what arrived."""

    def __init__(self, *found):
        super().__init__()
        self.found = list(found)

    async def find(self, part, since):
        return self.found.pop(0)


# --- at work ------------------------------------------------------------------------------------


async def test_nothing_is_sent_that_is_not_committed():
    """DE-30: the row is `sending` when the platform hears of it, and has its receipt after."""
    states = []

    class Looking(FakeMessenger):
        async def send(self, part):
            states.extend(await here.states(run))
            return await super().send(part)

    async with place(Looking()) as here:
        run = await here.turn()
        await here.says("Hi.", run=run)
        assert states == [("say", "sending")]
        (part,) = (await here.store.turn(run.turn)).parts
        assert (part.state, part.receipt, words(decode(part.body))) == ("sent", "9001", "Hi.")
        assert here.conversation.messages.find("m2") == "9001"
    assert here.told == [ReplySent(here.route, "9001", "Hi.", run.turn)]


async def test_messages_of_one_conversation_go_out_one_after_the_other():
    """DE-3: a serial chain."""
    going, go = asyncio.Event(), asyncio.Event()

    class Slow(FakeMessenger):
        under_way = 0

        async def send(self, part):
            assert not self.under_way
            self.under_way += 1
            going.set()
            await go.wait()
            self.under_way -= 1
            return await super().send(part)

    async with place(Slow()) as here:
        for text in "abcde":
            here.sender.post(plan.say(text, here.route, RenderOptions(CHANNEL.renderer), AnswerWording(), "t"))
        await going.wait()
        go.set()
        await here.rests()
        assert here.seen() == [*"abcde"]


def reactions(number):
    return [plan.PlannedOperation(*keyed(React("9001", "👀", author=str(each)), "t")) for each in range(number)]


async def test_words_overtake_the_reactions_that_wait():
    """DE-32: final > action. All are asked for at once; a reaction hangs on what is there, and nothing on it."""
    assert {kind(each.operation) for each in reactions(1)} == {YIELDING}
    async with place(FakeMessenger()) as here:
        await here.conversation.send("one")
        for each in reactions(3):
            here.sender.post((each,))
        for text in ("two", "three"):
            here.sender.post(plan.say(text, here.route, RenderOptions(CHANNEL.renderer), AnswerWording(), "t"))
        await here.rests()
        assert here.channel.calls == ["send", "send", "send", "react", "react", "react"]
        assert here.seen() == ["one", "two", "three"]
        assert [author for author, *_ in here.channel.reacted] == ["0", "1", "2"]


async def test_reactions_that_wait_for_the_budget_cost_an_answer_one_call():
    """DE-32: however many there are, the words wait until the next call may be made, and for none of them."""
    async with place(FakeMessenger(), chat_rate=Rate(1, 100.0)) as here:
        await here.conversation.send("one")
        for each in reactions(20):
            here.sender.post((each,))
        await here.channel.until(lambda: len(here.channel.reacted) == 3)
        await here.conversation.send("two")
        assert len(here.channel.reacted) < 20
        await here.channel.until(lambda: len(here.channel.reacted) == 20)


@pytest.mark.parametrize("outcome", [RetryAfter(600, "502"), Unknown("reset")])
async def test_a_reaction_that_is_put_off_holds_up_no_words(outcome):
    """DE-32: it is tried again at its time, behind them; also one of which nobody knows whether it arrived."""
    async with place(FakeMessenger()) as here:
        await here.conversation.send("one")
        here.channel.fails(outcome)
        here.sender.post(reactions(1))
        await here.rests()
        assert await here.conversation.send("two") is not None
        assert here.channel.reacted == []
        here.ahead = timedelta(hours=1)
        here.sender.wake(rows=True)
        await here.rests()
        assert len(here.channel.reacted) == 1


async def test_a_draft_goes_on_while_something_is_put_off():
    """DE-20, DE-32: until its time comes the line is free; then it goes."""
    async with place(FakeDeduplicator()) as here:
        answer = here.answer(await here.turn())
        await answer.feed("One")
        await here.rests()
        here.channel.fails(RetryAfter(600, "502"))
        here.sender.post(reactions(1))
        await here.rests()
        for piece in (", two", ", three."):
            await answer.feed(piece)
            await here.rests()
        assert here.seen() == ["One, two, three."]
        assert here.channel.reacted == []
        assert here.sender._alarm is not None
        assert here.sender._alarm.when - asyncio.get_running_loop().time() <= 600
        here.ahead = timedelta(hours=1)
        here.sender.wake()
        await here.rests()
        assert len(here.channel.reacted) == 1


async def test_a_piece_that_is_not_shown_yet_starts_no_task():
    """A draft that is due later waits for its time: an answer that is whole by then costs one task, not two."""
    async with place(FakeDeduplicator(), streaming=Streaming("edits", pace=60.0)) as here:
        answer = here.answer(await here.turn())
        for piece in ("One", ", two", ", three."):
            await answer.feed(piece)
            assert here.sender.work is None
        assert here.seen() == []
        await answer.finish()
        assert here.seen() == ["One, two, three."]
        assert here.sender._alarm is None


async def test_a_reaction_that_is_not_answered_is_let_go_when_words_wait(monkeypatch):
    """DE-32: it is tried again behind them; a reaction that stands twice stands once."""
    monkeypatch.setattr(yielding_calls, "PATIENCE", 0.0)
    hangs = asyncio.Event()

    class Hanging(FakeMessenger):
        async def react(self, route, message, emoji, *, remove=False, author=""):
            if not hangs.is_set():
                hangs.set()
                await asyncio.Event().wait()
            return await super().react(route, message, emoji, remove=remove, author=author)

    async with asyncio.timeout(PATIENCE), place(Hanging()) as here:
        await here.conversation.send("one")
        here.sender.post(reactions(1))
        await hangs.wait()
        assert await here.conversation.send("two") == "9002"
        assert here.channel.reacted == []
        here.ahead = timedelta(hours=1)
        here.sender.wake(rows=True)
        await here.rests()
        assert len(here.channel.reacted) == 1


async def test_the_end_of_an_answer_has_its_reactions_behind_it():
    """DE-30: words go first, but nothing is planned after the answer that was asked for before it: a crash between
    would forget it, for the agent is not asked again."""
    async with place(FakeMessenger()) as here:
        run = await here.turn()
        here.sender.post(reactions(1), run)
        await here.says("Done.", run=run)
        assert await here.states(run) == [("react", "sent"), ("say", "sent")]


async def test_a_refusal_does_not_stop_what_follows():
    """DE-3, DE-33: it is dead, listed and told; the next goes out."""
    async with place(FakeMessenger()) as here:
        here.channel.fails(Rejected("kicked", "gone"))
        assert await here.conversation.send("one") is None
        assert await here.conversation.send("two") == "9001"
        (dead,) = await here.store.parts_in("dead")
        assert here.told[0] == DeliveryFailed(here.route, dead.key, "one", "kicked")
        assert await here.outbox.resend(here.route) == 1
        await here.rests()
    assert here.seen() == ["two", "one"]


async def test_formatting_that_is_refused_goes_out_plain_under_another_key():
    """DE-13, DU-4: once, for that chunk only, in its place."""
    first, second = "**bold** " + "word " * 40, "*light* " + "more " * 40
    async with place(FakeMessenger(limits=Limits(300))) as here:
        here.channel.fails(Rejected("can't parse entities", "formatting"))
        await here.conversation.send(f"{first}\n\n{second}")
        refused, plain, after = here.channel.parts
        assert (refused.entities != (), plain.entities) == (True, ())
        assert plain.text == first.strip()
        assert refused.key != plain.key
        assert after.entities != ()


async def test_a_target_that_is_gone_costs_the_reply_and_not_the_message():
    """OD-62: plain send, once. Never two messages."""
    async with place(FakeMessenger()) as here:
        here.channel.fails(Rejected("message to be replied not found", "target"))
        await here.conversation.send("hi", reply_to="404")
        assert [(part.text, part.reply_to) for part in here.channel.parts] == [("hi", "404"), ("hi", None)]
        assert here.seen() == ["hi"]


async def test_an_answer_of_which_everything_else_is_gone_is_said():
    """OD-62, DU-2: the draft was deleted and so was the question: first as a reply, then plainly, and once."""
    async with place(FakeMessenger()) as here:
        gone = Rejected("not found", "target")
        here.channel.fails(gone, gone)
        answer = Amend("404", Part(ROUTE, "hi", reply_to="403"))
        (fate,) = here.sender.post((plan.PlannedOperation(*keyed(answer, "t1")),))
        assert isinstance(await fate, Sent)
        assert here.channel.calls == ["edit", "send", "send"]
        assert [part.reply_to for part in here.channel.parts[-2:]] == ["403", None]
        assert here.seen() == ["hi"]


@pytest.mark.parametrize(("outcome", "seen"), [(None, ["new"]), (Unknown("reset"), ["old"])])
async def test_what_is_replaced_goes_when_all_that_replaces_it_is_there(outcome, seen):
    """OD-61: also of what belongs to no turn, as a notice in the place of a draft."""
    async with place(FakeMessenger()) as here:
        await here.conversation.send("old")
        if outcome is not None:
            here.channel.fails(outcome)
        here.sender.post(
            plan.settle("new", (plan.Slot("9001", "old"),), here.route, RenderOptions(), AnswerWording("7"), "g/1")
        )
        await here.rests()
        assert here.seen() == seen


async def test_a_limit_is_kept_and_is_no_try():
    """DE-32: no call inside the window; everything to that chat waits; finals are never dropped."""
    async with place(FakeMessenger()) as here:
        loop = asyncio.get_running_loop()
        here.channel.fails(RetryAfter(0.2, "429", limited=True))
        began = loop.time()
        sending = await here.begins(asyncio.gather(here.conversation.send("one"), here.conversation.send("two")))
        assert here.channel.calls == ["send"]
        assert not here.sender.pace.has_room("typing")
        await sending
        assert loop.time() - began >= 0.2
        assert here.seen() == ["one", "two"]


async def test_the_limit_of_an_account_holds_for_every_chat():
    """DE-32: a global one: the whole account."""
    async with place(FakeMessenger()) as here:
        here.channel.fails(RetryAfter(60, "429", limited=True, everywhere=True))
        sending = await here.begins(here.conversation.send("one"))
        other = here.outbox.at(Route("fake", "elsewhere"))
        assert not other.pace.has_room("final")
        sending.cancel()


async def test_the_limit_of_a_chat_holds_for_its_threads():
    """DE-32: everything to that chat waits, and all of it is counted together; other chats go on."""
    async with place(FakeMessenger(), chat_rate=Rate(2, 0.01)) as here:
        thread, elsewhere = (here.outbox.at(Route("fake", *at)) for at in (("room", "topic"), ("elsewhere",)))
        await here.conversation.send("one")
        assert (thread.pace.has_room("final"), thread.pace.has_room("edit")) == (True, False)
        assert elsewhere.pace.has_room("edit")
        here.channel.fails(RetryAfter(60, "429", limited=True))
        sending = await here.begins(here.conversation.send("two"))
        assert thread.pace.seconds_to_wait("final") > 50
        assert elsewhere.pace.has_room("final")
        sending.cancel()


async def test_what_the_platform_did_not_take_is_tried_again_with_the_same_bytes():
    """DE-32, DU-4: identical bytes under the same key."""
    async with place(FakeMessenger()) as here:
        here.channel.fails(RetryAfter(0.01, "502"))
        sending = await here.begins(here.conversation.send("one"))
        here.ahead = timedelta(minutes=5)
        here.sender.wake(rows=True)
        assert await sending == "9001"
        first, second = here.channel.parts
        assert first == second


@pytest.mark.parametrize(
    "outcome", [RetryAfter(0.01, "502 Gr\udcfc\udcdfe"), Rejected("no\udcff\0"), Unknown("\udcff")]
)
async def test_a_reason_that_is_no_text_ends_no_sender(outcome):
    """DE-30: a proxy may answer in any encoding; what is said next in the conversation still goes out."""
    async with place(FakeMessenger()) as here:
        here.channel.fails(outcome)
        sending = await here.begins(here.conversation.send("one"))
        here.ahead = timedelta(minutes=5)
        here.sender.wake(rows=True)
        async with asyncio.timeout(PATIENCE):
            await sending
            assert await here.conversation.send("two")


async def test_a_native_key_makes_sending_again_harmless():
    """DU-3: native key: 0 lost, 0 duplicated."""
    async with place(FakeDeduplicator()) as here:
        here.channel.fails(Unknown("reset"), accepted=True)
        sending = await here.begins(here.conversation.send("one"))
        here.ahead = timedelta(minutes=5)
        here.sender.wake(rows=True)
        assert await sending == "9001"
        assert here.seen() == ["one"]


async def test_a_blind_platform_holds_and_an_owner_resends():
    """DU-3: never a duplicate, shown as unconfirmed; what follows is not held up."""
    async with place(FakeMessenger()) as here:
        here.channel.fails(Unknown("reset"))
        assert await here.conversation.send("one") is None
        assert await here.conversation.send("two") == "9001"
        (held,) = await here.store.parts_in("held")
        assert held.error == "reset"
        assert await here.outbox.resend(here.route, "held") == 1
        await here.rests()
        assert here.seen() == ["two", "one"]


@pytest.mark.parametrize(
    ("found", "seen"),
    [([Delivered("9001")], ["one"]), ([RetryAfter(0)], ["one", "one"]), ([Unknown("x")] * 8, ["one"])],
)
async def test_a_platform_that_can_be_asked_is_asked(found, seen, monkeypatch):
    """DU-3: read back; sent again only when it is surely not there."""
    async with place(Finder(*found)) as here:
        monkeypatch.setattr(verdict, "LOOK_PAUSE", 0.0)
        here.channel.fails(Unknown("reset"), accepted=True)
        await here.conversation.send("one")
        assert here.seen() == seen


async def test_a_limit_is_kept_also_by_who_looks_something_up(monkeypatch):
    """DE-32: it says nothing about the part, which is looked up again when it is over; nothing goes there before."""
    monkeypatch.setattr(verdict, "MOST_LOOKS", 1)
    async with place(Finder(RetryAfter(60, "429", limited=True), Delivered("9001"))) as here:
        here.channel.fails(Unknown("reset"), accepted=True)
        sending = await here.begins(here.conversation.send("one"))
        assert not here.sender.pace.has_room("typing")
        (unknown,) = await here.store.parts_in("unknown")
        here.sender.settle(unknown)  # as it will be by then
        assert await sending == "9001"
        assert here.seen() == ["one"]


async def test_a_channel_that_fails_to_look_something_up_has_not_found_it(monkeypatch):
    """DE-3: a channel may be anybody's code; it is held in the end, and what follows goes out."""
    monkeypatch.setattr(verdict, "LOOK_PAUSE", 0.0)
    async with place(Finder()) as here:
        here.channel.fails(Unknown("reset"), accepted=True)
        assert await here.conversation.send("one") is None
        assert await here.conversation.send("two") is not None
        assert [row.state for row in await here.store.parts_in("held", "unknown")] == ["held"]


async def test_a_platform_that_refuses_to_look_has_not_lost_the_message(monkeypatch):
    """DU-3: that it cannot be asked for says nothing about it, so a person decides."""
    monkeypatch.setattr(verdict, "LOOK_PAUSE", 0.0)
    async with place(Finder(*[Rejected("missing access")] * 8)) as here:
        here.channel.fails(Unknown("reset"), accepted=True)
        assert await here.conversation.send("one") is None
        assert [row.state for row in await here.store.parts_in("held", "unknown")] == ["held"]


async def test_each_message_is_looked_for_as_long_as_the_first(monkeypatch):
    """DU-3: one that was not found takes nothing from the time of the next."""
    monkeypatch.setattr(verdict, "LOOK_PAUSE", 0.0)
    async with place(Finder(*[Unknown("not now")] * 9, Delivered("9001"))) as here:
        here.channel.fails(Unknown("reset"), accepted=True)
        assert await here.conversation.send("one") is None
        here.channel.fails(Unknown("reset"), accepted=True)
        assert await here.conversation.send("two") == "9001"


async def test_after_a_restart_what_was_under_way_is_settled_first():
    """DU-13: `sending` is unknown; then what waited goes out, in order, once."""
    async with place(FakeDeduplicator()) as here:
        here.channel.refuse = None
        run = await here.turn()
        here.channel.fails(RetryAfter(60, "502"))
        answering = await here.begins(here.says("one", run=run))
        answering.cancel()
        await asyncio.wait([answering])
        here.ahead = timedelta(hours=1)
        # A process claims it and dies in the middle of the call, which the platform took.
        claimed = await here.store.write(ClaimPart(here.route, here.now()))
        await here.channel.send(decode(claimed.body).part)
        await here.store.write(MarkUnknown(claimed, "the sender was gone"))
        here.restart()
        recovery = await here.store.recover(here.now())
        await here.outbox.recover(recovery.unknown, recovery.to_send)
        await here.rests()
        assert here.seen() == ["one"]
        assert await here.states(run) == [("say", "sent")]


@pytest.mark.parametrize("under_way", [False, True])
async def test_a_part_that_cannot_be_read_holds_up_nothing(under_way):
    """DE-3, DU-13: of another version, or damaged: it is dead, and what is behind it goes out."""
    async with place(FakeDeduplicator()) as here:
        (after,) = plan.say("one", here.route, RenderOptions(CHANNEL.renderer), AnswerWording(), "t")
        intents = (PartIntent("odd", here.route, b'{"type": "dance"}', "dance"), intent(after, here.route))
        await here.store.write(PlanParts(intents, here.now()))
        unknown = (await _unknown(here),) if under_way else ()
        await here.outbox.recover(unknown, (here.route,))
        await here.rests()
        assert here.seen() == ["one"]
        assert [row.key for row in await here.store.parts_in("dead")] == ["odd"]


async def _unknown(here):
    """As a start finds what a dead process was sending."""
    claimed = await here.store.write(ClaimPart(here.route, here.now()))
    return await here.store.write(MarkUnknown(claimed, "the sender was gone"))


async def test_what_is_settled_while_the_store_is_asked_is_sent(monkeypatch):
    """DU-13: an answer that is older than the settling does not hide what was settled."""
    async with place(FakeDeduplicator()) as here:
        run = await here.turn()
        planned = plan.say("one", here.route, RenderOptions(CHANNEL.renderer), AnswerWording(), "t")
        await here.store.write(PlanParts(tuple(intent(each, here.route) for each in planned), here.now(), run))
        row = await _unknown(here)
        settled, told, write, wake = asyncio.Event(), asyncio.Event(), here.store.write, here.sender.wake

        def woken(*, rows=False):
            wake(rows=rows)
            if settled.is_set():
                told.set()

        async def slow(*verbs):
            result = await write(*verbs)
            if isinstance(verbs[0], RetryPart):
                settled.set()
            elif isinstance(verbs[0], ClaimPart) and result is None:
                await told.wait()
            return result

        monkeypatch.setattr(here.store, "write", slow)
        monkeypatch.setattr(here.sender, "wake", woken)
        fate = here.sender.follow(row)
        here.sender.wake(rows=True)
        await asyncio.sleep(0)
        here.sender.settle(row)
        await here.rests()
        assert here.seen() == ["one"]
        assert isinstance(fate.result(), Sent)


async def test_a_part_of_a_run_that_was_superseded_is_never_said():
    """DU-11: the fence holds for what is said as well."""
    async with place(FakeMessenger()) as here:
        run = await here.turn()
        from rejoinder.store.base import EndRun

        await here.store.write(EndRun(run, "stopped", here.now()))
        answer = await here.says("late", run=run)
        assert here.seen() == []
        assert answer.undelivered == "cancelled, and never sent"


async def test_budgets_keep_the_pace_before_the_platform_has_to_say_so():
    """DE-32: a bucket for each chat; edits leave the last call for the final."""
    async with place(FakeMessenger(), chat_rate=Rate(2, 20.0)) as here:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.gather(*(here.conversation.send(text) for text in "abcd"))
        assert loop.time() - began >= 0.09
        assert not here.sender.pace.has_room("edit")
    assert here.seen() == [*"abcd"]


async def test_a_channel_that_raises_is_a_message_of_unknown_fate():
    """A channel may be anybody's code."""

    class Broken(FakeMessenger):
        async def send(self, part):
            raise ZeroDivisionError("by nought")

    async with place(Broken()) as here:
        assert await here.conversation.send("one") is None
        (held,) = await here.store.parts_in("held")
        assert held.error == "ZeroDivisionError: by nought"


class Halt(BaseException):
    """As some packages end what they do."""


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (SystemExit("enough"), "ForeignError: SystemExit: enough"),
        (KeyboardInterrupt(), "ForeignError: KeyboardInterrupt: "),
        (asyncio.CancelledError(), "ForeignError: something it waited for was cancelled"),
        (Halt("enough"), "ForeignError: Halt: enough"),
        (None, "the channel returned NoneType, which is no outcome"),
        ("sent", "the channel returned str, which is no outcome"),
        (Delivered(1.5), "the channel returned a Delivered that cannot be read: Expected `str`, got `float`"),
        (RetryAfter("soon"), "the channel returned a RetryAfter that cannot be read: Expected `float | null`"),
        (Rejected(None), "the channel returned a Rejected that cannot be read: Expected `str`, got `null`"),
    ],
)
async def test_whatever_a_channel_does_ends_its_call_and_nothing_more(bad, error):
    """DU-3: neither the gateway nor the task that sends here ends, and what is said next is sent."""

    class Broken(FakeMessenger):
        async def send(self, part):
            if part.text == "two":
                return await super().send(part)
            if isinstance(bad, BaseException):
                raise bad
            return bad

    async with asyncio.timeout(PATIENCE), place(Broken()) as here:
        assert await here.conversation.send("one") is None
        (held,) = await here.store.parts_in("held")
        assert held.error.startswith(error)
        await here.conversation.send("two")
        assert here.seen() == ["two"]


async def test_a_number_is_an_id_too():
    """A channel of another package may give back what its platform calls the message."""

    class Numbering(FakeMessenger):
        async def send(self, part):
            await super().send(part)
            return Delivered(7)

    async with asyncio.timeout(PATIENCE), place(Numbering()) as here:
        assert await here.conversation.send("one") == "7"


async def test_a_gateway_that_goes_down_ends_the_call_it_is_in():
    """DU-20, SIGTERM: what is under way gets its receipt, what is not stays planned; nothing is of unknown fate."""
    going, go = asyncio.Event(), asyncio.Event()

    class Slow(FakeMessenger):
        async def send(self, part):
            going.set()
            await go.wait()
            return await super().send(part)

    async with place(Slow()) as here:
        saying = [asyncio.ensure_future(here.conversation.send(text)) for text in "ab"]
        await going.wait()
        draining = asyncio.ensure_future(here.outbox.drain(0.0))
        while not here.sender._gate.is_shut:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        go.set()
        await draining
        census = await here.store.count_rows()
        assert census.parts == {"sent": 1, "planned": 1}
        for each in saying:
            each.cancel()


async def test_who_asks_while_the_receipt_is_being_written_hears_that_it_arrived(monkeypatch):
    """DU-2: an attempt that takes over a message neither misses it nor opens another one."""
    arrived, go = asyncio.Event(), asyncio.Event()
    async with place(FakeMessenger()) as here:
        write = here.store.write

        async def slowly(*verbs):
            if any(isinstance(verb, MarkSent) for verb in verbs):
                arrived.set()
                await go.wait()
            return await write(*verbs)

        monkeypatch.setattr(here.store, "write", slowly)
        saying = asyncio.ensure_future(here.conversation.send("one"))
        await arrived.wait()
        (row,) = await here.store.parts_in("sending")
        followed = here.sender.follow(row)
        while here.tasks.has("follow:fake:room"):  # noqa: ASYNC110 - who looks it up finds it under way
            await asyncio.sleep(0)
        go.set()
        assert await followed == Sent(await saying)


@pytest.mark.parametrize("comes_back", [True, False])
async def test_who_asks_while_the_store_cannot_be_read_is_answered(monkeypatch, comes_back):
    """DU-15, DU-2: when it can be read again; and when it is closed, nobody waits any longer."""
    monkeypatch.setattr(write_batch, "PAUSE", 0.01)
    async with place(FakeMessenger()) as here:
        run = await here.turn()
        await here.says("one", run=run)
        (row,) = (await here.store.turn(run.turn)).parts
        row = replace(row, state="sending", key="seen earlier")  # as it was read before its receipt was known
        read, tried = here.store.part, asyncio.Event()

        async def breaks(id):
            if tried.is_set() and comes_back:
                return await read(id)
            tried.set()
            raise StoreUnavailable("full" if comes_back else "closed", "here")

        monkeypatch.setattr(here.store, "part", breaks)
        followed = here.sender.follow(row)
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait([followed])
        assert followed.cancelled() or isinstance(followed.result(), Sent)
        assert followed.cancelled() is not comes_back


async def test_an_account_that_is_refused_pauses_and_nothing_is_given_up(caplog):
    """DE-32: 401: the channel pauses, rows stay."""
    async with place(FakeMessenger()) as here:
        here.channel.fails(Rejected("Unauthorized", "account"))
        sending = await here.begins(here.conversation.send("one"))
        sending.cancel()
        assert not here.sender.pace.has_room("final")
        assert (await here.store.count_rows()).parts == {"retry": 1}
    assert "fake: nothing can be sent: Unauthorized" in caplog.text


async def test_what_is_asked_for_later_does_not_take_the_one_try(monkeypatch):
    """DE-32: the one call by which a refused account is tried is that of what waits longest; then all goes on."""
    monkeypatch.setattr(account_pace, "TRY_SECONDS", 60.0)
    async with place(FakeMessenger()) as here:
        here.channel.fails(Rejected("Unauthorized", "account"))
        first = await here.begins(here.conversation.send("one"))
        here.sender._account.refused_until = 0.0
        async with asyncio.timeout(PATIENCE):
            await here.conversation.send("two")
            await first
        assert here.seen() == ["one", "two"]


@pytest.mark.parametrize("problem", [ZeroDivisionError, SystemExit, asyncio.CancelledError])
async def test_a_draft_that_fails_costs_the_draft_alone(problem):
    """DE-3: a channel may be anybody's code."""

    class Clumsy(FakeDeduplicator):
        async def edit(self, route, message, part):
            if part.text != "One, two, three.":
                raise problem("by nought")
            return await super().edit(route, message, part)

    async with place(Clumsy()) as here:
        answer = here.answer(await here.turn())
        for piece in ("One", ", two", ", three."):
            await answer.feed(piece)
            await here.rests()
        await answer.finish()
        assert here.seen() == ["One, two, three."]


async def test_a_frame_that_returns_no_outcome_is_not_shown_again_at_once():
    """DE-3: the final text is."""
    shown: list[str] = []

    class Forgetful(FakeDeduplicator):
        async def edit(self, route, message, part):
            shown.append(part.text)
            outcome = await super().edit(route, message, part)
            return outcome if part.text == "One, two, three." else None

    async with asyncio.timeout(PATIENCE), place(Forgetful(), streaming=Streaming("edits", pace=0.2)) as here:
        answer = here.answer(await here.turn())
        await answer.feed("One")
        await until(here.seen)
        await answer.feed(", two")
        await until(lambda: shown)
        await here.rests()
        assert shown == ["One, two"]
        await answer.feed(", three.")
        await answer.finish()
        assert here.seen() == ["One, two, three."]


@pytest.mark.parametrize("problem", [ZeroDivisionError, SystemExit, asyncio.CancelledError])
async def test_an_operator_who_cannot_be_told_costs_no_answer(problem, caplog):
    """Who is told is anybody's code, too."""

    class Mute(FakeMessenger):
        async def notify_operator(self, route, text):
            raise problem("by nought")

    async with asyncio.timeout(PATIENCE), place(Mute()) as here:
        await here.conversation.notify_operator("it chose to stay silent")
        assert await here.conversation.send("one") is not None
    assert "fake failed to tell the operator something" in caplog.text

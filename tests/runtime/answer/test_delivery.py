"""An agent's answer on its way to a conversation."""

import asyncio

import pytest

from rejoinder.channels.base import Delivered, Limits, Rejected, Unknown
from rejoinder.events import Chat, Inbound, Part, Sender
from rejoinder.inbound.rules import make_rules
from rejoinder.inbound.settings import InboundSettings
from rejoinder.outbound.draft import PLACEHOLDER, Streaming
from rejoinder.outbound.operations import Open, encode
from rejoinder.runtime.answer import delivery
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.runtime.answer.handoff_row import HandoffRow, handoff_inbound, said
from rejoinder.runtime.answer.reach import Reach
from rejoinder.runtime.outbox import yielding_calls
from rejoinder.store.base import ClaimPart, HoldPart, MarkUnknown, PartIntent, PlanParts
from rejoinder.testing import FakeChannel, FakeDeduplicator, FakeMessenger
from rejoinder.testing.patience import PATIENCE, until
from tests.runtime.places import place

MIXED = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9nO2qR5tU8w"


class Bare:
    """Can do nothing but send: the smallest channel."""

    name = "bare"

    def __init__(self, limits=None):
        self.limits = limits or Limits()
        self.sent: list[Part] = []

    async def listen(self, deliver): ...

    async def send(self, part):
        self.sent.append(part)
        return Delivered(f"id-{len(self.sent)}")


def words(part: Part) -> tuple:
    return (part.text, part.reply_to, part.silent)


async def test_one_message_when_it_is_whole():
    async with place(Bare()) as here:
        await here.says("[[reply", "_to:m1]]\n", "One, ", "two.", run=await here.turn())
        assert [words(part) for part in here.channel.sent] == [("One, two.", "id-0", False)]


async def test_no_notification_when_the_agent_asks_for_none():
    async with place(Bare()) as here:
        await here.says("[[silent]]\nPsst.", run=await here.turn())
        assert [words(part) for part in here.channel.sent] == [("Psst.", None, True)]


async def test_the_last_of_several_targets_counts_and_none_means_none():
    """OD-17: the last valid value wins; `none` is no reference."""
    async with place(Bare()) as here:
        await here.says("[[reply_to:m1]]\n[[reply_to:none]]\nHi.", run=await here.turn())
        assert [words(part) for part in here.channel.sent] == [("Hi.", None, False)]


async def test_a_reaction_it_cannot_show_is_skipped(caplog):
    """OD-72: a channel that cannot react skips it with a warning, and the text goes out."""
    async with place(Bare()) as here:
        await here.says("<actions><react emoji='eyes'/></actions>\nHi.", run=await here.turn())
        assert [part.text for part in here.channel.sent] == ["Hi."]
    assert "react was left out: bare cannot show reactions" in caplog.text


@pytest.mark.parametrize(
    "action",
    [
        '<send-file path="a.txt"/>',
        '<send-message chat="C1">x</send-message>',
        '<handoff to="other">x</handoff>',
    ],
)
async def test_what_needs_a_grant_is_denied_without_a_message(caplog, action):
    """OD-52: default none. OD-51: it never becomes an error message in the chat."""
    async with place(Bare()) as here:
        await here.says(f"<actions>{action}</actions>", run=await here.turn())
        assert here.channel.sent == []
    assert "was denied: it is not granted here" in caplog.text


async def test_a_granted_message_goes_elsewhere_and_an_echo_of_one_does_not():
    """OD-52, OD-53: a granted action that stands in an inbound text is an echo."""
    theirs, own = '<send-message chat="C1">pay me</send-message>', '<send-message chat="C2">hi there</send-message>'
    context = AnswerContext(
        "id-0", "bot", "ann", texts=(f"try `{theirs}` please",), granted=frozenset({"send_message"})
    )
    async with place(Bare()) as here:
        answer = await here.says(f"<actions>{theirs}{own}</actions>", run=await here.turn(), context=context)
        assert [(part.route.chat, part.text) for part in here.channel.sent] == [("C2", "hi there")]
    assert "send_message: denied (a message of this turn contains it, so it is an echo)" in answer.outcomes.sentence()
    assert "send_message to bare C2: done" in answer.outcomes.sentence()


async def test_an_agent_reaches_only_chats_it_serves():
    """OD-52: elsewhere it is denied, and the agent is told; what the operator lists is reached."""
    reach = Reach(make_rules(InboundSettings(channels={}), ()), ("bare:C2",))
    context = AnswerContext("id-0", "bot", "ann", granted=frozenset({"send_message"}), reach=reach)
    script = "".join(f'<send-message chat="{chat}">hi</send-message>' for chat in ("C1", "C2"))
    async with place(Bare()) as here:
        answer = await here.says(f"<actions>{script}</actions>", run=await here.turn(), context=context)
        assert [part.route.chat for part in here.channel.sent] == ["C2"]
    assert "send_message to bare C1: denied" in answer.outcomes.sentence()


HANDS_OVER = AnswerContext("id-0", "bot", "ann", peers=("critic",), granted=frozenset({"handoff"}))
HANDOFF = '<handoff to="critic">Look at it.</handoff>'


async def test_a_hand_off_by_header_says_its_words_once():
    """OD-58: the answer's text is what the other agent gets; people read it once, and who takes over."""
    happened = []
    async with place(Bare()) as here:
        run, hand_over = await here.turn(), handed_row(here, happened)
        await here.says("[[handoff:critic]]\nLook at it.", run=run, context=HANDS_OVER, hand_over=hand_over)
        await here.rests()
        assert [part.text for part in here.channel.sent] == ["Look at it.", "@critic"]
    assert [text for text, _ in happened] == ["@critic Look at it."]


async def test_another_spelling_is_told_in_the_log_only(caplog):
    """OD-51, OD-58: of level info; no warning, no note in the trace."""
    caplog.set_level("INFO")
    async with place(Bare()) as here:
        await here.says("Hi\n[[reply_to_current]]", run=await here.turn())
        assert [part.text for part in here.channel.sent] == ["Hi"]
    assert [r.levelname for r in caplog.records if "belongs on the first line" in r.getMessage()] == ["INFO"]


def handed_row(here, happened, *, is_left=False):
    """What an agent hands over here, decided by noting what people had read by then."""

    def hand_over(to, words, id):
        asked = Inbound(here.channel.name, "e-0", "id-0", Chat("room"), Sender("ann"), "hello")

        def decide(event):
            happened.append((event.inbound.text, [part.text for part in here.channel.sent]))

        inbound = handoff_inbound(asked, "bot", to, words, id) if to else said(asked, "bot", words, id)
        return HandoffRow(inbound, here.services, lambda _: True, decide, lambda: is_left)

    return hand_over


async def test_a_hand_over_comes_when_the_turn_ends():
    """OD-50, DE-21, OD-64: once, behind the answer for people, and it begins after it; nobody is called by its name
    where the platform does not know our agents."""
    happened = []
    async with place(Bare()) as here:
        script = f"<actions>{HANDOFF}{HANDOFF}</actions>\nDone."
        run, hand_over = await here.turn(), handed_row(here, happened)
        answer = await here.says(script, run=run, context=HANDS_OVER, hand_over=hand_over)
        await here.rests()
        assert [(part.text, part.addressed) for part in here.channel.sent][1] == ("@critic Look at it.", ())
    assert happened == [("@critic Look at it.", ["Done.", "@critic Look at it."])]
    assert "handoff to critic: done" in answer.outcomes.sentence()


async def test_who_is_named_goes_on_when_the_answer_stands():
    """IN-21: as if it were handed over, where the platform tells nobody."""
    happened = []
    async with place(Bare()) as here:
        run, hand_over = await here.turn(), handed_row(here, happened)
        await here.says("I would ask @Critic.", run=run, context=HANDS_OVER, hand_over=hand_over)
        await here.rests()
    assert happened == [("I would ask @Critic.", ["I would ask @Critic."])]


async def test_who_is_named_goes_on_also_where_all_has_been_said_before_the_end():
    """IN-21, DE-22: then nothing is planned at the end; the row is kept anyway."""
    decided = []

    def hand_over(to, words, id):
        asked = Inbound(here.channel.name, "e-0", "id-0", Chat("room"), Sender("ann"), "hello")
        row = said(asked, "bot", words, id)
        return HandoffRow(row, here.services, lambda _: True, decided.append, lambda: False)

    streaming = Streaming("blocks", least=20, most=40, idle=0.0)
    async with place(Bare(), streaming=streaming, human_delay=(0.0, 0.0)) as here:
        answer = here.answer(await here.turn(), context=HANDS_OVER, hand_over=hand_over)
        await answer.feed("I would ask @critic about this.\n\n")
        await here.rests()
        await answer.finish()
        assert len(here.channel.sent) == 1
    assert [event.inbound.text.strip() for event in decided] == ["I would ask @critic about this."]
    assert [event.inbound.message_id for event in decided] == ["id-1"]


async def test_a_hand_over_is_kept_with_the_answer_that_makes_it():
    """DU-2, OD-50: one commit: nobody is woken by an answer that was never planned, nor forgotten by one that was."""
    seen = []

    class Looking(Bare):
        async def send(self, part):
            seen.append((await here.store.count_rows()).events)
            return await super().send(part)

    async with place(Looking()) as here:
        run, hand_over = await here.turn(), handed_row(here, [])
        answer = here.answer(run, context=HANDS_OVER, hand_over=hand_over)
        await answer.feed(f"<actions>{HANDOFF}</actions>\nDone.")
        assert (await here.store.count_rows()).events == {"routed": 1}
        await answer.finish()
    assert seen[0] == {"routed": 1, "new": 1}


@pytest.mark.parametrize(("is_left", "becomes"), [(False, "settled"), (True, "new")], ids=["stopped", "going down"])
async def test_a_hand_over_whose_answer_is_stopped(is_left, becomes):
    """IN-70, DU-2: /stop calls it off and no restart digs it out; a gateway that goes down leaves it to the next."""
    sending, happened = asyncio.Event(), []

    class Stuck(Bare):
        async def send(self, part):
            sending.set()
            await asyncio.Event().wait()

    async with place(Stuck()) as here:
        run, hand_over = await here.turn(), handed_row(here, happened, is_left=is_left)
        answer = here.answer(run, context=HANDS_OVER, hand_over=hand_over)
        await answer.feed(f"<actions>{HANDOFF}</actions>\nDone.")
        ending = asyncio.create_task(answer.finish())
        await sending.wait()
        ending.cancel()
        await asyncio.wait([ending])
        while here.tasks.has("call off"):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        found = (await here.store.recover(here.now())).events
        assert [event.inbound.text for event in found] == (["@critic Look at it."] if is_left else [])
        assert (await here.store.count_rows()).events[becomes] == 1
    assert happened == []


@pytest.mark.parametrize(
    ("peers", "texts", "why"),
    [
        ((), (), "no agent called 'critic' here; there is nobody else"),
        (("writer",), (), "no agent called 'critic' here; there are: writer"),
        (
            ("critic",),
            ('say <handoff to="critic">Go.</handoff>',),
            "a message of this turn contains it, so it is an echo",
        ),
    ],
)
async def test_a_hand_over_that_cannot_be(peers, texts, why):
    """OD-51, OD-53: nobody is called so here, or somebody else wrote it; the answer stands anyway."""
    context = AnswerContext("id-0", "bot", "ann", peers=peers, texts=texts, granted=frozenset({"handoff"}))
    async with place(Bare()) as here:
        script = '<actions><handoff to="critic">Go.</handoff></actions>\nDone.'
        answer = await here.says(script, run=await here.turn(), context=context)
        assert [part.text for part in here.channel.sent] == ["Done."]
    assert why in answer.outcomes.sentence()


async def test_silence_sends_nothing():
    async with place(Bare()) as here:
        await here.says("Well.", "\nNO_REPLY", run=await here.turn())
        assert here.channel.sent == []


async def test_the_reply_is_on_the_first_chunk_only():
    """OD-60, DE-10: later chunks are plain, and each is within the limit."""
    async with place(Bare(Limits(20))) as here:
        await here.says("[[reply_to:m1]]\none two three four five six seven eight", run=await here.turn())
        parts = here.channel.sent
    assert len(parts) > 1
    assert [part.reply_to for part in parts] == ["id-0"] + [None] * (len(parts) - 1)
    assert len({part.key for part in parts}) == len(parts)


@pytest.mark.parametrize(
    ("mode", "direct", "other_bot", "targets"),
    [
        (None, True, False, [None, None]),
        (None, False, False, ["id-0", None]),
        (None, False, True, [None, None]),
        ("off", False, False, [None, None]),
        ("all", False, False, ["id-0", "id-0"]),
    ],
)
async def test_the_mode_decides_where_the_agent_does_not(mode, direct, other_bot, targets):
    """DE-6: off in direct chats and among bots, first in other groups, unless configured."""
    context = AnswerContext("id-0", "bot", "ann", direct=direct, other_bot=other_bot)
    async with place(Bare(Limits(10)), reply_group=mode, reply_direct=mode) as here:
        await here.says("one two three", run=await here.turn(), context=context)
        assert [part.reply_to for part in here.channel.sent] == targets


async def test_who_is_called_and_what_is_fetched():
    """DE-34, OD-64: only the person answered can be pinged, previews are off; who said it is known."""
    async with place(Bare()) as here:
        await here.says("Hi @ann and @bob https://example.org", run=await here.turn())
        (part,) = here.channel.sent
    assert (part.addressed, part.previews, part.author) == (("ann",), False, "bot")


async def test_secrets_do_not_go_out():
    """DE-35."""
    async with place(Bare()) as here:
        await here.says("The key is sk-", MIXED, ".", run=await here.turn())
        assert [part.text for part in here.channel.sent] == ["The key is [redacted]."]


async def test_the_prefix_stands_before_the_answer_once():
    """DE-5: resolved when it is sent, not doubled, also while the answer is written."""
    async with place(FakeDeduplicator()) as here:
        await here.says("Hello", ", Ann, how are you today?", run=await here.turn(), prefix="[bot]")
        assert here.seen() == ["[bot] Hello, Ann, how are you today?"]
        await here.says("[bot] Again.", prefix="[bot]")
        assert here.seen()[1:] == ["[bot] Again."]


# --- shown while it is written ------------------------------------------------------------------


async def test_a_draft_is_opened_edited_and_settled():
    """DE-20: one slot; the final is an edit, and it is a part."""
    async with place(FakeDeduplicator()) as here:
        run = await here.turn()
        answer = here.answer(run)
        for piece in ("One", ", two", ", three."):
            await answer.feed(piece)
            await here.rests()
        await answer.finish()
        (shown,) = [m for m in here.channel.messages.values() if m.author == "bot"]
        assert shown.frames == ["One", "One, two", "One, two, three."]
        assert await here.states(run) == [("open", "sent")]


class Crowded(FakeDeduplicator):
    """Takes two changes of a growing message, and then one in an hour."""

    def frame_rate(self, route):
        return (2, 1 / 3600)


async def test_a_draft_keeps_to_the_rate_of_its_place_and_its_answer_does_not_wait():
    """DE-20, DE-32: frames are what is left out where a platform takes fewer; the newest words are in the next one."""
    async with place(Crowded()) as here:
        answer = here.answer(await here.turn())
        for piece in ("One", ", two", ", three", ", four", ", five"):
            await answer.feed(piece)
            await here.rests()
        await answer.feed(", six.")
        await answer.finish()
        (shown,) = [m for m in here.channel.messages.values() if m.author == "bot"]
        assert shown.frames == ["One", "One, two", "One, two, three", "One, two, three, four, five, six."]


async def test_an_answer_that_is_faster_than_its_draft_is_one_message():
    """DE-2: a final carries only what was not yet sent, and an answer in one piece is one call."""
    async with place(FakeMessenger()) as here:
        run = await here.turn()
        await here.says("One, ", "two.", run=run)
        assert here.channel.calls == ["send"]
        assert await here.states(run) == [("say", "sent")]


async def test_a_blind_platform_sees_no_words_before_they_have_a_place():
    """DU-3: where nobody can tell whether an opening arrived, it holds none."""
    async with place(FakeMessenger()) as here:
        answer = here.answer(await here.turn())
        await answer.feed("One")
        await here.rests()
        await answer.feed(", two.")
        await answer.finish()
        (shown,) = [m for m in here.channel.messages.values() if m.author == "bot"]
    assert shown.frames == [PLACEHOLDER, "One", "One, two."]


async def test_an_opening_of_unknown_fate_is_not_said_twice():
    """DU-3: the sign may stand there, the answer stands once."""
    async with place(FakeMessenger()) as here:
        run = await here.turn()
        here.channel.fails(Unknown("reset"), accepted=True)
        answer = here.answer(run)
        await answer.feed("One")
        await here.rests()
        await answer.feed(", two.")
        await answer.finish()
        assert here.seen() == [PLACEHOLDER, "One, two."]
        assert await here.states(run) == [("open", "withdrawn"), ("say", "sent")]


async def test_among_bots_nothing_is_shown_before_it_is_whole():
    """DE-21: drafts are off; the answer is one fresh message."""
    context = AnswerContext("id-0", "bot", "ann", direct=False, other_bot=True)
    async with place(FakeDeduplicator()) as here:
        answer = here.answer(await here.turn(), context=context)
        await answer.feed("One")
        await here.rests()
        assert here.seen() == []
        await answer.feed(", two.")
        await answer.finish()
        assert here.seen() == ["One, two."]


async def test_a_draft_rolls_over():
    """DE-20: into a next message, and all of it stands in the end."""
    async with place(FakeDeduplicator(limits=Limits(20))) as here:
        answer = here.answer(await here.turn())
        for word in ["one", "two", "three", "four", "five", "six", "seven"]:
            await answer.feed(word + " ")
            await here.rests()
        await answer.finish()
        assert " ".join(here.seen()) == "one two three four five six seven"
        assert len(here.seen()) == 2


async def test_a_later_target_moves_the_message():
    """OD-61: as a reply first, then the old one goes."""
    async with place(FakeDeduplicator()) as here:
        run = await here.turn()
        answer = here.answer(run)
        await answer.feed("Text first.\n")
        await here.rests()
        await answer.feed('<actions><reply to="m1"/></actions>')
        await answer.finish()
        await here.rests()
        first, second = [m for m in here.channel.messages.values() if m.author == "bot"]
        assert (first.deleted, first.reply_to) == (True, None)
        assert (second.deleted, second.reply_to, second.text.strip()) == (False, "id-0", "Text first.")
        assert here.channel.calls == ["send", "send", "delete"]


async def test_what_replaces_a_message_has_to_arrive_before_it_goes():
    """OD-61, OD-65: only when all chunks were accepted; the placeholder stays, and the turn has failed."""
    async with place(FakeDeduplicator()) as here:
        answer = here.answer(await here.turn())
        await answer.feed("Text first.\n")
        await here.rests()
        here.channel.fails(Rejected("no"))
        await answer.feed('<actions><reply to="m1"/></actions>')
        await answer.finish()
        await here.rests()
        assert [text.strip() for text in here.seen()] == ["Text first."]
        assert answer.undelivered == "no"


async def test_a_message_that_cannot_be_deleted_is_emptied():
    """OD-61: a failed delete is a warning, and it is edited to U+200B."""
    async with place(FakeDeduplicator()) as here:
        answer = here.answer(await here.turn())
        await answer.feed("Well, I think.")
        await here.rests()
        here.channel.fails(Rejected("too old"))
        await answer.feed("\nNO_REPLY")
        await answer.finish()
        assert here.seen() == ["\u200b"]


async def test_blocks_go_out_while_the_rest_is_written():
    """DE-22: each a message; the final carries the rest."""
    streaming = Streaming("blocks", least=20, most=40)
    async with place(Bare(), streaming=streaming, human_delay=(0.0, 0.0)) as here:
        answer = here.answer(await here.turn())
        await answer.feed("A first paragraph here.\n\nThe rest ")
        await here.rests()
        assert [part.text for part in here.channel.sent] == ["A first paragraph here."]
        await answer.feed("of it.")
        await answer.finish()
        assert [part.text for part in here.channel.sent] == ["A first paragraph here.", "The rest of it."]


async def test_live_text_is_fed_and_becomes_whole():
    """DE-20: each delta; complete in the end."""
    async with place(FakeChannel()) as here:
        answer = here.answer(await here.turn())
        for piece in ("One", ", ", "two."):
            await answer.feed(piece)
            await here.rests()
        await answer.finish()
        (shown,) = [m for m in here.channel.messages.values() if m.author == "bot"]
    assert shown.frames[:3] == ["One", "One,", "One, two."]
    assert shown.complete


async def test_a_failure_leaves_what_was_said():
    async with place(FakeMessenger()) as here:
        answer = here.answer(await here.turn())
        await answer.feed("Half")
        await here.rests()
        await answer.fail("It is busy.", "")
        assert here.seen() == ["Half", "It is busy."]


async def test_who_may_not_speak_leaves_no_sign_behind():
    """TU-20: a bare sign goes, words stay as they are."""
    speaks = True
    async with place(FakeMessenger(), streaming=Streaming("edits", pace=60)) as here:
        answer = here.answer(await here.turn(), may_speak=lambda: speaks)
        here.channel.fails(Delivered("x"), Rejected("not yet"))
        await answer.feed("Hal")
        await here.rests()
        speaks = False
        await answer.finish()
        await here.rests()
    assert PLACEHOLDER not in here.seen()


# --- again after a crash ------------------------------------------------------------------------


async def test_a_rerun_takes_over_the_slot_of_the_run_that_died():
    """DU-2: by edit; nothing stands twice."""
    async with place(FakeDeduplicator()) as here:
        run = await here.turn()
        answer = here.answer(run)
        await answer.feed("The first try")
        await here.rests()
        here.restart()
        earlier = (await here.store.turn(run.turn)).parts
        await here.says("The second, ", "better one.", run=run, earlier=earlier)
        assert here.seen() == ["The second, better one."]


async def test_a_slot_that_was_settled_before_the_rerun_is_not_waited_for():
    """DU-2: what the recovery read is old by the time a run begins; nothing of it hangs on that."""
    async with place(FakeMessenger()) as here:
        run = await here.turn()
        (intent,) = await here.store.write(
            PlanParts(
                (PartIntent("t/open0", here.route, encode(Open(Part(here.route, "…"))), "open"),), here.now(), run
            )
        )
        claimed = await here.store.write(ClaimPart(here.route, here.now()))
        await here.store.write(MarkUnknown(claimed, "killed"))
        before = await here.store.part(intent.id)
        await here.store.write(HoldPart(before))
        async with asyncio.timeout(PATIENCE):
            await here.says("Here it is.", run=run, earlier=(before,))
        assert here.seen() == ["Here it is."]


async def test_an_action_is_done_once_in_all_attempts():
    """DU-2, OD-50: equal in name and arguments is not done again."""
    script = '<actions><react emoji="eyes"/></actions>\nHi.'
    async with place(FakeMessenger()) as here:
        here.channel._add("ann", "hello", None)
        context = AnswerContext("9001", "bot", "ann")
        run = await here.turn(message="9001")
        first = here.answer(run, context=context)
        await first.feed(script)
        await here.rests()
        here.restart()
        await here.says(script, run=run, context=context)
    assert here.channel.messages["9001"].reactions == ["👀"]
    assert here.channel.calls.count("react") == 1


async def test_a_stopped_answer_withdraws_what_is_not_planned():
    async with place(FakeMessenger()) as here:
        answer = here.answer(await here.turn())
        await answer.feed("Never said.")
        finishing = asyncio.ensure_future(answer.finish())
        await asyncio.sleep(0)
        finishing.cancel()
        await asyncio.wait([finishing])
        await here.rests()
        assert "Never said." not in here.seen()


class Late(FakeDeduplicator):
    """Carries out the first edit only when it is told to, whoever waits for it."""

    def __init__(self):
        super().__init__()
        self.hangs, self.go, self.done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def edit(self, route, message, part):
        if self.hangs.is_set():
            return await super().edit(route, message, part)
        self.hangs.set()
        return await asyncio.shield(asyncio.ensure_future(self._later(route, message, part)))

    async def _later(self, route, message, part):
        await self.go.wait()
        outcome = await super().edit(route, message, part)
        self.done.set()
        return outcome


async def test_a_frame_that_is_not_answered_holds_up_no_final_and_overwrites_none(monkeypatch):
    """DE-20: the answer is said again and its draft goes, so the late edit finds nothing to overwrite."""
    monkeypatch.setattr(yielding_calls, "PATIENCE", 0.0)
    async with asyncio.timeout(PATIENCE), place(Late()) as here:
        run = await here.turn()
        answer = here.answer(run)
        await answer.feed("One")
        await here.rests()
        await answer.feed(", two")
        await here.channel.hangs.wait()
        await answer.feed(", three.")
        await answer.finish()
        here.channel.go.set()
        await here.channel.done.wait()
        assert here.seen() == ["One, two, three."]
        assert await here.states(run) == [("open", "sent"), ("say", "sent"), ("delete", "sent")]


async def test_a_frame_that_is_answered_in_time_is_not_made_twice():
    """DE-2: what was delivered is known by its receipt: a final that stands already costs no call."""
    async with asyncio.timeout(PATIENCE), place(Late()) as here:
        answer = here.answer(await here.turn())
        await answer.feed("One")
        await here.rests()
        await answer.feed(", two.")
        await here.channel.hangs.wait()
        finishing = asyncio.ensure_future(answer.finish())
        await asyncio.sleep(0)
        here.channel.go.set()
        await finishing
        assert here.seen() == ["One, two."]
        assert here.channel.calls == ["send", "edit"]


async def test_nobody_elses_words_wait_for_a_frame(monkeypatch):
    """DE-32: the answer to a command goes out beside a draft that hangs, which goes on after it."""
    monkeypatch.setattr(yielding_calls, "PATIENCE", 0.0)
    async with asyncio.timeout(PATIENCE), place(Late()) as here:
        answer = here.answer(await here.turn())
        await answer.feed("One")
        await here.rests()
        await answer.feed(", two")
        await here.channel.hangs.wait()
        assert await here.conversation.send("Pong.") is not None
        await answer.feed(", three.")
        await here.rests()
        assert here.seen() == ["One, two, three.", "Pong."]
        here.channel.go.set()
        await answer.finish()
        assert here.seen() == ["Pong.", "One, two, three."]


@pytest.mark.parametrize("placeholder", [False, True])
async def test_what_was_written_stands_before_what_is_said_beside_it(placeholder):
    """TU-34: a question is put below the words before it, whatever the pace of the draft; those behind keep it."""
    channel = FakeMessenger() if placeholder else FakeDeduplicator()
    async with place(channel, streaming=Streaming("edits", pace=600.0)) as here:
        answer = here.answer(await here.turn())
        await answer.feed("First I")
        await here.rests()
        await answer.feed(" look into main.py")
        await answer.next_segment()
        await answer.catch_up()
        assert await here.conversation.send("May I?") is not None
        assert here.seen() == ["First I look into main.py", "May I?"]
        await answer.feed("Then I go on.")
        await here.rests()
        assert here.seen() == ["First I look into main.py", "May I?"]
        await answer.finish()
        assert here.seen() == ["First I look into main.py\n\nThen I go on.", "May I?"]


async def test_a_block_may_be_short_when_somebody_else_is_to_speak():
    """TU-34, DE-22: what was written so far is a message of its own, above the question."""
    async with place(FakeMessenger(), streaming=Streaming("blocks", idle=600.0)) as here:
        answer = here.answer(await here.turn())
        await answer.feed("First I look into main.py")
        await answer.next_segment()
        await answer.catch_up()
        await here.conversation.send("May I?")
        await answer.feed("Then I go on.")
        await answer.finish()
        assert here.seen() == ["First I look into main.py", "May I?", "Then I go on."]


@pytest.mark.parametrize("outcome", [Rejected("no"), Unknown("reset")])
async def test_nobody_waits_for_a_draft_that_is_not_taken(outcome, monkeypatch):
    """TU-34: the question is put anyway; the words are there in the end."""
    monkeypatch.setattr(delivery, "CATCHING_UP", 10 * PATIENCE)
    async with asyncio.timeout(PATIENCE), place(FakeDeduplicator(), streaming=Streaming("edits", pace=600.0)) as here:
        answer = here.answer(await here.turn())
        await answer.feed("First I")
        await until(lambda: here.seen() == ["First I"])
        await answer.feed(" look.")
        here.channel.fails(outcome)
        await answer.catch_up()
        assert here.seen() == ["First I"]
        await answer.finish()
        assert here.seen() == ["First I look."]

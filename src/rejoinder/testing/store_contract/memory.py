"""The memory of a store: sessions, transcripts, the message index, traces, pairing."""

from datetime import timedelta
from pathlib import Path

from rejoinder.events import PromptText, Step
from rejoinder.session import Session
from rejoinder.store.base import (
    AccessRows,
    AgentSession,
    AllowEdit,
    AppendTranscript,
    BeginTurn,
    ClearBotTurns,
    EditAllow,
    EndRun,
    ForgetMessage,
    IndexedMessage,
    MarkSent,
    NoteMessages,
    Paired,
    PairingRequest,
    PairSender,
    PlaceFacts,
    PlanParts,
    PutAgentSession,
    PutPairingRequest,
    PutSession,
    RunClaim,
    Trace,
    TraceEntry,
    TranscriptEntry,
    Unpair,
)
from rejoinder.testing.store_contract.given import (
    HERE,
    NOW,
    SOON,
    THREAD,
    accepted,
    an_intent,
    begun,
    claimed,
    loses,
    waiting,
)
from rejoinder.testing.store_contract.opened import Opened


class Memory(Opened):
    async def test_a_session_is_written_over_the_version_that_was_read(self, tmp_path: Path) -> None:
        """DU-5: of two writers one wins, and the other gets an error."""
        async with self.opened(tmp_path) as store:
            session = Session("s", "helper", NOW, NOW, system_events=("one",))
            assert await store.session("s") is None
            assert await store.write(PutSession(session, 0)) == 1
            await loses(store, PutSession(session, 0))
            assert await store.write(PutSession(session, 1)) == 2
            await loses(store, PutSession(session, 1))
            await store.write(PutSession(Session("t", "helper", NOW, SOON), 0))
            assert [kept.session.key for kept in await store.sessions()] == ["t", "s"]
            kept = await store.session("s")
            assert kept is not None
            assert (kept.session, kept.version) == (session, 2)

    async def test_transcripts_begin_with_the_session(self, tmp_path: Path) -> None:
        """DU-5: a transcript is in order; after a reset the old one is still there."""
        async with self.opened(tmp_path) as store:
            old = TranscriptEntry("user", (PromptText("old"),), NOW)
            new = (
                TranscriptEntry("user", (PromptText("question"),), SOON),
                TranscriptEntry("agent", (PromptText("answer"),), SOON),
            )
            await store.write(AppendTranscript("s", (old,)))
            await store.write(AppendTranscript("s", new))
            assert await store.transcript("s", SOON) == new
            assert await store.transcript("s", NOW) == (old, *new)
            assert await store.transcript("s", NOW, limit=1) == new[1:]

    async def test_a_turn_is_in_the_transcript_once(self, tmp_path: Path) -> None:
        """DU-5: a turn is written with the plan of its answer and again at its end, because a crash may leave only one
        of these."""
        async with self.opened(tmp_path) as store:
            turns = [(TranscriptEntry("user", (PromptText(f"question {n}"),), NOW, n),) for n in (1, 2)]
            for entries in (turns[0], turns[0], turns[1], turns[1]):
                await store.write(AppendTranscript("s", entries))
            assert await store.transcript("s", NOW) == (*turns[0], *turns[1])

    async def test_the_agents_own_name_for_a_session(self, tmp_path: Path) -> None:
        """TU-33: the agent's id is saved when it is created, and forgotten on request."""
        async with self.opened(tmp_path) as store:
            for saved in (
                AgentSession("sess-1"),
                AgentSession("sess-2", "oak"),
                AgentSession("a\nb"),
                AgentSession(""),
            ):
                await store.write(PutAgentSession("s", saved))
                assert await store.agent_session("s") == saved
            await store.write(PutAgentSession("s", None))
            assert await store.agent_session("s") is None

    async def test_messages_have_short_handles(self, tmp_path: Path) -> None:
        """OD-22: a conversation's messages are m1, m2, ..., found by handle or id; the handle of a deleted message is
        not reused."""
        async with self.opened(tmp_path) as store:
            told = [IndexedMessage(f"id-{n}", "anna", NOW, text=f"text {n}") for n in (1, 2)]
            one, two = await store.write(NoteMessages(HERE, tuple(told)))
            assert (one.handle, two.handle) == ("m1", "m2")
            assert await store.message(HERE, "m2") == await store.message(HERE, "id-2") == two
            assert await store.message(THREAD, "id-2") is None
            await store.write(ForgetMessage(HERE, "id-2"))
            assert await store.message(HERE, "m2") is None
            edited, three = await store.write(
                NoteMessages(HERE, (IndexedMessage("id-1", "anna", SOON), IndexedMessage("id-3", "b", NOW)))
            )
            assert (edited.handle, three.handle) == ("m1", "m3")
            assert [each.handle for each in await store.messages(HERE, after=1)] == ["m3"]

    async def test_a_platform_whose_ids_are_handles_keeps_them(self, tmp_path: Path) -> None:
        """OD-22: the message that a person sees as m7 is m7 for the agent."""
        async with self.opened(tmp_path) as store:
            told = tuple(IndexedMessage(id, "anna", NOW) for id in ("m3", "x", "m7"))
            assert [each.handle for each in await store.write(NoteMessages(HERE, told))] == ["m3", "m4", "m7"]

    async def test_a_handle_that_was_not_committed_is_given_to_the_next_message(self, tmp_path: Path) -> None:
        """OD-22: if a transaction is undone, the store forgets the handles that it gave out in it."""
        async with self.opened(tmp_path) as store:
            await store.write(PutSession(Session("s", "helper", NOW, NOW), 0))
            for number in (1, 2):
                lost, told = IndexedMessage("lost", "anna", NOW), IndexedMessage(f"id-{number}", "anna", NOW)
                await loses(store, NoteMessages(HERE, (lost,)), PutSession(Session("s", "helper", NOW, NOW), 0))
                (noted,) = await store.write(NoteMessages(HERE, (told,)))
                assert noted.handle == f"m{number}"

    async def test_a_turn_hears_what_was_said_since_the_last(self, tmp_path: Path) -> None:
        """IN-32: each session gets the words since its last turn, so every agent of a room gets them once."""
        async with self.opened(tmp_path) as store:
            told = tuple(IndexedMessage(f"{n}", "anna", NOW) for n in range(1, 5))
            await store.write(NoteMessages(HERE, told))
            await store.write(BeginTurn("s", HERE, (), NOW, heard=3))
            assert [each.number for each in await store.unheard_messages("s", HERE)] == [4]
            assert [each.number for each in await store.unheard_messages("other", HERE, limit=2)] == [3, 4]

    async def test_a_message_that_waits_for_its_turn_has_heard_what_was_said_before_it(self, tmp_path: Path) -> None:
        """IN-32: a waiting message takes the earlier words along, so after a restart the next message does not get
        them, too."""
        async with self.opened(tmp_path) as store:
            told = tuple(IndexedMessage(f"{n}", "anna", NOW) for n in range(1, 4))
            await store.write(NoteMessages(HERE, told))
            await waiting(store, 2)
            assert [each.number for each in await store.unheard_messages("s", HERE)] == [3]
            assert [each.number for each in await store.unheard_messages("other", HERE)] == [1, 2, 3]

    async def test_the_first_turn_of_a_session_in_a_place(self, tmp_path: Path) -> None:
        """TU-31: a thread's first turn is recognised even after a restart; a turn that told the agent nothing does not
        count."""
        async with self.opened(tmp_path) as store:
            await store.write(NoteMessages(HERE, (IndexedMessage("1", "anna", NOW),)))
            chore = await store.write(BeginTurn("s", HERE, (), NOW, tells=False))
            assert isinstance(chore, RunClaim)
            await store.write(EndRun(chore, "answered", NOW))
            assert await store.first_turn("s", HERE) is None
            run = await store.write(BeginTurn("s", HERE, (), NOW, heard=1))
            assert isinstance(run, RunClaim)
            await store.write(EndRun(run, "answered", NOW))
            await store.write(BeginTurn("s", HERE, (), NOW, heard=1))
            assert await store.first_turn("s", HERE) == run.turn
            assert await store.first_turn("other", HERE) is None

    async def test_bot_turns_are_counted(self, tmp_path: Path) -> None:
        """IN-23, IN-24: bot turns are counted in a row and for a day, our own included, across restarts; a human ends a
        row."""
        async with self.opened(tmp_path) as store:
            assert await store.place(HERE, NOW) == PlaceFacts()
            kinds = ("human", "bot", "system", "bot")
            told = tuple(IndexedMessage(f"{n}", "x", NOW, kind) for n, kind in enumerate(kinds))
            await store.write(NoteMessages(HERE, told))
            await store.write(NoteMessages(HERE, told))
            assert await store.place(HERE, NOW) == PlaceFacts(other_bot=True, bot_turns=2, bot_turns_today=2)
            run = await begun(store, 1)
            await store.write(PlanParts((an_intent(1), an_intent(2)), NOW, run))
            for receipt in ("own-1", "own-2"):
                await store.write(MarkSent(await claimed(store), receipt, NOW))
            counted = PlaceFacts(posted=True, other_bot=True, bot_turns=3, bot_turns_today=3)
            assert await store.place(HERE, NOW) == counted, "an answer in two parts is one turn"
            assert (await store.place(HERE, NOW + timedelta(days=1))).bot_turns_today == 0
            await store.write(ClearBotTurns(HERE))
            assert await store.place(HERE, NOW) == PlaceFacts(posted=True, other_bot=True)

    async def test_what_was_quoted_first_is_known_for_ours_when_its_receipt_comes(self, tmp_path: Path) -> None:
        """OD-52: a person may answer a message of ours before we know that it arrived."""
        async with self.opened(tmp_path) as store:
            await store.write(NoteMessages(HERE, (IndexedMessage("own-1", "", NOW, "system"),)))
            await store.write(PlanParts((an_intent(1),), NOW))
            await store.write(MarkSent(await claimed(store), "own-1", NOW))
            found = await store.message(HERE, "own-1")
            assert found is not None
            assert (found.kind, found.handle) == ("own", "m1")

    async def test_a_thread_we_began_is_ours(self, tmp_path: Path) -> None:
        """IN-22: a thread is ours if its first message was ours."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1, THREAD),), NOW))
            await store.write(MarkSent(await claimed(store, route=THREAD), "own-1", NOW))
            await store.write(NoteMessages(THREAD, (IndexedMessage("2", "anna", NOW),)))
            assert await store.place(THREAD, NOW) == PlaceFacts(owned=True, posted=True, bot_turns_today=1)

    async def test_traces(self, tmp_path: Path) -> None:
        """IN-64: the decisions of all stages are found by the platform's message."""
        async with self.opened(tmp_path) as store:
            (event,) = await accepted(store, 1)
            decided = TraceEntry(NOW, (Step("access", "continue", None, 0.1), Step("activation", "continue", "why")))
            ended = TraceEntry(SOON, (Step("agent helper", "answered", took=2.5, agent="helper"),))
            for each in (decided, ended):
                await store.write(Trace(event.id, each.at, each.steps))
            (found,) = await store.events_of("1")
            assert await store.trace(found.id) == (decided, ended)

    async def test_so_many_strangers_wait_on_an_account(self, tmp_path: Path) -> None:
        """SC-16: the store counts the waiting strangers, whichever process decided; those of another account, and those
        who wait already, do not count."""
        async with self.opened(tmp_path) as store:

            def asks(sender: str, account: str = "default") -> PutPairingRequest:
                return PutPairingRequest(
                    PairingRequest("telegram", account, sender, f"CODE{sender}", NOW, NOW, SOON), 2
                )

            await store.write(asks("ann"), asks("bob"))
            await loses(store, asks("eve"))
            await store.write(asks("bob"), asks("eve", "other"))
            assert [each.sender for each in await store.pairing_requests("telegram", "default")] == ["ann", "bob"]

    async def test_pairing(self, tmp_path: Path) -> None:
        """IN-11: each stranger gets one code, which can be approved once, while it is valid."""
        async with self.opened(tmp_path) as store:
            request = PairingRequest("telegram", "default", "eve", "ABCDEFGH", NOW, NOW, SOON)
            await store.write(PutPairingRequest(request))
            told_again = PairingRequest("telegram", "default", "eve", "ABCDEFGH", NOW, SOON, SOON)
            await store.write(PutPairingRequest(told_again))
            assert await store.pairing_requests("telegram", "default") == (told_again,)
            assert (await store.admission("telegram", "default")).requests == (told_again,)
            assert await store.write(PairSender("ABCDEFGH", SOON)) is None
            assert (await store.admission("telegram", "default")).paired == ()
            assert await store.write(PairSender("abcdefgh", NOW)) == told_again
            let_in = AccessRows((Paired("telegram", "default", "eve"),), (), ())
            assert await store.admission("telegram", "default") == let_in
            assert await store.write(PairSender("ABCDEFGH", NOW)) is None

    async def test_who_was_let_in_is_so_until_taken_off(self, tmp_path: Path) -> None:
        """IN-11: pairings and the allow-list are kept, and the latest change of an entry counts."""
        async with self.opened(tmp_path) as store:
            for sender, code in (("eve", "ABCDEFGH"), ("bob", "HGFEDCBA")):
                await store.write(
                    PutPairingRequest(PairingRequest("telegram", "default", sender, code, NOW, NOW, SOON))
                )
                await store.write(PairSender(code, NOW))
            eve, bob = Paired("telegram", "default", "eve"), Paired("telegram", "default", "bob")
            assert set((await store.admission("telegram", "second")).paired) == {eve, bob}
            await store.write(Unpair(eve))
            await store.write(Unpair(eve))
            assert (await store.admission("telegram", "default")).paired == (bob,)
            edits = [
                AllowEdit("telegram", "a", True),
                AllowEdit("telegram", "b", True),
                AllowEdit("telegram", "a", False),
            ]
            for edit in edits:
                await store.write(EditAllow(edit))
            assert (await store.admission("telegram", "default")).edits == tuple(edits[1:])
            assert await store.admission("slack", "default") == AccessRows((), (), ())

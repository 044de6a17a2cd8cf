"""Questions of agents: kept for as long as their turn is not over (CH-10)."""

from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from rejoinder.events import Option, Question
from rejoinder.store.base import EndRun, PutQuestion, StoredQuestion
from rejoinder.testing.store_contract.given import HERE, NOW, begun
from rejoinder.testing.store_contract.opened import Opened


class QuestionsKept(Opened):
    async def test_a_question_is_kept_until_its_turn_is_over(self, tmp_path: Path) -> None:
        """CH-10: questions are kept with their answers, in order; an expired question is not reported again."""
        async with self.opened(tmp_path) as store:
            run, other = await begun(store, 1), await begun(store, 2, session="t")
            text = Question("", "May I?", (Option("a", "Yes", "once"), "b"))
            asked = StoredQuestion("q1", run.turn, "s", "mark", text, HERE, ("ann", "bob"), NOW)
            later = replace(asked, id="q2", turn=other.turn, session="t", asked=NOW + timedelta(seconds=1))
            await store.write(PutQuestion(later), PutQuestion(asked), PutQuestion(replace(asked, id="q3")))
            await store.write(PutQuestion(replace(asked, id="q3", state="over")))
            assert await store.open_questions() == (asked, later)
            answered = replace(asked, state="answered", answer="a")
            await store.write(PutQuestion(answered))
            assert await store.open_questions() == (answered, later)
            await store.write(EndRun(other, "answered", NOW))
            assert await store.open_questions() == (answered,)

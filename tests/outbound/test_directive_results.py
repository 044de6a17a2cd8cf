"""What the agent and the trace are told of the directives of an answer."""

from rejoinder.events import Step
from rejoinder.outbound.directive_results import MOST_KEPT, MOST_TOLD, DirectiveResults


def test_the_agent_is_told_each_result_with_its_reason():
    """OD-51."""
    results = DirectiveResults()
    results.note("react \N{THUMBS UP SIGN}", "done")
    results.note("send_file a.txt", "denied", "it is not granted here")
    told = "About your last answer: react \N{THUMBS UP SIGN}: done; send_file a.txt: denied (it is not granted here)."
    assert results.sentence() == told
    assert results.steps()[1] == Step("send_file a.txt", "denied", "it is not granted here")


def test_nothing_is_told_of_an_answer_without_directives():
    assert (DirectiveResults().sentence(), DirectiveResults().steps()) == (None, ())


def test_of_thousands_some_are_told_and_some_are_kept():
    """An agent may write as many as it likes."""
    results = DirectiveResults()
    for number in range(MOST_KEPT * 3):
        results.note(f"react {number}", "done")
    assert len(results.steps()) == MOST_KEPT
    assert results.sentence().count(": done") == MOST_TOLD

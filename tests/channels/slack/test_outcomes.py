"""What Slack's answers mean: the table of its errors, each with its sentence."""

import pytest

from rejoinder.channels.base import Rejected, RetryAfter, Unknown
from rejoinder.channels.slack.outcomes import MEANINGS, NoResponse, NotSent, Refused, failure


@pytest.mark.parametrize(
    ("error", "why", "words"),
    [
        ("not_in_channel", "gone", "/invite"),
        ("is_archived", "gone", "archive"),
        ("token_revoked", "account", "bot_token"),
        ("missing_scope", "account", "OAuth & Permissions"),
        ("invalid_blocks", "formatting", ""),
        ("message_not_found", "target", ""),
        ("cant_delete_message", "other", "cant_delete_message"),
        ("something_new", "other", "something_new"),
    ],
)
def test_a_refusal_has_a_reason(error, why, words):
    """CH-35, DE-31: rejected for good, what for, and what to do about it."""
    outcome = failure(Refused(error))
    assert isinstance(outcome, Rejected)
    assert outcome.why == why
    assert words in outcome.reason


def test_the_missing_scope_is_named():
    """CH-12."""
    outcome = failure(Refused("missing_scope", needed="reactions:write"))
    assert isinstance(outcome, Rejected)
    assert "reactions:write" in outcome.reason


def test_every_sentence_is_one():
    """CH-13: what it is, in words."""
    assert all(meaning.sentence and error not in meaning.sentence for error, meaning in MEANINGS.items())


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Refused("ratelimited", 429, 7.0), RetryAfter(7.0, "Slack has said to wait", limited=True)),
        (Refused("503 Service Unavailable", 503, foreign=True), RetryAfter(None, "Slack says 503 Service Unavailable")),
        (Refused("internal_error"), RetryAfter(None, "Slack says internal_error")),
        (NotSent("refused"), RetryAfter(None, "refused")),
        (NoResponse("reset"), Unknown("reset")),
    ],
)
def test_what_may_be_tried_again(answer, outcome):
    """DE-31, DE-32, CH-35: what surely did not arrive may be sent again, when Slack has said; the rest is unknown."""
    assert failure(answer) == outcome

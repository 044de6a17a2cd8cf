"""What Discord's answers mean."""

import pytest

from rejoinder.channels.base import Rejected, RetryAfter, Unknown
from rejoinder.channels.discord.budget import MOST_REFUSED, REFUSED_SECONDS, RateBudget, Refusals, refusals_at
from rejoinder.channels.discord.outcomes import NoResponse, NotSent, Refused, failure

TABLE = [
    (Refused(400, 50006, "Cannot send an empty message"), "other"),
    (Refused(400, 50035, "Invalid Form Body\nIn message_reference: Unknown message"), "target"),
    (Refused(400, 50035, "Invalid Form Body\nIn content: Must be 2000 or fewer in length."), "formatting"),
    (Refused(401, 0, "401: Unauthorized"), "account"),
    (Refused(403, 50001, "Missing Access"), "gone"),
    (Refused(403, 50007, "Cannot send messages to this user"), "gone"),
    (Refused(403, 50013, "Missing Permissions"), "gone"),
    (Refused(403, 50005, "Cannot edit a message authored by another user"), "target"),
    (Refused(404, 10003, "Unknown Channel"), "gone"),
    (Refused(404, 10008, "Unknown Message"), "target"),
    (Refused(400, 10014, "Unknown Emoji"), "other"),
    (Refused(404, 0, "404: Not Found"), "gone"),
]


@pytest.mark.parametrize(("answer", "why"), TABLE, ids=lambda each: getattr(each, "said", each))
def test_a_refusal(answer, why):
    """DE-31, CH-13: each with its number, so that people can look it up."""
    outcome = failure(answer)
    assert isinstance(outcome, Rejected)
    assert outcome.why == why
    assert not answer.code or str(answer.code) in outcome.reason


def test_a_limit_is_no_attempt():
    """DE-32: of the chat, or of the whole account."""
    assert failure(Refused(429, 0, "slow", 2.5)) == RetryAfter(2.5, "slow", limited=True)
    assert failure(Refused(429, 0, "slow", 2.5, everywhere=True)).everywhere
    assert failure(Refused(400, 20016, "slow mode", 3.0)).limited


@pytest.mark.parametrize("answer", [Refused(502, 0, "Bad Gateway"), Refused(403, 0, "blocked", foreign=True)])
def test_what_may_pass_is_tried_again(answer):
    """DE-32: an outage, and a proxy that answered in Discord's place."""
    assert isinstance(failure(answer), RetryAfter)


def test_only_what_was_written_is_of_unknown_fate():
    """DU-3."""
    assert isinstance(failure(NotSent("no route")), RetryAfter)
    assert isinstance(failure(NoResponse("reset")), Unknown)


# --- the budget -----------------------------------------------------------------------------------


def test_a_used_up_bucket_is_not_called():
    """CH-28: of its channel only, and until it is filled again."""
    budget = RateBudget()
    headers = {"X-RateLimit-Bucket": "b1", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "2.5"}
    budget.note("POST /messages", "1", headers, 100.0)
    assert budget.wait("POST /messages", "1", 101.0) == 1.5
    assert budget.wait("POST /messages", "2", 101.0) == 0.0
    assert budget.wait("POST /messages", "1", 102.6) == 0.0


def test_a_global_limit_holds_everywhere():
    budget = RateBudget()
    budget.close("POST /messages", "1", 3.0, 100.0, everywhere=True)
    assert budget.wait("PUT /reactions", "9", 101.0) == 2.0


def test_too_many_refusals_end_all_calls_for_a_while():
    """CH-28: Discord shuts out an address after ten thousand in ten minutes, whichever of its bots was refused."""
    refusals = Refusals()
    budget, other = RateBudget(refusals), RateBudget(refusals)
    for _ in range(MOST_REFUSED // 2):
        for each in (budget, other):
            each.count(403, "", 100.0)
            each.count(200, "", 100.0)
            each.count(429, "shared", 100.0)
    assert budget.wait("GET /gateway", "", 101.0) == REFUSED_SECONDS - 1
    assert other.wait("GET /gateway", "", 100.0 + REFUSED_SECONDS) == 0.0


def test_limits_of_one_bot_are_not_those_of_another():
    """CH-4, CH-28: a bucket and a global limit are a bot's own; being shut out is the address's."""
    one, other = RateBudget(refusals_at("http://here")), RateBudget(refusals_at("http://here"))
    elsewhere = RateBudget(refusals_at("http://there"))
    one.close("POST /messages", "1", 3.0, 100.0)
    one.close("POST /messages", "1", 3.0, 100.0, everywhere=True)
    assert (one.wait("POST /messages", "1", 100.0), other.wait("POST /messages", "1", 100.0)) == (3.0, 0.0)
    one.shut_out(60.0, 100.0)
    assert (other.wait("GET /gateway", "", 110.0), elsewhere.wait("GET /gateway", "", 110.0)) == (50.0, 0.0)

"""What Telegram's answers mean: the table of refusals, in its own words."""

import pytest

from rejoinder.channels.base import Rejected, RetryAfter, Unknown
from rejoinder.channels.telegram.outcomes import NoResponse, NotSent, Refused, failure


@pytest.mark.parametrize(
    ("code", "description", "why"),
    [
        (400, "Bad Request: can't parse entities: Unsupported start tag", "formatting"),
        (400, "Bad Request: can't parse MessageEntity: Unsupported type specified", "formatting"),
        (400, "Bad Request: entity beginning at UTF-16 offset 0 ends after the end of the text at 9", "formatting"),
        (400, "Bad Request: entity begins after the end of the text at UTF-16 offset 100", "formatting"),
        (400, "Bad Request: message to be replied not found", "target"),
        (400, "Bad Request: replied message not found", "target"),
        (400, "Bad Request: reply message not found", "target"),
        (400, "Bad Request: message to edit not found", "target"),
        (400, "Bad Request: message can't be edited", "target"),
        (400, "Bad Request: message to react not found", "target"),
        (400, "Bad Request: chat not found", "gone"),
        (400, "Bad Request: not enough rights to send text messages to the chat", "gone"),
        (400, "Bad Request: message thread not found", "gone"),
        (400, "Bad Request: TOPIC_CLOSED", "gone"),
        (401, "Unauthorized", "account"),
        (404, "Not Found", "gone"),
        (403, "Forbidden: bot was blocked by the user", "gone"),
        (403, "Forbidden: bot was kicked from the supergroup chat", "gone"),
        (400, "Bad Request: message is too long", "other"),
        (400, "Bad Request: REACTION_INVALID", "other"),
        (400, "Bad Request: message can't be deleted", "other"),  # it is there, so it is to be blanked (OD-61)
        (400, "Bad Request: message can't be deleted for everyone", "other"),
    ],
)
def test_a_refusal_has_a_reason(code, description, why):
    """DE-31: rejected for good, and what for."""
    assert failure(Refused(code, description)) == Rejected(description, why)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (
            Refused(429, "Too Many Requests: retry after 7", 7),
            RetryAfter(7, "Too Many Requests: retry after 7", limited=True),
        ),
        (Refused(502, "Bad Gateway"), RetryAfter(None, "Bad Gateway")),
        (Refused(403, "403 Forbidden", foreign=True), RetryAfter(None, "403 Forbidden")),
        (NotSent("refused"), RetryAfter(None, "refused")),
        (NoResponse("reset"), Unknown("reset")),
    ],
)
def test_what_may_be_tried_again(answer, outcome):
    """DE-31, DE-32: what surely did not arrive may be sent again; what may have arrived is unknown."""
    assert failure(answer) == outcome

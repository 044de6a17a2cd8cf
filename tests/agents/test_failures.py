"""Errors of providers, classified."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.agents.base import FailureKind
from rejoinder.agents.failures import SENTENCES, failed_response, failed_stream

OPENAI = '{"error": {"message": "%s", "type": "%s", "code": "%s"}}'
ANTHROPIC = '{"type": "error", "error": {"type": "%s", "message": "%s"}}'

CASES: list[tuple[int, str, FailureKind]] = [
    (401, OPENAI % ("Incorrect API key provided: sk-1", "invalid_request_error", "invalid_api_key"), "auth"),
    (401, ANTHROPIC % ("authentication_error", "invalid x-api-key"), "auth"),
    (403, ANTHROPIC % ("permission_error", "Your key may not use this resource"), "auth"),
    (402, "Payment required", "billing"),
    (429, OPENAI % ("You exceeded your quota", "insufficient_quota", "insufficient_quota"), "billing"),
    (400, ANTHROPIC % ("invalid_request_error", "Your credit balance is too low"), "billing"),
    (429, OPENAI % ("Rate limit reached for gpt-x", "requests", "rate_limit_exceeded"), "rate_limit"),
    (429, "", "rate_limit"),
    (404, OPENAI % ("No such model: gpt-z", "invalid", "model_not_found"), "model_not_found"),
    (404, ANTHROPIC % ("not_found_error", "model: claude-z"), "model_not_found"),
    (400, '{"error": "model \'llama9\' not found"}', "model_not_found"),
    (400, OPENAI % ("maximum context length is 8192", "invalid", "context_length_exceeded"),
     "context_overflow"),
    (400, ANTHROPIC % ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
     "context_overflow"),
    (413, ANTHROPIC % ("request_too_large", "Request exceeds the maximum size"), "context_overflow"),
    *((400, OPENAI % (words, "invalid_request_error", ""), "context_overflow") for words in (
        "Invalid request: Your request exceeded model token limit: 131072",
        "prompt token count of 200001 exceeds the limit of 128000",
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        "Range of input length should be [1, 30720]",
        "`inputs` tokens + `max_new_tokens` must be <= 4097",
        "tokens in request more than max tokens allowed",
        "Please reduce the length of the messages or completion.",
        "Input is too long for requested model.",
        "the request exceeds the available context size, try increasing it",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    )),
    (429, '{"message": "Too many tokens, please wait before trying again."}', "rate_limit"),
    (400, OPENAI % ("max_tokens: 9 > 8, which is the maximum allowed number of output tokens", "", ""), "format"),
    (400, '[{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}]', "auth"),
    (400, OPENAI % ("x/y is not a valid model ID", "", ""), "model_not_found"),
    (400, OPENAI % ("The model `old` has been decommissioned", "", ""), "model_not_found"),
    (400, OPENAI % ("Unrecognized request argument", "invalid_request_error", ""), "format"),
    (422, '{"detail": [{"msg": "field required"}]}', "format"),
    (418, "I am a teapot", "format"),
    (408, "", "timeout"),
    (504, "<html>Gateway Timeout</html>", "timeout"),
    (529, ANTHROPIC % ("overloaded_error", "Overloaded"), "overloaded"),
    (503, OPENAI % ("The engine is currently overloaded", "server_error", ""), "overloaded"),
    (500, "oops", "overloaded"),
    (302, "", "format"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "kind"), CASES)
def test_kinds(status: int, body: str, kind: FailureKind):
    """TU-22: what a provider says decides the kind; the person hears that kind's sentence."""
    failure = failed_response(status, body, {})
    assert failure.kind == kind
    assert failure.sentence == SENTENCES[kind]
    assert str(status) in failure.detail


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 401, "message": "Nobody knows you"}, "auth"),
        ({"code": 402, "message": "Sorry"}, "billing"),
        ({"code": 429, "message": "Provider returned error"}, "rate_limit"),
        ({"code": 502, "message": "Provider returned error"}, "overloaded"),
        ({"code": "server_error"}, "overloaded"),
        ("oops", "overloaded"),
    ],
)
def test_an_error_inside_a_stream_is_classified_by_its_code_too(error: object, kind: FailureKind):
    """TU-22: routers of models answer 200 and put the status of the one behind them into the stream."""
    assert failed_stream(error).kind == kind


@pytest.mark.parametrize(
    ("status", "transient"),
    [(500, True), (502, True), (408, True), (504, True), (400, False), (401, False), (429, False)],
)
def test_what_may_be_sent_once_more(status: int, transient: bool):
    """TU-22: only an error of the server's own is worth a second try."""
    assert failed_response(status, "", {}).transient is transient


NOW = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("9e9", 86_400.0),
        ("Wed, 21 Oct 2015 07:28:04 GMT", 4.0),
        ("Wed, 21 Oct 2015 07:28:04", 4.0),
        ("Wed, 21 Oct 2015 07:27:00 GMT", 0.0),
        ("soon", 0.0),
        ("Wed, 21 Oct 2015", 0.0),
        ("Wed, 99 Oct 99999999999 07:28:04 GMT", 0.0),
        ("-1", 0.0),
        ("nan", 0.0),
        ("", None),
    ],
)
def test_retry_after(value: str, seconds: float | None):
    """TU-22, DE-32: the wait a provider asks for is passed on; if nobody can tell how long, it is as short as ever."""
    assert failed_response(429, "", {"retry-after": value, "date": NOW}).retry_after == seconds


def test_a_date_is_compared_with_our_clock_if_the_server_tells_none():
    """TU-22: the wait until a date."""
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    wait = failed_response(429, "", {"retry-after": then}).retry_after
    assert wait is not None
    assert 90 < wait <= 100


def test_the_key_is_not_in_the_detail():
    """Some providers repeat the key they refuse; the log must not have it."""
    assert "sk-secret" not in failed_response(401, "bad key sk-secret", {}, "sk-secret").detail
    assert "sk-secret" not in failed_stream({"message": "bad key sk-secret"}, "sk-secret").detail


@given(st.integers(300, 599), st.text() | st.sampled_from(["[]", "1", '{"error": 1}', '{"error": null}']))
def test_no_body_breaks_it(status: int, body: str):
    """Whatever a proxy in the way says, there is a sentence."""
    assert failed_response(status, body, {}).sentence


@pytest.mark.parametrize("said", ["\ud83d", {"message": "\ud83d"}, ["\ud83d"], {"\ud83d": 1}])
def test_half_a_letter_in_an_error_is_no_other_error(said: Any):
    """TU-22: what is classified can be written down, too."""
    failure = failed_stream(said)
    assert failure.kind == "overloaded"
    failure.detail.encode()


def test_an_error_nested_beyond_measure():
    body = '{"error":' * 5000 + "1" + "}" * 5000
    assert failed_response(401, body, {}).kind == "auth"

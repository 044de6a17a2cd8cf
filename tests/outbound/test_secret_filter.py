"""A text is shown while it grows, and no part of a secret with it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.outbound.redact import REDACTED, redact
from rejoinder.outbound.secret_filter import SecretFilter
from tests.outbound.test_redact import BODY, PROSE, SECRETS

PIECES = st.lists(st.text(st.sampled_from("ab SK-sk_=:/@.01\n"), max_size=8), max_size=30)


def shown(pieces) -> list[str]:
    secret_filter = SecretFilter()
    return [*(secret_filter.feed(piece) for piece in pieces), secret_filter.finish()]


def frames(pieces) -> list[str]:
    seen = ""
    return [seen := seen + piece for piece in shown(pieces)]


@settings(deadline=None)
@given(st.lists(st.text(), max_size=20))
def test_whatever_the_cut_nothing_is_lost(pieces):
    """DE-1: what was shown piece by piece is the final text."""
    assert "".join(shown(pieces)) == redact("".join(pieces))


@settings(deadline=None)
@given(PIECES)
def test_text_made_of_suspicious_characters(pieces):
    """DE-35: the secrets of the whole text are gone, whatever was shown before they could be known."""
    assert redact("".join(shown(pieces))) == "".join(shown(pieces))


@pytest.mark.parametrize(("name", "secret", "around"), SECRETS)
def test_no_frame_shows_a_secret(name, secret, around):
    """DE-1, DE-35: one character at a time."""
    text = f"Here: {around.format(secret)} and more"
    seen = frames(text)
    # A letter alone is a word: that it began a secret is known too late, and the rest of it is not shown.
    assert seen[-1] in (redact(text), redact(text).replace(REDACTED, secret[0] + REDACTED))
    assert REDACTED in seen[-1]
    assert all(seen[-1].startswith(frame) for frame in seen)
    assert not any(secret[:12] in frame for frame in seen)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=4))
def test_a_paragraph_does_not_wait_for_the_next(paragraphs):
    """DE-1, DE-35: at its end all of it is seen, and nothing else than if the next had come at once."""
    texts = ["\n\n" * (at > 0) + "".join(pieces) for at, pieces in enumerate(paragraphs)]
    secret_filter, apart, together = SecretFilter(), "", shown(texts)
    for text in texts:
        apart += secret_filter.feed(text)
        apart += secret_filter.end_word()
        assert not secret_filter.end_word()
    assert apart + secret_filter.finish() == "".join(together)


def test_a_key_waits_for_its_end_across_paragraphs():
    """DE-35."""
    secret_filter = SecretFilter()
    seen = secret_filter.feed(f"Here:\n-----BEGIN PRIVATE KEY-----\n{BODY}") + secret_filter.end_word()
    assert seen == "Here:\n"
    seen += secret_filter.feed("\n\n-----END PRIVATE KEY-----\n") + secret_filter.finish()
    assert BODY[:12] not in seen


@pytest.mark.parametrize("text", PROSE)
def test_prose_comes_out_as_it_is(text):
    assert "".join(shown(text)) == text


@pytest.mark.parametrize("text", ["Once upon", "Hello, Ann.", "**Well**", "I don't", "größer", "A", "(see"])
def test_a_plain_word_is_shown_while_it_is_written(text):
    """OD-3: a plain character is passed on at once."""
    assert SecretFilter().feed(text) == text


@pytest.mark.parametrize("text", ["s", "sk", "ghp_", "key=abc", "Bearer abc", "https://a:b", "abc1"])
def test_what_may_become_a_secret_waits(text):
    assert SecretFilter().feed(text) != text


@pytest.mark.parametrize("text", ["a1" * 100_000, "-----BEGIN PRIVATE KEY-----\n" + "aB3 " * 50_000])
def test_a_word_without_end_is_passed_on(text):
    """Rule 3, and no stall: the run would not end here if there were one."""
    pieces = [text[at : at + 64] for at in range(0, len(text), 64)]
    assert len("".join(shown(pieces))) <= len(text)

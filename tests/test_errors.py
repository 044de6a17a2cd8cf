"""An error says what it is about, and what is wrong: together in its text, and each by itself."""

import pytest

from rejoinder.errors import BadAgent, BadConfiguration, BadUse, ChannelStopped, Mistake, StoreUnavailable

FAULT = "The store x.db is unavailable. It has been closed."


@pytest.mark.parametrize(
    ("error", "text", "sentence"),
    [
        (BadUse("no such thing"), "no such thing", "no such thing"),
        (BadAgent("a", "`call` is empty"), "agent 'a': `call` is empty", "`call` is empty"),
        (ChannelStopped("It is off.", "chat.accounts.b"), "[channels.chat.accounts.b] It is off.", "It is off."),
        (ChannelStopped("It is off."), "It is off.", "It is off."),
        (
            BadConfiguration("'x': no folder", about="commands.skills = "),
            "commands.skills = 'x': no folder",
            "'x': no folder",
        ),
        (BadConfiguration(Mistake("f", 1, "k", "no"), "and no"), "f:1: k: no\nand no", "f:1: k: no\nand no"),
        (StoreUnavailable("closed", "x.db"), FAULT, FAULT),
    ],
)
def test_an_error_has_its_sentence_with_and_without_its_subject(error, text, sentence):
    assert (str(error), error.sentence) == (text, sentence)

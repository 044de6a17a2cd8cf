"""Answers to the one request that waits for a person: yes, no, or a number (TU-34).

In a group only messages addressed to us count: a "yes" to somebody else must not allow anything.
"""

from typing import TYPE_CHECKING

from rejoinder.events import AnswerQuestion
from rejoinder.inbound.facts import OpenQuestion
from rejoinder.inbound.outcome import PASS, Answer, Outcome

if TYPE_CHECKING:  # the message module imports the commands
    from rejoinder.inbound.message import InboundMessage

ALLOW, DENY = "allow-once", "deny"
WORDS = {
    "yes": ALLOW,
    "y": ALLOW,
    "no": DENY,
    "n": DENY,
    "allow": ALLOW,
    "deny": DENY,
    "allow-once": ALLOW,
    "always": "allow-always",
    "allow-always": "allow-always",
}
SPOKEN = ("yes", "y", "no", "n")
_PUNCTUATION = " \t\n.!…"


def answer_in(said: str, question: OpenQuestion) -> str | None:
    """The answer in these words; None if there is none."""
    word = said.strip(_PUNCTUATION).casefold()
    if word.isascii() and word.isdigit():
        return word if 1 <= int(word[:9]) <= len(question.options) and len(word) < 9 else None
    if word in question.options:
        return word
    return WORDS.get(word) if question.permission else None


def consent(message: "InboundMessage", rest: str) -> Outcome:
    """`rest`: the sender's text without our name."""
    question, inbound = message.facts.question, message.inbound
    if question is None or inbound.entry != "text" or inbound.forwarded is not None or message.brings_files:
        return PASS
    if message.addressed not in ("direct", "mention", "reply") or message.listening:
        return PASS
    word = rest.strip(_PUNCTUATION).casefold()
    if word not in SPOKEN and not word.isdigit():
        return PASS
    if (answer := answer_in(word, question)) is None:
        return PASS
    effect = AnswerQuestion(question.which, answer, inbound.sender.id)
    said = f"Request {question.which}: {answer}."
    return Answer((said,), effects=(effect,), reason=f"answers request {question.which}")

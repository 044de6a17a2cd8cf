"""Questions of an agent to a person, in words and buttons, and which option an answer means (TU-34)."""

from typing import Final

from rejoinder.events import Choice, Option, Question
from rejoinder.unicode_repair import one_line

ALLOWED, ALWAYS, DENIED = "allow-once", "allow-always", "deny"
OUTCOMES: Final = {ALLOWED: "Allowed once.", ALWAYS: "Allowed.", DENIED: "Denied."}
LONGEST_LABEL, MOST_BUTTONS = 60, 20
"""With more buttons a platform may refuse the whole message; the text lists all options, which can be chosen by
number."""


def how_to_answer(question: Question, which: str) -> str:
    """The last paragraph, which says how to answer without buttons; when the question is closed, the outcome replaces
    it."""
    if not question.options:
        return f"Answer yes or no. /approve {which} allows it once; /approve {which} {DENIED} denies it."
    listed = "\n".join(f"{number}. {option.shown_label}" for number, option in enumerate(question.offered, 1))
    words = "the number, yes or no" if any(option.grants for option in question.offered) else "the number"
    allows = f"You can also write /approve {which} and the number, or /approve {which} {DENIED}."
    return f"{listed}\n\nAnswer with {words}. {allows}"


def buttons(question: Question, which: str) -> tuple[Choice, ...]:
    """The buttons. Each sends a number, because an id may be anything, of any length. If there are several options, one
    of them is the agent's own "no", so no button is added for that."""
    own = [
        Choice(one_line(option.shown_label)[:LONGEST_LABEL] or f"{number}", f"/approve {which} {number}")
        for number, option in enumerate(question.offered[:MOST_BUTTONS], 1)
    ]
    if len(own) > 1:
        return tuple(own)
    return (*(own or [Choice("Allow once", f"/approve {which}")]), Choice("Deny", f"/approve {which} {DENIED}"))


def chosen_option(question: Question, said: str) -> Option | None:
    """The option with this number, id or label."""
    numbered = {f"{number}": option for number, option in enumerate(question.offered, 1)}
    named = (each for each in numbered.values() if said in (each.id.casefold(), each.shown_label.casefold()))
    return numbered.get(said) or next(named, None)

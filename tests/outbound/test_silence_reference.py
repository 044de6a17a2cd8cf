"""A second, slow reading of the silence tokens, word by word from the sentences of the specification (OD-41, OD-45)."""

import random
import re

import pytest

from rejoinder import ReplyReader, Silent, Text

TOKENS = ("NO_REPLY", "HEARTBEAT_OK")
AROUND = ("{}", "{}", "**{}**", '"{}"', "({})", "<b>{}</b>", "_{}_")
BEHIND = ("", "", ".", "!!!!!", ":")
OTHERS = (
    "hello",
    "fine.",
    "**bold**",
    "NO_REPLYING",
    "no_reply",
    "NO_",
    "N",
    "(see",
    "<b>x</b>",
    "HEARTBEAT_OKAY",
    "é",
)
GAPS = (" ", " ", "\n", "\n\n", "  ")
CASES = 3000


def drawn(chance: random.Random) -> list[str]:
    """Words of a reply; about every second one is a token, with something around it."""
    words: list[str] = []
    for _ in range(chance.randint(1, 6)):
        if chance.random() < 0.5:
            words.append(chance.choice(AROUND).format(chance.choice(TOKENS)) + chance.choice(BEHIND))
        else:
            words.append(chance.choice(OTHERS))
    return words


def meant(word: str) -> str:
    """The token that a word is, without mark-up and punctuation; else nothing."""
    core = re.sub(r"</?b>", "", word).strip('*"().!:')
    core = core[1:-1] if core[:1] == "_" and core[-1:] == "_" else core
    return core if core in TOKENS else ""


def reference(words: list[str], mode: str) -> tuple[list[str], bool]:
    """What is left of the words, and whether the reply is silent."""
    left, asked = list(words), False
    while left and meant(left[0]):
        asked |= meant(left.pop(0)) == "NO_REPLY"
        if asked and mode == "edges":
            return [], True
    while left and meant(left[-1]):
        asked |= meant(left.pop()) == "NO_REPLY"
    silent = asked and (mode == "edges" or not left)
    return ([], True) if silent else (left, False)


@pytest.mark.parametrize("mode", ["edges", "alone"])
@pytest.mark.parametrize("seed", range(4))
def test_both_readings_agree(seed: int, mode: str) -> None:
    """OD-2, OD-41, OD-43, OD-45: on random replies, in random pieces and at every split; no frame shows a token that
    the whole does not show."""
    chance = random.Random(seed)
    for _ in range(CASES // 4):
        words = drawn(chance)
        text = "".join(word + chance.choice(GAPS) for word in words)
        left, silent = reference(words, mode)
        at = chance.randrange(len(text) + 1)
        for pieces in ([text], list(text), [text[:at], text[at:]]):
            reader = ReplyReader(silence=mode)  # type: ignore[arg-type]
            events = [event for piece in pieces for event in reader.feed(piece)] + reader.finish()
            shown = "".join(event.text for event in events if isinstance(event, Text))
            assert (Silent() in events) == silent, (text, pieces)
            if not silent:
                assert shown.split() == left, (text, pieces)
            elif meant(words[0]) == "NO_REPLY" and mode == "edges":
                assert not shown, (text, pieces)

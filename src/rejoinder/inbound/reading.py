"""What the sender's own text asks for, read once and used by every stage that follows."""

from typing import Literal

from msgspec import Struct

from rejoinder.events import Entry
from rejoinder.inbound.commands.parse import Invocation, read_invocation
from rejoinder.inbound.directives.argument import skip_blanks
from rejoinder.inbound.directives.tokenise import Token, Vocabulary, directives_alone, find_tokens
from rejoinder.inbound.rules import Rules
from rejoinder.inbound.stop_words import LONGEST, is_stop_command, is_stop_word


class Reset(Struct, frozen=True):
    """A reset trigger and its span; what follows is the first prompt."""

    trigger: str
    start: int
    end: int


class Reading(Struct, frozen=True):
    """`tokens` hold what counts, by position; `alone` says that there is nothing else in the text."""

    stop: Literal["command", "word"] | None = None
    reset: Reset | None = None
    invocation: Invocation | None = None
    tokens: tuple[Token, ...] = ()
    alone: bool = False

    @property
    def is_command(self) -> bool:
        """A control command: the whole message is one (IN-31)."""
        return self.alone or self.invocation is not None or self.reset is not None or self.stop == "command"


NOTHING_READ = Reading()


class Names(Struct, frozen=True):
    """How a text can say whom it means: our name, the words that only say it, in a room also those for the others."""

    own: str
    mentions: tuple[str, ...] = ()
    anyone: tuple[str, ...] = ()


def read(text: str, rules: Rules, known: Vocabulary, names: Names, *, entry: Entry) -> Reading:
    """Reads a text."""
    native = entry == "native"
    slash = native or rules.settings.commands.text
    if stop := _find_stop(text, names):
        return Reading(stop=stop)
    start = _after_mentions(text, names.mentions)
    if slash and (reset := _find_reset(text, start, rules.triggers, names.own)):
        return _read_tokens(text, reset.end, known, names, reset)
    if "/" not in text and not text.startswith("!", start):
        return NOTHING_READ
    invocation = read_invocation(text, start, rules, names.own, names.mentions, native=native)
    if invocation and invocation.name == "stop":
        return Reading(stop="command")
    if not slash:
        return NOTHING_READ
    if invocation and invocation.is_skill:
        tokens = find_tokens(text, known, invocation.at, names.own)
        return Reading(invocation=invocation, tokens=tuple(token for token in tokens if token.kind == "directive"))
    if invocation:
        return Reading(invocation=invocation)
    return _read_tokens(text, start, known, names, None)


_SHORT = 4 * LONGEST  # a stop word between mentions


def _find_stop(text: str, names: Names) -> Literal["command", "word"] | None:
    mentions = names.anyone or names.mentions
    start = _after_mentions(text, mentions)
    if len(text) - start > _SHORT:
        return None
    said = _before_mentions(text, start, mentions)
    if is_stop_word(said):
        return "word"
    return "command" if is_stop_command(said, names.own) else None


def _read_tokens(text: str, start: int, known: Vocabulary, names: Names, reset: Reset | None) -> Reading:
    if "/" not in text[start:]:
        return Reading(reset=reset)
    if alone := directives_alone(text, known, start, names.own, names.mentions):
        return Reading(reset=reset, tokens=alone, alone=True)
    return Reading(reset=reset, tokens=find_tokens(text, known, start, names.own))


def _find_reset(text: str, start: int, triggers: tuple[str, ...], our_name: str) -> Reset | None:
    for trigger in triggers:
        end = start + len(trigger)
        if text[start:end].lower() != trigger:
            continue
        if our_name and text[end : end + 1 + len(our_name)].lower() == f"@{our_name.lower()}":
            end += 1 + len(our_name)
        end += text.startswith(":", end)
        if end == len(text) or text[end].isspace():
            return Reset(trigger, start, end)
    return None


def _after_mentions(text: str, mentions: tuple[str, ...]) -> int:
    """Where the text begins when white space and our own name before it do not count."""
    position = skip_blanks(text, 0)
    while mention := next((each for each in mentions if text.startswith(each, position)), None):
        position += len(mention)
        position = skip_blanks(text, position + text.startswith((",", ":"), position))
    return position


def _before_mentions(text: str, start: int, mentions: tuple[str, ...]) -> str:
    text = text[start:]
    while mentions:
        bare = text.rstrip(_AFTER_A_NAME)
        mention = next((each for each in mentions if bare.endswith(each)), None)
        if mention is None:
            break
        text = bare[: -len(mention)]
    return text


_AFTER_A_NAME = " \t\n!?.,…。！？"

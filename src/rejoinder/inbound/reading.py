"""The requests in the sender's own text, read once and used by all later stages."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Entry
from rejoinder.inbound.commands.parse import Invocation, read_invocation
from rejoinder.inbound.directives.argument import skip_blanks
from rejoinder.inbound.directives.tokenise import Token, Vocabulary, directives_alone, find_tokens
from rejoinder.inbound.rules import Rules
from rejoinder.inbound.stop_words import LONGEST, is_stop_command, is_stop_word


class Reset(Struct, frozen=True):
    """A reset trigger and its span; the text after it is the first prompt. If it is in brackets, so is the text before
    it."""

    trigger: str
    start: int
    end: int
    closes: tuple[int, int] | None = None  # where its brackets end; None if it begins the text


Called = Reset | Invocation


class InboundReading(Struct, frozen=True):
    """`tokens`: the directives and commands found, by position. `alone`: whether the text contains nothing else, or
    only the command that follows them."""

    stop: Literal["command", "word", "inline"] | None = None
    reset: Reset | None = None
    invocation: Invocation | None = None
    tokens: tuple[Token, ...] = ()
    alone: bool = False
    only: bool = False  # the text contains only commands, directives and our name

    @property
    def is_command(self) -> bool:
        """Whether the whole message is a control command (IN-31)."""
        begins = self.reset is not None and self.reset.closes is None
        return self.alone or self.only or self.invocation is not None or begins or self.stop == "command"


NOTHING_READ = InboundReading()
COMMANDS_BEGIN = ("/", "!")
CLOSING = "]]"


class OwnNames(Struct, frozen=True):
    """How a text can address us: our name, the words that are only our name, and in a room also those for the
    others."""

    own: str
    mentions: tuple[str, ...] = ()
    anyone: tuple[str, ...] = ()


def read(text: str, rules: Rules, known: Vocabulary, names: OwnNames, *, entry: Entry) -> InboundReading:
    """Reads a text."""
    native = entry == "native"
    slash = native or rules.settings.commands.text
    start = _after_mentions(text, names.mentions)
    if stop := _find_stop(text, start, names):
        return InboundReading(stop=stop)

    def called(position: int) -> Called | None:
        if slash and (reset := _find_reset(text, position, rules, names.own)):
            return reset
        if text[position : position + 1] not in COMMANDS_BEGIN:
            return None
        return read_invocation(text, position, rules, names.own, names.mentions, native=native)

    if command := called(start):
        reading = _read_command(text, command, (), known, names)
        return reading if slash or reading.stop else NOTHING_READ
    if not slash or "/" not in text[start:]:
        return NOTHING_READ
    found = directives_alone(text, known, start, names.own, names.mentions, lambda at: called(at) is not None)
    if found is None:
        tokens = find_tokens(text, known, start, names.own)
        return _with_bodies(InboundReading(tokens=tokens, only=_is_all(text, start, tokens, names.mentions)))
    before, end = found
    if command := called(end):
        return _read_command(text, command, before, known, names)
    return _with_bodies(InboundReading(tokens=before, alone=True, only=True))


def _is_all(text: str, start: int, tokens: tuple[Token, ...], mentions: tuple[str, ...]) -> bool:
    if not tokens:
        return False
    ends = (start, *(token.end for token in tokens))
    starts = (*(token.start for token in tokens), len(text))
    between = (text[end:begins].strip() for end, begins in zip(ends, starts, strict=True))
    return all(not words or words in mentions for words in between)


def _with_bodies(reading: InboundReading) -> InboundReading:
    """Adds the reset or the stop in brackets; of several resets the last one counts."""
    kinds = {token.kind: token for token in reading.tokens if token.kind in ("reset", "stop")}
    if "stop" in kinds:
        return replace(reading, stop="inline")
    if (token := kinds.get("reset")) is not None:
        closing = (token.end - len(CLOSING), token.end)
        return replace(reading, reset=Reset(token.name, token.start, token.after, closing))
    return reading


_SHORT = 4 * LONGEST  # a stop word between mentions


def _find_stop(text: str, start: int, names: OwnNames) -> Literal["command", "word"] | None:
    """`start`: where the text after our own name begins."""
    if names.anyone:
        start = _after_mentions(text, names.anyone)
    if len(text) - start > _SHORT:
        return None
    said = text[start:]
    if mentions := names.anyone or names.mentions:
        said = _before_mentions(said, mentions)
    if said.startswith("/"):  # no stop word does
        return "command" if is_stop_command(said, names.own) else None
    return "word" if is_stop_word(said) else None


def _read_command(
    text: str, command: Called, before: tuple[Token, ...], known: Vocabulary, names: OwnNames
) -> InboundReading:
    """`before`: the directives that precede the command."""
    if isinstance(command, Reset):
        return _read_first_prompt(text, command, before, known, names)
    if command.name == "stop":
        return InboundReading(stop="command")
    if not command.is_skill:
        return InboundReading(invocation=command, tokens=before, alone=bool(before))
    among = (token for token in find_tokens(text, known, command.at, names.own) if token.kind == "directive")
    return InboundReading(invocation=command, tokens=(*before, *among))


def _read_first_prompt(
    text: str, reset: Reset, before: tuple[Token, ...], known: Vocabulary, names: OwnNames
) -> InboundReading:
    rest = text[reset.end :]
    if not rest.strip():
        return InboundReading(reset=reset, tokens=before, alone=bool(before))
    if "/" not in rest:
        return InboundReading(reset=reset, tokens=before)
    alone = directives_alone(text, known, reset.end, names.own, names.mentions, lambda _: False)
    tokens = alone[0] if alone else find_tokens(text, known, reset.end, names.own)
    stop = "inline" if any(token.kind == "stop" for token in tokens) else None
    return InboundReading(stop=stop, reset=reset, tokens=(*before, *tokens), alone=alone is not None)


def _find_reset(text: str, start: int, rules: Rules, our_name: str) -> Reset | None:
    if text[start : start + 1].lower()[:1] not in rules.trigger_starts:
        return None
    for trigger in rules.triggers:
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
    """Where the text begins after leading white space and our own name."""
    position = skip_blanks(text, 0)
    while mentions and (mention := next((each for each in mentions if text.startswith(each, position)), None)):
        position += len(mention)
        position = skip_blanks(text, position + text.startswith((",", ":"), position))
    return position


def _before_mentions(text: str, mentions: tuple[str, ...]) -> str:
    while True:
        bare = text.rstrip(_AFTER_A_NAME)
        mention = next((each for each in mentions if bare.endswith(each)), None)
        if mention is None:
            return text
        text = bare[: -len(mention)]


_AFTER_A_NAME = " \t\n!?.,…。！？"

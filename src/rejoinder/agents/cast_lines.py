"""The cast's answers to a person who joins the demo: a table of things that people will try.

The lines are tried from first to last, and the first that fits is spoken. No line may contain an @ with a name: it
would wake that agent.
"""

import re
from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from rejoinder.agents.tour import guide

LONGEST_QUOTE = 60
LONGEST_READ = 4000  # only the beginning of a longer message is read


class HeardMessage(Struct, frozen=True):
    """A message as an agent of the cast hears it. `who`: empty if it has no name; `peers`: the other agents."""

    text: str
    words: frozenset[str]
    handle: str
    by_bot: bool
    who: str
    peers: tuple[str, ...]


class CastLine(Struct, frozen=True):
    """`thinks`: seconds between the actions and the words."""

    fits: Callable[[HeardMessage], bool]
    says: Callable[[HeardMessage], str]
    does: Callable[[HeardMessage], str] = lambda _: ""
    thinks: float = 1.0


class Character(Struct, frozen=True):
    """The differences between the agents of the cast outside the play."""

    about: str
    joke: str
    opinion: str


# --- when a line fits, and what it does -------------------------------------------------------------


def asks(*words: str) -> Callable[[HeardMessage], bool]:
    """A person says one of these words."""
    return lambda heard: not heard.by_bot and not heard.words.isdisjoint(words)


def asks_all(*words: str) -> Callable[[HeardMessage], bool]:
    return lambda heard: not heard.by_bot and heard.words.issuperset(words)


def _is_short(*words: str) -> Callable[[HeardMessage], bool]:
    """A person says one of these words, and little else."""
    return lambda heard: asks(*words)(heard) and len(heard.words) <= 3


def is_told(*words: str) -> Callable[[HeardMessage], bool]:
    """Another agent says one of these words."""
    return lambda heard: heard.by_bot and not heard.words.isdisjoint(words)


def reply(heard: HeardMessage) -> str:
    return f"[[reply_to:{heard.handle}]]\n"


def reply_with(emoji: str) -> Callable[[HeardMessage], str]:
    return lambda heard: f'{reply(heard)}<actions><react emoji="{emoji}"/></actions>\n'


def always(text: str) -> Callable[[HeardMessage], str]:
    return lambda _: text


SILENCE = always("NO_REPLY")

# --- code that a person pastes ----------------------------------------------------------------------

CODE = re.compile(r"```|\b(?:def|class|function|SELECT|import)\s+\w|[;{}]\s*$|=>", re.MULTILINE)
REMARKS = (
    (r"except(?:\s+(?:Base)?Exception)?\s*:", "that `except` swallows bugs, too: name the errors you expect"),
    (r"def \w{1,99}\([^)]{0,200}=\s*[\[{]", "a list or dict as a default is shared by all calls: use `None`"),
    (r"[=!]= None\b", "`is None`, not `== None`"),
    (r"\b(?:eval|exec)\(", "`eval` runs whatever it is given"),
    (r"shell=True", "with `shell=True` a file name can become a command"),
    (r"(?i)\b(?:password|secret|token|api_key)\s*=\s*[\"']\w", "a secret in the source is in every clone"),
    (r"(?i)\bf[\"'](?:select|insert|update|delete)\b", "SQL made of strings: use parameters"),
    (r"(?i)\bselect \*", "`SELECT *` breaks when somebody adds a column"),
    (r"\brange\(len\(", "loop over the thing itself, or `enumerate` it"),
    (r"\b(?:time\.)?sleep\(", "a sleep is a guess: wait for the event itself"),
    (r"\bvar \w", "`const` or `let`, not `var`"),
    (r"\bprint\(|console\.log\(", "is that line of output meant to stay?"),
    (r"(?i)\b(?:todo|fixme|xxx)\b", "do the TODO now, or delete it"),
)


def has_code(heard: HeardMessage) -> bool:
    return not heard.by_bot and CODE.search(heard.text) is not None


def remarks(heard: HeardMessage) -> str:
    found = [remark for pattern, remark in REMARKS if re.search(pattern, heard.text)]
    if not found:
        return "I read every line and would let it through. One question: what does it do when it **fails**?"
    listed = "\n".join(f"{number}. {remark}" for number, remark in enumerate(found, 1))
    return f"{'One thing' if len(found) == 1 else f'{len(found)} things'} I noticed:\n\n{listed}"


# --- what people try --------------------------------------------------------------------------------

SUM = re.compile(r"(?<![\w./-])(\d{1,9})\s*([-+*x×/])\s*(\d{1,9})(?![\w./-])")
CAN = (
    "**review** code you paste, **react with 🎉**, **ask {peer}**, tell a **joke** or the **time**, "
    "and work out **7 x 6**"
)


def _sum(heard: HeardMessage) -> str:
    found = SUM.search(heard.text)
    assert found is not None
    left, right = int(found[1]), int(found[3])
    match found[2]:
        case "+":
            result = f"{left + right}"
        case "-":
            result = f"{left - right}"
        case "/":
            result = f"{left / right:g}" if right else "more than I can count to"
        case _:
            result = f"{left * right}"
    return f"That is {result}."


def _time(_: HeardMessage) -> str:
    now = datetime.now().astimezone()
    return f"It is {now:%H:%M} on the machine I run on, {now:%A}, {now.day} {now:%B}."


def _can(heard: HeardMessage) -> str:
    return CAN.format(peer=_other(heard))


def _other(heard: HeardMessage) -> str:
    """The peer whose name occurs, else the first."""
    return next((peer for peer in heard.peers if peer.lower() in heard.words), (*heard.peers, "everybody")[0])


def _passes_on(heard: HeardMessage) -> str:
    return f"@{_other(heard)}, {heard.who or 'somebody'} would like to hear from you."


def _comes(heard: HeardMessage) -> str:
    return f"Here I am; {heard.who} called me. What can I do for you? I can {_can(heard)}."


def _greets(heard: HeardMessage) -> str:
    return f"{'Hello, ' + heard.who if heard.who else 'Hello'}! I can {_can(heard)}."


def _helps(heard: HeardMessage) -> str:
    return f"I can {_can(heard)}. Commands such as `/status` and `/why` are the gateway's own."


def _tricks(heard: HeardMessage) -> str:
    """The cast can do everything that the tour can: reply, react, stay silent, show streaming."""
    return guide.answer((guide.GuideMessage(heard.text, heard.words, heard.handle),))


def _knows_no_answer(heard: HeardMessage) -> str:
    line = " ".join(re.sub(r"`+", "'", heard.text.replace("@", "")).split())
    line = line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"
    return f"""\
`{line}`: there is no model behind me, so I have to pass. I can {_can(heard)}; \
your own agent, which `rejoinder init` sets up, knows more."""


def small_talk(character: Character) -> tuple[CastLine, ...]:
    """The lines of this agent of the cast outside the play."""
    return (
        CastLine(asks("silent", "silence", "quiet", "hush", "shh"), SILENCE, thinks=0.0),
        CastLine(has_code, remarks, reply_with("eyes"), 2.0),
        CastLine(asks("review"), always("Sure. Paste it, with ``` above and below."), reply),
        CastLine(asks(*PLEASED), SILENCE, reply_with("heart"), 0.0),
        CastLine(asks("joke", "jokes", "funny"), always(character.joke), reply),
        CastLine(asks_all("who", "you"), always(character.about), reply),
        CastLine(asks("model", "llm", "gpt", "claude", "bot", "human", "real"), always(character.about), reply),
        CastLine(asks_all("how", "are", "you"), always("Fine, thank you: nobody merges on a Friday. And you?"), reply),
        CastLine(lambda heard: not heard.by_bot and SUM.search(heard.text) is not None, _sum, reply),
        CastLine(asks("time", "date", "clock", "today"), _time, reply),
        CastLine(asks("ask", "tell", "forward", "call"), _passes_on),
        CastLine(asks("poem", "haiku", "song"), always(HAIKU), reply),
        CastLine(asks("disagree", "wrong", "incorrect", "nonsense"), always(DISPUTED), reply),
        CastLine(asks("why"), always("Because the caller has to know that it failed. The rest is taste."), reply),
        CastLine(asks_all("you", "think"), always(character.opinion), reply),
        CastLine(lambda heard: not heard.by_bot and any(heard.words & trick.words for trick in guide.TRICKS), _tricks),
        CastLine(asks("hello", "hi", "hey", "hallo", "morning", "moin"), _greets, reply),
        CastLine(asks("help", "can", "menu", "commands"), _helps, reply),
        CastLine(asks("bye", "goodbye", "night", "later", "ciao"), SILENCE, reply_with("wave"), 0.0),
        CastLine(_is_short("yes", "no", "ok", "okay", "sure", "right"), SILENCE, reply_with("thumbsup"), 0.0),
        CastLine(is_told("hear"), _comes),
        CastLine(lambda heard: heard.by_bot, lambda heard: f"Noted, {heard.who}. I have nothing to add.", reply),
        CastLine(lambda _: True, _knows_no_answer, reply),
    )  # fmt: skip


DISPUTED = "I may be. What would you do instead?"
PLEASED = ("thanks", "thank", "thx", "great", "nice", "cool", "wow", "love")
HAIKU = """\
Three times it has failed,
the exception swallowed whole.
`None` came back. Good night."""

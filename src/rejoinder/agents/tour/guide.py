"""The answers of the guide.

It shows what agents can do here by doing it: its output holds real directives, and the reader, not this file, turns
them into a reply, a reaction or silence. Its menu is `TRICKS`: another trick is one more entry.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable

import emoji
from msgspec import Struct

from rejoinder.agents.base import AgentEvent, Done, TextDelta
from rejoinder.agents.thinking_levels import LEVELS
from rejoinder.events import Turn
from rejoinder.prompt_blocks import SenderBlock, messages

PACE = 0.025
LONGEST_QUOTE = 60
LONGEST_READ = 2000  # only the beginning of a longer message is searched for words


class GuideMessage(Struct, frozen=True):
    """A message as the guide reads it: its words, its handle, and the message it names or answers.

    `last`: it is the last of the turn, to which actions without a handle apply.
    """

    text: str
    words: frozenset[str]
    handle: str
    named: str | None = None
    replied_to: str | None = None
    think: str | None = None
    is_edit: bool = False
    last: bool = True


class TrickReply(Struct, frozen=True):
    """What a trick adds to the answer."""

    header: str = ""
    actions: str = ""
    text: str = ""


SILENCE = TrickReply()


class Trick(Struct, frozen=True):
    """One thing to try: words that ask for it, a line for the menu, and what it does."""

    invite: str
    shows: str
    words: frozenset[str]
    act: Callable[[GuideMessage], TrickReply]


def _reply(asked: GuideMessage) -> TrickReply:
    target = asked.named or asked.handle
    whose = f"`{asked.named}`" if asked.named else "your message"
    return TrickReply(
        header=f"[[reply_to:{target}]]\n",
        text=f"This is a native reply to {whose}: the line above shows what it answers.",
    )


def _react(asked: GuideMessage) -> TrickReply:
    wanted = _emoji_in(asked.text) or ("eyes",)
    target = asked.named or ("" if asked.last else asked.handle)
    message = f' message="{target}"' if target else ""
    tags = "".join(f'<react emoji="{name}"{message}/>' for name in wanted)
    where = f"`{asked.named}`" if asked.named else "your message"
    return TrickReply(
        actions=f"<actions>{tags}</actions>\n",
        text=f"Look at {where}: the reaction was there before I had finished this sentence.",
    )


def _stay_silent(_: GuideMessage) -> TrickReply:
    return SILENCE


def _think(asked: GuideMessage) -> TrickReply:
    if asked.think is None:
        return TrickReply(text="I think as usual. Say `/think high`, then ask me again: a model would think longer.")
    return TrickReply(text=f"You chose **{asked.think}**. I am told with every turn; a model would think that hard.")


def _stream(_: GuideMessage) -> TrickReply:
    return TrickReply(text=STREAMED)


STREAMED = """\
You read this **while it is written**. Whatever might still become a directive is held back until it is \
clear what it is, so you never see half of one.

Inside code a directive is only text. This is how an agent replies and reacts:

```
[[reply_to:m1]]
<actions><react emoji="tada" /></actions>
Well done!
```

The first line chooses the message, the second puts 🎉 on it, and people see the third."""

TRICKS = (
    Trick(
        "reply to me",
        "I answer your message with a native reply",
        frozenset({"reply", "replies", "answer", "respond", "quote"}),
        _reply,
    ),
    Trick(
        "react with 🎉",
        "I put an emoji on your message",
        frozenset({"react", "reaction", "reactions", "emoji"}),
        _react,
    ),
    Trick(
        "stay silent",
        "I read it and say nothing",
        frozenset({"silent", "silence", "silently", "quiet", "quietly", "hush", "shh"}),
        _stay_silent,
    ),
    Trick(
        "show me streaming",
        "a longer answer, with code",
        frozenset({"stream", "streaming", "code", "markdown"}),
        _stream,
    ),
    Trick(
        "how hard do you think?",
        "after `/think high` I know",
        frozenset({"think", "thinking"}),
        _think,
    ),
)

COMMANDS = (
    ("/status", "the current state"),
    ("/why", "what each stage decided on your last message, and how long it took"),
)
"""Commands that the gateway answers itself, whichever agent is in use."""

GREETINGS = frozenset({"hello", "hi", "hey", "help", "menu", "start", "tour", "hallo", "greet"})
"""`greet` is the gateway's question after `/new`."""
THANKS = frozenset({"thanks", "thank", "thx", "danke", "merci"})
SETUP = frozenset(
    {
        "telegram",
        "discord",
        "slack",
        "connect",
        "install",
        "setup",
        "configure",
        "model",
        "models",
        "openai",
        "anthropic",
    }
)
QUESTIONS, ABOUT_ITSELF = frozenset({"what", "who", "how"}), frozenset({"you", "this", "here"})


def _menu() -> str:
    lines = "\n".join(f"- **{trick.invite}**: {trick.shows}" for trick in TRICKS)
    commands = "\n".join(f"- **{command}**: {shows}" for command, shows in COMMANDS)
    return f"""\
Hello! I am **tour**, the guide: no model, no key, just a few tricks. Say

{lines}

or two at once, or name a message: **react to m1 with heart**. With every agent, whoever may use commands can write:

{commands}"""


NEXT_STEPS = """\
To talk to your own agent or model, or to bring me to Telegram, Discord or Slack, run `rejoinder init` in a terminal: \
it asks a few questions and writes `rejoinder.toml`. After `make run` the command is `.venv/bin/rejoinder init`."""


def _lost(asked: GuideMessage) -> str:
    if name := re.match(r"/[a-z][a-z_-]*(?!\S)", asked.text, re.I):
        command = _quoted(name[0])
        if asked.is_edit:  # the command may well exist
            return f"An edited message runs no commands, so {command} came to me, the agent. Send it as a new message."
        return f"No command is called {command}, so it came to me, the agent. **/commands** lists them all."
    first, second = TRICKS[1].invite, TRICKS[0].invite
    heard = f"I heard {_quoted(asked.text)}"
    if asked.replied_to:
        heard += f" in reply to {asked.replied_to}"
    return f"{heard}, but I am only the guide. Try **{first}** or **{second}**; **help** lists the rest."


def answer(asked: tuple[GuideMessage, ...]) -> str:
    """The whole answer to all messages of a turn, directives included."""
    acts = [_act(each) for each in asked]
    head = "".join(act.header for act in acts) + "".join(act.actions for act in acts)
    return head + ("\n\n".join(dict.fromkeys(act.text for act in acts if act.text)) or "<no-reply/>\n")


def _act(asked: GuideMessage) -> TrickReply:
    acts = [trick.act(asked) for trick in TRICKS if asked.words & trick.words]
    if not acts:
        about_itself = asked.words & QUESTIONS and asked.words & ABOUT_ITSELF
        greets = asked.words & GREETINGS or about_itself or not any(map(str.isalnum, asked.text))
        if asked.words & SETUP:
            return TrickReply(text=NEXT_STEPS)
        if asked.words & THANKS:
            return TrickReply(text="You are welcome! **help** lists what I can do.")
        return TrickReply(text=_menu() if greets else _lost(asked))
    # A request for silence wins over all other text; reactions are still sent.
    texts = [] if SILENCE in acts else [act.text for act in acts]
    return TrickReply("".join(act.header for act in acts), "".join(act.actions for act in acts), "\n\n".join(texts))


def _quoted(text: str) -> str:
    """The text as inline code, with more backticks than it contains, so that even a directive in it is only text."""
    line = " ".join(text.split())
    if len(line) > LONGEST_QUOTE:
        line = line[: LONGEST_QUOTE - 1] + "…"
    fence = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if len(fence) > 1 else f"`{line}`"


def _emoji_in(text: str) -> tuple[str, ...]:
    """The emoji in the text, or else one that its words name (`tada`, `:heart:`, `thumbs_up`)."""
    found = tuple(dict.fromkeys(hit["emoji"] for hit in emoji.emoji_list(text)))
    if found:
        return found
    words = dict.fromkeys(re.findall(r"[a-z0-9_+-]+", text.lower()))
    return tuple(word for word in words if word not in _ORDINARY and _is_alias(word))


# Names of emoji that are also ordinary words.
_ORDINARY = frozenset({"on", "to", "a", "an", "it", "me", "my", "the", "with", "and", "in", "up", "us", "m"})


def _is_alias(word: str) -> bool:
    return emoji.emojize(f":{word}:", language="alias") != f":{word}:"


def read_turn(turn: Turn) -> tuple[GuideMessage, ...]:
    *earlier, last = messages(turn)
    return (*(_read(*each, turn, last=False) for each in earlier), _read(*last, turn, last=True))


def _read(text: str, sender: SenderBlock, turn: Turn, *, last: bool) -> GuideMessage:
    text = text[:LONGEST_READ]
    handles = re.findall(r"\bm[1-9][0-9]{0,8}\b", text)
    return GuideMessage(
        text=text,
        words=frozenset(re.findall(r"[a-z_]+(?:-[a-z_]+)*", text.lower())),
        handle=sender.handle,
        named=handles[0] if handles else None,
        replied_to=sender.reply_to.handle if sender.reply_to is not None else None,
        think=turn.think,
        is_edit=sender.edit_of is not None,
        last=last,
    )


class TourAgent:
    think_levels = LEVELS

    def __init__(
        self,
        name: str = "tour",
        pace: float = PACE,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.name = name
        self._pace = pace
        self._pause = pause

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        for piece in re.findall(r"\s*\S+\s*", answer(read_turn(turn))):
            yield TextDelta(piece)
            await self._pause(self._pace)
        yield Done()

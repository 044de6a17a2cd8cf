"""Tools that an agent may call while one of its runs is under way, as `/mcp` offers them.

Rule 1: a tool does what a directive does, through the same checks and grants (OD-52); it adds no right.
Rule 2: a tool reads only the conversation in which the run answers.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from rejoinder.events import Directive, Option, Question, Step
from rejoinder.outbound.actions import directive_of_tag
from rejoinder.outbound.directives.declaration import Registry
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.toolbox import ToolFailed
from rejoinder.store.base import IndexedMessage, Store

MOST_HISTORY, LOOKED_THROUGH = 50, 200
MOST_OPTIONS, LONGEST_QUESTION = 8, 2_000


class Tool(Struct, frozen=True):
    name: str
    help: str
    arguments: Mapping[str, dict[str, Any]]
    required: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        closed = {"type": "object", "additionalProperties": False}
        return {**closed, "properties": dict(self.arguments), "required": list(self.required)}


_TEXT = {"type": "string"}
TOOLS = (
    Tool(
        "send_message",
        "Send text to another chat. The operator must have granted it.",
        {
            "chat": {**_TEXT, "description": "The chat's id."},
            "text": {**_TEXT, "description": "Markdown."},
            "channel": {**_TEXT, "description": "Left out: the channel of this conversation."},
            "thread": {**_TEXT, "description": "A thread of that chat."},
        },
        ("chat", "text"),
    ),
    Tool(
        "react",
        "Add a reaction to a message of this conversation, or take it back.",
        {
            "emoji": {**_TEXT, "description": "An emoji, or its name."},
            "message": {**_TEXT, "description": "Its id or handle, such as m42; left out: the one being answered."},
            "remove": {"type": "boolean"},
        },
        ("emoji",),
    ),
    Tool(
        "read_history",
        "The latest messages of this conversation, oldest first.",
        {"limit": {"type": "integer", "minimum": 1, "maximum": MOST_HISTORY}},
    ),
    Tool(
        "look_up_person",
        "Find people in this conversation by name or id.",
        {"who": {**_TEXT, "description": "A name, a part of one, or an id."}},
        ("who",),
    ),
    Tool(
        "ask_human",
        "Ask the person who asked for this run, in the chat, and wait for the answer.",
        {
            "question": {**_TEXT, "maxLength": LONGEST_QUESTION},
            "options": {"type": "array", "items": _TEXT, "maxItems": MOST_OPTIONS, "description": "Yes, No if empty."},
        },
        ("question",),
    ),
)


Use = Callable[[Directive], Awaitable[Step]]
"""Carries out a directive as if the agent had written it; returns the result."""
Ask = Callable[[Question, "ToolAsker"], Awaitable[bool]]
"""Asks the people of a run a question; returns False if nobody may answer."""


class ToolAsker:
    """Waits for the answer to one question, as an agent would."""

    def __init__(self, agent: str) -> None:
        self.name = agent
        self.option: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    async def answer(self, question: str, option: str | None) -> None:
        if not self.option.done():
            self.option.set_result(option)


class RunTools(Struct, frozen=True):
    """The tools of one run."""

    agent: str
    conversation: Conversation
    store: Store
    directives: Registry
    use: Use
    ask: Ask

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Raises `ToolFailed`."""
        match name:
            case "send_message":
                wanted = {key: value for key, value in arguments.items() if key != "text"}
                return await self._act(name, wanted, _text(arguments, "text"))
            case "react":
                return await self._act(name, arguments, None)
            case "read_history":
                return await self._history(arguments.get("limit", MOST_HISTORY))
            case "look_up_person":
                return await self._person(_text(arguments, "who"))
            case "ask_human":
                return await self._question(_text(arguments, "question"), arguments.get("options") or ())
            case _:
                raise ToolFailed(f"there is no tool {name}; there are: {', '.join(tool.name for tool in TOOLS)}")

    async def _act(self, name: str, arguments: Mapping[str, Any], body: str | None) -> str:
        said = {key: value for key, value in arguments.items() if value is not None and value is not False}
        written: dict[str, str | None] = {key: "true" if value is True else str(value) for key, value in said.items()}
        directive, problems = directive_of_tag(self.directives.named[name], written, body)
        if directive is None or problems:
            raise ToolFailed("; ".join(detail for _, detail in problems) or "there is nothing to do")
        step = await self.use(directive)
        if step.decision != "done":
            raise ToolFailed(f"{step.decision}: {step.reason}" if step.reason else step.decision)
        return "done"

    async def _history(self, limit: object) -> str:
        if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MOST_HISTORY:
            raise ToolFailed(f"limit is a number from 1 to {MOST_HISTORY}")
        found = await self.store.messages(self.conversation.route, limit=limit)
        return msgspec.json.encode([_shown(message) for message in found]).decode()

    async def _person(self, who: str) -> str:
        wanted, people = who.strip().casefold(), dict[str, dict[str, Any]]()
        for message in await self.store.messages(self.conversation.route, limit=LOOKED_THROUGH):
            name = message.author_name or message.author
            if wanted and (wanted == message.author.casefold() or wanted in name.casefold()):
                said = {"id": message.author, "name": name, "is_bot": message.kind != "human"}
                people[message.author] = {**said, "last_message": message.handle, "last_seen": message.at}
        if not people:
            raise ToolFailed(f"nobody in this conversation is called {who!r}")
        return msgspec.json.encode(list(people.values())).decode()

    async def _question(self, question: str, options: object) -> str:
        labels = _labels(options)
        if len(question) > LONGEST_QUESTION or len(labels) > MOST_OPTIONS:
            raise ToolFailed(f"at most {LONGEST_QUESTION} characters and {MOST_OPTIONS} options")
        answering = ToolAsker(self.agent)
        asked = Question(f"tool-{secrets.token_hex(6)}", question, tuple([Option(each) for each in labels]))
        if not await self.ask(asked, answering):
            raise ToolFailed("no person asked for this run, so nobody may answer")
        chosen = await answering.option
        if chosen is None:
            raise ToolFailed("it was denied, or nobody answered in time")
        return chosen


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolFailed(f"{name} is missing, or is not text")
    return value


def _labels(options: object) -> tuple[str, ...]:
    try:
        said = msgspec.convert(options, tuple[Annotated[str, msgspec.Meta(pattern=r"\S")], ...])
    except msgspec.ValidationError:
        raise ToolFailed("options is a list of texts") from None
    return tuple(dict.fromkeys(each.strip() for each in said)) or ("Yes", "No")


def _shown(message: IndexedMessage) -> dict[str, Any]:
    who = {"author": message.author, "name": message.author_name, "is_bot": message.kind != "human"}
    return {"handle": message.handle, "id": message.id, "at": message.at, **who, "text": message.text}

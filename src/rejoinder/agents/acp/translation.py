"""Turns an agent's updates in one turn into our events. Pure: updates and the time go in, events come out.

Rule 1: history is never an answer (TU-35). In the first turn after a load, something a user said that is not our prompt
        marks a replay; what comes with it is dropped until there is a gap. If nothing else comes, the last of it was
        the answer after all.
Rule 2: a tool call has the title and the output it was told last, whichever update brought them.
Rule 3: an update that does not fit the schema is skipped.
"""

from base64 import b64decode
from collections.abc import Collection
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
from acp import schema
from pydantic import ValidationError

from rejoinder.agents.acp.wire import STOP, about
from rejoinder.agents.base import (
    AgentEvent,
    Done,
    FileMade,
    PlanChanged,
    SegmentEnded,
    TextDelta,
    Thought,
    ToolEnded,
    ToolRenamed,
    ToolStarted,
    Usage,
)
from rejoinder.documents import is_array, is_object

TOOL_OUTPUT_LENGTH = 4000
MOST_ABOUT = 100_000
REPLAY_GAP = 0.5
"""Seconds without an update after which a replay is over."""

_PLAN_MARK = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]"}
_UNNAMED = "tool"
_RAW_OUTPUT = ("formatted_output", "aggregated_output", "output", "stdout", "text", "content", "result", "error")
"""Where agents put the output of a tool, the best place first."""


class _Tool:
    def __init__(self, title: str, kind: str) -> None:
        self.title = title
        self.kind = kind
        self.about = ""
        self.output = ""
        self.ended = False


class Translation:
    """One turn's updates as events: it knows which message and which tools are open.

    `loaded`: the session was loaded for this turn, so updates may be its history. `prompted`: the texts of the prompt,
    which some agents repeat.
    """

    def __init__(self, prompted: Collection[str] = (), *, loaded: bool = False) -> None:
        self.said_nothing = True
        self._prompted = {text.strip() for text in prompted}
        self._loaded = loaded
        self._replays_until: float | None = None
        self._passed_over: list[AgentEvent] = []
        self._context = 0
        self._message: str | None = None
        self._tools: dict[str, _Tool] = {}

    def title_of(self, tool: str) -> str:
        known = self._tools.get(tool)
        return "" if known is None or known.title == _UNNAMED else known.title

    def kind_of(self, tool: str) -> str:
        known = self._tools.get(tool)
        return "other" if known is None else known.kind

    def about(self, tool: str) -> str:
        """Everything known about this tool call so far."""
        known = self._tools.get(tool)
        return "" if known is None else known.about

    def events(self, params: Any, now: float) -> list[AgentEvent]:
        try:
            update = schema.SessionNotification.model_validate(params).update
        except ValidationError:
            return []
        if isinstance(update, schema.UserMessageChunk):
            self._heard_user(_text_of(update.content), now)
            return []
        events = self._translated(update)
        if self._replays_until is not None and now < self._replays_until:
            self._replays_until = now + REPLAY_GAP
            self._passed_over += events
            self._tools.clear()
            return []
        if events:
            self.said_nothing = False
        return events

    def next_prompt(self) -> list[AgentEvent]:
        """The prompt has ended, and another one goes on in its turn."""
        self._message = None
        return [*self._end_tools(), SegmentEnded()]

    def finish(self, result: Any) -> list[AgentEvent]:
        events = self._end_tools()
        if self.said_nothing and self._passed_over:
            events = [*self._passed_over, *events]
        said = result if is_object(result) else {}
        usage = spent(said)
        if self._context and (usage is None or not usage.input_tokens):
            # codex only says how full its context is, which is what its model read last.
            usage = Usage(self._context, usage.output_tokens if usage is not None else 0)
        if usage is not None:
            events.append(usage)
            self.said_nothing &= not (usage.input_tokens or usage.output_tokens)
        return [*events, STOP.get(str(said.get("stopReason")), Done())]

    def _end_tools(self) -> list[AgentEvent]:
        still = [(id, tool) for id, tool in self._tools.items() if not tool.ended]
        for _, tool in still:
            tool.ended = True
        return [ToolEnded(id, False, "it did not end before the turn") for id, _ in still]

    def _heard_user(self, text: str, now: float) -> None:
        if text.strip() in self._prompted:
            self._replays_until = None
            self._passed_over.clear()
        elif self._loaded and self.said_nothing:
            self._replays_until = now + REPLAY_GAP
            self._passed_over.clear()

    def _translated(self, update: Any) -> list[AgentEvent]:
        match update:
            case schema.AgentMessageChunk():
                return self._text(update)
            case schema.AgentThoughtChunk():
                text = _text_of(update.content)
                return [Thought(text)] if text else []
            case schema.ToolCallStart() | schema.ToolCallProgress():
                return self._tool(update)
            case schema.AgentPlanUpdate():
                lines = (f"{_PLAN_MARK.get(entry.status, '[ ]')} {entry.content}" for entry in update.entries)
                return [PlanChanged(tuple(lines))]
            case schema.UsageUpdate():
                self._context = update.used
                return [Usage(context_tokens=update.used)]
            case _:
                return []

    def _text(self, update: schema.AgentMessageChunk) -> list[AgentEvent]:
        if (file := _file_of(update.content)) is not None:
            return [file]
        text = _text_of(update.content)
        if not text:
            return []
        new = update.message_id is not None and self._message is not None and update.message_id != self._message
        self._message = update.message_id or self._message
        return [SegmentEnded(), TextDelta(text)] if new else [TextDelta(text)]

    def _tool(self, update: schema.ToolCallStart | schema.ToolCallProgress) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        id, title = update.tool_call_id, (update.title or "").strip()
        tool = self._tools.get(id)
        if tool is None:
            self._message = None
            tool = self._tools[id] = _Tool(title or _UNNAMED, update.kind or "other")
            events.append(ToolStarted(id, tool.title, tool.kind))
        if tool.ended:
            return events
        if title and title != tool.title:
            tool.title = title
            events.append(ToolRenamed(id, title))
        tool.about += about(update)[:MOST_ABOUT]
        tool.output = _output_of(update) or tool.output
        if update.status in ("completed", "failed"):
            tool.ended = True
            events.append(ToolEnded(id, update.status == "completed", tool.output[:TOOL_OUTPUT_LENGTH]))
        return events


def spent(result: dict[str, Any]) -> Usage | None:
    """What a turn cost, from the protocol's fields or from those that agents used before the protocol had any."""
    beside = result.get("_meta")
    own = beside if is_object(beside) else {}
    quota = own.get("quota")
    for usage in (result.get("usage"), own.get("usage"), quota.get("token_count") if is_object(quota) else None):
        if is_object(usage):
            counts = (
                usage.get("inputTokens", usage.get("input_tokens")),
                usage.get("outputTokens", usage.get("output_tokens")),
            )
            return Usage(*(count if isinstance(count, int) else 0 for count in counts))
    return None


def _output_of(update: schema.ToolCallStart | schema.ToolCallProgress) -> str:
    shown = "\n".join(filter(None, (_text_of(getattr(part, "content", None)) for part in update.content or ())))
    return unfenced(shown) if shown.strip() else unfenced(_raw_output(update.raw_output))


def _raw_output(raw: Any) -> str:
    if isinstance(raw, str):
        return raw
    if is_array(raw):
        return "\n".join(filter(None, map(_raw_output, raw)))
    if not is_object(raw) or not raw:
        return ""
    for key in _RAW_OUTPUT:
        if text := _raw_output(raw.get(key)).strip():
            return text
    return msgspec.json.encode(raw).decode() if not any(key in raw for key in _RAW_OUTPUT) else ""


def unfenced(text: str) -> str:
    """The text without the fence that some agents put around the whole: we show it in our own fence."""
    first, _, rest = text.strip().partition("\n")
    body, _, last = rest.rpartition("\n")
    mark = first[: len(first) - len(first.lstrip("`"))]
    alone = len(mark) >= 3 and last.strip() == mark and "`" not in first[len(mark) :]
    return body if alone and mark not in body else text


def _file_of(content: Any) -> FileMade | None:
    """A picture, a sound, an embedded resource, or a link to a file on this machine."""
    try:
        match content:
            case schema.ImageContentBlock() | schema.AudioContentBlock():
                return FileMade(content=b64decode(content.data))
            case schema.EmbeddedResourceContentBlock(resource=schema.BlobResourceContents() as resource):
                return FileMade(name=_last(resource.uri), content=b64decode(resource.blob))
            case schema.EmbeddedResourceContentBlock(resource=schema.TextResourceContents() as resource):
                return FileMade(name=_last(resource.uri), content=resource.text.encode("utf-8", "replace"))
            case schema.ResourceContentBlock(uri=uri) if uri.startswith("file://"):
                return FileMade(path=unquote(urlsplit(uri).path))
            case _:
                return None
    except ValueError:  # it is not valid base64
        return None


def _last(uri: str) -> str:
    return unquote(urlsplit(uri).path).rpartition("/")[2]


def _text_of(content: Any) -> str:
    match content:
        case schema.TextContentBlock():
            return content.text
        case schema.ResourceContentBlock():
            return content.uri
        case _:
            return ""

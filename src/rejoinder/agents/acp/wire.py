"""Translates between the Agent Client Protocol and our own types. Pure: values in, values out.

The shapes are those of the protocol's own package. An update that does not fit them is skipped: agents may be newer
or older than the schema, and that should not fail a turn.
"""

import base64
from typing import Any, Literal

from acp import PROTOCOL_VERSION, schema
from msgspec import Struct
from pydantic import BaseModel, ValidationError

from rejoinder.agents.base import (
    AgentEvent,
    Done,
    PlanChanged,
    SegmentEnded,
    TextDelta,
    Thought,
    ToolEnded,
    ToolStarted,
    Usage,
)
from rejoinder.documents import is_array, is_object
from rejoinder.events import PromptImage, PromptPart, PromptText

VERSION = PROTOCOL_VERSION
AUTH_REQUIRED = -32000
TOOL_OUTPUT_LENGTH = 4000


def _plain(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


# --- what we say ----------------------------------------------------------------------------------


def initialize(version: str) -> dict[str, Any]:
    """We offer no file system and no terminal: an agent in a chat uses its own."""
    return _plain(
        schema.InitializeRequest(
            protocol_version=VERSION,
            client_capabilities=schema.ClientCapabilities(),
            client_info=schema.Implementation(name="rejoinder", title="rejoinder", version=version),
        )
    )


def new_session(cwd: str) -> dict[str, Any]:
    return _plain(schema.NewSessionRequest(cwd=cwd, mcp_servers=[]))


def load_session(session: str, cwd: str) -> dict[str, Any]:
    return _plain(schema.LoadSessionRequest(session_id=session, cwd=cwd, mcp_servers=[]))


def prompt(session: str, system: str, parts: tuple[PromptPart, ...], *, images: bool) -> dict[str, Any]:
    """The protocol has no system part, so a new system text goes at the start of the prompt."""
    blocks: list[Any] = [schema.TextContentBlock(type="text", text=system)] if system else []
    for part in parts:
        match part:
            case PromptText(text):
                blocks.append(schema.TextContentBlock(type="text", text=text))
            case PromptImage(mime, data) if images:
                encoded = base64.b64encode(data).decode()
                blocks.append(schema.ImageContentBlock(type="image", data=encoded, mime_type=mime))
            case PromptImage(mime, data):
                note = f"[A picture ({mime}, {len(data)} bytes) that you cannot see.]"
                blocks.append(schema.TextContentBlock(type="text", text=note))
    return _plain(schema.PromptRequest(session_id=session, prompt=blocks))


# --- what the agent can do ------------------------------------------------------------------------


class Abilities(Struct, frozen=True):
    version: int
    load: bool
    images: bool
    program: str
    sign_in: tuple[str, ...]


def abilities(result: Any) -> Abilities:
    """Raises ValueError when this is not an answer to `initialize`."""
    said = schema.InitializeResponse.model_validate(result)
    can = said.agent_capabilities or schema.AgentCapabilities()
    prompts = can.prompt_capabilities or schema.PromptCapabilities()
    info = said.agent_info
    return Abilities(
        said.protocol_version,
        bool(can.load_session),
        bool(prompts.image),
        f"{info.title or info.name} {info.version}" if info else "",
        tuple(method.name for method in said.auth_methods or ()),
    )


class Option(Struct, frozen=True):
    """A setting of a session, and its values. Older agents set some of them by other methods."""

    id: str
    category: str
    current: str | bool
    values: tuple[str, ...] = ()
    method: Literal["session/set_config_option", "session/set_model", "session/set_mode"] = "session/set_config_option"

    def setting(self, session: str, value: str | bool) -> dict[str, Any]:
        match self.method:
            case "session/set_model":
                return {"sessionId": session, "modelId": value}
            case "session/set_mode":
                return {"sessionId": session, "modeId": value}
            case _:
                kind = {"type": "boolean"} if isinstance(value, bool) else {}
                return {"sessionId": session, "configId": self.id, "value": value, **kind}


def session_id(result: Any) -> str:
    """Raises ValueError when this is not an answer to `session/new`."""
    return schema.NewSessionResponse.model_validate(result).session_id


def options(result: Any) -> dict[str, Option]:
    """What a new, loaded or changed session offers: by category, or by id where there is none."""
    found: dict[str, Option] = {}
    try:
        said = schema.LoadSessionResponse.model_validate(result or {})
    except ValidationError:
        return found
    if said.modes is not None:
        modes = tuple(mode.id for mode in said.modes.available_modes)
        found["mode"] = Option("mode", "mode", said.modes.current_mode_id, modes, "session/set_mode")
    models = result.get("models") if is_object(result) else None
    if is_object(models):
        offered = models.get("availableModels")
        models_told = [model for model in offered if is_object(model)] if is_array(offered) else []
        names = tuple(str(model["modelId"]) for model in models_told if "modelId" in model)
        current = str(models.get("currentModelId") or "")
        found["model"] = Option("model", "model", current, names, "session/set_model")
    for option in said.config_options or ():
        category = option.category if isinstance(option.category, str) else option.id
        found[category] = Option(option.id, category, option.current_value, _values(option))
    return found


def _values(option: Any) -> tuple[str, ...]:
    if not isinstance(option, schema.SessionConfigOptionSelect):
        return ()
    values: list[str] = []
    for entry in option.options:
        if isinstance(entry, schema.SessionConfigSelectGroup):
            values += [inner.value for inner in entry.options]
        else:
            values.append(entry.value)
    return tuple(values)


# --- what the agent asks for ----------------------------------------------------------------------


class Permission(Struct, frozen=True):
    session: str
    tool: str
    title: str
    kind: str
    options: tuple[tuple[str, str, str], ...]
    """(id, name, kind) of each."""


def permission(params: Any) -> Permission:
    """Raises ValueError when the request is malformed."""
    asked = schema.RequestPermissionRequest.model_validate(params)
    call = asked.tool_call
    offered = tuple((option.option_id, option.name, option.kind) for option in asked.options)
    return Permission(asked.session_id, call.tool_call_id, call.title or "", call.kind or "other", offered)


def permission_answer(option: str | None) -> dict[str, Any]:
    if option is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option}}


# --- what the agent says --------------------------------------------------------------------------

STOP: dict[str, Done] = {
    "end_turn": Done("end"),
    "cancelled": Done("cancelled"),
    "max_tokens": Done("limit"),
    "max_turn_requests": Done("limit"),
    "refusal": Done("refused"),
}

_PLAN_MARK = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]"}


def announced(params: dict[str, Any], before: frozenset[str]) -> frozenset[str]:
    """The slash commands an agent has, after this update; `before`: those it announced earlier."""
    update = params.get("update")
    if not is_object(update) or update.get("sessionUpdate") != "available_commands_update":
        return before
    named = update.get("availableCommands")
    commands = [each for each in named if is_object(each)] if is_array(named) else []
    return frozenset(str(each.get("name", "")).lower().removeprefix("/") for each in commands)


class Translation:
    """One turn's updates as events: it knows which message and which tools are open."""

    def __init__(self) -> None:
        self._message: str | None = None
        self._tools: dict[str, str] = {}
        self._ended: set[str] = set()

    def title_of(self, tool: str) -> str:
        return self._tools.get(tool, "")

    def events(self, params: Any) -> list[AgentEvent]:
        try:
            update = schema.SessionNotification.model_validate(params).update
        except ValidationError:
            return []
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
                return [Usage(context_tokens=update.used)]
            case _:
                return []

    def finish(self, result: Any) -> list[AgentEvent]:
        events: list[AgentEvent] = [
            ToolEnded(tool, False, "it did not end before the turn") for tool in self._tools if tool not in self._ended
        ]
        said = result if is_object(result) else {}
        usage = said.get("usage")
        if is_object(usage):
            spent = usage.get("inputTokens"), usage.get("outputTokens")
            events.append(Usage(*(count if isinstance(count, int) else 0 for count in spent)))
        return [*events, STOP.get(str(said.get("stopReason")), Done())]

    def _text(self, update: schema.AgentMessageChunk) -> list[AgentEvent]:
        text = _text_of(update.content)
        if not text:
            return []
        new = update.message_id is not None and self._message is not None and update.message_id != self._message
        self._message = update.message_id or self._message
        return [SegmentEnded(), TextDelta(text)] if new else [TextDelta(text)]

    def _tool(self, update: schema.ToolCallStart | schema.ToolCallProgress) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        tool = update.tool_call_id
        if tool in self._ended:
            return events
        if tool not in self._tools:
            self._message = None
            self._tools[tool] = update.title or "tool"
            events.append(ToolStarted(tool, self._tools[tool], update.kind or "other"))
        if update.status in ("completed", "failed"):
            self._ended.add(tool)
            output = "\n".join(filter(None, (_text_of(getattr(c, "content", None)) for c in update.content or ())))
            events.append(ToolEnded(tool, update.status == "completed", output[:TOOL_OUTPUT_LENGTH]))
        return events


def _text_of(content: Any) -> str:
    match content:
        case schema.TextContentBlock():
            return content.text
        case schema.ResourceContentBlock():
            return content.uri
        case _:
            return ""

"""Translates between the Agent Client Protocol and our own types. Pure: values in, values out.

The shapes are those of the protocol's own package. Data that does not fit is skipped: agents may be newer or older than
the schema, and that should not fail a turn. translation.py reads the updates of a turn.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from acp import PROTOCOL_VERSION, schema
from msgspec import Struct
from pydantic import BaseModel, ValidationError

from rejoinder.agents.base import Done
from rejoinder.documents import is_array, is_object
from rejoinder.events import PromptAudio, PromptImage, PromptPart, PromptText

VERSION = PROTOCOL_VERSION
AUTH_REQUIRED = -32000


def _plain(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


# --- our messages ---------------------------------------------------------------------------------


def initialize(version: str) -> dict[str, Any]:
    """We offer no file system and no terminal: an agent in a chat uses its own."""
    return _plain(
        schema.InitializeRequest(
            protocol_version=VERSION,
            client_capabilities=schema.ClientCapabilities(),
            client_info=schema.Implementation(name="rejoinder", title="rejoinder", version=version),
        )
    )


def new_session(cwd: str, servers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"cwd": cwd, "mcpServers": list(servers)}


def load_session(session: str, cwd: str, servers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"sessionId": session, **new_session(cwd, servers)}


def prompt(session: str, system: str, parts: tuple[PromptPart, ...], can: "Abilities") -> dict[str, Any]:
    """The protocol has no system part, so a new system text goes at the start of the prompt."""
    blocks: list[Any] = [schema.TextContentBlock(type="text", text=system)] if system else []
    for part in parts:
        match part:
            case PromptText(text):
                blocks.append(schema.TextContentBlock(type="text", text=text))
            case PromptImage(mime, data) if can.images:
                encoded = base64.b64encode(data).decode()
                blocks.append(schema.ImageContentBlock(type="image", data=encoded, mime_type=mime))
            case PromptImage(mime, data):
                note = f"[A picture ({mime}, {len(data)} bytes) that you cannot see.]"
                blocks.append(schema.TextContentBlock(type="text", text=note))
            case PromptAudio(mime, data) if can.audio:
                encoded = base64.b64encode(data).decode()
                blocks.append(schema.AudioContentBlock(type="audio", data=encoded, mime_type=mime))
            case PromptAudio(mime, data):
                note = f"[A recording ({mime}, {len(data)} bytes) that you cannot hear.]"
                blocks.append(schema.TextContentBlock(type="text", text=note))
    return _plain(schema.PromptRequest(session_id=session, prompt=blocks))


def texts_of(prompt: Mapping[str, Any]) -> list[str]:
    """The texts of a prompt, single and joined: some agents repeat them as the user's words."""
    texts = [str(block["text"]) for block in prompt["prompt"] if block.get("type") == "text"]
    return [*texts, "".join(texts), "\n".join(texts), "\n\n".join(texts)]


# --- what the agent can do ------------------------------------------------------------------------


class Abilities(Struct, frozen=True):
    version: int = 0
    load: bool = False
    images: bool = False
    program: str = ""
    sign_in: tuple[str, ...] = ()
    queues: bool = False
    """Whether it takes a further prompt into a running turn."""
    mcp_over_http: bool = False
    audio: bool = False


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
        any(is_object(own) and own.get("promptQueueing") is True for own in (can.field_meta or {}).values()),
        bool(can.mcp_capabilities and can.mcp_capabilities.http),
        bool(prompts.audio),
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
    """What a new, loaded or changed session offers: by category, or by id if there is no category."""
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


def replaced(before: Mapping[str, Option], result: Any) -> dict[str, Option]:
    """What a session offers after an update: options that it no longer names are gone, and settings that older agents
    have other methods for stay as they were (TU-35)."""
    told = options(result)
    if not is_object(result) or result.get("configOptions") is None:
        return {**before, **told}
    kept = {name: option for name, option in before.items() if option.method != "session/set_config_option"}
    return {**kept, **told}


def changed_offers(params: dict[str, Any]) -> dict[str, Any] | None:
    """What a session offers, if this update says it."""
    update = params.get("update")
    if is_object(update) and update.get("sessionUpdate") == "config_option_update":
        return {"configOptions": update.get("configOptions")}
    return None


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


# --- the agent's requests -------------------------------------------------------------------------


class Permission(Struct, frozen=True):
    session: str
    tool: str
    title: str
    kind: str | None
    command: str
    """The command that would be run, if the agent says so."""
    options: tuple[tuple[str, str, str], ...]
    """(id, name, kind) of each."""
    about: str
    """The tool and its arguments, in full."""


def permission(params: Any) -> Permission:
    """Raises ValueError when the request is malformed."""
    asked = schema.RequestPermissionRequest.model_validate(params)
    call = asked.tool_call
    offered = tuple((option.option_id, option.name, option.kind) for option in asked.options)
    command = call.raw_input.get("command") if is_object(call.raw_input) else None
    if is_array(command):
        command = " ".join(map(str, command))
    ran = command if isinstance(command, str) else ""
    return Permission(asked.session_id, call.tool_call_id, call.title or "", call.kind, ran, offered, about(call))


def about(call: schema.ToolCallUpdate | schema.ToolCallStart | schema.ToolCallProgress) -> str:
    """What the call would do, without its id and state, so that it is equal for calls that do the same."""
    told = {"title": call.title, "kind": call.kind, "input": call.raw_input, "content": call.content}
    return json.dumps(told, sort_keys=True, default=str)


def permission_answer(option: str | None) -> dict[str, Any]:
    if option is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option}}


# --- the ends of its turns, and news between them ---------------------------------------------------

STOP: dict[str, Done] = {
    "end_turn": Done("end"),
    "cancelled": Done("cancelled"),
    "max_tokens": Done("limit"),
    "max_turn_requests": Done("limit"),
    "refusal": Done("refused"),
}


def announced(params: dict[str, Any], before: frozenset[str]) -> frozenset[str]:
    """The slash commands an agent has, after this update; `before`: those it announced earlier."""
    update = params.get("update")
    if not is_object(update) or update.get("sessionUpdate") != "available_commands_update":
        return before
    named = update.get("availableCommands")
    commands = [each for each in named if is_object(each)] if is_array(named) else []
    return frozenset(str(each.get("name", "")).lower().removeprefix("/") for each in commands)

"""The JSON schema of `rejoinder.toml` and the tables of the docs, made from the records."""

import ast
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import msgspec.inspect as mi
from msgspec import NODEFAULT, Struct
from msgspec.json import schema_components

from rejoinder.config import live
from rejoinder.config.jobs import CronJob, EveryAgent
from rejoinder.config.kinds import INSTALLED, agent_kinds, channel_kinds
from rejoinder.config.programs import HookSettings
from rejoinder.config.reading import describe, instead_of, schema_of
from rejoinder.config.schema import SECTIONS, AgentDefaults, CommonChannelSettings
from rejoinder.config.show import as_toml
from rejoinder.errors import BadConfiguration
from rejoinder.secret import Secret
from rejoinder.tables import table

# --- the sentence under each field --------------------------------------------------------------


def sentences(record: type[Struct]) -> dict[str, str]:
    """Field name to the sentence under it or in its `Meta`, including fields of the records that it extends."""
    fields = cast("mi.StructType", mi.type_info(record)).fields
    found = {field.name: sentence for field in fields if (sentence := _in_meta(field.type))}
    for part in reversed(record.__mro__):
        if issubclass(part, Struct) and part is not Struct:
            found |= _written_under(part.__module__).get(part.__name__, {})
    return found


def _in_meta(kind: mi.Type) -> str:
    return schema_of(kind).get("description", "")


@cache
def _written_under(module: str) -> Mapping[str, Mapping[str, str]]:
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, KeyError):
        return {}  # an installation without sources: the schema only lacks its descriptions
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {node.name: _sentences_in(node) for node in classes}


def _sentences_in(record: ast.ClassDef) -> dict[str, str]:
    found: dict[str, str] = {}
    for field, below in zip(record.body, record.body[1:], strict=False):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(sentence))),
            ):
                found[name] = " ".join(sentence.split())
            case _:
                pass
    return found


# --- JSON schema --------------------------------------------------------------------------------

_FROM_ENVIRONMENT = {"type": "string", "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*\}"}


def json_schema() -> dict[str, Any]:
    """A JSON schema (draft 2020-12) of the file, for editors. A kind that cannot be loaded is left out."""
    agent, channel = agent_kinds(), channel_kinds()
    records = [
        *SECTIONS.values(),
        AgentDefaults,
        CommonChannelSettings,
        EveryAgent,
        CronJob,
        HookSettings,
        *(kind.settings for kind in (*agent.values(), *channel.values())),
    ]
    all_records = list(_with_inner(records))
    refs, definitions = _components(all_records)
    named = dict(zip(all_records, refs, strict=True))
    # Records of several packages may all be called Settings: only the reference has the unique name of each.
    defined = {record: definitions[ref["$ref"].removeprefix("#/$defs/")] for record, ref in named.items()}
    for record in all_records:
        _add_sentences(defined[record], sentences(record))
        _add_alternatives(defined[record], record)
    for known, common in ((channel, CommonChannelSettings), (agent, EveryAgent)):
        for kind in known.values():
            _merge(defined[kind.settings], defined[common])
        del definitions[common.__name__]
    for known in (agent, channel):
        for name, kind in known.items():
            _add_kind(defined[kind.settings], name, required=known is agent)
    definitions = {name: _open_to_environment(schema) for name, schema in definitions.items()}
    agents = [named[kind.settings] for kind in agent.values()]
    channels = [{**named[kind.settings], "required": ["kind"]} for kind in channel.values()]
    sections = {name: named[record] for name, record in SECTIONS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rejoinder.toml",
        "description": "The configuration of rejoinder, the gateway between chats and AI agents.",
        "type": "object",
        "properties": {
            **sections,
            "agents": {
                "description": "Who answers: one table for each agent, and defaults for all of them.",
                "type": "object",
                "properties": {"defaults": named[AgentDefaults]},
                "additionalProperties": {"anyOf": agents},
            },
            "channels": {
                "description": "Where people write: one table for each channel; another name than its kind "
                "needs `kind`.",
                "type": "object",
                "properties": {name: named[kind.settings] for name, kind in channel.items()},
                "additionalProperties": {"anyOf": channels},
            },
            "cron": {
                "description": "Turns that run at set times: one table for each job.",
                "type": "object",
                "additionalProperties": named[CronJob],
            },
            "hooks": {
                "description": "Programs that are notified of events: one table for each.",
                "type": "object",
                "additionalProperties": named[HookSettings],
            },
        },
        "additionalProperties": False,
        "$defs": {**definitions, "FromEnvironment": _FROM_ENVIRONMENT},
    }


def _components(records: list[type[Struct]]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    try:
        return schema_components(records, schema_hook=_secret_schema, ref_template="#/$defs/{name}")
    except TypeError as problem:  # the records of other packages may be anything
        for record in records:
            try:
                schema_components([record], schema_hook=_secret_schema)
            except TypeError:
                whose = f"{record.__module__}.{record.__qualname__}"
                raise BadConfiguration(
                    f"the settings {whose} cannot be described: a type or a default in them is nothing that a "
                    f"configuration can hold ({problem}); a secret that may be missing is `Secret | None = None`"
                ) from problem
        raise


def _secret_schema(kind: type) -> dict[str, Any]:
    if kind is Secret:
        return {"type": "string", "minLength": 1, "writeOnly": True}
    raise NotImplementedError


def _with_inner(records: list[type[Struct]]) -> dict[type[Struct], None]:
    """The records and all records inside them, each once and in a stable order."""
    found: dict[type[Struct], None] = {}

    def visit(kind: mi.Type) -> None:
        match kind:
            case mi.Metadata():
                visit(kind.type)
            case mi.UnionType():
                for choice in kind.types:
                    visit(choice)
            case mi.DictType():
                visit(kind.value_type)
            case mi.VarTupleType() | mi.ListType():
                visit(kind.item_type)
            case mi.StructType() if kind.cls not in found:
                found[kind.cls] = None
                for field in kind.fields:
                    visit(field.type)
            case _:
                pass

    for record in records:
        visit(mi.type_info(record))
    return found


def _add_sentences(schema: dict[str, Any], written: Mapping[str, str]) -> None:
    for name, sentence in written.items():
        schema["properties"][name] = {**schema["properties"][name], "description": sentence}


def _add_alternatives(schema: dict[str, Any], record: type[Struct]) -> None:
    for field in cast("mi.StructType", mi.type_info(record)).fields:
        if (other := instead_of(field)) is not None:
            schema["anyOf"] = [{"required": [field.encode_name]}, {"required": [other]}]


def _merge(schema: dict[str, Any], common: Mapping[str, Any]) -> None:
    schema["properties"] = {**common["properties"], **schema["properties"]}


def _add_kind(schema: dict[str, Any], kind: str, *, required: bool) -> None:
    about = f"What this is: {schema.get('description', kind)}"
    if (other := schema["properties"].get("kind")) is not None:  # two kinds with the same record
        either = [*other.get("anyOf", (other,)), {"const": kind, "description": about}]
        schema["properties"]["kind"] = {"anyOf": either, "description": "What this is."}
        return
    schema["properties"] = {"kind": {"const": kind, "description": about}, **schema["properties"]}
    if required:
        schema["required"] = ["kind", *schema.get("required", ())]


def _open_to_environment(schema: Any) -> Any:
    """The same schema where every narrow value may also come from the environment."""
    if isinstance(schema, list):
        return [_open_to_environment(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    whole = cast("dict[str, Any]", schema)
    narrow = whole.get("type") in ("integer", "number", "boolean") or "enum" in whole or "pattern" in whole
    if narrow:
        about = {key: whole[key] for key in ("description", "default", "examples") if key in whole}
        value = {key: item for key, item in whole.items() if key not in about}
        return {**about, "anyOf": [value, {"$ref": "#/$defs/FromEnvironment"}]}
    return {
        key: item if key in ("default", "examples", "required") else _open_to_environment(item)
        for key, item in whole.items()
    }


# --- tables of the docs -------------------------------------------------------------------------


def markdown_tables() -> dict[str, str]:
    """Block name to Markdown table, for docs/configuration.md."""
    tables = {"config-reload": live.markdown_table()}
    tables |= {f"config-{name}": _table(record) for name, record in SECTIONS.items()}
    tables["config-agents-defaults"] = _table(AgentDefaults)
    tables["config-agents"] = _table(EveryAgent)
    tables["config-channels"] = _table(CommonChannelSettings)
    tables["config-cron"] = _table(CronJob)
    tables["config-hooks"] = _table(HookSettings)
    tables |= {f"config-agent-{name}": _table(kind.settings) for name, kind in INSTALLED.agents.items()}
    tables |= {f"config-channel-{name}": _table(kind.settings) for name, kind in INSTALLED.channels.items()}
    return tables


def _table(record: type[Struct]) -> str:
    return table(["key", "takes", "default", "meaning"], _rows(record, "", set()))


def _rows(record: type[Struct], prefix: str, shown: set[type[Struct]]) -> list[tuple[str, str, str, str]]:
    """A row for each key; the keys of an inner record follow the first key that holds it."""
    written = sentences(record)
    rows: list[tuple[str, str, str, str]] = []
    for field in cast("mi.StructType", mi.type_info(record)).fields:
        key, inner = prefix + field.encode_name, _inner_record(field.type)
        rows.append((f"`{key}`", describe(field.type), _default_of(field), written.get(field.name, "")))
        if inner is not None and inner not in shown:
            shown.add(inner)
            under = f"{key}.NAME." if isinstance(_bare(field.type), mi.DictType) else f"{key}."
            rows += _rows(inner, under, shown)
    return rows


def _bare(kind: mi.Type) -> mi.Type:
    return _bare(kind.type) if isinstance(kind, mi.Metadata) else kind


def _inner_record(kind: mi.Type) -> type[Struct] | None:
    match _bare(kind):
        case mi.StructType(cls=record):
            return record
        case mi.DictType(value_type=inside) | mi.VarTupleType(item_type=inside):
            return _inner_record(inside)
        case mi.UnionType(types=choices):
            return next((record for choice in choices if (record := _inner_record(choice))), None)
        case _:
            return None


def _default_of(field: mi.Field) -> str:
    if field.required:
        return "required"
    default = field.default if field.default is not NODEFAULT else field.default_factory()
    if default is None or default == "" or isinstance(default, Struct):
        return ""
    value = list(cast("tuple[Any, ...]", default)) if isinstance(default, tuple) else default
    return f"`{as_toml({'key': value}).strip().removeprefix('key = ')}`"

"""Turns a file into Settings, or every mistake in it into a sentence with its line and key."""

from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.config.channels import usual_bot_messages
from rejoinder.config.check import check
from rejoinder.config.default_channels import default_channels
from rejoinder.config.environment import NotFilledIn, fill_in
from rejoinder.config.jobs import CronJob, EveryAgent, agent_of
from rejoinder.config.kinds import INSTALLED, Kinds, store_file
from rejoinder.config.overlay import NO_OVERLAY, Overlay, overlaid
from rejoinder.config.positions import Path, positions
from rejoinder.config.programs import HookSettings
from rejoinder.config.reading import WRONG, SectionReader, found
from rejoinder.config.schema import (
    SECTIONS,
    AgentDefaults,
    CommonChannelSettings,
    ConfiguredAgent,
    ConfiguredChannel,
    GatewaySettings,
    Settings,
)
from rejoinder.config.syntax import parse
from rejoinder.config.wording import did_you_mean, dotted, listed, nearest, quoted, shown
from rejoinder.errors import BadConfiguration, Mistake

FILE = "rejoinder.toml"
NAMED = ("agents", "channels", "cron", "hooks")
"""Sections that hold named tables."""

Record = TypeVar("Record", bound=Struct)


def load(
    path: str, environment: Mapping[str, str], kinds: Kinds = INSTALLED, overlay: Overlay = NO_OVERLAY
) -> Settings:
    """The settings in a file. Raises BadConfiguration with all mistakes in it."""
    settings = read(_text_of(path), path, environment, kinds, overlay)
    return replace(settings, gateway=_kept_beside(path, settings.gateway))


def load_gateway(path: str, environment: Mapping[str, str]) -> GatewaySettings:
    """Only the section [gateway], so that a command that reads the store needs no token of any channel."""
    text = _text_of(path)
    raw, reader = parse(text, path), SectionReader(path, positions(text))
    raw = cast("dict[str, Any]", fill_in({"gateway": raw.get("gateway", {})}, environment, reader.wrong))
    gateway = _section(raw, "gateway", GatewaySettings, reader)
    if reader.mistakes:
        raise BadConfiguration(*reader.mistakes)
    return _kept_beside(path, gateway)


def mistakes(path: str, complaints: Iterable[tuple[Path, str]]) -> tuple[Mistake, ...]:
    """Complaints from elsewhere about a file that could be read, each with its line."""
    reader = SectionReader(path, positions(_text_of(path)))
    for key, sentence in complaints:
        reader.wrong(key, sentence)
    return tuple(reader.mistakes)


def _kept_beside(path: str, gateway: GatewaySettings) -> GatewaySettings:
    """The path of a store's file is relative to the configuration's folder, wherever the gateway is started."""
    file = store_file(gateway.store)
    if file is None:
        return gateway
    scheme = gateway.store.partition(":")[0]
    return replace(gateway, store=f"{scheme}:{FilePath(path).parent / FilePath(file).expanduser()}")


def read(
    text: str,
    file: str,
    environment: Mapping[str, str],
    kinds: Kinds = INSTALLED,
    overlay: Overlay = NO_OVERLAY,
) -> Settings:
    """The settings in a text; mistakes refer to it as `file`."""
    raw = parse(text, file)
    reader = SectionReader(file, positions(text))
    raw = overlaid(cast("dict[str, Any]", fill_in(raw, environment, reader.wrong)), overlay)
    _unknown_sections(raw, reader, kinds)
    sections = {name: _section(raw, name, record, reader) for name, record in SECTIONS.items()}
    agents, channels = _table(raw, ("agents",), reader), _table(raw, ("channels",), reader)
    defaults = _table(agents, ("agents", "defaults"), reader)
    settings = Settings(
        **sections,
        agent_defaults=reader.records(defaults, ("agents", "defaults"), AgentDefaults)[0],
        agents=_agents(agents, reader, kinds),
        channels=_channels(channels, reader, kinds),
        cron=_named(raw, "cron", CronJob, reader),
        hooks=_named(raw, "hooks", HookSettings, reader),
    )
    names = frozenset(agents) - {"defaults"}
    here = {name for name, channel in settings.channels.items() if kinds.channels[channel.kind].opened_by == "command"}
    served = frozenset(channels) - here

    def with_default() -> frozenset[str]:
        return served or frozenset(default_channels(kinds))

    for path, sentence in check(settings, names, with_default, kinds):
        if reader.is_right(path):
            reader.wrong(path, sentence)
    if reader.mistakes:
        raise BadConfiguration(*sorted(reader.mistakes, key=lambda mistake: (mistake.line or 0, mistake.key)))
    return _completed(settings)


def _section(raw: Mapping[str, Any], name: str, record: type[Struct], reader: SectionReader) -> Any:
    if name not in raw:  # our own sections have no required keys
        return record()
    return reader.records(_table(raw, (name,), reader), (name,), record)[0]


def _table(raw: Mapping[str, Any], path: Path, reader: SectionReader) -> dict[str, Any]:
    """The table under this key; an absent one is empty, anything else is a mistake."""
    table = raw.get(str(path[-1]), {})
    if isinstance(table, dict):
        return cast("dict[str, Any]", table)
    if not isinstance(table, NotFilledIn):
        header = f"{path[0]}.NAME" if len(path) == 1 and path[0] in NAMED else dotted(path)
        advice = f"write [{header}] and its keys below"
        if path[0] == "agents" and path[1:] not in ((), ("defaults",)):
            advice = "each agent is an [agents.NAME] with a kind, and [agents.defaults] holds for all of them"
        reader.wrong(path, f"expected a section, found {found(table)}; {advice}")
    return {}


def _unknown_sections(raw: Mapping[str, Any], reader: SectionReader, kinds: Kinds) -> None:
    known = [*SECTIONS, *NAMED]
    homes = {field: name for name, record in SECTIONS.items() for field in record.__struct_fields__}
    for key in raw:
        if key in known:
            continue
        if key in kinds.channels:
            advice = f"a channel belongs under channels: write [channels.{key}]"
        elif key in kinds.agents:
            advice = f'an agent belongs under agents: write [agents.NAME] with kind = "{key}"'
        elif key in homes:
            advice = f"it belongs in [{homes[key]}]"
        else:
            advice = did_you_mean(key, known, f"there are: {listed(sorted(known))}")
        reader.wrong((key,), f"there is no such section; {advice}")


def _agents(raw: Mapping[str, Any], reader: SectionReader, kinds: Kinds) -> dict[str, ConfiguredAgent]:
    agents: dict[str, ConfiguredAgent] = {}
    for name in raw:
        path = ("agents", name)
        if name == "defaults":
            continue
        table = _table(raw, path, reader)
        if not reader.is_right(path) and not table:
            continue
        kind = _kind(table, path, reader, kinds.agents, None)
        if kind is None:
            continue
        settings, common = reader.records(_without_kind(table), path, kinds.agents[kind].settings, EveryAgent)
        if settings is not WRONG:
            agents[name] = ConfiguredAgent(kind, settings, common.heartbeat)
    return agents


def _channels(raw: Mapping[str, Any], reader: SectionReader, kinds: Kinds) -> dict[str, ConfiguredChannel]:
    channels: dict[str, ConfiguredChannel] = {}
    for name in raw:
        path = ("channels", name)
        table = _table(raw, path, reader)
        if not reader.is_right(path) and not table:
            continue
        kind = _kind(table, path, reader, kinds.channels, name)
        if kind is None:
            continue
        settings, common = reader.records(
            _without_kind(table), path, kinds.channels[kind].settings, CommonChannelSettings
        )
        channels[name] = ConfiguredChannel(kind, common, settings)
    return channels


def _named(raw: Mapping[str, Any], section: str, record: type[Record], reader: SectionReader) -> dict[str, Record]:
    tables, read = _table(raw, (section,), reader), dict[str, Record]()
    for name in tables:
        path = (section, name)
        table = _table(tables, path, reader)
        if not reader.is_right(path) and not table:
            continue
        (entry,) = reader.records(table, path, record)
        if entry is not WRONG:
            read[name] = entry
    return read


def _kind(
    table: Mapping[str, Any], path: Path, reader: SectionReader, kinds: Mapping[str, object], name: str | None
) -> str | None:
    """The kind of this agent or channel; a channel with the name of a kind is of that kind."""
    kind = table.get("kind", name)
    here = (*path, "kind")
    if isinstance(kind, NotFilledIn):
        return None
    if isinstance(kind, str) and kind in kinds:
        return str(kind)
    choices = listed(map(quoted, kinds))  # only computed for a mistake, because it looks into the files of all kinds
    if kind is None:
        reader.wrong(here, f"this key is missing; it is one of {choices}")
    elif not isinstance(kind, str):
        reader.wrong(here, f"expected one of {choices}, found {found(kind)}")
    elif "kind" not in table:
        if near := nearest(kind, kinds):
            sentence = f"there is no channel {shown(kind)}; did you mean {quoted(near)}? Or add its kind"
        else:
            sentence = f"a channel with a name of its own needs a kind, one of {choices}"
        reader.wrong(path, sentence)
    else:
        guess = did_you_mean(kind, kinds, "")
        it = f"{guess} It" if guess else "it"
        reader.wrong(here, f"{shown(kind)} is not a choice here; {it} is one of {choices}")
    return None


def _without_kind(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key != "kind"}


def _completed(settings: Settings) -> Settings:
    """The settings with derived values filled in, so that no other code has to derive them."""
    only = next(iter(settings.agents)) if len(settings.agents) == 1 else None
    channels: dict[str, ConfiguredChannel] = {}
    for name, channel in settings.channels.items():
        common = channel.common
        if common.agent is None and not common.agents:
            common = replace(common, agent=only)
        if common.bot_messages is None:
            common = replace(common, bot_messages=usual_bot_messages(common))
        channels[name] = replace(channel, common=common)
    settings = replace(settings, channels=channels)
    return replace(settings, cron={name: replace(j, agent=agent_of(j, settings)) for name, j in settings.cron.items()})


def _text_of(path: str) -> str:
    def wrong(sentence: str, line: int | None = None) -> BadConfiguration:
        return BadConfiguration(Mistake(path, line, "", sentence))

    try:
        content = FilePath(path).read_bytes()
    except FileNotFoundError:
        raise wrong("there is no such file; name the right one with -c") from None
    except IsADirectoryError:
        raise wrong(f"this is a folder; name the file in it, such as {FilePath(path) / FILE}") from None
    except PermissionError:
        raise wrong("no permission to read this file; change its owner or its permissions") from None
    except OSError as error:
        raise wrong(f"this file cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise wrong("this is not a file name") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise wrong("this file is not UTF-8 text; save it as UTF-8", line) from None

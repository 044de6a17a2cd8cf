"""Checks that need more than one key: agents and channels that exist, ids that are ids, zones, patterns.

Each check is a function from the settings to complaints, listed in CHECKS. A check may see settings in which a wrong
value was replaced by its default; complaints about such keys are not passed on.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, runtime_checkable
from zoneinfo import available_timezones

from rejoinder.config.ids import id_problem
from rejoinder.config.jobs import HeartbeatSettings
from rejoinder.config.kinds import Kinds, no_such_store, shared_stores, store_kind
from rejoinder.config.positions import Path
from rejoinder.config.schema import Settings
from rejoinder.config.wording import did_you_mean, dotted, listed, quoted, shown
from rejoinder.identity import Whom
from rejoinder.inbound.patterns import pattern_problem
from rejoinder.session import ResetOverride

Complaint = tuple[Path, str]


class KnownNames(NamedTuple):
    """The names that may be referred to, including those of agents and channels with mistakes."""

    agents: frozenset[str]
    channels: dict[str, str]
    """Channel name to kind. Every kind counts as a name, too, so that a channel may be taken out for a while."""
    served: Callable[[], frozenset[str]]
    """The channels that `run` serves: a job can speak only in one of these. Called only if there is a job or a program,
    because if no channel is configured, every kind has to be loaded."""
    only_one: Mapping[str, str]
    """The kinds of which a configuration can have only one, with the reason."""


def check(
    settings: Settings, agents: frozenset[str], served: Callable[[], frozenset[str]], kinds: Kinds
) -> Iterator[Complaint]:
    channels = {kind: kind for kind in kinds.channels}
    channels |= {name: channel.kind for name, channel in settings.channels.items()}
    only_one = {channel.kind: kinds.channels[channel.kind].only_one for channel in settings.channels.values()}
    known = KnownNames(agents, channels, served, only_one)
    for ask in CHECKS:
        yield from ask(settings, known)


def _store(settings: Settings, _: KnownNames) -> Iterator[Complaint]:
    gateway = settings.gateway
    if (why := no_such_store(gateway.store)) is not None:
        yield ("gateway", "store"), why
    elif store_kind(gateway.store).share is None:
        alone = f"{gateway.store.partition(':')[0]} store serves one gateway"
        if gateway.shards not in (None, 1):
            yield ("gateway", "shards"), f"a {alone} and has one; processes share a store such as {shared_stores()}"
        if gateway.lease_seconds is not None:
            yield ("gateway", "lease_seconds"), f"a {alone}, which holds it until it ends and needs no lease"


def _names(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    places: list[tuple[str, ...]] = [("agents", name) for name in sorted(known.agents)]
    places += [("channels", name) for name in settings.channels]
    places += [("cron", name) for name in settings.cron]
    places += [("hooks", name) for name in settings.hooks]
    places += [("api", "tokens", name) for name in settings.api.tokens]
    for *section, name in places:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
            yield (*section, name), "a name is made of letters, digits, - and _, at most 64 of them"


def _one_of_a_kind(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    first: dict[str, str] = {}
    for name, channel in settings.channels.items():
        other = first.setdefault(channel.kind, name)
        if other != name and (why := known.only_one.get(channel.kind)):
            here = dotted(("channels", other))
            yield ("channels", name), f"{why}, and it is [{here}]; keep one of the two"


@runtime_checkable
class Checked(Protocol):
    """Settings of a channel or an agent that are right by themselves but wrong together."""

    def problems(self) -> Iterable[tuple[tuple[str | int, ...], str]]:
        """Keys and sentences."""
        ...


def _sections(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    for section, configured in (("channels", settings.channels), ("agents", settings.agents)):
        for name, record in configured.items():
            if isinstance(record.settings, Checked):
                for key, sentence in record.settings.problems():
                    yield (section, name, *key), sentence


def _agents_of_channels(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    for name, channel in settings.channels.items():
        here: Path = ("channels", name)
        one, several = channel.common.agent, channel.common.agents
        if one is not None and several:
            yield (*here, "agents"), "a channel has agent or agents, not both; keep one of the two"
        if one is not None:
            yield from _agent((*here, "agent"), one, known)
        for index, agent in enumerate(several):
            yield from _agent((*here, "agents", index), agent, known)
            if agent in several[:index]:
                yield (*here, "agents", index), f"{shown(agent)} is in the list twice"
        if one is None and not several and len(known.agents) > 1:
            choice = f"agent = {quoted(min(known.agents))}"
            yield (
                (*here, "agent"),
                f"there are several agents ({listed(sorted(known.agents))}); say which one answers here, "
                f"for example {choice}",
            )


def _describer(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    if (name := settings.agent_defaults.describer) is not None:
        yield from _agent(("agents", "defaults", "describer"), name, known)


def _spawned(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    for name, agent in settings.agents.items():
        for index, other in enumerate(getattr(agent.settings, "spawn", None) or ()):
            yield from _agent(("agents", name, "spawn", index), other, known)


def _agent(path: Path, name: str, known: KnownNames) -> Iterator[Complaint]:
    if name not in known.agents:
        there = f"there are: {listed(sorted(known.agents))}" if known.agents else f"add a section [agents.{name}]"
        yield path, f"there is no agent {shown(name)}; {did_you_mean(name, known.agents, there)}"


def _channel_names(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    tables: list[tuple[Path, set[str]]] = [
        (("messages", "queue", "by_channel"), set(settings.messages.queue.by_channel)),
        (("messages", "inbound", "by_channel"), set(settings.messages.inbound.by_channel)),
        (("session", "reset", "by_channel"), set(settings.session.reset.by_channel)),
        (("commands", "allow_from"), set(settings.commands.allow_from) - {"*"}),
    ]
    for path, names in tables:
        for name in sorted(names):
            yield from _channel((*path, name), name, known)
    for index, rule in enumerate(settings.messages.send_policy.rules):
        if rule.channel is not None:
            yield from _channel(("messages", "send_policy", "rules", index, "channel"), rule.channel, known)


def _channel(path: Path, name: str, known: KnownNames) -> Iterator[Complaint]:
    if name not in known.channels:
        there = f"there are: {listed(sorted(known.channels))}"
        yield path, f"there is no channel {shown(name)}; {did_you_mean(name, known.channels, there)}"


class IdList(NamedTuple):
    """A list of ids: whom it names, and its channel, if it belongs to one."""

    path: Path
    entries: tuple[str, ...]
    whom: Whom
    channel: str | None


def _lists(settings: Settings, known: KnownNames) -> Iterator[IdList]:
    for name, channel in settings.channels.items():
        here, common = ("channels", name), channel.common
        yield IdList((*here, "allow"), common.allow, "person", name)
        yield IdList((*here, "owners"), common.owners, "person", name)
        yield IdList((*here, "trusted_bots"), common.trusted_bots, "person", name)
        yield IdList((*here, "allow_groups"), common.allow_groups, "group", name)
        groups = tuple(id for id in common.group if id != "*")
        yield IdList((*here, "group"), groups, "group", name)
    commands = settings.commands
    yield IdList(("commands", "owner_allow_from"), commands.owner_allow_from, "person", None)
    yield IdList(("commands", "elevated", "allow_from"), commands.elevated.allow_from, "person", None)
    for name, entries in commands.allow_from.items():
        if name == "*" or name in known.channels:
            channel_name = None if name == "*" else name
            yield IdList(("commands", "allow_from", name), entries, "person", channel_name)
    for name, entries in settings.session.identity_links.items():
        yield IdList(("session", "identity_links", name), entries, "person", None)


def _ids(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    for path, entries, whom, channel in _lists(settings, known):
        for index, entry in enumerate(entries):
            here = (*path, entry if path[-1] == "group" else index)
            if entry == "*":
                yield here, EVERYBODY.get(str(path[-1]), "this list names single people, by their ids")
            elif wrong := id_problem(entry, whom, known.channels, channel):
                yield here, wrong


EVERYBODY = {
    "allow": 'to let everybody write, say dm = "open" instead',
    "allow_groups": 'to take part in every group, say groups = "open" instead',
    "owners": "everybody would own the bot; name the owners by their ids",
    "owner_allow_from": "everybody would own the bot; name the owners by their ids",
    "trusted_bots": "to trust any bot, leave the list empty",
}


def _one_person_each(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    seen: dict[str, str] = {}
    for name, entries in settings.session.identity_links.items():
        for index, entry in enumerate(entries):
            first = seen.setdefault(entry, name)
            if first != name:
                yield (
                    ("session", "identity_links", name, index),
                    f"{shown(entry)} already belongs to {shown(first)}; an id belongs to one person",
                )


def _zones(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    reset = settings.session.reset
    here: Path = ("session", "reset")
    zones: list[tuple[Path, str]] = [((*here, "zone"), reset.zone)]
    overrides: list[tuple[Path, ResetOverride | None]] = [
        ((*here, "by_type", kind), getattr(reset.by_type, kind)) for kind in reset.by_type.__struct_fields__
    ]
    overrides += [((*here, "by_channel", name), override) for name, override in reset.by_channel.items()]
    zones += [((*path, "zone"), override.zone) for path, override in overrides if override and override.zone]
    if all(zone == "UTC" for _, zone in zones):
        return
    there = available_timezones()
    for path, zone in zones:
        if zone not in there:
            example = 'it is a name such as "Europe/Berlin" or "UTC"'
            yield path, f"there is no time zone {shown(zone)}; {did_you_mean(zone, there, example)}"


def _patterns(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    for name, channel in settings.channels.items():
        for index, pattern in enumerate(channel.common.mention_patterns):
            if wrong := pattern_problem(pattern):
                yield (
                    ("channels", name, "mention_patterns", index),
                    f"{shown(pattern)} is not a regular expression (RE2): {wrong}",
                )


def _delays(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    delay = settings.agent_defaults.human_delay
    if delay.min_ms > delay.max_ms:
        yield (
            ("agents", "defaults", "human_delay", "min_ms"),
            f"the shortest pause ({delay.min_ms}) is longer than the longest ({delay.max_ms})",
        )


def _media(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    media = settings.media
    for name, service in (("speech_to_text", media.speech_to_text), ("text_to_speech", media.text_to_speech)):
        if service.command and service.base_url is not None:
            yield ("media", name, "base_url"), "a program or an endpoint does it, not both; keep command or base_url"
    if media.speech_to_text.command and not _names_file(media.speech_to_text.command, "{file}"):
        yield ("media", "speech_to_text", "command"), 'the program gets no recording; add "{file}" to its arguments'
    if media.links.command and not _names_file(media.links.command, "{url}"):
        yield ("media", "links", "command"), 'the program gets no page; add "{url}" to its arguments'
    if media.pictures.command and not _names_file(media.pictures.command, "{file}"):
        yield ("media", "pictures", "command"), 'the program gets no picture; add "{file}" to its arguments'
    if media.pictures.command and settings.agent_defaults.describer is not None:
        yield ("media", "pictures", "command"), "agents.defaults.describer does it already; keep one of the two"
    if media.text_to_speech.is_on:
        return
    spoken: list[tuple[Path, str | None]] = [
        (("channels", name, "tts"), channel.common.tts) for name, channel in settings.channels.items()
    ]
    spoken += [
        (("agents", name, "tts"), getattr(agent.settings, "tts", None)) for name, agent in settings.agents.items()
    ]
    for path, mode in spoken:
        if mode not in (None, "off"):
            yield path, "no text-to-speech is set up; add [media.text_to_speech] with a command or a base_url"


def _names_file(command: tuple[str, ...], what: str) -> bool:
    return any(what in argument for argument in command[1:])


def _jobs(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    beats = (settings.agent_defaults.heartbeat, *(agent.heartbeat for agent in settings.agents.values()))
    if settings.cron or any(each not in (None, HeartbeatSettings()) for each in beats):
        from rejoinder.config.check_jobs import JobNames, check_jobs  # noqa: PLC0415 - only for jobs

        yield from check_jobs(settings, JobNames(known.agents, frozenset(known.channels), known.served()))


def _programs(settings: Settings, known: KnownNames) -> Iterator[Complaint]:
    if settings.api.tokens or settings.hooks:
        from rejoinder.config.check_programs import check_programs  # noqa: PLC0415 - only for programs

        yield from check_programs(settings, known.agents, known.served())


CHECKS: tuple[Callable[[Settings, KnownNames], Iterator[Complaint]], ...] = (
    _store,
    _names,
    _one_of_a_kind,
    _sections,
    _agents_of_channels,
    _describer,
    _spawned,
    _channel_names,
    _ids,
    _one_person_each,
    _zones,
    _patterns,
    _delays,
    _media,
    _jobs,
    _programs,
)

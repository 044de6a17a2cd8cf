"""The settings prepared for use: checked, lists as sets, patterns compiled. Built once, read for every message."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.errors import BadConfiguration
from rejoinder.identity import ANYBODY, Whom
from rejoinder.inbound.commands import registry
from rejoinder.inbound.directives.levels import level_names
from rejoinder.inbound.directives.model import Models
from rejoinder.inbound.directives.tokenise import BodyKind, Vocabulary, vocabulary
from rejoinder.inbound.gate import ChannelGate
from rejoinder.inbound.ids import NOBODY, Ids, ListedChannel, read_ids
from rejoinder.inbound.patterns import compile_patterns
from rejoinder.inbound.settings import ChannelSettings, InboundSettings
from rejoinder.session import QueueChoice

if TYPE_CHECKING:
    from rejoinder.inbound.commands.command import Command
    from rejoinder.inbound.facts import Facts
    from rejoinder.inbound.skills import Skill


USUAL_QUEUE = QueueChoice("collect", 1000, 20, "summarize")


class AgentProfile(Struct, frozen=True):
    """What this floor needs to know about an agent: its models, its own levels, and the directives it can honour
    (IN-59)."""

    name: str
    models: Models = Models()
    think: str | None = None
    verbose: str | None = None
    reasoning: str | None = None
    think_levels: tuple[str, ...] = level_names("think")
    shows_thoughts: bool = True
    takes_exec: tuple[str, ...] = ("host", "node")
    has_allowlist: bool = True
    changes_model: bool = True
    asks_permission: bool = True
    steers: bool = True


class ChannelRules(Struct, frozen=True):
    place: ListedChannel
    settings: ChannelSettings
    gate: ChannelGate
    agents: tuple[AgentProfile, ...]
    names: tuple[str, ...]
    """Of its agents."""
    is_room: bool
    """Whether several of our own agents share the channel."""
    vocabularies: Mapping[str, Vocabulary]  # by agent
    allow: Ids
    allow_groups: Ids
    owners: Ids
    commanders: Ids | None  # None: everybody who is let in by name
    elevated: Ids
    trusted_bots: Ids
    mentions: Callable[[str], bool] | None
    queue: QueueChoice = USUAL_QUEUE  # for sessions without a choice of their own

    @property
    def agent(self) -> AgentProfile:
        return self.agents[0]

    def agent_called(self, name: str, facts: "Facts | None" = None) -> AgentProfile:
        """The agent with this name; the first one if there is none. `facts`: adds what it offers at the moment."""
        agent = next((agent for agent in self.agents if agent.name == name), self.agent)
        if facts is not None and facts.offered:
            agent = replace(agent, models=replace(agent.models, offered=facts.offered))
        if facts is not None and facts.levels is not None:
            agent = replace(agent, think_levels=facts.levels)
        if facts is not None and facts.steers is not None:
            agent = replace(agent, steers=facts.steers)
        return agent


class Rules(Struct, frozen=True):
    settings: InboundSettings
    channels: Mapping[str, ChannelRules]
    agents: Mapping[str, AgentProfile]
    commands: "Mapping[str, Command]"
    skills: "Mapping[str, Skill]"
    triggers: tuple[str, ...]
    trigger_starts: frozenset[str]
    """The first characters of triggers; most texts begin with another one."""


def make_rules(
    settings: InboundSettings,
    agents: Iterable[AgentProfile] = (),
    plugins: "Iterable[Command]" = (),
    skills: "Iterable[Skill]" = (),
    queues: Mapping[str, QueueChoice] = {},
) -> Rules:
    """Checks everything that can be wrong now, so that no message runs into a configuration error."""
    by_name = {agent.name: agent for agent in agents}
    commands = registry.commands_by_name(plugins)
    own_skills = {skill.name.lower(): skill for skill in skills}
    for name in own_skills:
        if name in commands:
            raise BadConfiguration(f"the skill {name!r} has the name of the command /{name}; rename its folder")
    taken = {*commands, *own_skills}
    triggers = tuple(trigger.lower() for trigger in settings.session.reset_triggers)
    names = TakenNames(taken, _bodies(commands, triggers))
    channels = {
        name: _channel(name, settings, by_name, names, queues.get(name, USUAL_QUEUE)) for name in settings.channels
    }
    starts = frozenset(trigger[:1] for trigger in triggers)
    return Rules(settings, channels, by_name, commands, own_skills, triggers, starts)


class TakenNames(Struct, frozen=True):
    """The names that are taken, and what may be in `[[/name words]]` besides directives."""

    taken: set[str]
    bodies: Mapping[str, tuple[BodyKind, str]]


def _bodies(commands: "Mapping[str, Command]", triggers: tuple[str, ...]) -> dict[str, tuple[BodyKind, str]]:
    bodies: dict[str, tuple[BodyKind, str]] = {
        name: ("command", command.name)
        for name, command in commands.items()
        if command.stage == "commands" and command.scope != "native"
    }
    bodies |= {trigger[1:]: ("reset", trigger) for trigger in triggers if trigger.startswith("/")}
    return {**bodies, "stop": ("stop", "stop")}


def _channel(
    name: str, settings: InboundSettings, agents: Mapping[str, AgentProfile], names: TakenNames, queue: QueueChoice
) -> ChannelRules:
    said = settings.channels[name]
    where = f"channels.{name}"
    known = {*settings.channels, *settings.kinds.values()}
    place = ListedChannel(name, settings.kinds.get(name, name), settings.identities.get(name, ANYBODY))

    def own(key: str, entries: tuple[str, ...], whom: Whom = "person") -> Ids:
        return read_ids(entries, place, channels=known, where=f"{where}.{key}", whom=whom)

    def shared(key: str, entries: tuple[str, ...]) -> Ids:
        return read_ids(entries, place, channels=known, where=f"commands.{key}", shared=True)

    owners = (own("owners", said.owners), shared("owner_allow_from", settings.commands.owner_allow_from))
    here = _agents_of(name, said, agents)
    return ChannelRules(
        place=place,
        settings=said,
        gate=ChannelGate(said.owner_only_commands),
        agents=here,
        names=tuple(agent.name for agent in here),
        is_room=len(here) > 1,
        vocabularies={
            agent.name: vocabulary(agent.models, registry.INLINE, names.taken, names.bodies) for agent in here
        },
        allow=own("allow", said.allow),
        allow_groups=own("allow_groups", said.allow_groups, "group"),
        owners=owners[0] | owners[1],
        commanders=_commanders(place, settings, known),
        elevated=shared("elevated.allow_from", settings.commands.elevated.allow_from),
        trusted_bots=own("trusted_bots", said.trusted_bots),
        mentions=compile_patterns(said.mention_patterns, f"{where}.mention_patterns"),
        queue=queue,
    )


def _agents_of(name: str, said: ChannelSettings, agents: Mapping[str, AgentProfile]) -> tuple[AgentProfile, ...]:
    wanted = said.agents or ((said.agent,) if said.agent else ())
    for agent in wanted:
        if agent not in agents:
            there = ", ".join(sorted(agents)) or "none"
            raise BadConfiguration(
                f"channels.{name} names the agent {agent!r}, which does not exist; there are: {there}"
            )
    if wanted:
        return tuple(agents[agent] for agent in wanted)
    return tuple(agents.values())[:1] or (AgentProfile("default"),)


def _commanders(place: ListedChannel, settings: InboundSettings, known: set[str]) -> Ids | None:
    """The people listed as allowed to use commands here. A channel's own list replaces `*`."""
    lists = settings.commands.allow_from
    for key in lists:
        if key != "*" and key not in known:
            raise BadConfiguration(
                f"commands.allow_from has a list for {key!r}, which is not a channel; "
                f"there are: {', '.join(sorted(known))}, and * for all"
            )
    if place.name in lists:
        where = f"commands.allow_from.{place.name}"
        return read_ids(lists[place.name], place, channels=known, where=where)
    if "*" in lists:
        return read_ids(lists["*"], place, channels=known, where='commands.allow_from."*"', shared=True)
    return None


NO_CHANNEL = ChannelRules(
    place=ListedChannel("", ""),
    settings=ChannelSettings(dm="off", groups="off"),
    gate=ChannelGate(),
    agents=(AgentProfile("none"),),
    names=("none",),
    is_room=False,
    vocabularies={"none": vocabulary(Models(), registry.INLINE, ())},
    allow=NOBODY,
    allow_groups=NOBODY,
    owners=NOBODY,
    commanders=NOBODY,
    elevated=NOBODY,
    trusted_bots=NOBODY,
    mentions=None,
)


def channel_rules(rules: Rules, channel: str) -> ChannelRules:
    """The rules of a channel; one that is not configured lets no one in."""
    return rules.channels.get(channel, NO_CHANNEL)

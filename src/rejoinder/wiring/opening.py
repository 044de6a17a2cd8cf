"""Opens what a configuration names: the agents and the channels."""

from importlib.util import find_spec
from typing import Any

import msgspec
from msgspec import Struct

from rejoinder import plugins
from rejoinder.agents.base import Agent, EnforcesRunLimits, RunLimits
from rejoinder.channels.base import DEFAULT_ACCOUNT, Channel, HasNativeCommands, Limits, ShowsMenu
from rejoinder.config import schema
from rejoinder.config.kinds import agent_kind, channel_kind, channel_to_come
from rejoinder.errors import BadConfiguration, RejoinderError
from rejoinder.events import MenuCommand
from rejoinder.extras import how_to_install, packages
from rejoinder.inbound.commands.registry import native_menu
from rejoinder.secret import Secret


def open_agents(settings: schema.Settings) -> dict[str, Agent]:
    limits = limits_of(settings.gateway)
    return {name: open_agent(name, configured, limits) for name, configured in settings.agents.items()}


def limits_of(gateway: schema.GatewaySettings) -> RunLimits:
    return RunLimits(gateway.idle_timeout_s, gateway.hard_timeout_s, gateway.question_timeout_s)


def open_agent(name: str, configured: schema.ConfiguredAgent, limits: RunLimits) -> Agent:
    kind = agent_kind(configured.kind)
    if kind.needs and find_spec(kind.needs) is None:
        if not packages(configured.kind):
            raise BadConfiguration(
                f"agent {name!r} is of kind {configured.kind!r}, which needs the module {kind.needs!r}; "
                "it is not installed: install what the documentation of this kind's package says"
            )
        raise BadConfiguration(
            f"agent {name!r} is of kind {configured.kind!r}, which needs the extra {configured.kind!r}; "
            f"it is not installed: {how_to_install(configured.kind)}"
        )
    try:
        settings = _record(kind.settings, configured.settings)
    except msgspec.ValidationError as problem:
        wrong = f"the agent {name!r} of kind {configured.kind!r} cannot be opened: {problem}"
        raise BadConfiguration(f"{wrong}; write an [agents.{name}] section into rejoinder.toml") from None
    try:
        agent = kind.open(name, settings)
    except RejoinderError:
        raise
    except (Exception, SystemExit) as problem:  # another package's code may raise anything
        raise BadConfiguration(f"agents.{name}: it cannot be opened: {plugins.raised(problem)}") from problem
    if isinstance(agent, EnforcesRunLimits):
        agent.take_limits(limits)
    return agent


def open_changed_agents(old: schema.Settings, new: schema.Settings) -> dict[str, Agent]:
    """Opens the agents whose settings or limits have changed."""
    limits = limits_of(new.gateway)
    same = limits == limits_of(old.gateway)
    changed = {
        name: configured
        for name, configured in new.agents.items()
        if not same or configured.settings != old.agents[name].settings
    }
    return {name: open_agent(name, configured, limits) for name, configured in changed.items()}


def open_channels(settings: schema.Settings) -> list[Channel]:
    """Every configured channel that `run` serves."""
    served = {
        name: configured
        for name, configured in settings.channels.items()
        if channel_kind(configured.kind).opened_by == "run"
    }
    channels = [channel for name, configured in served.items() for channel in open_accounts(name, configured).values()]
    for channel in channels:
        if isinstance(channel, ShowsMenu):
            _give_menu(channel, channel.name, menu(settings, native=isinstance(channel, HasNativeCommands)))
    return channels


def _give_menu(channel: ShowsMenu, name: str, commands: tuple[MenuCommand, ...]) -> None:
    try:
        channel.take_menu(commands)
    except (Exception, SystemExit) as problem:  # another package's code may raise anything
        raise BadConfiguration(f"channels.{name}: it takes no menu: {plugins.raised(problem)}") from problem


def open_accounts(name: str, configured: schema.ConfiguredChannel) -> dict[str, Channel]:
    """Opens a channel: once for each of its accounts, if it has several."""
    opened = _opened(name, configured)
    for channel in opened.values():
        if (missing := _missing(channel)) is not None:
            raise BadConfiguration(
                f"channels.{name}: the channel that {configured.kind} opens has no {missing}; "
                "whoever wrote it adds what docs/channels.md lists"
            )
    return opened


def _missing(channel: object) -> str | None:
    """What this object of another package lacks of a channel's contract; None: nothing."""
    if not isinstance(getattr(channel, "name", None), str):
        return "`name`, a text"
    if not isinstance(getattr(channel, "limits", None), Limits):
        return "`limits`, such as `limits = Limits(length=4000)`"
    return next((f"`{each}`" for each in ("listen", "send") if not callable(getattr(channel, each, None))), None)


def _opened(name: str, configured: schema.ConfiguredChannel) -> dict[str, Channel]:
    kind = channel_kind(configured.kind)
    if kind.open is None:
        raise BadConfiguration(f"channels.{name}: {channel_to_come(configured.kind)}")
    settings = _record(kind.settings, configured.settings)
    try:
        if kind.accounts is None:
            return {DEFAULT_ACCOUNT: kind.open(name, settings)}
        return {account: kind.open(name, own, account) for account, own in kind.accounts(settings).items()}
    except ModuleNotFoundError as problem:  # its SDK is imported with the first connection
        raise plugins.missing_extra("channel", configured.kind, problem) from problem
    except RejoinderError:
        raise
    except (Exception, SystemExit) as problem:  # another package's code may raise anything
        raise BadConfiguration(f"channels.{name}: it cannot be opened: {plugins.raised(problem)}") from problem


def account_names(configured: schema.ConfiguredChannel) -> tuple[str, ...]:
    """The accounts of a channel, as `open_accounts` would open them."""
    kind = channel_kind(configured.kind)
    return (
        (DEFAULT_ACCOUNT,)
        if kind.accounts is None
        else tuple(kind.accounts(_record(kind.settings, configured.settings)))
    )


def menu(settings: schema.Settings, *, native: bool = False) -> tuple[MenuCommand, ...]:
    """The commands for a platform's own menu. If a choice from the menu arrives as text, the menu is empty when texts
    with a slash are not commands."""
    return native_menu(plugins.commands_of_others()) if native or settings.commands.text else ()


def _record(wanted: type[Struct], given: Any) -> Any:
    """Settings from a file are this record already; those of an agent that was found without a file are plain
    values."""
    return given if isinstance(given, wanted) else msgspec.convert(given, wanted, dec_hook=_as_secret)


def _as_secret(wanted: type, given: Any) -> Any:
    return Secret(given) if wanted is Secret and isinstance(given, str) else given

"""Says who may use a command before anybody has typed it: for notices that mention the command, and for pages."""

from collections.abc import Iterable
from typing import Final

from rejoinder.events import Inbound
from rejoinder.inbound.access import admit
from rejoinder.inbound.commands.command import Command
from rejoinder.inbound.commands.operate import COMMANDS as OPERATING
from rejoinder.inbound.commands.subagents import COMMANDS as ABOUT_SUBAGENTS
from rejoinder.inbound.facts import Facts, OwnIdentity
from rejoinder.inbound.gate import Actor, Allowed, GatedAction, Role, authorise
from rejoinder.inbound.rules import ChannelRules, channel_rules
from rejoinder.runtime.live import Live
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.session import agent_of, session_key
from rejoinder.store.base import StoredSubagent

RESEND: Final = next(command for command in OPERATING if command.name == "resend")
SUBAGENTS: Final = next(command for command in ABOUT_SUBAGENTS if command.name == "subagents")


class Rights:
    def __init__(self, settings: Live[RuntimeSettings], access: Access) -> None:
        self._settings = settings
        self._access = access

    async def may_resend(self, inbound: Inbound) -> bool:
        """Whether the person who wrote this may use `/resend` there."""
        if inbound.entry == "cron" and inbound.chat.kind != "direct":  # the job is an owner's, but others read the chat
            return False
        return await self._may(RESEND, inbound)

    async def may_see_subagent(self, inbound: Inbound, subagent: StoredSubagent) -> bool:
        """Whether `/subagents` would show this sub-agent to this person: only if it belongs to their own session
        (TU-36)."""
        of = session_key(inbound, self._settings.now.rules.settings.session, agent_of(subagent.root))
        return of == subagent.root and await self._may(SUBAGENTS, inbound)

    async def usable(self, places: Iterable[Inbound]) -> frozenset[tuple[str, bool]]:
        """The names of the commands that the sender may use in one of these places of a channel without an argument, as
        `/commands` lists them, each with whether it is a group."""
        rules, usable = self._settings.now.rules, set[tuple[str, bool]]()
        standings = set[tuple[str, Role, bool]]()
        for inbound in places:
            standings.add((inbound.channel, await self._role(inbound), _in_group(inbound)))
        for name, role, in_group in standings:
            channel = channel_rules(rules, name)
            named = [command.name for command in rules.commands.values() if _may(role, command, channel, in_group)]
            usable.update((each, in_group) for each in named)
        return frozenset(usable)

    async def _may(self, command: Command, inbound: Inbound) -> bool:
        channel = channel_rules(self._settings.now.rules, inbound.channel)
        return _may(await self._role(inbound), command, channel, _in_group(inbound))

    async def _role(self, inbound: Inbound) -> Role:
        place, channel = (inbound.channel, inbound.account), channel_rules(self._settings.now.rules, inbound.channel)
        access = await self._access.of(place, inbound.sender.id)
        return admit(inbound, Facts(OwnIdentity(""), paired=access.paired, allow=access.allow), channel).role


def _may(role: Role, command: Command, channel: ChannelRules, in_group: bool) -> bool:
    action = GatedAction(f"/{command.name}", command.auth_for({}, in_group=in_group))
    return isinstance(authorise(Actor(role), action, channel.gate), Allowed)


def _in_group(inbound: Inbound) -> bool:
    return inbound.chat.kind != "direct"

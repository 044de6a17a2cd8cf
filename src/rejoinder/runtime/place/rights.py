"""Who may do what, for notices that nobody asked for: a person is not told to use a command they may not use."""

from typing import Final

from rejoinder.events import Inbound
from rejoinder.inbound.access import admit
from rejoinder.inbound.commands.operate import COMMANDS
from rejoinder.inbound.facts import Facts, OwnIdentity
from rejoinder.inbound.gate import Actor, Allowed, GatedAction, authorise
from rejoinder.inbound.rules import channel_rules
from rejoinder.runtime.live import Live
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.settings import RuntimeSettings

RESEND: Final = next(command for command in COMMANDS if command.name == "resend")


class Rights:
    def __init__(self, settings: Live[RuntimeSettings], access: Access) -> None:
        self._settings = settings
        self._access = access

    async def may_resend(self, inbound: Inbound) -> bool:
        """Whether the person who wrote this may use `/resend` there."""
        place, channel = (inbound.channel, inbound.account), channel_rules(self._settings.now.rules, inbound.channel)
        in_group = inbound.chat.kind != "direct"
        if inbound.entry == "cron" and in_group:  # a job of the owner's; who reads it there is not the owner
            return False
        await self._access.read(place)
        paired, allow = self._access.is_paired(place, inbound.sender.id), self._access.allow(inbound.channel)
        role = admit(inbound, Facts(OwnIdentity(""), paired=paired, allow=allow), channel).role
        action = GatedAction(f"/{RESEND.name}", RESEND.auth_for({}, in_group=in_group))
        return isinstance(authorise(Actor(role), action, channel.gate), Allowed)

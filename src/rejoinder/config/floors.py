"""What each floor gets of the configuration."""

from rejoinder.config.schema import Settings
from rejoinder.inbound.settings import InboundSettings


def inbound_settings(settings: Settings) -> InboundSettings:
    """The part the inbound floor reads; `make_rules` makes it ready."""
    return InboundSettings(
        channels={name: channel.common for name, channel in settings.channels.items()},
        kinds={name: channel.kind for name, channel in settings.channels.items()},
        commands=settings.commands,
        session=settings.session,
        debounce=settings.messages.inbound,
        send_policy=settings.messages.send_policy,
        defaults=settings.agent_defaults,
    )

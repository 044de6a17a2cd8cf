"""What each floor gets of the configuration."""

from rejoinder.config.kinds import identity_on
from rejoinder.config.schema import Settings
from rejoinder.inbound.settings import InboundSettings, SpeechSettings
from rejoinder.turns.modes import DropPolicy, Grouping, Mode, QueueOverride


def inbound_settings(settings: Settings) -> InboundSettings:
    """The part the inbound floor reads; `make_rules` makes it ready."""
    return InboundSettings(
        channels={name: channel.common for name, channel in settings.channels.items()},
        kinds={name: channel.kind for name, channel in settings.channels.items()},
        identities={name: identity_on(channel.kind) for name, channel in settings.channels.items()},
        commands=settings.commands,
        session=settings.session,
        debounce=settings.messages.inbound,
        send_policy=settings.messages.send_policy,
        defaults=settings.agent_defaults,
        speech=_speech(settings),
    )


def _speech(settings: Settings) -> SpeechSettings:
    said = settings.media.text_to_speech
    agents = {name: getattr(agent.settings, "tts", None) for name, agent in settings.agents.items()}
    return SpeechSettings(
        on=said.is_on,
        by_channel={name: mode for name, channel in settings.channels.items() if (mode := channel.common.tts)},
        by_agent={name: mode for name, mode in agents.items() if mode is not None},
        voice=said.voice,
        limit=said.max_chars,
    )


def queue_of_gateway(settings: Settings) -> QueueOverride:
    """`[messages.queue]`, for every channel."""
    said = settings.messages.queue
    mode = None if said.mode is None else Mode(said.mode)
    return QueueOverride(
        mode=mode,
        debounce_ms=said.debounce_ms,
        cap=said.cap,
        drop=DropPolicy(said.drop),
        grouping=Grouping(said.grouping),
        max_batch=said.max_batch,
        max_batch_tokens=said.max_batch_tokens,
    )


def queue_of_channel(settings: Settings, channel: str) -> QueueOverride | None:
    """`messages.queue.by_channel`, of this one."""
    mode = settings.messages.queue.by_channel.get(channel)
    return None if mode is None else QueueOverride(mode=Mode(mode))

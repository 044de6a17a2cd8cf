"""The part of the configuration that each floor gets."""

from rejoinder.config.kinds import identity_on
from rejoinder.config.schema import Settings
from rejoinder.inbound.settings import InboundSettings, SpeechSettings
from rejoinder.turns.modes import DropPolicy, Grouping, Mode, QueueOverride


def inbound_settings(settings: Settings) -> InboundSettings:
    """The part for the inbound floor; `make_rules` prepares it for use."""
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
    speech = settings.media.text_to_speech
    agents = {name: getattr(agent.settings, "tts", None) for name, agent in settings.agents.items()}
    return SpeechSettings(
        on=speech.is_on,
        by_channel={name: mode for name, channel in settings.channels.items() if (mode := channel.common.tts)},
        by_agent={name: mode for name, mode in agents.items() if mode is not None},
        voice=speech.voice,
        limit=speech.max_chars,
    )


def queue_of_gateway(settings: Settings) -> QueueOverride:
    """`[messages.queue]`, for every channel."""
    queue = settings.messages.queue
    mode = None if queue.mode is None else Mode(queue.mode)
    return QueueOverride(
        mode=mode,
        debounce_ms=queue.debounce_ms,
        cap=queue.cap,
        drop=DropPolicy(queue.drop),
        grouping=Grouping(queue.grouping),
        max_batch=queue.max_batch,
        max_batch_tokens=queue.max_batch_tokens,
    )


def queue_of_channel(settings: Settings, channel: str) -> QueueOverride | None:
    """This channel's entry in `messages.queue.by_channel`."""
    mode = settings.messages.queue.by_channel.get(channel)
    return None if mode is None else QueueOverride(mode=Mode(mode))

"""Configurations for conversations."""

from rejoinder.config.schema import MessagesSettings, QueueSection, Settings

SHORT = 30  # milliseconds of quiet: long enough for messages sent at once to be together


def queueing(mode: str, debounce_ms: int = SHORT, **settings) -> Settings:
    queue = QueueSection(mode=mode, debounce_ms=debounce_ms, **settings)
    return Settings(messages=MessagesSettings(queue=queue))

"""What a way of listening offers: Socket Mode, or signed HTTP events."""

from typing import Protocol

from rejoinder.channels.slack.history import HistoryReader
from rejoinder.channels.slack.intake import Intake


class EventSource(Protocol):
    listens_everywhere: bool
    """Whether events are brought by HTTP, to whichever process."""

    @property
    def trouble(self) -> str: ...

    @property
    def last_sign(self) -> float | None:
        """By `time.monotonic`."""
        ...

    async def run(self, section: str, intake: Intake, reader: HistoryReader) -> None:
        """Runs for ever; `section`: where the account is set up in the file, as log lines say it."""
        ...

    async def check(self, section: str, seconds: float) -> str:
        """What `rejoinder doctor` is told; raises ChannelStopped if nothing would be heard."""
        ...

    async def close(self) -> None: ...

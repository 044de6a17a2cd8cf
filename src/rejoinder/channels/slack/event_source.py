"""The interface of the two ways to listen: Socket Mode, or signed HTTP events."""

from typing import Protocol

from rejoinder.channels.slack.history import HistoryReader
from rejoinder.channels.slack.intake import Intake


class EventSource(Protocol):
    listens_everywhere: bool
    """Whether events arrive by HTTP, in any process."""

    @property
    def trouble(self) -> str: ...

    @property
    def last_sign(self) -> float | None:
        """By `time.monotonic`."""
        ...

    async def run(self, section: str, intake: Intake, reader: HistoryReader) -> None:
        """Runs for ever. `section`: where the account is configured, as log lines name it."""
        ...

    async def check(self, section: str, seconds: float) -> str:
        """The sentence for `rejoinder doctor`; raises ChannelStopped if no events would arrive."""
        ...

    async def close(self) -> None: ...

"""Room for runs, shared fairly between sessions (TU-21): asks for it wait in line, `turns.choose` says who goes."""

from collections.abc import Callable

from rejoinder.turns.choose import Ask, Limits, Load, choose


class Slots:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._asking: dict[str, Callable[[], None]] = {}
        self._running: set[str] = set()

    @property
    def has_room(self) -> bool:
        return not self._asking and len(self._running) < self._limits.runs

    def ask(self, session: str, go: Callable[[], None]) -> None:
        """`go` is called as soon as there is room; a session asks for one run at a time."""
        self._asking[session] = go
        self._choose()

    def release(self, session: str) -> None:
        """The session's run is over, or wants to go no more."""
        self._asking.pop(session, None)
        self._running.discard(session)
        self._choose()

    def _choose(self) -> None:
        if not self._asking:
            return
        asks = tuple(map(Ask, self._asking))
        for session in choose(asks, Load(len(self._running)), self._limits).start:
            self._running.add(session)
            self._asking.pop(session)()

"""Maps tokens to the tools of sessions: one token for each session, valid only while the session has a run."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from rejoinder.agents.base import ToolSource
from rejoinder.bounded import Bounded

MOST_TOKENS = 10_000

Call = Callable[[str, Mapping[str, Any]], Awaitable[str]]
"""Takes a tool's name and arguments; raises `ToolFailed`."""


class ToolFailed(Exception):
    """Why a tool did nothing, in a sentence for the agent."""


class Toolbox:
    """The current runs by session, and the tokens of the sessions."""

    def __init__(self) -> None:
        self.source: ToolSource | None = None
        """Where agents find the tools, once they are served."""
        self._runs: dict[str, Call] = {}
        self._sessions: Bounded[str, str] = Bounded(MOST_TOKENS)  # by token
        self._tokens: Bounded[str, str] = Bounded(MOST_TOKENS)  # by session

    def serve_from(self, source: ToolSource) -> None:
        """From now on the tools are served there."""
        self.source = source

    def open(self, session: str, call: Call) -> None:
        """The session has a run until `close` is called."""
        self._runs[session] = call

    def close(self, session: str) -> None:
        del self._runs[session]

    def issue(self) -> str:
        """A new token that belongs to no session yet."""
        return secrets.token_urlsafe(32)

    def bind(self, token: str, session: str) -> None:
        """Gives the token to this session; the session's previous token becomes invalid."""
        if (former := self._tokens.get(session)) is not None:
            self._sessions.pop(former, None)
        self._tokens.renew(session, token)
        self._sessions.renew(token, session)

    def session_of(self, token: str) -> str | None:
        """The session of a token; None if it belongs to none, or the run is over."""
        session = self._sessions.get(token)
        return session if session in self._runs else None

    async def call(self, session: str, name: str, arguments: Mapping[str, Any]) -> str:
        """Raises `ToolFailed`."""
        if (run := self._runs.get(session)) is None:
            raise ToolFailed("the run of this token is over")
        return await run(name, arguments)

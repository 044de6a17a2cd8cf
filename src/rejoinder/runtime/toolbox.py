"""Which session's tools a token opens: one token for each session, valid only while the session has a run."""

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
    """The runs under way by their sessions, and the tokens of the sessions."""

    def __init__(self) -> None:
        self.source: ToolSource | None = None
        """Where agents find the tools, once they are served."""
        self._runs: dict[str, Call] = {}
        self._sessions: Bounded[str, str] = Bounded(MOST_TOKENS)  # by token
        self._tokens: Bounded[str, str] = Bounded(MOST_TOKENS)  # by session

    def serve_from(self, source: ToolSource) -> None:
        """The tools are served there from now on."""
        self.source = source

    def open(self, session: str, call: Call) -> None:
        """The session has a run, until `close`."""
        self._runs[session] = call

    def close(self, session: str) -> None:
        del self._runs[session]

    def issue(self) -> str:
        """A token that is nobody's yet."""
        return secrets.token_urlsafe(32)

    def bind(self, token: str, session: str) -> None:
        """It is this session's from now on, and the one it had before is nobody's."""
        if (former := self._tokens.get(session)) is not None:
            self._sessions.pop(former, None)
        self._tokens.renew(session, token)
        self._sessions.renew(token, session)

    def session_of(self, token: str) -> str | None:
        """None: it is nobody's, or its run is over."""
        session = self._sessions.get(token)
        return session if session in self._runs else None

    async def call(self, session: str, name: str, arguments: Mapping[str, Any]) -> str:
        """Raises `ToolFailed`."""
        if (run := self._runs.get(session)) is None:
            raise ToolFailed("the run of this token is over")
        return await run(name, arguments)

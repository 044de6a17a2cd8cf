"""The gateway's tools, as the pages serve them and as agents learn of them."""

from collections.abc import Mapping
from typing import Any

from rejoinder.runtime.session.tools import TOOLS
from rejoinder.runtime.toolbox import Toolbox, ToolFailed
from rejoinder.web.services import OfferedTool, ToolProblem


class ServedTools:
    def __init__(self, toolbox: Toolbox, address: str) -> None:
        self._toolbox = toolbox
        self.url = f"{address}/mcp"
        self.listed = tuple([OfferedTool(each.name, each.help, each.schema) for each in TOOLS])

    def issue(self) -> str:
        return self._toolbox.issue()

    def bind(self, token: str, session: str) -> None:
        self._toolbox.bind(token, session)

    def session_of(self, token: str) -> str | None:
        return self._toolbox.session_of(token)

    async def call(self, session: str, name: str, arguments: Mapping[str, Any]) -> str:
        try:
            return await self._toolbox.call(session, name, arguments)
        except ToolFailed as why:
            raise ToolProblem(str(why)) from None

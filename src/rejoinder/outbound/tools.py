"""How people see that the agent uses a tool (DE-23): with its title, only with its kind, or not at all."""

from typing import Final, Literal

from msgspec import Struct

Display = Literal["full", "compact", "none"]
WorkPlace = Literal["chat", "log", "nowhere"]
"""Where people can follow a turn: a sub-agent's in its log; nobody follows a heartbeat, or a turn that only listens."""

TOOL_MARK: Final = "🔧 "
TELLING: Final = frozenset({"execute", "other"})
"""Kinds whose title is a command line, or may be one."""


def display_for(configured: Display | None, *, group: bool, trusted: bool) -> Display:
    """`trusted`: whether everybody who asked is on the allow-list; others see only the kind."""
    wanted = configured or ("compact" if group else "full")
    return "compact" if wanted == "full" and not trusted else wanted


def work_shown(
    verbose: str, configured: Display | None, *, place: WorkPlace = "chat", group: bool, trusted: bool
) -> tuple[Display, bool]:
    """How tools are shown if `/verbose` is `on` or `full`, and whether their output is shown too, which it never is
    where others read. A log has everything."""
    if place == "log":
        return "full", True
    if place == "nowhere" or verbose == "off":
        return "none", False
    tools = display_for(configured, group=group, trusted=trusted)
    return tools, verbose == "full" and tools == "full" and not group


def tool_name(title: str, kind: str, display: Display, *, group: bool) -> str:
    """The text after the mark. In a group anybody may be reading, so command lines are never shown there, whatever is
    configured."""
    by_kind = display == "compact" or (group and kind in TELLING)
    return kind if by_kind else " ".join(title.split())


class AddLine(Struct, frozen=True):
    """A line by itself."""

    text: str


class AddToLine(Struct, frozen=True):
    """More characters for the line that was added last."""

    text: str


class ToolLines:
    """The lines that tell of tools: one for each; equal ones in a row share a line with their count."""

    def __init__(self, display: Display, *, group: bool) -> None:
        self._display: Display = display
        self._group = group
        self.name: str | None = None
        """In the line that was added last, while nothing has followed it."""
        self._id = self._kind = ""
        self._times = 0

    def start(self, id: str, title: str, kind: str) -> tuple[AddLine | AddToLine, ...]:
        name = tool_name(title, kind, self._display, group=self._group)
        if name == self.name:
            self._times += 1
            return ()
        counted = self.end()
        self.name, self._id, self._kind, self._times = name, id, kind, 1
        return (*counted, AddLine(f"_{TOOL_MARK}{name}_"))

    def rename(self, id: str, title: str) -> tuple[AddToLine, ...]:
        """Shown text only grows, so a better name is added after the first one, unless something has followed it."""
        name = tool_name(title, self._kind, self._display, group=self._group)
        if id != self._id or self._times != 1 or name == self.name:
            return ()
        self.name = name
        return (AddToLine(f" {name}"),)

    def end(self) -> tuple[AddToLine, ...]:
        """Something else follows."""
        times, self.name, self._times = self._times, None, 0
        return (AddToLine(f" ×{times}"),) if times > 1 else ()

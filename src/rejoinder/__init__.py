"""rejoinder: the gateway between chats and AI agents.

The parts are usable alone:

    from rejoinder import read_reply
    read_reply("[[reply_to:m42]]\\nDone.").text   # 'Done.'

Names are imported when first used, so that `import rejoinder` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rejoinder.app import Gateway
    from rejoinder.events import Chat, Directive, Inbound, Problem, Reply, Sender, Silent, Text
    from rejoinder.outbound.reader import ReplyReader
    from rejoinder.outbound.reading import Reading, read_reply
    from rejoinder.programs.one_conversation import get_reply

__version__ = "0.1.0"

_HOME = {
    # reading what an agent said
    "read_reply": "rejoinder.outbound.reading",
    "ReplyReader": "rejoinder.outbound.reader",
    "Reading": "rejoinder.outbound.reading",
    "Text": "rejoinder.events",
    "Directive": "rejoinder.events",
    "Problem": "rejoinder.events",
    "Silent": "rejoinder.events",
    # the whole way
    "Gateway": "rejoinder.app",
    "get_reply": "rejoinder.programs.one_conversation",
    "Inbound": "rejoinder.events",
    "Chat": "rejoinder.events",
    "Sender": "rejoinder.events",
    "Reply": "rejoinder.events",
}

__all__ = [
    "Chat",
    "Directive",
    "Gateway",
    "Inbound",
    "Problem",
    "Reading",
    "Reply",
    "ReplyReader",
    "Sender",
    "Silent",
    "Text",
    "__version__",
    "get_reply",
    "read_reply",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"rejoinder has no public name {name!r}; there are: {', '.join(sorted(_HOME))}")

"""Words that several rooms share."""

from typing import Literal

ChatKind = Literal["direct", "group", "channel"]
Ability = Literal["reply", "react", "send", "files", "voice", "ephemeral", "silent", "previews", "threads"]
"""The abilities of a platform, as directives name them (OD-72)."""
LengthUnit = Literal["characters", "utf16", "bytes"]
"""The unit in which a platform measures the length of a message."""
FileKind = Literal["photo", "video", "audio", "voice", "document"]
"""How a file is shown; a document is only offered for download."""
ReplyMode = Literal["off", "first", "all"]
"""Which messages of an answer are native replies, if the agent does not say (DE-6)."""
TableStyle = Literal["code", "bullets", "off"]
"""How to show a table on a platform that has no tables (DE-12)."""
Strictness = Literal["ask", "deny", "list"]
"""How strict one run is, whatever the agent's settings allow: ask for everything, deny everything, or allow without
asking only what is on the agent's list."""
ResetCause = Literal["asked", "daily", "idle"]
TurnOutcome = Literal["answered", "silent", "failed", "cancelled"]
"""How an agent finished a turn. `silent`: it chose to say nothing, or had nothing to say."""

"""Words that several rooms speak."""

from typing import Literal

ChatKind = Literal["direct", "group", "channel"]
Ability = Literal["reply", "react", "send", "files", "voice", "ephemeral", "silent", "previews", "threads"]
"""What a platform lets a channel do, as directives ask for it (OD-72)."""
LengthUnit = Literal["characters", "utf16", "bytes"]
"""What a platform counts a message in."""
FileKind = Literal["photo", "video", "audio", "voice", "document"]
"""How a file is shown; a document is what is only offered to be loaded."""
ReplyMode = Literal["off", "first", "all"]
"""Which messages of an answer stand as a native reply, where the agent does not say (DE-6)."""
TableStyle = Literal["code", "bullets", "off"]
"""What becomes of a table where the platform has none (DE-12)."""
Strictness = Literal["ask", "deny", "list"]
"""How strict one run is, whatever the agent's settings allow: ask for everything, deny everything, or allow without
asking only what is on the agent's list."""
ResetCause = Literal["asked", "daily", "idle"]
TurnOutcome = Literal["answered", "silent", "failed", "cancelled"]
"""How an agent was done with what it was asked; `silent`: it chose to say nothing, or had nothing to say."""

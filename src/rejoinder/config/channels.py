"""The record with the keys of all channels; each kind declares its own keys."""

from typing import Literal

from msgspec import Struct

from rejoinder.events import ReplyMode, TableStyle
from rejoinder.inbound import settings as inbound
from rejoinder.keys import Count, Seconds
from rejoinder.outbound.tools import Display
from rejoinder.session import TtsMode


class ReplyToModes(Struct, frozen=True, forbid_unknown_fields=True):
    """`reply_to_mode` by kind of chat."""

    direct: ReplyMode | None = None
    """In direct chats; unset: off."""
    group: ReplyMode | None = None
    """In groups; unset: first, but off where another bot has posted."""


class RateSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How many calls a platform accepts."""

    burst: Count
    """How many at once."""
    per_second: Seconds
    """How many a second after that."""


class PaceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How often a platform is called, if that differs from what the platform usually allows."""

    edit_seconds: Seconds | None = None
    """Seconds between two edits of a message that is being written."""
    chat: RateSettings | Literal["unlimited"] | None = None
    """Calls to one chat: `{ burst = 5, per_second = 1.0 }`, or `"unlimited"`."""
    account: RateSettings | Literal["unlimited"] | None = None
    """Calls of the whole account."""


class CommonChannelSettings(inbound.ChannelSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of every channel: who answers there, who may talk, when the agent listens."""

    reply_to_mode: ReplyMode | ReplyToModes | None = None
    """Whether answers quote the message they answer if the agent does not decide it: `off`, the `first` part, or `all`;
    or by kind of chat. Unset: off in direct chats and among bots, first in other groups."""
    response_prefix: str | None = None
    """Like `messages.response_prefix`, for this channel. If both are unset, several agents behind one bot say their
    names (`auto`)."""
    streaming: Literal["edits", "preview", "blocks", "off"] | None = None
    """How an answer is shown while it is written: `edits` sends one message and edits it, `preview` uses the platform's
    own preview of a coming message if there is one, else edits, `blocks` sends finished pieces one after the other,
    `off` shows nothing before the end. Unset: `blocks` with `agents.defaults.block_streaming_default`, else `edits`
    if the channel can."""
    pace: PaceSettings = PaceSettings()
    """How often the platform is called: for a local server without limits, or an account whose limits were raised."""
    tables: TableStyle = "code"
    """How a table is sent on a platform without tables: aligned in a block of code (`code`), as a list (`bullets`), or
    as written (`off`)."""
    on_unknown: Literal["hold", "resend"] = "hold"
    """What to do with a message that may or may not have arrived: `hold` keeps it back, so nobody gets it twice
    (`/resend` sends it); `resend` sends it again, so it is never lost."""
    tool_display: Display | None = None
    """How the agent's tools are shown in a verbose session: what each does (`full`), only its kind (`compact`), or not
    at all (`none`). Unset: full in direct chats, compact in groups. Command lines are shown only to people on the
    allow-list, and never in groups."""
    extra_system_prompt: str = ""
    """An instruction for the agent in every turn from this channel; `{{Name}}` as in `system_prompt` of an agent."""
    tts: TtsMode | None = None
    """Which answers are spoken: none (`off`), all (`always`), those to voice notes (`inbound`), or those that the
    agent marks (`tagged`). Unset: as the agent's settings say. `/tts` changes it for a session. See
    `[media.text_to_speech]`."""
    status_reactions: bool | Literal["removed"] = False
    """Whether reactions on a message show the progress of its answer: queued, thinking, working, done; `removed` takes
    the last one away at the end."""


def usual_bot_messages(channel: CommonChannelSettings) -> inbound.BotMessages:
    """Which bots are heard if the file does not say so: where several of our agents are, those that mention one."""
    return "mentions" if len(channel.agents) > 1 else "off"

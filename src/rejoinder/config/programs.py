"""The records of `[api.tokens.*]` and `[hooks.*]`: programs that use the gateway, beside people and agents."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rejoinder.keys import Text, Url
from rejoinder.secret import Secret

SHORTEST_SECRET = 16
"""The least number of characters of a secret that others can try to guess."""


class ApiToken(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that may write in chats: its messages are those of a bot, and never commands."""

    token: Secret
    """What it sends as `Authorization: Bearer TOKEN`; at least 16 characters."""
    chats: Annotated[tuple[Text, ...], Meta(min_length=1, examples=[["web:lobby"]])]
    """Where it may write: `web:lobby`, `telegram:-1001234567890`, or `channel:account:chat`."""
    agents: Annotated[tuple[Text, ...], Meta(min_length=1, examples=[["helper"]])]
    """The agents it may speak to."""


class ApiSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Programs that write to the gateway, at `POST /api/messages`."""

    tokens: dict[str, ApiToken] = {}
    """The programs, by name."""


HookEvent = Literal["message_received", "session_started", "session_ended", "turn_ended", "reply_sent"]


class HookSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that is notified of events: each is signed and posted to its address until it is accepted."""

    url: Url
    """The address that events are posted to. Addresses of your own network are allowed; redirects are not followed."""
    secret: Secret
    """The key of the signature; at least 16 characters."""
    events: Annotated[tuple[HookEvent, ...], Meta(min_length=1, examples=[["reply_sent"]])]
    """The events to post: `message_received`, `session_started`, `session_ended`, `turn_ended`, `reply_sent`."""

"""The section `[session]`: who shares a conversation with the agent, and when a new one starts."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rejoinder.keys import Count, Text

ResetMode = Literal["never", "daily", "idle", "both"]
TypingMode = Literal["never", "instant", "thinking", "message"]
Hour = Annotated[int, Meta(ge=0, le=23)]


class ResetPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """When a session is too old, so that the next message begins a new one."""

    mode: ResetMode = "never"
    """When a session ends by itself: `never`, `daily` at an hour, `idle` after minutes without a message, or `both`,
    whichever comes first. The new one begins with the next message."""
    at_hour: Hour = 4
    """The hour of the daily boundary. Where clocks skip the hour, the moment of the skip counts; where they
    repeat it, its first occurrence."""
    zone: str = "UTC"
    """The time zone of `at_hour`, by its IANA name: `Europe/Berlin`."""
    idle_minutes: Count = 60
    """Minutes without a message after which `idle` and `both` end the session."""


class ResetOverride(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of the policy that differs for a kind of chat or a channel."""

    mode: ResetMode | None = None
    """As `session.reset.mode`."""
    at_hour: Hour | None = None
    """As `session.reset.at_hour`."""
    zone: str | None = None
    """As `session.reset.zone`."""
    idle_minutes: Count | None = None
    """As `session.reset.idle_minutes`."""


class ResetByType(Struct, frozen=True, forbid_unknown_fields=True):
    """Overrides by kind of chat; in a thread `thread` counts before `group` or `direct`."""

    thread: ResetOverride | None = None
    """Sessions of a thread."""
    group: ResetOverride | None = None
    """Sessions of a group or channel."""
    direct: ResetOverride | None = None
    """Sessions of a direct chat."""


class ResetSettings(ResetPolicy, frozen=True, forbid_unknown_fields=True):
    """When a session ends by itself, in general and where it differs."""

    by_type: ResetByType = ResetByType()
    """What differs for `thread`, `group` or `direct` chats."""
    by_channel: dict[str, ResetOverride] = {}
    """What differs on a channel, by its name; it takes precedence over `by_type`."""


class SessionSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Who shares a conversation with the agent, and when a new one starts."""

    scope: Literal["per-sender", "shared"] = "per-sender"
    """Direct chats: `per-sender` gives each person their own session, `shared` puts everybody into the session named
    `main_key`, in which the agent has heard what the others said."""
    group_scope: Literal["per-thread", "per-chat", "per-sender"] = "per-thread"
    """Groups: one session for each thread (`per-thread`), for the whole chat (`per-chat`), or for each person in it
    (`per-sender`)."""
    main_key: Text = "main"
    """The name of the session that `scope = "shared"` shares."""
    reset: ResetSettings = ResetSettings()
    """When a session ends by itself."""
    reset_triggers: tuple[Text, ...] = ("/new", "/reset")
    """What an allowed person types to start a new session, alone or before the first prompt."""
    typing_mode: TypingMode | None = None
    """When typing shows: `never`, at once (`instant`), with the first thought (`thinking`) or with the first text
    (`message`). Unset: at once in direct chats and when mentioned, otherwise with the first text."""
    identity_links: dict[str, tuple[Text, ...]] = {}
    """One person's ids on several channels, so that they share a session: `anna = ["telegram:123456",
    "slack:T024BE7LD:U045VRZFT"]`, each `channel:id` or `channel:account:id`."""
    thread_inherits: bool = False
    """The first turn of a new thread is given the transcript of the chat that the thread belongs to."""

"""What the app needs on Slack's side, in one place: the manifest to paste and the check of the scopes (CH-12): pure."""

from collections.abc import Collection
from typing import Any

SCOPES: dict[str, str] = {
    "app_mentions:read": "hear its name in channels",
    "assistant:write": "be an assistant: titles and prompts",
    "channels:history": "read public channels it is in",
    "channels:read": "know them",
    "chat:write": "write, and show what it is writing",
    "commands": "the command /rejoinder",
    "emoji:read": "know the workspace's own emoji",
    "files:read": "see files people send",
    "files:write": "send files",
    "groups:history": "read private channels it is in",
    "groups:read": "know them",
    "im:history": "read direct messages",
    "im:read": "know them",
    "im:write": "open them",
    "mpim:history": "read group direct messages",
    "mpim:read": "know them",
    "reactions:read": "see reactions",
    "reactions:write": "react",
    "users:read": "know people's names",
}
NEEDED = frozenset(
    {"app_mentions:read", "channels:history", "chat:write", "im:history", "reactions:write", "users:read", "files:read"}
)
"""Without these scopes, something that people rely on does not work; `rejoinder doctor` names the missing ones."""
EVENTS = (
    "app_mention",
    "assistant_thread_started",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "reaction_added",
)
NAME = "rejoinder"
COMMAND = "/rejoinder"


def missing(granted: str, wanted: Collection[str] = NEEDED) -> list[str]:
    """The scopes that a token lacks, as Slack lists what it has."""
    return sorted({*wanted} - {scope.strip() for scope in granted.split(",")})


def app_manifest(url: str = "") -> dict[str, Any]:
    """The manifest to paste into Slack. `url`: the address that Slack calls; without it, events come by Socket Mode."""
    request = {"request_url": url} if url else {}
    command = {
        "command": COMMAND,
        "description": "Commands of the agent's gateway",
        "usage_hint": "help",
        "should_escape": True,
        **({"url": url} if url else {}),
    }
    return {
        "display_information": {"name": NAME, "description": "Talk to an AI agent"},
        "features": {
            "app_home": {"messages_tab_enabled": True, "messages_tab_read_only_enabled": False},
            "assistant_view": {"assistant_description": "Talk to an AI agent"},
            "bot_user": {"display_name": NAME, "always_online": True},
            "slash_commands": [command],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": {**request, "bot_events": list(EVENTS)},
            "interactivity": {"is_enabled": True, **request},
            "socket_mode_enabled": not url,
            "org_deploy_enabled": False,
            "token_rotation_enabled": False,
        },
    }

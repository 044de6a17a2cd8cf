"""What Slack's answer to a call means for us (DE-31): one table of its errors, with a sentence for each error that a
person has to deal with (CH-35).

Rule 1: a request that was not written cannot have been carried out, so it may be sent again.
Rule 2: a request that was written but not answered may have been carried out: nobody knows.
Rule 3: Slack answers 200 with `ok: false` and a word; a word that is not in the table is a permanent refusal.
"""

from typing import Any

from msgspec import Struct

from rejoinder.channels.base import Refusal, Rejected, RetryAfter, Unknown
from rejoinder.channels.no_response import NoResponse, NotSent, outcome_without_response


class Ok(Struct, frozen=True):
    result: dict[str, Any]
    scopes: str = ""
    """The token's scopes, as Slack lists them in a header; empty if it did not."""


class Refused(Struct, frozen=True):
    """Slack refused the call, with its word for the reason."""

    error: str
    status: int = 200
    retry_after: float | None = None
    needed: str = ""
    """The scope that is missing."""
    foreign: bool = False
    """Whether a proxy on the way answered instead of Slack, which has not seen the request."""


Answer = Ok | Refused | NotSent | NoResponse


class Meaning(Struct, frozen=True):
    why: Refusal
    sentence: str
    """The problem, and what to do about it."""


_TOKEN = "Reinstall the app to the workspace and set its new token as `bot_token`."

MEANINGS: dict[str, Meaning] = {
    "invalid_blocks": Meaning("formatting", "Slack does not take these blocks"),
    "invalid_blocks_format": Meaning("formatting", "Slack does not take these blocks"),
    "msg_blocks_too_long": Meaning("formatting", "the blocks are too long for Slack"),
    "only_one_table_allowed": Meaning("formatting", "Slack takes one table in a message"),
    "markdown_text_conflict": Meaning("formatting", "Slack does not take this formatting"),
    "message_not_found": Meaning("target", "the message no longer exists"),
    "thread_not_found": Meaning("target", "the message to answer no longer exists"),
    "cant_update_message": Meaning("target", "Slack does not let us change this message"),
    "edit_window_closed": Meaning("target", "this workspace allows no changes to a message this old"),
    "cannot_reply_to_message": Meaning("target", "Slack allows no replies to this message"),
    "not_in_channel": Meaning("gone", "the app is not in this channel; write `/invite @NAME` there"),
    "channel_not_found": Meaning("gone", "the channel is not there, or the app was never invited to it"),
    "is_archived": Meaning("gone", "the channel is archived; unarchive it to go on there"),
    "restricted_action": Meaning("gone", "an administrator has restricted who may post here"),
    "restricted_action_read_only_channel": Meaning("gone", "the channel is read-only"),
    "restricted_action_thread_locked": Meaning("gone", "the thread is locked"),
    "cannot_dm_bot": Meaning("gone", "Slack lets no bot write to a bot"),
    "user_not_in_channel": Meaning("gone", "the person is no longer in this channel"),
    "user_disabled": Meaning("gone", "the person's account is deactivated"),
    "messages_tab_disabled": Meaning("gone", "turn on the app's messages tab (App Home) to write to people"),
    "invalid_auth": Meaning("account", f"Slack does not know this token. {_TOKEN}"),
    "not_authed": Meaning("account", f"Slack was given no token. {_TOKEN}"),
    "token_revoked": Meaning("account", f"the token was revoked, or the app was removed from the workspace. {_TOKEN}"),
    "token_expired": Meaning("account", f"the token has expired. {_TOKEN}"),
    "account_inactive": Meaning("account", f"the app's user is deactivated or the workspace is gone. {_TOKEN}"),
    "missing_scope": Meaning("account", "a scope is missing: add it under OAuth & Permissions, then install again"),
    "not_allowed_token_type": Meaning("account", "this is the wrong kind of token: `bot_token` begins with xoxb-"),
    "socket_mode_not_enabled": Meaning(
        "account", "Socket Mode is off for this app; turn it on in its settings, under Socket Mode"
    ),
    "team_access_not_granted": Meaning("account", "the app has no access to this workspace; install it there"),
    "org_login_required": Meaning("account", "the workspace is being moved; Slack serves no app there at the moment"),
    "ekm_access_denied": Meaning("account", "the administrators of this workspace have suspended access to messages"),
}

BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "only_one_table_allowed"})
"""Slack does not accept the blocks; the text says the same."""
AGAIN = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout", "rollup_error"})
"""Slack has a problem, and has not carried out the call."""
TOO_MANY = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
MISSING_SCOPE = "missing_scope"
NO_STREAMS = frozenset(
    {
        "unknown_method",
        "not_allowed_token_type",
        "method_not_supported_for_channel_type",
        "missing_scope",
        "feature_not_enabled",
        "channel_type_not_supported",
        "missing_recipient_team_id",
        "missing_recipient_user_id",
    }
)
"""This workspace has no native streams: drafts are shown by edits."""

TOO_MANY_STATUS, SERVER_FAULT = 429, 500


def sentence(answer: Refused) -> str:
    """The sentence for people: what the problem is and what to do, with Slack's word for it."""
    known = MEANINGS.get(answer.error)
    needed = f" ({answer.needed})" if answer.needed else ""
    return f"{known.sentence}{needed} [{answer.error}]" if known is not None else f"Slack says {answer.error}{needed}"


def refusal(answer: Refused) -> Rejected | RetryAfter:
    if answer.status == TOO_MANY_STATUS or answer.error in TOO_MANY:
        return RetryAfter(answer.retry_after or 1.0, "Slack has said to wait", limited=True)
    if answer.status >= SERVER_FAULT or answer.foreign or answer.error in AGAIN:
        return RetryAfter(None, sentence(answer))
    known = MEANINGS.get(answer.error)
    return Rejected(sentence(answer), known.why if known is not None else "other")


def failure(answer: Refused | NotSent | NoResponse) -> Rejected | RetryAfter | Unknown:
    return refusal(answer) if isinstance(answer, Refused) else outcome_without_response(answer)


def failure_of_extra(answer: Refused | NotSent | NoResponse) -> Rejected | RetryAfter | Unknown:
    """For a reaction or a file: a missing scope for one of these must not stop the messages."""
    if isinstance(answer, Refused) and answer.error == MISSING_SCOPE:
        return Rejected(sentence(answer))
    return failure(answer)

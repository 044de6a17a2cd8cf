"""What a decision requests from the engine (IN-62)."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events.inbound import EarlierMessage, Route
from rejoinder.events.vocabulary import ResetCause


class StopRun(Struct, frozen=True, tag="stop_run"):
    """Abort the run of this place, clear its lane, stop its sub-agents, note it for the next prompt."""

    route: Route
    sender: str


class ResetSession(Struct, frozen=True, tag="reset_session"):
    """A new session starts: the transcript of the old one is closed and kept."""

    session: str
    why: ResetCause


class CompactSession(Struct, frozen=True, tag="compact_session"):
    """Shorten what the agent remembers. `instructions`: what the summary should keep."""

    session: str
    instructions: str = ""


class ShowConfig(Struct, frozen=True, tag="show_config"):
    """Answer with the effective configuration, without secrets, from this key on."""

    key: str = ""


class WriteConfig(Struct, frozen=True, tag="write_config"):
    """Set a key in the configuration's file, or remove it (`value` None); answer with the value in effect."""

    key: str
    value: str | None


class EditAllowList(Struct, frozen=True, tag="edit_allow_list"):
    """Add a person to a channel's allow-list, or remove them; `entry` is written as in `allow`."""

    channel: str
    entry: str
    listed: bool


class AskPairing(Struct, frozen=True, tag="ask_pairing"):
    """A stranger asks to be paired: keep the code until it is approved or `expires`."""

    channel: str
    account: str
    sender: str
    code: str
    asked: datetime
    expires: datetime


class ApprovePairing(Struct, frozen=True, tag="approve_pairing"):
    code: str


class AnswerQuestion(Struct, frozen=True, tag="answer_question"):
    """A permission request is answered; the engine checks that the person who was asked answered it (TU-34)."""

    question: str
    option: str
    sender: str


class Overhear(Struct, frozen=True, tag="overhear"):
    """No agent was addressed: keep the message as context for the next turn of this place (IN-32)."""

    route: Route
    said: EarlierMessage


class ReviseMessage(Struct, frozen=True, tag="revise_message"):
    """A person edited a message, or deleted it (`text` None). If it still waits, it is changed or removed; if an agent
    has already read it, the agent learns of the edit with its next turn (CH-8)."""

    message: str
    text: str | None


class ResetBotTurns(Struct, frozen=True, tag="reset_bot_turns"):
    route: Route


class ResendParts(Struct, frozen=True, tag="resend_parts"):
    """Send again what was never confirmed or was given up (DU-3, DE-33), and run again what is quarantined (DU-2)."""

    route: Route | None
    """The place; None: everywhere."""


class UseTool(Struct, frozen=True, tag="use_tool"):
    """A skill that is a tool call: run the tool with this input and answer with its output."""

    tool: str
    input: str


class ShowContext(Struct, frozen=True, tag="show_context"):
    """Answer with the parts of this session's prompt and their sizes."""


class ExportSession(Struct, frozen=True, tag="export_session"):
    """Answer with the transcript of this session, as a file if the channel can show one."""


class RestartGateway(Struct, frozen=True, tag="restart_gateway"):
    """Shut down cleanly, and start again in the same process."""


class RunShell(Struct, frozen=True, tag="run_shell"):
    """Run this command on the gateway's machine, and answer with its output."""

    command: str


class SpeakText(Struct, frozen=True, tag="speak_text"):
    """Answer with these words as a voice note."""

    text: str


class ReportFailure(Struct, frozen=True, tag="report_failure"):
    """A command raised: the person has been told in one sentence, and this is for the log."""

    what: str
    detail: str


class ChangeDebug(Struct, frozen=True, tag="change_debug"):
    """Override a setting until the next start, or end an override; answer with the values in effect."""

    what: Literal["show", "set", "unset", "reset"] = "show"
    key: str = ""
    value: str = ""


class ChangeInvitations(Struct, frozen=True, tag="change_invitations"):
    """Invite a person to the chat page, end their login, or answer with who is invited."""

    what: Literal["list", "invite", "revoke"] = "list"
    name: str = ""


class AskSubagents(Struct, frozen=True, tag="ask_subagents"):
    """List, start, look at, talk to or end the sub-agents of this session (TU-36), and answer with the result."""

    what: Literal["list", "info", "log", "send", "steer", "kill", "spawn"] = "list"
    name: str = ""
    """The name of the sub-agent or, with `spawn`, of the agent."""
    text: str = ""


Effect = (
    StopRun
    | AskSubagents
    | ResetSession
    | CompactSession
    | ShowConfig
    | WriteConfig
    | EditAllowList
    | AskPairing
    | ApprovePairing
    | AnswerQuestion
    | Overhear
    | ReviseMessage
    | ResetBotTurns
    | ResendParts
    | UseTool
    | ShowContext
    | ExportSession
    | RestartGateway
    | RunShell
    | SpeakText
    | ReportFailure
    | ChangeDebug
    | ChangeInvitations
)

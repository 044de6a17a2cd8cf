"""The nouns that cross borders: frozen values without behaviour."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

# --- vocabularies that several rooms speak ------------------------------------------------------

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
TurnOutcome = Literal["answered", "failed", "cancelled"]

# --- what the reader of agent output emits ------------------------------------------------------


class Text(Struct, frozen=True):
    """Visible text, in pieces as it becomes certain."""

    text: str


class Directive(Struct, frozen=True):
    """Something the agent asked for beside its text. `args` holds validated values."""

    name: str
    args: dict[str, Any]
    body: str | None = None


class Problem(Struct, frozen=True):
    """Something in the output that was not obeyed, and why: for logs, traces and agent authors."""

    code: str
    level: Literal["debug", "info", "warning"]
    detail: str


class Silent(Struct, frozen=True):
    """Last event of a reply that asks for silence: withdraw what it has shown."""


ReplyEvent = Text | Directive | Problem | Silent

# --- where something is said --------------------------------------------------------------------


class Route(Struct, frozen=True):
    """One place of one platform: where a message came from and where its answer goes."""

    channel: str
    chat: str
    thread: str | None = None
    account: str = "default"


# --- what comes in (IN-1) -----------------------------------------------------------------------


class Sender(Struct, frozen=True):
    """Who wrote it. Only `id` is stable; names are what people call themselves today."""

    id: str
    name: str = ""
    display_name: str = ""
    phone: str | None = None
    address: str | None = None
    is_bot: bool = False
    is_self: bool = False

    @property
    def called(self) -> str:
        """The name people see; empty where the platform gives none."""
        return self.display_name or self.name


class Chat(Struct, frozen=True):
    id: str
    kind: ChatKind = "direct"
    title: str = ""
    agents: tuple[str, ...] = ()
    """Which of our agents are in it; empty: all of the channel's."""
    former: str = ""
    """Its id before the platform changed it; settings and sessions still know the chat by this one."""


class Mention(Struct, frozen=True):
    """A mention made by the platform's own means; `token` is how it is written in the text, if it is."""

    id: str
    kind: Literal["user", "role", "everyone"] = "user"
    token: str = ""


class Quote(Struct, frozen=True):
    """The message this one answers, as far as the platform tells."""

    message_id: str
    author_id: str | None = None
    author_name: str = ""
    text: str = ""
    elsewhere: bool = False
    """It is a message of another chat."""
    files: tuple["Attachment", ...] = ()
    """Files that no turn has given the agent yet: those of a group, where not every message is for it."""


class Forward(Struct, frozen=True):
    """Another person's words, passed on: text, or the caption of forwarded media."""

    text: str = ""
    author_name: str = ""


class Attachment(Struct, frozen=True):
    """A file of a message. `mime` is never empty once a message that came is finalised (IN-5)."""

    id: str
    name: str = ""
    mime: str = ""
    size: int | None = None
    url: str | None = None
    content: bytes | None = None  # once it has been read
    described: str | None = None  # a picture in words, for agents that cannot see it
    kind: FileKind | None = None
    """How it is shown; None: the platform does not tell."""
    seconds: float | None = None  # how long it plays, as the platform tells
    heard: str | None = None  # the words in it, once it has been listened to (ME-1)
    unheard: str | None = None  # why it could not be heard
    words: str | None = None  # the text of a document, once it has been read (ME-11)
    note: str | None = None  # what these words are, or why there are none


class EarlierMessage(Struct, frozen=True):
    """An earlier message of the same place: who said what, and how to point to it."""

    message_id: str
    author_id: str
    author_name: str = ""
    text: str = ""
    handle: str = ""
    is_bot: bool = False


class LinkedPage(Struct, frozen=True, omit_defaults=True):
    """A page that a message links to, as it was read: the words of whoever wrote it."""

    address: str
    title: str = ""
    text: str = ""
    unread: str | None = None
    """Why it could not be read."""


Entry = Literal["text", "native", "button", "reaction", "edit", "delete", "http", "cron"]


class NewThread(Struct, frozen=True, omit_defaults=True):
    """A thread that an answer opens (CH-2). The platform derives its id from the message it hangs under."""

    thread: str
    title: str = ""


class ReplyContext(Struct, frozen=True, omit_defaults=True):
    """What the platform needs to answer one event in its own way (CH-3): the token of an interaction, a response
    address. After it expires the ordinary way is taken."""

    token: str
    expires: datetime
    private: bool = False
    """An answer by it can be shown to the one person alone."""
    data: dict[str, str] = {}
    """What else the channel wants to find again."""


class Invoked(Struct, frozen=True, omit_defaults=True):
    """A command chosen from the platform's own menu, with its options by name (CH-9)."""

    name: str
    options: dict[str, str] = {}


class Inbound(Struct, frozen=True):
    """One event of one platform, as it came.

    `text` is the body as typed. A channel that wraps or rewrites it says so in `raw_text`, `command_text` or
    `agent_text`; None means it did not, an empty string is a value.
    """

    channel: str
    event_id: str
    message_id: str
    chat: Chat
    sender: Sender
    text: str = ""
    account: str = "default"
    thread: str | None = None
    entry: Entry = "text"
    raw_text: str | None = None
    command_text: str | None = None
    agent_text: str | None = None
    transcript: str | None = None
    thread_starter: EarlierMessage | str | None = None
    """The message its thread hangs under; a string where the platform tells only the words."""
    thread_history: tuple[EarlierMessage, ...] = ()
    """What was said in its thread before it, where the platform tells that by itself."""
    untrusted_context: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    reply_to: Quote | None = None
    former_text: str | None = None
    """Of an edit: the text before it, as the platform tells it, or else as the gateway knows it."""
    forwarded: Forward | None = None
    mentions: tuple[Mention, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    sent_at: datetime | None = None
    received_at: datetime | None = None
    thread_is_session: bool = False
    """A thread of a direct chat that is a conversation of its own, as those of an assistant are (CH-32)."""
    opens: NewThread | None = None
    """The thread in which an agent's answer to it will stand, and which that answer opens (CH-2). `thread` stays empty:
    the message itself stands in the chat."""
    reply_context: ReplyContext | None = None
    invoked: Invoked | None = None
    """Of entry `native`: the command that was chosen."""
    addressee: str = ""
    """The agent of ours that it is for, where a program names one (IN-8)."""
    peer: str = ""
    """Whose direct chat it is, if somebody else speaks there: a program."""
    unseen: bool = False
    """It does not stand in the chat: a program told it to the gateway alone."""
    understood: bool = False
    """What had to be understood of it has been: its voice was listened to, its links were read. `transcript`, `pages`
    and the attachments say what came of it, and nothing is asked twice."""
    pages: tuple[LinkedPage, ...] = ()
    """The pages its text links to."""

    @property
    def route(self) -> Route:
        """Where it was said, and where its answer goes."""
        return Route(self.channel, self.chat.id, self.thread, self.account)

    @property
    def opened(self) -> NewThread | None:
        """The thread it has been put into by its decision, if its answer opens that (CH-2)."""
        return self.opens if self.opens is not None and self.opens.thread == self.thread else None

    @property
    def stands_at(self) -> Route:
        """Where the message itself stands: a thread that its answer opens hangs under it."""
        return Route(self.channel, self.chat.id, None if self.opened else self.thread, self.account)


# --- what a platform's own menu of commands is made of (CH-9) ----------------------------------


class MenuOption(Struct, frozen=True):
    """One option of a command. A platform that has choices of its own offers these; `rest`: any words, with blanks."""

    name: str
    help: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    rest: bool = False
    suggests: bool = False
    """`Inlet.suggest` knows values that fit what was typed so far."""


class MenuCommand(Struct, frozen=True):
    """One command of the platform's own menu (CH-9)."""

    name: str
    help: str
    options: tuple[MenuOption, ...] = ()
    owners_only: bool = False
    private: bool = False
    """Its answer is for the person alone, where the platform can show it so."""
    aliases: tuple[str, ...] = ()


# --- what a decision asks the engine to do (IN-62) ----------------------------------------------


class StopRun(Struct, frozen=True, tag="stop_run"):
    """Abort the run of this place, clear its lane, stop its sub-agents, note it for the next prompt."""

    route: Route
    sender: str


class ResetSession(Struct, frozen=True, tag="reset_session"):
    """The session starts over: its transcript is closed and kept."""

    session: str
    why: ResetCause


class CompactSession(Struct, frozen=True, tag="compact_session"):
    """Shorten what the agent remembers; `instructions`: what the summary is to keep."""

    session: str
    instructions: str = ""


class ShowConfig(Struct, frozen=True, tag="show_config"):
    """Answer with the effective configuration, without secrets, from this key on."""

    key: str = ""


class WriteConfig(Struct, frozen=True, tag="write_config"):
    """Set a key in the configuration's file, or remove it (`value` None); answer with what holds."""

    key: str
    value: str | None


class EditAllowList(Struct, frozen=True, tag="edit_allow_list"):
    """Let a person in on a channel, or no longer; `entry` is written as in `allow`."""

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
    """A permission request is answered; the engine checks that the person who was asked did it (TU-34)."""

    question: str
    option: str
    sender: str


class Overhear(Struct, frozen=True, tag="overhear"):
    """No agent was addressed: keep it for the next turn of this place (IN-32)."""

    route: Route
    said: EarlierMessage


class ReviseMessage(Struct, frozen=True, tag="revise_message"):
    """A person edited a message, or deleted it (`text` None): one that waits changes or goes; of an edit of one that an
    agent was told, it is told with its next turn (CH-8)."""

    message: str
    text: str | None


class ResetBotTurns(Struct, frozen=True, tag="reset_bot_turns"):
    route: Route


class ResendParts(Struct, frozen=True, tag="resend_parts"):
    """Send once more what was never confirmed or was given up (DU-3, DE-33), run again what is quarantined (DU-2)."""

    route: Route | None
    """The place; None: everywhere."""


class UseTool(Struct, frozen=True, tag="use_tool"):
    """A skill that is a tool call: run it with this input and answer with what it says."""

    tool: str
    input: str


class ShowContext(Struct, frozen=True, tag="show_context"):
    """Answer with what the prompt of this session is made of, and how large each part is."""


class ExportSession(Struct, frozen=True, tag="export_session"):
    """Answer with the transcript of this session, as a file where the channel can show one."""


class RestartGateway(Struct, frozen=True, tag="restart_gateway"):
    """End cleanly, and begin again in the same process."""


class RunShell(Struct, frozen=True, tag="run_shell"):
    """Run this beside the gateway, and answer with what it writes."""

    command: str


class SpeakText(Struct, frozen=True, tag="speak_text"):
    """Answer with these words as a voice note."""

    text: str


class ReportFailure(Struct, frozen=True, tag="report_failure"):
    """A command raised: the person has been told in a sentence, this is for the log."""

    what: str
    detail: str


class ChangeDebug(Struct, frozen=True, tag="change_debug"):
    """Lay a setting over the configuration until the next start, or take it away; answer with what holds."""

    what: Literal["show", "set", "unset", "reset"] = "show"
    key: str = ""
    value: str = ""


class ChangeInvitations(Struct, frozen=True, tag="change_invitations"):
    """Invite a person to the chat page, end their login, or answer with who is invited."""

    what: Literal["list", "invite", "revoke"] = "list"
    name: str = ""


class AskSubagents(Struct, frozen=True, tag="ask_subagents"):
    """List, start, look at, talk to or end the runs beside this session (TU-36); answer with what came of it."""

    what: Literal["list", "info", "log", "send", "steer", "kill", "spawn"] = "list"
    name: str = ""
    """Of the sub-agent; with `spawn` the agent."""
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


# --- what an agent is given ---------------------------------------------------------------------


class PromptText(Struct, frozen=True, tag="text"):
    text: str


class PromptImage(Struct, frozen=True, tag="image"):
    mime: str
    data: bytes


PromptPart = PromptText | PromptImage


class Turn(Struct, frozen=True):
    """One question to one agent, complete: an agent needs nothing else to answer it."""

    session: str
    parts: tuple[PromptPart, ...]
    system: str = ""
    model: str | None = None
    think: str | None = None
    permissions: Strictness | None = None
    """Where this session is stricter than the agent's settings."""
    host: str | None = None
    """Where to run what it runs (`/exec host=`): sandbox, gateway or node; for agents that declare they obey it."""
    node: str | None = None
    """On which node (`/exec node=`)."""


# --- what an agent asks a person (TU-34) ---------------------------------------------------------

Grant = Literal["once", "always", "no", ""]
"""What an option allows; empty: it is no matter of permission."""


class Option(Struct, frozen=True):
    """One way to answer a Question: people see the label, the agent is told the id."""

    id: str
    label: str = ""
    grants: Grant = ""

    @property
    def called(self) -> str:
        return self.label.strip() or self.id


class Question(Struct, frozen=True, tag="question"):
    """The agent waits for a person: `answer(id, option)` of CanAnswer goes back to it.

    Without options it asks for permission. A plain word is an option whose label is its id.
    """

    id: str
    text: str
    options: tuple[str | Option, ...] = ()
    about: str = ""
    """What it is about in full, such as the arguments of a tool. It is not shown, but only a question about the same is
    the same question (CH-10)."""

    @property
    def offered(self) -> tuple[Option, ...]:
        return tuple([Option(option) if isinstance(option, str) else option for option in self.options])


# --- what is sent -------------------------------------------------------------------------------


class Reply(Struct, frozen=True):
    """One message of the bot, for a caller without a channel."""

    text: str
    reply_to: str | None = None
    silent: bool = False
    is_error: bool = False
    """It says that there is no answer, and why."""
    media: tuple[Attachment, ...] = ()
    """The files that come with it, each with its content."""


EntityType = Literal["bold", "italic", "strikethrough", "code", "pre", "text_link", "blockquote"]


class Entity(Struct, frozen=True, omit_defaults=True):
    """A stretch of a text with a format, counted in UTF-16 units, in the words of Telegram."""

    type: EntityType
    offset: int
    length: int
    url: str = ""
    language: str = ""


class Rendering(Struct, frozen=True):
    """A text in a platform's own format."""

    text: str
    entities: tuple[Entity, ...] = ()
    html: str = ""
    """The formatted twin of the text, where the platform takes one."""


class Choice(Struct, frozen=True):
    """A button under a message: what it says, and what pressing it says for the person."""

    label: str
    says: str


class Part(Struct, frozen=True, omit_defaults=True):
    """One platform message, ready to be sent: these bytes and no others are sent under its key (DU-4)."""

    route: Route
    text: str
    """As people see it."""
    reply_to: str | None = None
    silent: bool = False
    key: str = ""
    entities: tuple[Entity, ...] = ()
    html: str = ""
    author: str = ""
    """The agent that says it; empty: the gateway itself."""
    addressed: tuple[str, ...] = ()
    """Whom a mention in it may ping (DE-34): ids, and `@name` for people mentioned by name."""
    previews: bool = False
    """Links may be fetched and shown."""
    only_for: str | None = None
    """The one person who sees it."""
    choices: tuple[Choice, ...] = ()
    files: tuple[Attachment, ...] = ()
    """Shown with it; the store keeps them already, under these ids."""
    is_error: bool = False
    """It says that there is no answer, and why."""
    answers: str = ""
    """The message that an agent's turn is about, if there is one."""
    opens: NewThread | None = None
    """The thread of `route` is opened by this part, if it is not there yet: "already created" means that it is."""
    title: str = ""
    """What the agent wants its thread to be called; empty: it does not say."""
    reply_context: ReplyContext | None = None
    """The platform's own way to answer; None: there is none, or it has expired."""


# --- what became of a message (IN-64) -----------------------------------------------------------


AGENT_STEP = "agent "
"""What the step of an agent's turn begins with; its name follows."""


class Step(Struct, frozen=True, omit_defaults=True):
    """One step of a message on its way: what a stage decided about it, or what an agent or a directive came to."""

    stage: str
    decision: str
    reason: str | None = None
    took: float = 0.0
    """Seconds."""


# --- what hooks are told (IN-8) -----------------------------------------------------------------


class MessageReceived(Struct, frozen=True):
    """A message came that was not known yet; nothing has been decided about it."""

    message: Inbound


class MessageDecided(Struct, frozen=True):
    """The stages have decided about a message, and it is written down: a turn, an answer, or nothing."""

    message: Inbound
    outcome: Literal["turn", "answer", "drop"]
    stages: tuple[Step, ...]


class SessionStarted(Struct, frozen=True):
    session: str
    agent: str
    route: Route
    at: datetime | None = None


class SessionEnded(Struct, frozen=True):
    session: str
    agent: str
    route: Route
    why: ResetCause
    at: datetime | None = None


class TurnEnded(Struct, frozen=True):
    """An agent is done with what it was asked. `message` is the one it answered, `why` what went wrong."""

    session: str
    agent: str
    route: Route
    message: str
    outcome: TurnOutcome
    why: str | None = None
    also: tuple[str, ...] = ()
    """The other messages of the same turn."""
    turn: int | None = None


class ReplyStarted(Struct, frozen=True):
    """People see the first words of an answer that is still being written."""

    route: Route
    turn: int | None = None


class ReplySent(Struct, frozen=True):
    """The platform took a whole message of ours, an agent's or the gateway's own."""

    route: Route
    message: str
    text: str
    turn: int | None = None
    """The agent's turn that said it; None: the gateway's own words."""


class JobTicked(Struct, frozen=True):
    """A job of the clock, or a heartbeat, was due or asked for by hand. `why`: the reason, if it gets no turn."""

    job: str
    agent: str
    session: str
    why: str | None = None


class DeliveryFailed(Struct, frozen=True):
    """Something that was to be said has been given up; it can be sent again by hand (DE-33)."""

    route: Route
    key: str
    text: str
    why: str

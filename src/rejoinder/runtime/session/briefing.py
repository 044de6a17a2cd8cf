"""Gathers what a turn is made of (TU-7, TU-30, TU-31); `turns.prompt` puts it into words."""

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import astuple, replace

from rejoinder.agents.base import Agent
from rejoinder.channels.base import CanSendFiles
from rejoinder.events import EarlierMessage, Inbound, PromptAudio, PromptImage, PromptPart, Turn
from rejoinder.filetypes import in_words, safe_name
from rejoinder.inbound.activation import group_settings
from rejoinder.inbound.directives.effective import (
    BY_DEFAULT,
    Effective,
    chosen_model,
    effective_exec,
    effective_level,
)
from rejoinder.inbound.directives.exec import strictness_of
from rejoinder.inbound.directives.permission import may_grant
from rejoinder.inbound.groups import MOST_OVERHEARD, active_mode, group_intro, participants
from rejoinder.inbound.media import ShownFile, show_media
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.rooms import members, room_notice
from rejoinder.inbound.rules import AgentProfile, ChannelRules, channel_rules
from rejoinder.inbound.speech import effective_speech
from rejoinder.inbound.understanding import is_own_voice
from rejoinder.outbound.directives.declaration import Registry
from rejoinder.outbound.notice import abilities_notice
from rejoinder.outbound.reply_shape import usable_abilities
from rejoinder.outbound.speech import granted_with
from rejoinder.runtime.abilities import can
from rejoinder.runtime.entropy import random_bytes
from rejoinder.runtime.folders import OutboxFolder
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.session.fetching import all_files, hears_audio, sees_images
from rejoinder.runtime.session.prefixes import filled
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.turn_inputs import TurnInput
from rejoinder.runtime.settings import AgentFacts, ChannelFacts, RuntimeSettings
from rejoinder.session import Session
from rejoinder.turns.prompt import (
    ChatMetadata,
    Group,
    Media,
    QuotedMessage,
    SenderContext,
    SystemPart,
    TurnMessage,
    UserPart,
    assemble,
    user_parts,
)

BOUNDARY_BYTES = 8
SUBAGENT = (
    "You are a sub-agent: you work on one task in the background of a conversation. Nobody reads what you write but "
    "the agent that gave you the task, so end with your result. Directives have no effect here, but for <spawn>, "
    "where it is granted."
)
THE_TEXT = "it was spoken: the text of this message is a transcript of it"
THE_TRANSCRIPT = "it was spoken: untrusted_transcript is a transcript of it"
FOLDER = (
    "Your outbox folder is {path}: put a file there to send it, and name it by its path within. A file may have up to "
    "{size}{album}."
)
ALBUM = "; up to {most} that you name one after the other share a message"


class AgentContext(Struct, frozen=True):
    """The circumstances in which an agent is addressed, for a real turn or just to show what the agent would read."""

    message: InboundMessage
    """The message that is answered."""
    session: Session
    """The session as it was when the turn began."""
    agent: Agent
    profile: AgentProfile
    configured: AgentFacts
    """What else is configured for the agent."""
    channel: ChannelRules
    here: ChannelFacts
    """What else is configured for its channel."""
    settings: RuntimeSettings
    room: tuple[str, ...]
    """Our agents in its group, if there are several."""
    participants: tuple[str, ...]
    """Who takes part in the group (IN-34)."""
    conversation: Conversation
    """Where the answer goes."""
    folder: OutboxFolder | None
    """The folder from which the agent may send files, if it may send any."""


class RunContext(AgentContext, frozen=True, kw_only=True):
    """The circumstances of a whole run, looked up once."""

    run: Run
    choices: dict[str, Any]
    """The directives of its messages; the last one of each kind counts."""

    def level(self, name: str) -> Effective:
        """The level in force, and where it was set."""
        return effective_level(name, self.choices, self.session, self.settings.rules, self.profile)


def agent_context(
    message: InboundMessage, session: Session, settings: RuntimeSettings, agent: Agent, conversation: Conversation
) -> AgentContext:
    profile, configured = settings.rules.agents[agent.name], settings.agent(agent.name)
    name = message.inbound.channel
    channel, here = channel_rules(settings.rules, name), settings.channel(name)
    room: tuple[str, ...] = ()
    there: tuple[str, ...] = ()
    if message.in_group:
        room, there = _room(message, channel), _participants(message, agent, conversation)
    folder = _outbox_folder(session.key, settings)
    return AgentContext(
        message, session, agent, profile, configured, channel, here, settings, room, there, conversation, folder
    )


def _participants(message: InboundMessage, agent: Agent, conversation: Conversation) -> tuple[str, ...]:
    latest = conversation.messages.latest(MOST_OVERHEARD)
    heard = ((each.author, each.author_name) for each in latest)
    return participants(message.inbound.participants, heard, {agent.name, message.facts.me.id})


def run_context(run: Run, session: Session, settings: RuntimeSettings, agent: Agent) -> RunContext:
    choices = {name: value for each in run.inputs for name, value in each.message.choices.items()}
    return RunContext(
        *astuple(agent_context(run.message, session, settings, agent, run.conversation)), run=run, choices=choices
    )


def model_of(context: RunContext) -> str | None:
    """The model that a person or the configuration has chosen for this turn."""
    return chosen_model(context.choices, context.session, context.profile)


def brief(context: RunContext) -> Turn:
    """The whole turn of this run."""
    run, session, chosen, profile = context.run, context.session, context.choices, context.profile
    overheard = [said for each in run.inputs for said in each.overheard]
    first = run.inputs[0].message.inbound
    starter = first.thread_starter
    user = UserPart(
        messages=_all_spoken(run.inputs, context),
        thread_starter=_quotes((starter,))[0] if starter and isinstance(starter, EarlierMessage) else None,
        history=_quotes(_each_once((*first.thread_history, *overheard))) if overheard or first.thread_history else (),
        system_events=(*session.system_events, *_interrupted(run)),
        after_abort=run.start.after_abort or session.aborted_last_run,
        overflow=run.start.overflow,
        passed_over=run.start.passed_over,
        untrusted_context=tuple([text for each in run.inputs for text in each.message.inbound.untrusted_context]),
    )
    exec = effective_exec(chosen, session)
    think = context.level("think") if profile.think_levels else BY_DEFAULT  # which is left to the agent
    return assemble(
        run.session,
        system_part(context),
        user,
        boundary=_boundary(),
        model=model_of(context),
        think=None if think == BY_DEFAULT else think.value,
        permissions=strictness_of(exec),
        host=exec.host if "host" in profile.takes_exec else None,
        node=exec.node if "node" in profile.takes_exec else None,
    )


def next_parts(here: AgentContext, turn_input: TurnInput) -> tuple[PromptPart, ...]:
    """What the agent would receive with a message from here, besides the words of that message."""
    user = UserPart(
        messages=(replace(_spoken(turn_input, here.agent, among_agents=bool(here.room)), text=""),),
        history=_quotes(turn_input.overheard),
        system_events=here.session.system_events,
        after_abort=here.session.aborted_last_run,
    )
    return tuple(user_parts(user, _boundary()))


def _boundary() -> str:
    return random_bytes()[:BOUNDARY_BYTES].hex()


def _each_once(earlier: Iterable[EarlierMessage]) -> Iterable[EarlierMessage]:
    """Removes duplicates: a message overheard in a thread may also have been fetched with its history."""
    return {said.message_id or (said.author_id, said.text): said for said in earlier}.values()


def _quotes(earlier: Iterable[EarlierMessage]) -> tuple[QuotedMessage, ...]:
    return tuple(
        [QuotedMessage(s.text, s.author_name or s.author_id, s.handle or None, s.message_id or None) for s in earlier]
    )


def _interrupted(run: Run) -> tuple[str, ...]:
    """What the agent has to know when a turn is run again (DU-2)."""
    if run.resumed is None:
        return ()
    said = run.resumed.said
    sent = f" This was already said and stays; do not say it again: {said}" if said else ""
    return (f"A restart interrupted your answer to this.{sent}",)


def brief_further(context: RunContext, inputs: tuple[TurnInput, ...]) -> Turn:
    """Further messages for a run under way, written as in a turn of their own."""
    user = UserPart(messages=_all_spoken(inputs, context))
    return assemble(context.run.session, SystemPart(), user, boundary=_boundary())


def system_part(where: AgentContext) -> SystemPart:
    message, agent, channel, settings, among = where.message, where.agent, where.channel, where.settings, where.room
    inbound, here, folder = message.inbound, where.here, where.folder
    group, intro, extra = None, "", here.extra_system_prompt
    if message.in_group:
        mode = active_mode(message, where.session, channel)
        group = Group(inbound.chat.title, where.participants, mode)
        intro = group_intro(mode)
        extra = "\n\n".join(filter(None, (extra, group_settings(channel, inbound.chat).extra_system_prompt)))
    can = usable_abilities(here.can, inbound.reply_context, private_needs_interaction=here.private_needs_interaction)
    return SystemPart(
        system_prompt=filled(where.configured.system_prompt, message, where.session),
        metadata=_metadata(inbound, agent),
        abilities=_notice(settings.directives, can, _granted(where), bool(among)),
        notices=(
            *((SUBAGENT,) if message.subagent else ()),
            *((room_notice(agent.name, among),) if among else ()),
            *(_folder_notice(folder, where.conversation) if folder is not None else ()),
        ),
        group=group,
        group_intro=intro,
        extra_system_prompt=filled(extra, message, where.session),
    )


def _folder_notice(folder: OutboxFolder, there: Conversation) -> tuple[str, ...]:
    if not can(there.channel, CanSendFiles):
        return ()
    limits = there.outbox.file_limits(there.channel, there.route)
    album = ALBUM.format(most=limits.album) if limits.album > 1 else ""
    return (FOLDER.format(path=folder.path, size=in_words(limits.size), album=album),)


def _room(message: InboundMessage, channel: ChannelRules) -> tuple[str, ...]:
    here = members(message.inbound, channel) if channel.is_room else ()
    return here if len(here) > 1 else ()


def _outbox_folder(session: str, settings: RuntimeSettings) -> OutboxFolder | None:
    if settings.outbox_of is None or settings.granted.isdisjoint(settings.directives.of_files):
        return None
    return settings.outbox_of(session)


def _granted(where: AgentContext) -> frozenset[str]:
    """The granted directives; `<voice>` is granted if answers may be spoken (OD-52)."""
    speech = effective_speech(where.session, where.settings.rules.settings.speech, where.message.inbound.channel)
    return granted_with(speech.mode, where.settings.granted)


@cache
def _notice(directives: Registry, can: frozenset[str], granted: frozenset[str], among_agents: bool) -> str:
    return abilities_notice(directives, can, granted & directives.carried_out(among_agents=among_agents))


def _metadata(inbound: Inbound, agent: Agent) -> ChatMetadata:
    chat = inbound.chat
    return ChatMetadata(agent.name, inbound.channel, chat.id, chat.kind, inbound.account, inbound.thread)


def _all_spoken(inputs: tuple[TurnInput, ...], context: RunContext) -> tuple[TurnMessage, ...]:
    among_agents = bool(context.room)
    return tuple([_spoken(each, context.agent, among_agents=among_agents) for each in inputs])


def _spoken(turn_input: TurnInput, agent: Agent, *, among_agents: bool) -> TurnMessage:
    """`among_agents`: whether several agents are in the room; then the receiver is the agent, not the account they
    share."""
    inbound, text = turn_input.message.inbound, turn_input.message.agent_text
    sender = inbound.sender
    forwarded = inbound.forwarded
    receiver = agent.name if among_agents else turn_input.message.facts.me.id
    files = all_files(inbound)
    shown = show_media(files, sees_images=sees_images(agent), hears_audio=hears_audio(agent)) if files else ()
    return TurnMessage(
        text=text,
        sender=None
        if turn_input.message.background
        else SenderContext(
            sender_id=sender.id,
            sender_name=sender.name,
            display_name=sender.shown_name,
            channel=inbound.channel,
            channel_id=inbound.chat.id,
            thread_id=inbound.thread,
            is_bot=sender.is_bot,
            timestamp=_written(inbound.sent_at) if inbound.sent_at else None,
            receiver_id=receiver,
            message_id=inbound.message_id or None,
            handle=turn_input.handle,
        ),
        reply_to=_quoted(inbound, turn_input.conversation),
        edit_of=_former(inbound, turn_input.handle),
        forwarded=QuotedMessage(forwarded.text, forwarded.author_name) if forwarded else None,
        media=tuple([_media(each, inbound) for each in shown]) if shown else (),
        images=_images(shown) if shown else (),
        recordings=_recordings(shown) if shown else (),
        pages=inbound.pages,
        transcript=inbound.transcript if turn_input.message.actor.source != "transcript" else None,
    )


def _written(moment: datetime) -> str:
    """Same result as `isoformat`, which takes many times as long."""
    return to_builtins(moment).replace("Z", "+00:00")


def _images(shown: tuple[ShownFile, ...]) -> tuple[PromptImage, ...]:
    return tuple(
        PromptImage(each.mime, each.attachment.content)
        for each in shown
        if each.treatment == "image" and each.attachment.content is not None
    )


def _recordings(shown: tuple[ShownFile, ...]) -> tuple[PromptAudio, ...]:
    return tuple(
        PromptAudio(each.attachment.mime, each.attachment.content)
        for each in shown
        if each.treatment == "audio" and each.attachment.content is not None
    )


def _media(shown: ShownFile, inbound: Inbound) -> Media:
    file = shown.attachment
    if file.heard is not None and file in inbound.attachments and is_own_voice(file, inbound):
        return Media(file.name, shown.mime, file.size, missing=THE_TEXT if not inbound.text else THE_TRANSCRIPT)
    size = file.size if file.size is not None or file.content is None else len(file.content)
    name = safe_name(file.name) if file.name else ""
    return Media(name, shown.mime, size, shown.text, shown.why, shown.note)


def _quoted(inbound: Inbound, conversation: Conversation) -> QuotedMessage | None:
    quote = inbound.reply_to
    if quote is None:
        return None
    known = conversation.messages.get(quote.message_id)
    if known is not None:
        # If only a part is quoted, just those words are meant.
        said = quote.text if known.text and quote.text else known.text
        return QuotedMessage(said, quote.author_name or known.author_name, known.handle, quote.message_id)
    return QuotedMessage(quote.text, quote.author_name, None, quote.message_id) if quote.text else None


def _former(inbound: Inbound, handle: str | None) -> QuotedMessage | None:
    if inbound.entry != "edit":
        return None
    return QuotedMessage(inbound.former_text or "", inbound.sender.shown_name, handle, inbound.message_id)


def people_of(run: Run) -> frozenset[str]:
    """Who may answer the questions of this run."""
    return may_grant([each.message for each in run.inputs])

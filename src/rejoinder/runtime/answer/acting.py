"""What the agent asks for besides its text: each directive is checked against what the agent may do here and carried
out, and its outcome is reported.

Rule 1: authority is the boundary: only messages of this conversation, only what is granted (OD-52).
Rule 2: an action happens when its tag closes; it is a part of the outbox like any message (OD-50).
Rule 3: equal actions of a turn happen once, also across a restart: the same operation of a turn has the same key.
Rule 4: no failure here fails a delivery or becomes a message in the chat (OD-51).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.blobs import Blob, Blobs
from rejoinder.channels.base import CanReact, CanSendFiles, RetitlesThreads, TellsAgents
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import FileRefused, NotUnderstood, StoreUnavailable
from rejoinder.events import Directive, EarlierMessage, NewThread, ReplyContext, Route, Step
from rejoinder.inbound.rooms import named_in
from rejoinder.outbound import plan
from rejoinder.outbound.directives import default_registry
from rejoinder.outbound.directives.declaration import Declaration, Given, Registry
from rejoinder.outbound.directives.effects import (
    AddReaction,
    Effect,
    HandOff,
    ReplyTo,
    SendFile,
    SendText,
    ShapeReply,
    Spawn,
    Speak,
)
from rejoinder.outbound.directives.send_file import is_address
from rejoinder.outbound.echo import is_echo
from rejoinder.outbound.operations import React, keyed
from rejoinder.outbound.plan import AnswerWording, PlannedOperation
from rejoinder.outbound.prefix import AUTO, Speaker, prefixed
from rejoinder.outbound.redact import redact
from rejoinder.rendering.emoji import project
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.files import (
    KeptFile,
    Together,
    attached,
    file_key,
    keep,
    keep_content,
    keep_remote,
    unsent,
)
from rejoinder.runtime.answer.handoff import HandedRow
from rejoinder.runtime.answer.outcomes import Outcomes
from rejoinder.runtime.answer.reach import Reach
from rejoinder.runtime.answer.speaking import Speech, voice_note
from rejoinder.runtime.answer.unposted import Start
from rejoinder.runtime.folders import OutboxFolder
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.delivery_results import DeliveryResult, Sent, Underway, Unsent, message_of
from rejoinder.runtime.outbox.sender import ConversationSender
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.senses import LoadsFiles
from rejoinder.store.base import RunClaim

log = logging.getLogger(__name__)

FILES = "send_file"
MOST_ACTIONS = 20
MOST_WARNINGS = 20
LONGEST_TITLE = 100
"""Characters of a thread's title: as many as Discord takes."""
ACTING = 10.0
"""Seconds that another package's directive may take; meanwhile nothing more of the answer is shown."""

HandOver = Callable[[str, str, str], HandedRow]
"""Takes a name, words and an id; makes the row that gives the agent of this name (if empty: the agents named in the
words) a turn with these words, once per id."""
Act = Callable[[Given], Awaitable[None]]


class Occasion(Struct, frozen=True):
    """What an answer answers. `texts`: all that people wrote for this turn."""

    trigger: str
    agent: str
    person: str = ""
    person_name: str = ""
    direct: bool = True
    other_bot: bool = False
    peers: tuple[str, ...] = ()
    """The other agents of ours in this room."""
    texts: tuple[str, ...] = ()
    granted: frozenset[str] = frozenset()
    reach: Reach | None = None
    """Where it may send besides this chat; None: anywhere."""
    folder: OutboxFolder | None = None
    """The folder from which the agent's files are sent."""
    loads_files: LoadsFiles | None = None
    """Loads files that the agent names by their address; None: it sends those of its folder only."""
    directives: Registry = default_registry()
    speech: Speech | None = None
    """How it may be spoken; None: nothing speaks."""
    opens: NewThread | None = None
    """The thread that the answer opens (CH-2); it hangs under the message being answered."""
    reply_context: ReplyContext | None = None
    """The platform's own way to answer that message (CH-3)."""
    is_message: bool = True
    """What triggered it stands in the chat; a command of the platform's own menu does not."""

    @property
    def addressed(self) -> tuple[str, ...]:
        """Whom the answer may mention (DE-34); by name only in a group, as a direct chat needs no mention."""
        if not self.person:
            return ()
        return (self.person,) if self.direct or not self.person_name else (self.person, f"@{self.person_name}")


class HandoffRequest(Struct, frozen=True):
    to: str
    words: str
    id: str


class Acting:
    def __init__(
        self,
        conversation: Conversation,
        occasion: Occasion,
        stem: str,
        run: RunClaim | None,
        hand_over: HandOver | None,
        start: Start | None = None,
    ) -> None:
        delivery = conversation.how.delivery
        configured = delivery.reply_direct if occasion.direct else delivery.reply_group
        among_bots = occasion.other_bot or bool(occasion.peers)
        mode = plan.reply_mode(configured, direct=occasion.direct, other_bot=among_bots)
        self.outcomes = Outcomes()
        self.asked = False
        """Whether the agent asked for anything besides the shape of the reply."""
        self._conversation = conversation
        self._occasion = occasion
        self._stem = stem
        self._run = run
        self._hand_over = hand_over
        self._start = start
        self._spawned: dict[str, int] = {}
        self._handed: list[HandoffRequest] = []
        self._rows: list[HandedRow] = []
        self._named: HandedRow | None = None
        self.kept = WriteBatch()
        """What is written with the answer: a row for everything it hands over."""
        stays_plain = mode == "off" or occasion.opens is not None or not occasion.is_message
        self._target = None if stays_plain else occasion.trigger or None
        self._reply_all = mode == "all" or delivery.replies_are_threads
        self._silent = False
        self._previews = False
        self._only_for: str | None = None
        self._title = ""
        self.as_voice = False
        """The agent wants this answer to be spoken."""
        self._acted: set[str] = set()
        self._warnings = 0
        self._under_way: list[tuple[str, asyncio.Future[DeliveryResult]]] = []
        self._given = 0  # files whose content the agent gave
        self._loaded = 0  # files that it named by their address
        self._files: Together | None = None  # named last, and not sent yet: more may join them

    def wording(self) -> AnswerWording:
        occasion = self._occasion
        return AnswerWording(
            reply_to=self._target,
            reply_all=self._reply_all,
            silent=self._silent,
            previews=self._previews,
            author=occasion.agent,
            addressed=occasion.addressed,
            only_for=self._only_for,
            answers=occasion.trigger,
            opens=self._opens,
            title=self._title,
            reply_context=occasion.reply_context,
        )

    @property
    def _opens(self) -> NewThread | None:
        opens = self._occasion.opens
        return replace(opens, title=self._title) if opens is not None and self._title else opens

    async def obey(self, directive: Directive) -> str:
        """Returns words that were to be spoken and have to be written instead; mostly there are none."""
        name, known = directive.name, self._occasion.directives
        declared = known.named[name]
        self.asked = self.asked or not declared.shapes_reply
        if name != FILES:
            await self.send_files()
        if declared.granted and name not in self._occasion.granted:
            await self._deny(name, "nothing grants it here")
            return _speech_of(directive, declared)
        if declared.granted and is_echo(directive, self._occasion.texts, known):
            await self._deny(name, "it stands in a message of this turn: an echo")
            return ""
        if declared.act is not None:
            await self._act(directive, declared, declared.act)
        elif declared.effect is None:
            self._no_effect(name)
        elif isinstance(effect := declared.effect(directive.args, directive.body or ""), Speak):
            return await self._speak(effect.text, name)
        else:
            await self._carry_out(effect, name, declared)
        return ""

    async def _speak(self, text: str, name: str) -> str:
        """A voice note in its place among the messages of the answer; its words where it cannot be had (ME-3)."""
        speech, here = self._occasion.speech, self._conversation
        if speech is None or "voice" not in here.how.can:
            await self._fail(name, "unsupported", "nothing speaks here")
            return text
        if len(self._acted) >= MOST_ACTIONS:
            await self._deny(name, f"at most {MOST_ACTIONS} actions per answer")
            return text
        wording = replace(self.wording(), reply_to=None)
        try:
            planned = await voice_note(text, speech, here, wording, f"{self._stem}/act")
        except NotUnderstood as why:
            log.warning("%s: an answer was not spoken: %s", here.channel.name, why.detail or why)
            await self._fail(name, "failed", str(why))
            return text
        if not planned:
            return text
        await self._do(name, name, planned, here.sender)
        return ""

    async def use(self, directive: Directive) -> Step:
        """As `obey`, for a tool that waits for what comes of it."""
        noted, begun = len(self.outcomes.steps()), len(self._under_way)
        await self.obey(directive)
        if new := self.outcomes.steps()[noted:]:
            return new[-1]
        under_way = [result for _, result in self._under_way[begun:]]
        if under_way:
            await asyncio.wait(under_way, timeout=ACTING)
        for result in under_way:
            match result.result() if result.done() and not result.cancelled() else Underway():
                case Unsent(error=error):
                    return Step(directive.name, "failed", error)
                case Underway():
                    return Step(directive.name, "failed", "it is still on its way")
                case Sent():
                    continue
        return Step(directive.name, "done")

    async def _carry_out(self, effect: Effect, name: str, declared: Declaration) -> None:
        match effect:
            case ReplyTo():
                await self._aim(effect.message)
            case AddReaction():
                await self._react(effect)
            case SendText():
                await self._send_text(effect, name)
            case SendFile():
                await self._send_file(effect, name)
            case HandOff():
                await self._hand(effect.to, redact(effect.words))
            case Spawn():
                await self._spawn(effect, name)
            case Speak():
                await self._speak(effect.text, name)
            case ShapeReply():
                self._shape(effect, name, declared)

    async def _act(self, directive: Directive, declared: Declaration, act: Act) -> None:
        """Runs another package's directive. Its failure does not fail the answer (OD-51)."""
        name, occasion = directive.name, self._occasion
        said = blake2b(repr((directive.args, directive.body)).encode("utf-8", "replace"), digest_size=8).hexdigest()
        key = f"{self._stem}/act/{name}/{said}"
        if key in self._acted:
            return
        if len(self._acted) >= MOST_ACTIONS:
            return await self._deny(name, f"at most {MOST_ACTIONS} actions per answer")
        self._acted.add(key)
        if declared.ability is not None and declared.ability not in self._conversation.how.can:
            return await self._fail(name, "unsupported", f"{self._conversation.channel.name} cannot do it")
        given = Given(directive.args, directive.body, self._conversation.route, occasion.trigger, occasion.agent, key)
        try:
            async with asyncio.timeout(ACTING):
                await act(given)
        except TimeoutError:
            await self._fail(name, "failed", f"it took longer than {ACTING:.0f} s")
        except Exception as error:  # third-party code may raise anything
            log.debug("%s failed", name, exc_info=error)
            await self._fail(name, "failed", str(error) or type(error).__name__)
        else:
            self.outcomes.note(name, "done")

    async def _aim(self, reference: str) -> None:
        """The agent's choice overrides the mode, even if it names an unknown message: then nothing is replied to."""
        what = f"reply_to {reference}"
        self._target, self._reply_all = None, self._conversation.how.delivery.replies_are_threads
        if reference == "none":
            return
        target = await self._find(reference)
        if target is not None and await self._is_out_of_thread(target):
            why = f"{reference!r} stands in the chat around this thread, and cannot be replied to from here"
            await self._fail(what, "unsupported", why)
        elif target is not None:
            self._target = target
            self.outcomes.note(what, "done")
        else:
            await self._deny(what, f"there is no message {reference!r} in this chat", "reply_to")

    async def _is_out_of_thread(self, message: str) -> bool:
        """Whether a platform whose replies stay in one thread has it elsewhere (CH-21)."""
        here = self._conversation
        if here.route.thread is None or here.how.replies_across_threads:
            return False
        return message == here.route.thread or await here.messages.look_up(message) is None

    def _shape(self, effect: ShapeReply, name: str, declared: Declaration) -> None:
        """How the message looks, where the platform supports that."""
        if effect.silent is not None:
            self._silent = effect.silent
        if effect.previews is not None:
            self._previews = effect.previews
        if effect.as_voice:
            if self._occasion.speech is None or self._occasion.speech.mode == "off":
                return self._no_effect(name, "spoken answers are off here")
            self.as_voice = True
        if effect.title is not None:
            return self._call_thread(effect.title, name)
        if effect.only_for_asker:
            if "ephemeral" in self._conversation.how.can and not self._may_be_private:
                return self._no_effect(name, "it works on answers to commands and buttons of the platform only")
            if self._occasion.person and self._may_be_private:
                self._only_for = self._occasion.person
        if declared.ability in self._conversation.how.can:
            self.outcomes.note(name, "done")
        else:
            self._no_effect(name)

    @property
    def _may_be_private(self) -> bool:
        context, how = self._occasion.reply_context, self._conversation.how
        has_way = not how.private_needs_interaction or (context is not None and context.private)
        return "ephemeral" in how.can and has_way

    def _call_thread(self, title: str, name: str) -> None:
        if self._occasion.opens is None and not can(self._conversation.channel, RetitlesThreads):
            return self._no_effect(name, "this answer opens no thread")
        self._title = " ".join(title.split())[:LONGEST_TITLE]
        self.outcomes.note(name, "done")

    def _no_effect(self, name: str, why: str = "") -> None:
        self.outcomes.note(name, "unsupported", why or "it has no effect here")
        where, because = self._conversation.channel.name, f": {why}" if why else ""
        log.warning("%s %s: %s has no effect here%s", where, self._occasion.trigger, name, because)

    async def _react(self, effect: AddReaction) -> None:
        conversation, emoji, reference = self._conversation, effect.emoji, effect.message
        target = await self._find(reference)
        sign = project(emoji, conversation.how.delivery.reactions)
        what = f"react {emoji}" + (f" on {reference}" if reference != "current" else "")
        if not can(conversation.channel, CanReact):
            self.outcomes.note(what, "unsupported", "this channel cannot show reactions")
            await self.warn(f"react was left out: {conversation.channel.name} cannot show reactions")
        elif target is None:
            await self._deny(what, f"there is no message {reference!r} in this chat", "react")
        elif sign.value is None:
            why = sign.note or f"there is no emoji {emoji!r}"
            self.outcomes.note(what, "failed", why)
            await self.warn(f"react failed: {why}")
        else:
            key, operation = keyed(React(target, sign.value, effect.remove, self._occasion.agent), f"{self._stem}/act")
            await self._do(what, "react", (PlannedOperation(key, operation),), conversation.sender)

    async def _send_text(self, effect: SendText, name: str) -> None:
        here = self._conversation.route
        route = Route(effect.channel or here.channel, effect.chat, effect.thread, here.account)
        what = f"{name} to {route.channel} {route.chat}"
        elsewhere = self._conversation.outbox.delivery(route.channel)
        if elsewhere is None:
            self.outcomes.note(what, "failed", f"there is no channel {route.channel!r}")
            return await self.warn(f"{name} failed: there is no channel {route.channel!r}")
        if (why := await self._out_of_reach(route)) is not None:
            return await self._deny(what, why, name)
        wording = AnswerWording(author=self._occasion.agent)
        said = plan.say(redact(effect.text), route, elsewhere.options, wording, f"{self._stem}/act")
        await self._do(what, name, said, self._conversation.outbox.at(route))

    async def take_file(self, request: SendFile, content: bytes | None) -> None:
        """A file that the agent gave beside its text, with the same authority as the directive."""
        self.asked = True
        if FILES not in self._occasion.granted:
            return await self._deny(FILES, "nothing grants it here")
        await self._send_file(request, FILES, content)

    async def _send_file(self, effect: SendFile, name: str, content: bytes | None = None) -> None:
        here, path, folder = self._conversation.route, effect.path, self._occasion.folder
        what = f"{name} {path}"
        if effect.channel is not None and effect.chat is None:
            return await self._fail(what, "failed", "a channel needs a chat")
        elsewhere = effect.chat is not None
        route = Route(effect.channel or here.channel, effect.chat, account=here.account) if effect.chat else here
        outbox = self._conversation.outbox
        channel, delivery = outbox.serving(route), outbox.delivery(route.channel)
        if channel is None or delivery is None:
            return await self._fail(what, "failed", f"there is no channel {route.channel!r}")
        if (why := await self._out_of_reach(route)) is not None:
            return await self._deny(what, why, name)
        if folder is None or not can(channel, CanSendFiles):
            return await self._fail(what, "unsupported", f"{route.channel} cannot send files")
        is_remote = content is None and self._occasion.loads_files is not None and is_address(path)
        key = file_key(self._stem, effect)
        if content is not None:  # several may have the same name, or none
            self._given += 1
            key = f"{key}/{self._given}"
        if key in self._acted:
            return
        if len(self._acted) >= MOST_ACTIONS:  # before anything is kept
            return await self._deny(what, f"at most {MOST_ACTIONS} actions per answer", name)
        self._acted.add(key)
        limits = outbox.file_limits(channel)
        try:
            if content is not None:
                blob = await keep_content(key, path, content, outbox.blobs, limits.size)
            elif is_remote:
                blob = await self._load(key, path, outbox.blobs, limits.size)
            else:
                blob = await keep(key, path, folder, outbox.blobs, limits.size)
        except FileRefused as refusal:
            return await self._fail(what, "denied" if refusal.denied else "failed", str(refusal))
        except StoreUnavailable as fault:
            return await self._fail(what, "failed", str(fault))
        crashpoint("K27")
        wording = AnswerWording(
            author=self._occasion.agent,
            silent=self._silent,
            only_for=None if elsewhere else self._only_for,
            opens=None if elsewhere else self._occasion.opens,
            reply_context=None if elsewhere else self._occasion.reply_context,
        )
        named = KeptFile(what, key, attached(blob, self._kind(effect, blob), limits), redact(effect.caption))
        await self._put_together(Together(route, limits, delivery.options, wording), named)
        if effect.cleanup and not is_remote:
            await self._clean_up(folder, path)

    async def _load(self, key: str, address: str, blobs: Blobs, most: int) -> Blob:
        """A file at an address (OD-58), under the same limits as the links of people (DE-38)."""
        loads = self._occasion.loads_files
        assert loads is not None
        self._loaded += 1
        if self._loaded > loads.most:
            raise FileRefused(f"at most {loads.most} files of an answer are loaded from an address", denied=True)
        return await keep_remote(key, address, loads, blobs, most)

    def _kind(self, effect: SendFile, blob: Blob) -> str | None:
        """With `[[audio_as_voice]]` what sounds is a voice note."""
        return "voice" if self.as_voice and blob.mime.startswith("audio/") else effect.kind

    async def _put_together(self, here: Together, named: KeptFile) -> None:
        """Files that follow each other share a message, if the platform has room for them in one."""
        if self._files is not None and not self._files.takes(here, named):
            await self.send_files()
        here = self._files or here
        self._files = replace(here, files=(*here.files, named))

    async def send_files(self) -> None:
        """Sends the files that were named last: something else follows them now."""
        group, self._files = self._files, None
        if group is None:
            return
        if self._run is not None:
            left = await unsent(group, self._stem, self._conversation.store)
            for named in group.files:
                if named not in left.files:
                    self.outcomes.note(named.what, "done")
            group = left
        if group.files:
            results = self._conversation.outbox.at(group.route).post(group.planned(self._stem), self._run)
            self._under_way += [(named.what, results[0]) for named in group.files]
            self._under_way += [(group.files[0].what, result) for result in results[1:]]

    async def show_whole(self, path: str) -> Sequence[PlannedOperation]:
        """The message with the file that has the whole of an answer; none where it cannot be sent, and it stays in its
        folder."""
        folder, here = self._occasion.folder, self._conversation
        if folder is None or not can(here.channel, CanSendFiles):
            return ()
        key, limits = f"{self._stem}/whole", here.outbox.file_limits(here.channel)
        try:
            blob = await keep(key, path, folder, here.outbox.blobs, limits.size)
        except (FileRefused, StoreUnavailable) as why:
            self.outcomes.note(f"send_file {path}", "failed", str(why))
            return ()
        wording = replace(self.wording(), reply_to=None, silent=True)
        file = attached(blob, "document", limits)
        return plan.show_files((file,), "", here.route, here.how.delivery.options, wording, key)

    async def _out_of_reach(self, route: Route) -> str | None:
        """Why the agent may not send there (OD-52); None: it may."""
        if (reach := self._occasion.reach) is None:
            return None
        try:
            here = self._conversation
            return await reach.refusal(route, here.route, self._occasion.agent, here.store)
        except StoreUnavailable as fault:
            return str(fault)

    async def _clean_up(self, folder: OutboxFolder, path: str) -> None:
        """The store has its own copy by now, so the file may go; removing an agent's files needs its own grant."""
        what = f"cleanup of {path}"
        if "cleanup" not in self._occasion.granted:
            return await self._fail(what, "denied", "nothing grants it here")
        try:
            await asyncio.to_thread(folder.remove, path)
            self.outcomes.note(what, "done")
        except FileRefused as refusal:
            await self._fail(what, "failed", str(refusal))

    async def _hand(self, to: str, words: str) -> None:
        """A hand-off waits for the end of the turn (OD-50); equal ones count as one."""
        peers = {peer.casefold(): peer for peer in self._occasion.peers}
        whom = peers.get(to.removeprefix("@").casefold())
        if whom is None:
            there = f"there are: {', '.join(peers.values())}" if peers else "there is nobody else"
            self.outcomes.note(f"handoff to {to}", "failed", f"no agent called {to!r} here; {there}")
            return await self.warn(f"handoff failed: no agent called {to!r} here; {there}")
        if any((handed.to, handed.words) == (whom, words) for handed in self._handed):
            return
        if len(self._acted) + len(self._handed) >= MOST_ACTIONS:
            return await self._deny(f"handoff to {whom}", f"at most {MOST_ACTIONS} actions per answer", "handoff")
        # The id omits the words: an agent asked again after a restart may word it differently, yet hands over once.
        number = sum(handed.to == whom for handed in self._handed)
        self._handed.append(HandoffRequest(whom, words, f"{self._stem}/handoff/{whom}/{number}"))

    async def _spawn(self, effect: Spawn, name: str) -> None:
        """Acts at once: the answer need not wait for it. As with a hand-off, the key omits the words."""
        what = f"{name} {effect.agent}"
        if len(self._acted) >= MOST_ACTIONS:
            return await self._deny(what, f"at most {MOST_ACTIONS} actions per answer", name)
        number = self._spawned[effect.agent] = self._spawned.get(effect.agent, -1) + 1
        key = f"{self._stem}/spawn/{effect.agent}/{number}"
        self._acted.add(key)
        why = "there is nobody to start it" if self._start is None else await self._start(effect, key)
        if why is not None:
            return await self._deny(what, why, name)
        self.outcomes.note(what, "done")

    async def _do(
        self,
        what: str,
        name: str,
        planned: "tuple[PlannedOperation, ...] | list[PlannedOperation]",
        sender: ConversationSender,
    ) -> None:
        if all(each.key in self._acted for each in planned):
            return
        if len(self._acted) >= MOST_ACTIONS:
            return await self._deny(what, f"at most {MOST_ACTIONS} actions per answer", name)
        self._acted.update(each.key for each in planned)
        self._under_way += ((what, result) for result in sender.post(planned, self._run))

    # --- at the end ---------------------------------------------------------------------------------

    def hand_over(self, answer: str = "") -> list[PlannedOperation]:
        """Plans the hand-offs as messages that follow the answer (DE-21), and adds their rows to `kept`.

        Words that the answer says already are not said again (OD-58).

        Where the channel tells agents of each other's messages, the message itself wakes the other agent. Where the
        channel does not know the agents, the message mentions no one: the name may be a stranger's there (OD-64).
        """
        knows_agents = can(self._conversation.channel, TellsAgents)
        planned: list[PlannedOperation] = []
        delivery, route, name = self._conversation.how.delivery, self._conversation.route, self._occasion.agent
        for handed in self._handed:
            wording = AnswerWording(author=name, addressed=(handed.to,) if knows_agents else (), opens=self._opens)
            is_said = bool(handed.words) and answer.strip().startswith(handed.words)
            words = f"@{handed.to}" if is_said else f"@{handed.to} {handed.words}".rstrip()
            if delivery.prefix == AUTO:
                words = prefixed(words, AUTO, Speaker(name))
            planned += plan.say(words, route, delivery.options, wording, handed.id)
            if self._hand_over is not None and not knows_agents:
                row = self._hand_over(handed.to, handed.words, handed.id)
                self.kept.include(row.accept)
                self._rows.append(row)
        return planned

    @property
    def _tells_peers(self) -> bool:
        """Whether the gateway must tell the other agents in the room of an answer, as the platform does not."""
        return bool(self._occasion.peers) and not can(self._conversation.channel, TellsAgents)

    def keep_named(self, text: str) -> None:
        """Agents named in the answer get a turn (IN-21), as if it were handed over to them."""
        if self._hand_over is not None and self._tells_peers and named_in(text, self._occasion.peers):
            self._named = self._hand_over("", text, f"{self._stem}/named")
            self.kept.include(self._named.accept)

    def answered(self, last: "asyncio.Future[DeliveryResult]", first: "asyncio.Future[DeliveryResult]") -> None:
        """The last part of the answer was delivered or given up: the next agents begin. If it was cancelled, their
        turns are called off."""
        for row in self._rows:
            if last.cancelled():
                row.call_off()
            else:
                row.begin()
        if self._named is not None and last.cancelled():
            self._named.call_off()
        elif self._named is not None:
            self._named.begin(message_of(first))

    async def stands(self, message: str) -> None:
        """The draft already shows the whole answer: there is nothing to plan, only `kept` to write."""
        if self._named is not None:
            await self.kept.insist(self._conversation.store)
            self._named.begin(message)

    def was_said(self, text: str, message: str) -> None:
        """Agents that the answer does not wake see it with their next turn."""
        if self._tells_peers and self._named is None:
            agent = self._occasion.agent
            self._conversation.hear_ours(EarlierMessage(message, agent, agent, text, is_bot=True), self._occasion.peers)

    async def finish(self, seconds: float) -> None:
        """Waits for what is under way, and notes what became of it."""
        if waiting := [result for _, result in self._under_way if not result.done()]:
            await asyncio.wait(waiting, timeout=seconds)
        for what, result in self._under_way:
            match result.result() if result.done() and not result.cancelled() else Underway():
                case Sent():
                    self.outcomes.note(what, "done")
                case Unsent(error=error):
                    self.outcomes.note(what, "failed", error)
                    await self.warn(f"{what.partition(' ')[0]} failed: {error}")
                case Underway():
                    self.outcomes.note(what, "failed", "it is still on its way")
        for handed in self._handed:
            self.outcomes.note(f"handoff to {handed.to}", "done")

    def call_off(self) -> None:
        """Cancels the actions that have not been planned yet."""
        self._files = None
        for _, result in self._under_way:
            result.cancel()

    async def _find(self, reference: str) -> str | None:
        if reference == "current":
            return self._occasion.trigger if self._occasion.is_message else None
        return await self._conversation.find(reference)

    async def _fail(self, what: str, result: Literal["failed", "denied", "unsupported"], why: str) -> None:
        self.outcomes.note(what, result, why)
        await self.warn(f"{what}: {result}: {why}")

    async def _deny(self, what: str, why: str, name: str | None = None) -> None:
        self.outcomes.note(what, "denied", why)
        await self.warn(f"{name or what} was denied: {why}")

    async def warn(self, why: str) -> None:
        """Tells the operator; of an answer with thousands of mistakes, the first ones."""
        self._warnings += 1
        if self._warnings > MOST_WARNINGS:
            return
        if self._warnings == MOST_WARNINGS:
            why = f"{why} (and no more is told of this answer)"
        log.warning("%s %s: %s", self._conversation.channel.name, self._occasion.trigger, why)
        await self._conversation.note(why)


def _speech_of(directive: Directive, declared: Declaration) -> str:
    """The body of `<voice>` where nothing grants it: it is delivered as text (OD-52)."""
    return directive.body or "" if declared.tag is not None and declared.tag.body_is_speech else ""

"""The channel: one app in one workspace. Each part carries its key as metadata and can be read back (DU-3, CH-35)."""

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Literal

import msgspec

from rejoinder.channels.accounts import section_of
from rejoinder.channels.base import DEFAULT_ACCOUNT, Delivered, Inlet, Outcome, OutgoingFile, Rejected, RetryAfter
from rejoinder.channels.slack import FILES, LIMITS, payloads
from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.assistant import SCOPE, AssistantThreads
from rejoinder.channels.slack.emoji import name_of
from rejoinder.channels.slack.event_source import EventSource
from rejoinder.channels.slack.files import Files
from rejoinder.channels.slack.history import HistoryReader
from rejoinder.channels.slack.intake import TROUBLE, Intake
from rejoinder.channels.slack.manifest import SCOPES, missing
from rejoinder.channels.slack.memory import ThreadMemory
from rejoinder.channels.slack.outcomes import BLOCKS, Answer, Ok, Refused, failure, failure_of_extra
from rejoinder.channels.slack.parse import BotIdentity
from rejoinder.channels.slack.part_search import PartSearch
from rejoinder.channels.slack.people import People
from rejoinder.channels.slack.retrying import RetryingCalls, Timings
from rejoinder.channels.slack.shared_files import SharedFiles
from rejoinder.channels.slack.streams import CONFLICT, Streams
from rejoinder.channels.threads import Threads
from rejoinder.channels.together import together
from rejoinder.errors import ChannelStopped
from rejoinder.events import Attachment, EarlierMessage, Inbound, Part, Route

log = logging.getLogger(__name__)

DEAF_AFTER = 60.0
CHECK_SECONDS = 15.0
_TS = re.compile(r"[0-9]{1,12}\.[0-9]{1,6}")
NOT_GIVEN_OUT = "Slack does not let the app download it"
NOT_THERE = ("not_in_channel", "channel_not_found")


class SlackApp:
    limits = LIMITS
    stale_after = DEAF_AFTER
    file_limits = FILES
    retitles_threads: Literal[True] = True

    def __init__(
        self,
        name: str,
        api: Api,
        listening: EventSource,
        *,
        pace: Timings | None = None,
        account: str = DEFAULT_ACCOUNT,
        threads: Threads = "auto",
        prompts: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.account = account
        self._section = section_of(name, account)
        self.own_id = ""
        self.own_name = ""
        self._api = api
        self._listening = listening
        self._pace = pace or Timings()
        self._threads: Threads = threads
        self._calls = RetryingCalls(self._section, api, self._pace)
        self._people = People(api)
        self._me = BotIdentity(name, "", "")
        self._reader = HistoryReader(api, lambda: self._me, self._pace.looks)
        self._memory = ThreadMemory()
        self._streams = Streams(self._section, api, self._memory)
        self._assistant = AssistantThreads(self._section, api, prompts)
        self._files = Files(self._section, api, self._pace.shares)
        self._shared_files = SharedFiles(api)

    # --- what it says of itself ---------------------------------------------------------------------

    @property
    def trouble(self) -> str:
        return self._calls.trouble or self._listening.trouble

    @property
    def last_sign(self) -> float | None:
        return self._listening.last_sign

    @property
    def listens_everywhere(self) -> bool:
        return self._listening.listens_everywhere

    async def listen(self, deliver: Inlet) -> None:
        await self.prepare_to_send()
        log.info("%s: serving @%s", self._section, self.own_name)
        intake = Intake(self._me, deliver, self._complete, self._pace, self._memory.note, self._assistant.started)
        await intake.resume()
        await together(
            self._listening.run(self._section, intake, self._reader),
            self._streams.watch(self._pace.idle_stream),
            self._assistant.offer_prompts(),
        )

    async def _complete(self, messages: Iterable[Inbound]) -> tuple[Inbound, ...]:
        """Adds names and file details, since Slack's events carry only ids; both lookups together have a second
        (CH-5)."""
        heard = tuple(messages)
        named, described = await asyncio.gather(self._people.name(heard), self._shared_files.describe(heard))
        return tuple(
            message
            if message.attachments is files.attachments
            else msgspec.structs.replace(message, attachments=files.attachments)
            for message, files in zip(named, described, strict=True)
        )

    async def prepare_to_send(self) -> None:
        answer = await self._calls.ask("auth.test")
        self.own_id = str(answer.result.get("user_id", ""))
        self.own_name = str(answer.result.get("user", ""))
        self._streams.belong_to(str(answer.result.get("team_id", "")))
        bot, assistant = str(answer.result.get("bot_id", "")), SCOPE in answer.scopes.split(",")
        self._me = BotIdentity(self.name, self.own_id, bot, self.own_name, self._threads, assistant=assistant)

    async def check(self) -> str:
        """The app's identity, whether it would receive events, and the names of missing scopes (CH-12)."""
        answer = await self._calls.ask_once("auth.test", CHECK_SECONDS)
        how = await self._listening.check(self._section, CHECK_SECONDS)
        if answer.scopes and (lacks := missing(answer.scopes)):
            raise ChannelStopped(
                f"the bot token lacks {', '.join(lacks)}: add them under OAuth & Permissions "
                "or paste the manifest of `rejoinder init --slack-manifest`, and reinstall the app.",
                self._section,
            )
        found = f"it is @{answer.result.get('user')} in {answer.result.get('team')}, by {how}"
        if answer.scopes and (lacks := [f"{name} ({SCOPES[name]})" for name in missing(answer.scopes, SCOPES)]):
            return f"{found}; without {', '.join(lacks)}"
        return found

    def trouble_in(self, places: Mapping[str, str]) -> str:
        return places.get(TROUBLE, "")

    async def close(self) -> None:
        await self._listening.close()
        await self._api.close()

    # --- what goes out ------------------------------------------------------------------------------

    async def send(self, part: Part) -> Outcome:
        thread = await self._thread(part)
        if isinstance(thread, Rejected):
            return thread
        if part.only_for is not None and not _is_direct(part.route):
            return await self._send_privately(part, thread)
        if part.title and self._me.assistant and _is_direct(part.route):
            await self._assistant.title(part.route, part.title)
        answer = await self._say("chat.postMessage", lambda how: payloads.message(part, thread, how))
        if isinstance(answer, Refused) and answer.error in NOT_THERE and part.reply_context is not None:
            return await self._respond(part, private=False)
        return self._delivered(answer, part, thread)

    async def _say(self, method: str, words: Callable[[payloads.Form], payloads.Payload]) -> Answer:
        """Slack may refuse tables and code as blocks, and buttons, too; the text then says the same."""
        answer = await self._api.call(method, payload := words("rich"))
        for form in payloads.SIMPLER:
            if isinstance(answer, Refused) and answer.error in BLOCKS and (simple := words(form)) != payload:
                warning = "%s: Slack refused the blocks of a message (%s); it is sent with fewer"
                log.warning(warning, self._section, answer.error)
                answer = await self._api.call(method, payload := simple)
        return answer

    async def _send_privately(self, part: Part, thread: str | None) -> Outcome:
        if part.reply_context is not None:
            return await self._respond(part, private=True)
        answer = await self._api.call("chat.postEphemeral", payloads.ephemeral(part, thread))
        if not isinstance(answer, Ok):
            return failure(answer)
        return Delivered(str(answer.result.get("message_ts", "")))

    async def _respond(self, part: Part, *, private: bool) -> Outcome:
        assert part.reply_context is not None
        answer = await self._api.respond(part.reply_context.token, payloads.response(part, private=private))
        return Delivered(f"response:{part.key}") if isinstance(answer, Ok) else failure(answer)

    def _delivered(self, answer: Answer, part: Part, thread: str | None) -> Outcome:
        outcome = Delivered(str(answer.result.get("ts", ""))) if isinstance(answer, Ok) else failure(answer)
        return self._noted(outcome, part, thread)

    def _noted(self, outcome: Outcome, part: Part, thread: str | None) -> Outcome:
        if isinstance(outcome, Delivered):
            self._memory.sent(part.route, outcome.message, thread)
            self._assistant.said(part.route.chat, thread)
        elif isinstance(outcome, Rejected) and outcome.why == "target" and part.opens is not None:
            return Rejected(outcome.reason, "thread")  # the question is gone, and no thread can be opened under it
        return outcome

    # --- what is still being written (CH-32) --------------------------------------------------------

    async def begin(self, part: Part) -> Outcome:
        """Begins a native stream if there can be one, or else a message that is edited."""
        thread = await self._thread(part)
        if isinstance(thread, Rejected):
            return thread
        answer = await self._streams.begin(part, thread)
        return await self.send(part) if answer is None else self._delivered(answer, part, thread)

    async def append(self, route: Route, message: str, text: str) -> None:
        """Never called: messages have a limit on this channel, so they grow by `edit`."""

    async def complete(self, route: Route, message: str) -> None:
        """Never called, like `append`."""

    def is_open(self, route: Route, message: str) -> bool:
        return self._streams.grows(route, message)

    async def typing(self, route: Route, *, author: str = "") -> None:
        await self._assistant.typing(route)

    async def stop_typing(self, route: Route) -> None:
        await self._assistant.stop_typing(route)

    # --- files --------------------------------------------------------------------------------------

    async def send_files(self, part: Part, files: tuple[OutgoingFile, ...]) -> Outcome:
        if part.only_for is not None and not _is_direct(part.route):
            return Rejected("Slack cannot show a file of a channel to one person only")
        thread = await self._thread(part)
        if isinstance(thread, Rejected):
            return thread
        return self._noted(await self._files.send(part, files, thread), part, thread)

    async def _thread(self, part: Part) -> str | Rejected | None:
        """The thread to send it to: that of the message it replies to, or else that of its route (CH-31)."""
        here, target = part.route.thread, part.reply_to
        if here is not None and not _TS.fullmatch(here):
            return Rejected(f"there is no thread {here!r}", "gone")
        if target is None or target == here:
            return here
        if not _TS.fullmatch(target):
            return Rejected(f"there is no message {target!r} to reply to", "target")
        known = self._memory.thread_of(part.route.chat, target)
        found = known or await self._reader.thread_of(part.route.chat, target)
        return found if found is not None else Rejected(f"there is no message {target!r} to reply to", "target")

    async def find(self, part: Part, since: datetime) -> Outcome:
        return await self._find(part, since, PartSearch(part))

    async def find_files(self, part: Part, since: datetime, others: Collection[str]) -> Outcome:
        return await self._find(part, since, PartSearch(part, frozenset(others), self._files.ids_of(part)))

    async def _find(self, part: Part, since: datetime, search: PartSearch) -> Outcome:
        if part.only_for is not None and not _is_direct(part.route):
            return RetryAfter(None, "a message that only one person sees cannot be looked up; it is sent again")
        if not self._me.id:  # after a restart it may be called before it listens, but has to recognise its own messages
            await self.prepare_to_send()
        thread = await self._thread(part)
        if isinstance(thread, Rejected):
            return RetryAfter(None, thread.reason)
        return await self._reader.find(search, thread, since)

    async def edit(self, route: Route, message: str, part: Part) -> Outcome:
        if not _TS.fullmatch(message):
            return Rejected(f"there is no message {message!r}", "target")
        if self._streams.grows(route, message):
            answer = await self._streams.show(route, message, part)
            if answer is not None:
                return Delivered(message) if isinstance(answer, Ok) else failure(answer)
        answer = await self._update(route, message, part)
        if isinstance(answer, Refused) and answer.error == CONFLICT:
            await self._streams.stop(route, message)
            answer = await self._update(route, message, part)
        return Delivered(message) if isinstance(answer, Ok) else failure(answer)

    async def _update(self, route: Route, message: str, part: Part) -> Answer:
        return await self._say("chat.update", lambda how: payloads.update(route, message, part, how))

    async def delete(self, route: Route, message: str) -> Outcome:
        if not _TS.fullmatch(message):
            return Rejected(f"there is no message {message!r}", "target")
        self._streams.forget(route, message)
        answer = await self._api.call("chat.delete", {"channel": route.chat, "ts": message})
        gone = isinstance(answer, Refused) and answer.error == "message_not_found"
        return Delivered(message) if isinstance(answer, Ok) or gone else failure(answer)

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        if not _TS.fullmatch(message):
            return Rejected(f"there is no message {message!r}", "target")
        method, already = ("reactions.remove", "no_reaction") if remove else ("reactions.add", "already_reacted")
        answer = await self._api.call(method, {"channel": route.chat, "timestamp": message, "name": name_of(emoji)})
        so = isinstance(answer, Refused) and answer.error == already
        return Delivered(message) if isinstance(answer, Ok) or so else failure_of_extra(answer)

    async def thread_before(self, route: Route, message: str, limit: int) -> tuple[EarlierMessage, ...]:
        if route.thread is None:
            return ()
        said = await self._reader.before(route.chat, route.thread, message, limit)
        return tuple(
            msgspec.structs.replace(each, author_name=each.author_name or self._people.called(each.author_id))
            for each in said
        )

    async def fetch(self, file: Attachment, limit: int) -> bytes | None:
        known = file if file.url else await self._shared_files.ask(file)
        content = await self._api.load(known.url, limit) if known.url else NOT_GIVEN_OUT
        if isinstance(content, bytes):
            return content
        log.warning("%s: the file %r was not fetched: %s", self._section, known.name, content)
        return None


def _is_direct(route: Route) -> bool:
    return route.chat.startswith("D")

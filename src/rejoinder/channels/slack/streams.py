"""Native streams: a message that grows while an agent writes it, where the workspace has them (CH-32).

Rule 1: a stream only grows. If its earlier words have changed, it is stopped, and the message is edited.
Rule 2: streams take Markdown, not mrkdwn: the part's Markdown twin, or its text if that has no marks at all.
Rule 3: a part with a key is the final form of its message: it stops the stream. A stream that has not grown for minutes
        is stopped, too; if the message goes on, it is edited.
"""

import asyncio
import logging
from time import monotonic

from rejoinder.bounded import Bounded
from rejoinder.channels.base import Rejected
from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.memory import ThreadMemory
from rejoinder.channels.slack.outcomes import NO_STREAMS, Answer, Ok, Refused, refusal
from rejoinder.channels.slack.render import inert
from rejoinder.channels.slack.text import unescape
from rejoinder.events import Part, Route

log = logging.getLogger(__name__)

MOST = 1000
CONFLICT = "streaming_state_conflict"
NOT_STREAMING = "message_not_in_streaming_state"


class Streams:
    def __init__(self, section: str, api: Api, memory: ThreadMemory) -> None:
        self._team = ""
        self._section = section
        self._api = api
        self._memory = memory
        self._has_streams = True
        self._shown: Bounded[tuple[str, str], str] = Bounded(MOST)
        self._grown: Bounded[tuple[str, str], float] = Bounded(MOST)

    def belong_to(self, team: str) -> None:
        """The workspace of the app, known once it has logged in."""
        self._team = team

    async def begin(self, part: Part, thread: str | None) -> Answer | None:
        """None if there can be no stream: streams exist only in threads, and in a channel Slack wants to know for
        whom."""
        if not self._has_streams or thread is None or part.choices or part.files or part.only_for is not None:
            return None
        payload = {"channel": part.route.chat, "thread_ts": thread}
        if not part.route.chat.startswith("D"):
            asker = self._memory.asker(part.route.chat, thread)
            if asker is None:
                return None
            payload |= {"recipient_user_id": asker, "recipient_team_id": self._team}
        if markdown := _markdown(part):
            payload["markdown_text"] = markdown
        answer = await self._api.call("chat.startStream", payload)
        if isinstance(answer, Refused) and answer.error in NO_STREAMS:
            self._has_streams = False
            log.info(
                "%s: this workspace has no native streams (%s); drafts are shown by edits", self._section, answer.error
            )
            return None
        if isinstance(answer, Refused) and isinstance(refusal(answer), Rejected):
            log.info("%s: no native stream for this answer (%s); it is shown by edits", self._section, answer.error)
            return None
        if isinstance(answer, Ok):
            self._note(part.route, str(answer.result.get("ts", "")), markdown)
        return answer

    async def watch(self, idle: float) -> None:
        """Runs for ever, and stops streams that no longer grow."""
        while True:
            await asyncio.sleep(idle / 4)
            now = monotonic()
            for place in [place for place, at in self._grown.items() if now - at > idle]:
                await self.stop(Route("", place[0]), place[1])

    def grows(self, route: Route, message: str) -> bool:
        return (route.chat, message) in self._shown

    async def show(self, route: Route, message: str, part: Part) -> Answer | None:
        """Shows more of the message. None: the change is not growth, so the stream is over and an edit has to show
        it."""
        shown, markdown = self._shown[route.chat, message], _markdown(part)
        where = {"channel": route.chat, "ts": message}
        more = markdown[len(shown) :]
        fits = markdown.startswith(shown) and bool(markdown) and not part.choices
        if not fits or part.key:
            self.forget(route, message)
            words = {"markdown_text": more} if fits and more else {}
            answer = await self._api.call("chat.stopStream", {**where, **words})
            over = isinstance(answer, Refused) and answer.error == NOT_STREAMING
            return None if over or not fits else answer
        if not more:
            return Ok({})
        answer = await self._api.call("chat.appendStream", {**where, "markdown_text": more})
        if isinstance(answer, Ok):
            self._note(route, message, markdown)
        elif isinstance(answer, Refused) and answer.error == NOT_STREAMING:
            self.forget(route, message)
            return None
        return answer

    async def stop(self, route: Route, message: str) -> None:
        """Stops a stream that an earlier process left open."""
        self.forget(route, message)
        await self._api.call("chat.stopStream", {"channel": route.chat, "ts": message})

    def forget(self, route: Route, message: str) -> None:
        self._shown.pop((route.chat, message), None)
        self._grown.pop((route.chat, message), None)

    def _note(self, route: Route, message: str, markdown: str) -> None:
        self._shown[route.chat, message] = markdown
        self._grown.renew((route.chat, message), monotonic())


def _markdown(part: Part) -> str:
    return part.html or inert(unescape(part.text))

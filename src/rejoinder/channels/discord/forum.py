"""A message to a forum becomes a new post there: a thread with a title, and with a tag if the forum requires one.

A post cannot have a nonce. So if it is not known whether a post arrived, we look for it among the forum's threads.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rejoinder.channels.base import Delivered, Outcome, OutgoingFile, Rejected, RetryAfter, Unknown
from rejoinder.channels.discord import payloads
from rejoinder.channels.discord.api import Api
from rejoinder.channels.discord.outcomes import Answer, Ok, failure
from rejoinder.channels.discord.places import Places, is_newer, snowflake
from rejoinder.channels.discord.wire import ActiveThreads, Channel, Message, Tag, convert
from rejoinder.channels.threads import title_of
from rejoinder.events import Part, Route

REQUIRES_TAG = 1 << 4
CHANNEL = "/channels/{channel_id}"
POST = "/channels/{channel_id}/threads"
ACTIVE = "/guilds/{guild_id}/threads/active"
FIRST = "/channels/{channel_id}/messages/{message_id}"


class Forums:
    def __init__(self, api: Api, places: Places) -> None:
        self._api = api
        self._places = places

    def is_one(self, route: Route) -> bool:
        place = self._places.get(route.chat)
        return route.thread is None and place is not None and place.kind == "forum"

    async def asked(self, place: str) -> Answer:
        """Asks Discord what kind of place it is."""
        answer = await self._api.call("GET", CHANNEL, channel_id=place)
        if isinstance(answer, Ok) and (found := convert(answer.result, Channel)) is not None:
            self._places.learn(found)
        return answer

    async def post(self, part: Part, files: Sequence[OutgoingFile] = ()) -> Outcome:
        forum = part.route.chat
        asked = await self.asked(forum)
        if not isinstance(asked, Ok):
            return failure(asked)
        about = convert(asked.result, Channel)
        if about is not None and about.flags & REQUIRES_TAG and (tag := choose_tag(about.available_tags, part.text)):
            tags = [tag.id]
        elif about is not None and about.flags & REQUIRES_TAG:
            return Rejected(
                "this forum requires a tag, and has none that everybody may set: a moderator has to add one"
            )
        else:
            tags = []
        body = {"name": title_of(part.text), "message": payloads.post(part), "applied_tags": tags}
        answer = await self._api.call("POST", POST, body, files=files, channel_id=forum)
        if not isinstance(answer, Ok):
            return failure(answer)
        return self._stands(part, answer.result)

    async def find(self, part: Part, since: datetime, me: str) -> Outcome:
        """Looks for a post with these words that this bot has opened since then."""
        known = self._places.get(part.route.chat)
        if known is None or not known.guild:
            return Unknown("the server of this forum is not known")
        answer = await self._api.call("GET", ACTIVE, guild_id=known.guild)
        active = convert(answer.result, ActiveThreads) if isinstance(answer, Ok) else None
        if not isinstance(answer, Ok) or active is None:
            return Unknown(failure(answer).reason if not isinstance(answer, Ok) else "Discord's answer is not known")
        start = snowflake(since.timestamp())
        for thread in active.threads:
            if thread.parent_id == part.route.chat and thread.owner_id == me and is_newer(thread.id, start):
                first = await self._api.call("GET", FIRST, channel_id=thread.id, message_id=thread.id)
                message = convert(first.result, Message) if isinstance(first, Ok) else None
                if message is not None and (message.content or "").strip() == part.text.strip():
                    return Delivered(message.id, self._route(part, thread.id))
        return RetryAfter(None, "it is not there")

    def _stands(self, part: Part, made: dict[str, Any]) -> Outcome:
        if (thread := convert(made, Channel)) is None:
            return Unknown("Discord's answer is not known")
        self._places.learn(thread)
        return Delivered(str(made.get("message", {}).get("id", thread.id)), self._route(part, thread.id))

    def _route(self, part: Part, thread: str) -> Route:
        return Route(part.route.channel, part.route.chat, thread, account=part.route.account)


def choose_tag(tags: Sequence[Tag] | None, text: str) -> Tag | None:
    """The first tag whose name occurs in the text, or else the first tag. Tags that only moderators may set do not
    count."""
    free = [tag for tag in tags or () if not tag.moderated]
    words = set(re.findall(r"\w+", text.lower()))
    named = (tag for tag in free if set(re.findall(r"\w+", tag.name.lower())) <= words)
    return next(named, free[0] if free else None)

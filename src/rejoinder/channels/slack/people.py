"""The names of people: Slack's events carry only ids, so each new id is looked up once (IN-1)."""

import asyncio
import logging
from collections.abc import Iterable
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.bounded import Bounded
from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.outcomes import Ok
from rejoinder.channels.slack.wire import Person, read
from rejoinder.events import Inbound

log = logging.getLogger(__name__)

SECONDS = 1.0
"""A message waits for a name at most this long: it has to be acknowledged in time (CH-5)."""
MOST = 2000
KEPT_SECONDS, UNKNOWN_SECONDS = 3600.0, 60.0


class PersonName(Struct, frozen=True):
    name: str = ""
    display_name: str = ""
    is_bot: bool = False


class People:
    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: Bounded[str, tuple[PersonName, float]] = Bounded(MOST)

    async def name(self, messages: Iterable[Inbound]) -> tuple[Inbound, ...]:
        """The same messages, with the names of their senders."""
        messages = tuple(messages)
        ids = {message.sender.id for message in messages if not message.sender.display_name}
        wanted = [id for id in ids if id[:1] in ("U", "W") and not self._is_fresh(id)]
        if wanted:
            await asyncio.gather(*map(self._ask, wanted))
        return tuple(map(self._named, messages))

    def called(self, id: str) -> str:
        """The name of a person who has been looked up before."""
        known = self._known.get(id)
        return known[0].display_name if known is not None else ""

    def _is_fresh(self, id: str) -> bool:
        return id in self._known and self._known[id][1] > monotonic()

    async def _ask(self, id: str) -> None:
        answer = await self._api.ask("users.info", {"user": id}, SECONDS)
        if not isinstance(answer, Ok):
            log.debug("the name of %s is not known: %s", id, answer)
            self._known.setdefault(id, (PersonName(), 0.0))
            self._known.renew(id, (self._known[id][0], monotonic() + UNKNOWN_SECONDS))
            return
        person = read(answer.result.get("user") or {}, Person)
        shown = person.profile.display_name or person.profile.real_name or person.real_name or person.name
        self._known.renew(id, (PersonName(person.name, shown, person.is_bot), monotonic() + KEPT_SECONDS))

    def _named(self, message: Inbound) -> Inbound:
        known = self._known.get(message.sender.id)
        if known is None or message.sender.display_name:
            return message
        found = known[0]
        is_bot = message.sender.is_bot or found.is_bot
        sender = replace(message.sender, name=found.name, display_name=found.display_name, is_bot=is_bot)
        return replace(message, sender=sender)

"""Places where the bot lacks a permission it needs. Each is reported once, with what to do, until it works again
(CH-13); the other places are served."""

import logging

from rejoinder.bounded import Bounded
from rejoinder.channels.discord.outcomes import Answer, Ok, Refused
from rejoinder.channels.discord.places import Places

log = logging.getLogger(__name__)

MOST_TOLD = 200
ADVICE: dict[int, str] = {
    50001: "the bot cannot see {where}: allow it View Channel there, or invite it to the thread",
    50013: "the bot lacks a permission in {where}: allow it Send Messages, Send Messages in Threads, Add Reactions and "
    "Attach Files there",
    50083: "{where} is archived and locked: a moderator has to open it again",
    160005: "{where} is locked: a moderator has to unlock it",
    50007: "this person takes no direct messages from the bot",
    10003: "{where} is gone: it was deleted, or the bot was removed from its server",
}


class PlaceTroubles:
    def __init__(self, section: str, places: Places) -> None:
        self._section = section
        self._places = places
        self._known: Bounded[str, str] = Bounded(MOST_TOLD)

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._known.values())

    def note(self, place: str, answer: Answer) -> Answer:
        """Returns the answer. If it is a refusal that a person can fix, its text now says how."""
        if isinstance(answer, Ok):
            if self._known.pop(place, None) is not None:
                log.info("%s: %s is served again", self._section, self._name(place))
            return answer
        if not isinstance(answer, Refused) or (advice := ADVICE.get(answer.code)) is None:
            return answer
        sentence = advice.format(where=self._name(place))
        if self._known.get(place) != sentence:
            log.warning("%s: %s", self._section, sentence)
            self._known[place] = sentence
        return Refused(answer.status, answer.code, f"{sentence}: {answer.said}", answer.retry_after, answer.everywhere)

    def left(self, name: str, guild: str) -> None:
        """The bot was removed from a server."""
        sentence = f"the bot was removed from the server {name or guild}: invite it again with the link of `doctor`"
        log.warning("%s: %s", self._section, sentence)
        self._known[guild] = sentence

    def joined(self, guild: str) -> None:
        self._known.pop(guild, None)

    def _name(self, place: str) -> str:
        known = self._places.get(place)
        name = known.name if known is not None else ""
        if known is not None and known.kind == "thread":
            return f"the thread {name or place}"
        return f"#{name}" if name else f"the channel {place}"

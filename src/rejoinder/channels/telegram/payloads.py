"""Turns parts into requests of the Bot API: pure, the same part always gives the same request (DU-4).

Rule 1: formats are sent as entities, never with a parse mode: nothing has to be escaped, nothing can fail to parse.
Rule 2: @name notifies the person of that name. Unless that person is addressed, the name is shown as code, which
        notifies nobody and leaves the words as they are (DE-34).
Rule 3: a reply goes to the intended message or is refused; it is never sent as an ordinary message instead.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from rejoinder.events import Choice, Entity, MenuCommand, Part, Route

GENERAL_TOPIC = "1"
"""The general topic of a forum; it is addressed by leaving out the topic."""
LONGEST_DATA = 64
MOST_COMMANDS, LONGEST_HELP = 100, 256
MOST_ENTITIES = 100

_NAME = re.compile(r"(?<!\w)@(\w{2,32})(?!\w)", re.ASCII)
_ADDRESS = re.compile(r"(?<!\w)https?://[^\s/@]+\.[^\s/@]+/\S*\Z")  # a name in a link is a part of the link
_NUMBER = re.compile(r"-?[0-9]+")
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")
_KEEPS_NAMES_QUIET = ("code", "pre")

Payload = dict[str, Any]


def message(part: Part) -> Payload:
    """For sendMessage."""
    return {**around(part), **content(part)}


def around(part: Part) -> Payload:
    """The fields that a text and a file share: where it goes, whether it is silent, what it replies to."""
    payload = place(part.route)
    if part.silent:
        payload["disable_notification"] = True
    if part.reply_to is not None:
        payload["reply_parameters"] = {"message_id": int(part.reply_to), "allow_sending_without_reply": False}
    return payload


def caption(part: Part) -> Payload:
    """The words that come with a file, if there are any."""
    if not part.text.strip():
        return {}
    words = _words(part)
    return {"caption": words["text"], **({"caption_entities": words["entities"]} if "entities" in words else {})}


def chat(route: Route) -> Payload:
    """A number, or the @name of a public chat."""
    return {"chat_id": int(route.chat) if _NUMBER.fullmatch(route.chat) else route.chat}


def place(route: Route) -> Payload:
    payload = chat(route)
    if route.thread is not None and route.thread != GENERAL_TOPIC:
        payload["message_thread_id"] = int(route.thread)
    return payload


def reaction(emoji: str | None) -> Payload:
    """The one reaction a bot has on a message; None removes it. Telegram spells emoji without variation selectors."""
    return {"reaction": [] if emoji is None else [{"type": "emoji", "emoji": emoji.replace("\ufe0f", "")}]}


def commands(menu: Iterable[MenuCommand]) -> list[Payload]:
    """The commands that Telegram allows in a menu; the others can still be typed."""
    fitting = [each for each in menu if _COMMAND.fullmatch(each.name) and each.help]
    return [{"command": each.name, "description": each.help[:LONGEST_HELP]} for each in fitting[:MOST_COMMANDS]]


def content(part: Part) -> Payload:
    """Text and buttons; also for an edit, which removes the buttons if it names none."""
    payload = {**_words(part), "link_preview_options": {"is_disabled": not part.previews}}
    if part.choices and (keyboard := _keyboard(part.choices)):
        payload["reply_markup"] = {"inline_keyboard": keyboard}
    return payload


def preview(part: Part, draft: int) -> Payload:
    """For sendMessageDraft."""
    return {**place(part.route), "draft_id": draft, **_words(part)}


def _words(part: Part) -> Payload:
    payload: Payload = {"text": part.text}
    if entities := _quiet(part):
        payload["entities"] = [msgspec.to_builtins(entity) for entity in entities]
    return payload


def _keyboard(choices: Iterable[Choice]) -> list[list[Payload]]:
    """One button to a row, so that no label is cut. A choice whose words are too long for a button gets none."""
    return [
        [{"text": choice.label, "callback_data": choice.says}]
        for choice in choices
        if 0 < len(choice.says.encode()) <= LONGEST_DATA
    ]


# --- names that notify nobody -------------------------------------------------------------------


def _quiet(part: Part) -> tuple[Entity, ...]:
    """The entities, with every name that is not addressed turned into code."""
    if "@" not in part.text:
        return part.entities
    entities = part.entities
    for start, end in islice(_loud(part), MOST_ENTITIES + 1):  # beyond that, `_cut` below turns the rest into code
        around = (piece for entity in entities for piece in _without(entity, start, end))
        entities = (*around, Entity("code", start, end - start))
    entities = tuple(sorted(entities, key=lambda entity: (entity.offset, -entity.length)))
    return entities if len(entities) <= MOST_ENTITIES else _cut(entities, _units(part.text, 0, len(part.text))[1])


def _loud(part: Part) -> Iterator[tuple[int, int]]:
    """Where a person who is not addressed is named outside code."""
    called = {name.removeprefix("@").lower() for name in part.addressed}
    quiet = [entity for entity in part.entities if entity.type in _KEEPS_NAMES_QUIET]
    for found in _NAME.finditer(part.text):
        word = part.text.rfind(" ", 0, found.start()) + 1
        if found[1].lower() in called or _ADDRESS.search(part.text, word, found.start()):
            continue
        start, end = _units(part.text, found.start(), found.end())
        if not any(_covers(entity, start, end) for entity in quiet):
            yield start, end


def _cut(entities: tuple[Entity, ...], end: int) -> tuple[Entity, ...]:
    """As many as Telegram reads; the last one turns the rest of the text into code, so that no name in it notifies."""
    start = entities[MOST_ENTITIES - 1].offset
    before = [piece for entity in entities[: MOST_ENTITIES - 1] for piece in _without(entity, start, end)]
    return (*(piece for piece in before if piece.offset < start), Entity("code", start, end - start))


def _units(text: str, start: int, end: int) -> tuple[int, int]:
    before = len(text[:start].encode("utf-16-le")) // 2
    return before, before + len(text[start:end].encode("utf-16-le")) // 2


def _covers(entity: Entity, start: int, end: int) -> bool:
    return entity.offset <= start and end <= entity.offset + entity.length


def _without(entity: Entity, start: int, end: int) -> Iterable[Entity]:
    """The entity without the code from `start` to `end`, which only a quotation may contain: any other format ends
    before the code and begins again after it."""
    stop = entity.offset + entity.length
    around = entity.type == "blockquote" and _covers(entity, start, end)
    if around or stop <= start or end <= entity.offset:
        yield entity
        return
    if entity.offset < start:
        yield msgspec.structs.replace(entity, length=start - entity.offset)
    if end < stop:
        yield msgspec.structs.replace(entity, offset=end, length=stop - end)

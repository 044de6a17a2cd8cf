"""Turns parts into Discord's requests: pure, the same part always gives the same request (DU-4).

Rule 1: only the people who are addressed are pinged (DE-34): `allowed_mentions` names them and nobody else.
Rule 2: a reply goes to the intended message or is refused; it is never sent as an ordinary message instead.
Rule 3: a message has a nonce derived from its key, so that for a few minutes Discord takes it only once (CH-28).
"""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from rejoinder.events import Attachment, Choice, Part

SUPPRESS_EMBEDS, EPHEMERAL, SILENT, VOICE = 1 << 2, 1 << 6, 1 << 12, 1 << 13
LONGEST_NONCE = 25
LONGEST_ID, LONGEST_LABEL, LONGEST_OPTION = 100, 80, 100
MOST_BUTTONS, MOST_OPTIONS = 5, 25
MOST_PINGED = 100
ROW, BUTTON, SELECT = 1, 2, 3
PRIMARY, SECONDARY = 1, 2
CHOOSE = "choose"
"""The id of a menu; the chosen value says what the person meant."""

Payload = dict[str, Any]


def message(part: Part) -> Payload:
    """For Create Message."""
    payload = content(part)
    if part.silent:
        payload["flags"] = payload.get("flags", 0) | SILENT
    if part.reply_to is not None:
        payload["message_reference"] = {"message_id": part.reply_to, "fail_if_not_exists": True}
    if part.key:
        payload |= {"nonce": nonce(part.key), "enforce_nonce": True}
    return _voice_note(payload, part) if is_voice_note(part) else payload


def is_voice_note(part: Part) -> bool:
    """Whether Discord shows it with its own player: one Ogg recording of known length, and no words (ME-3)."""
    if part.text or part.choices or len(part.files) != 1:
        return False
    (file,) = part.files
    return file.kind == "voice" and file.mime == "audio/ogg" and bool(file.seconds) and bool(file.waveform)


def _voice_note(payload: Payload, part: Part) -> Payload:
    (file,) = part.files
    about = {"duration_secs": round(file.seconds or 0, 2), "waveform": b64encode(file.waveform).decode()}
    payload["flags"] = payload.get("flags", 0) & SILENT | VOICE
    payload["attachments"] = [{**each, **about} for each in payload["attachments"]]
    del payload["content"]
    return payload


def post(part: Part) -> Payload:
    """For the first message of a post in a forum, which has no nonce and replies to nothing."""
    return message(replace(part, key="", reply_to=None))


def change(part: Part) -> Payload:
    """For Edit Message: the message then has the buttons of the part, or none."""
    payload = content(replace(part, files=()))
    return {**payload, "flags": payload.get("flags", 0) & SUPPRESS_EMBEDS, "components": payload.get("components", [])}


def private(part: Part) -> Payload:
    """For an answer to an interaction that only one person sees."""
    payload = content(part)
    return {**payload, "flags": payload.get("flags", 0) | EPHEMERAL}


def content(part: Part) -> Payload:
    payload: Payload = {"content": part.text, "allowed_mentions": pinged(part.addressed)}
    if not part.previews:
        payload["flags"] = SUPPRESS_EMBEDS
    if rows := components(part.choices):
        payload["components"] = rows
    if part.files:
        payload["attachments"] = files(part.files)
    return payload


def pinged(addressed: Iterable[str]) -> Payload:
    people = [each for each in dict.fromkeys(addressed) if each.isdecimal()]
    return {"parse": [], "users": people[:MOST_PINGED], "replied_user": False}


def nonce(key: str) -> str:
    return urlsafe_b64encode(sha256(key.encode()).digest()).decode()[:LONGEST_NONCE]


def files(attached: Sequence[Attachment]) -> list[Payload]:
    return [{"id": str(number), "filename": file.name or f"file-{number}"} for number, file in enumerate(attached)]


def components(choices: Sequence[Choice]) -> list[Payload]:
    """Buttons, or a menu if there are more choices than fit into a row (CH-26). A choice that is too long for either
    gets none; it can still be typed."""
    fitting = list({choice.says: choice for choice in choices if 0 < len(choice.says) <= LONGEST_ID}.values())
    if not fitting:
        return []
    if len(fitting) <= MOST_BUTTONS:
        return [{"type": ROW, "components": [_button(choice, number) for number, choice in enumerate(fitting)]}]
    options = [{"label": choice.label[:LONGEST_OPTION], "value": choice.says} for choice in fitting[:MOST_OPTIONS]]
    return [{"type": ROW, "components": [{"type": SELECT, "custom_id": CHOOSE, "options": options}]}]


def _button(choice: Choice, number: int) -> Payload:
    style = SECONDARY if number else PRIMARY
    return {"type": BUTTON, "style": style, "label": choice.label[:LONGEST_LABEL], "custom_id": choice.says}

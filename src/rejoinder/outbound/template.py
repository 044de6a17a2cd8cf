"""The operator's templates, in which `{{Name}}` is filled from the message being answered (DE-5).

Names are the fields of `Inbound`, in any spelling: `{{MessageId}}` is `message_id`. Values are not expanded again, and
an unknown name is empty.
"""

import re
from collections.abc import Mapping

from rejoinder.events import Chat, EarlierMessage, Inbound, Sender

_NAME = re.compile(r"\{\{\s*([A-Za-z][A-Za-z0-9_]*)\s*\}\}")


def fill(template: str, values: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: values.get(_squashed(found[1]), ""), template)


def values_of(inbound: Inbound, session: str, *, stripped: str = "", is_new: bool = False) -> dict[str, str]:
    """The values that can be filled in: every field that is a word or a person, and three that are not part of the
    message."""
    fields = {_squashed(name): _shown(getattr(inbound, name)) for name in Inbound.__struct_fields__}
    return {
        **fields,
        "bodystripped": stripped or inbound.text.strip(),
        "sessionid": session,
        "isnewsession": "true" if is_new else "false",
    }


def _squashed(name: str) -> str:
    return name.replace("_", "").lower()


def _shown(value: object) -> str:
    match value:
        case Sender():
            return value.shown_name or value.id
        case Chat():
            return value.title or value.id
        case EarlierMessage():
            return value.text
        case str():
            return value
        case _:
            return ""

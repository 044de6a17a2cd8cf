"""`POST /api/messages`: messages from other programs (see docs/programs.md).

Rule 1: a token of `[api.tokens.NAME]` is required, even on loopback, since it names the chats. The guard checks it.
Rule 2: the same `Idempotency-Key` gives the same answer.
"""

import re
from secrets import token_urlsafe

import msgspec
from starlette.requests import Request

from rejoinder.web.guard import HOLDER
from rejoinder.web.services import PageServices, PostedMessage, ProgramMessage, Refusal

PATH = "/api/messages"
LARGEST = 512 << 10
"""Bytes of the body."""
JSON = "application/json"
KEY = "idempotency-key"
_KEYS = re.compile(r"[\x21-\x7e]{1,200}")


async def take(services: PageServices, request: Request) -> PostedMessage:
    """Raises `Refusal`."""
    key = request.headers.get(KEY, token_urlsafe(18))
    if not _KEYS.fullmatch(key):
        raise Refusal(400, "an Idempotency-Key has 1 to 200 letters, digits and signs, without spaces")
    if request.headers.get("content-type", "").partition(";")[0].strip().casefold() != JSON:
        raise Refusal(415, f"send JSON, with the header `Content-Type: {JSON}`")
    try:
        message = msgspec.json.decode(await request.body(), type=ProgramMessage)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise Refusal(400, f"this cannot be read as a message: {problem}") from None
    return await services.programs.post(request.scope[HOLDER], message, key)

"""A program's request under `/v1`, whichever API it speaks.

Rule 1: a parameter is refused if ignoring it would give a different kind of answer (tools, a JSON schema, several
        answers).
Rule 2: any other parameter that agents do not get (temperature, a seed) is ignored, and the answer names it.
"""

import base64
import binascii
import re
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from rejoinder.web.services import ApiMessage, TokenUsage

MOST_IGNORED = 64
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")

Body = Mapping[str, Any]
"""The JSON of a request."""


class WrongRequest(Exception):
    """A request that cannot be answered; the text says why, `param` which parameter is wrong."""

    def __init__(self, why: str, param: str | None = None) -> None:
        super().__init__(why)
        self.param = param


class RefusedParameter(Struct, frozen=True):
    """A parameter that is refused unless its value has no effect."""

    why: str
    harmless: Callable[[Any], bool] = lambda value: not value


class CompletionRequest(Struct, frozen=True):
    """The contents of a request."""

    model: str
    conversation: tuple[ApiMessage, ...]
    stream: bool = False
    with_usage: bool = False
    """Whether a stream ends with the usage, if the API makes that a choice."""
    ignored: tuple[str, ...] = ()
    """Parameters that agents do not get."""


class AnswerIdentity(Struct, frozen=True):
    """The answer that is being made."""

    model: str
    id: str = field(default_factory=lambda: secrets.token_hex(12))
    created: int = field(default_factory=lambda: int(time.time()))


class Stream(Protocol):
    """Writes an answer as the events of one API; each method returns what to send next."""

    def opened(self) -> bytes: ...

    def piece(self, text: str) -> bytes: ...

    def ended(self, usage: TokenUsage) -> bytes: ...

    def failed(self, why: str) -> bytes: ...


class ApiFormat(Protocol):
    """One API: reads requests and writes answers."""

    path: str

    def read(self, body: Body) -> CompletionRequest:
        """Raises `WrongRequest` or msgspec's errors."""
        ...

    def whole(self, made: AnswerIdentity, text: str, usage: TokenUsage) -> dict[str, Any]: ...

    def stream(self, made: AnswerIdentity, wanted: CompletionRequest) -> Stream: ...


def ignored(body: Body, known: frozenset[str], refused: Mapping[str, RefusedParameter]) -> tuple[str, ...]:
    """The names of parameters that have no effect here; raises for one that must not be ignored."""
    for name, rule in refused.items():
        if name in body and not rule.harmless(body[name]):
            raise WrongRequest(rule.why, name)
    named = sorted(name for name, value in body.items() if name not in known | refused.keys() and value is not None)
    if len(named) > MOST_IGNORED or not all(map(_NAME.fullmatch, named)):  # the names go into a header
        raise WrongRequest(f"at most {MOST_IGNORED} unknown parameters are accepted, and only with plain names")
    return tuple(named)


def checked(conversation: tuple[ApiMessage, ...], param: str) -> tuple[ApiMessage, ...]:
    spoken = [each for each in conversation if each.role != "system"]
    if not spoken:
        raise WrongRequest("there is no user message to answer", param)
    if spoken[-1].role != "user":
        raise WrongRequest("the last message must be the user's: agents do not continue a given beginning", param)
    return conversation


def inline_image(url: str) -> tuple[str, bytes]:
    """Takes only inline images: fetching one would be a request on the caller's behalf."""
    head, _, data = url.partition(",")
    if not (head.startswith("data:image/") and head.endswith(";base64")):
        raise WrongRequest("an image must be sent as a data: address")
    return image(head.removeprefix("data:").removesuffix(";base64"), data)


def image(kind: str, data: str) -> tuple[str, bytes]:
    try:
        return kind, base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise WrongRequest("an image is not valid base64") from None


def unsupported_part(kind: str, taken: tuple[str, ...]) -> WrongRequest:
    return WrongRequest(f"content of type {kind!r} is not accepted; accepted are: {', '.join(taken)}")


NO_TOOLS = "agents here use their own tools: leave this out"

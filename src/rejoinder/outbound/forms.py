"""The form in which one try sends an operation: without parts that earlier tries have given up, or that have expired.

Rule: a form that differs from the first one has a key of its own, so that a platform that has seen the first does not
take it for a repetition (DU-4).
"""

from collections.abc import Collection
from datetime import datetime

from msgspec.structs import replace

from rejoinder.events import Part, Route
from rejoinder.outbound.operations import Open, Words


def form_of(part: Part, plain: Part | None, omitted: Collection[str], place: Route | None = None) -> Part:
    """The part as this try sends it. `plain`: the same without a format. `place`: where the previous message is, if not
    where it was sent."""
    if "formatting" in omitted:
        part = plain or replace(part, key=f"{part.key}/plain")
    if "kind" in omitted:
        documents = tuple([replace(file, kind="document") for file in part.files])
        part = replace(part, files=documents, key=f"{part.key}/documents")
    if "target" in omitted:
        part = replace(part, reply_to=None, key=f"{part.key}/alone")
    if place is not None:
        return replace(part, route=place, opens=None, title="", reply_to=None)
    if "thread" in omitted and part.opens is not None:
        chat, root = replace(part.route, thread=None), None if "target" in omitted else part.opens.thread
        part = replace(part, route=chat, opens=None, title="", reply_to=root, key=f"{part.key}/chat")
    if "message" in omitted:  # the message to edit is gone, so the words are sent as a new one
        part = replace(part, key=f"{part.key}/again")
    return part


def in_time(operation: Words, now: datetime) -> Words:
    """The operation without an expired reply context; it is then sent in the ordinary way (CH-3)."""
    context = operation.part.reply_context
    if context is None or now < context.expires:
        return operation
    part = replace(operation.part, reply_context=None)
    if isinstance(operation, Open) or operation.plain is None:
        return replace(operation, part=part)
    return replace(operation, part=part, plain=replace(operation.plain, reply_context=None))

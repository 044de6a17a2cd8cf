"""The shape of a reply (what it replies to, who sees it, the title of its thread), and what the agent may change of it.

Rule 1: the operator's mode applies until the agent chooses (DE-6).
Rule 2: a request that the platform cannot fulfil has no effect; the rest of the same directive has.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import NewThread, ReplyContext, ReplyMode
from rejoinder.outbound.directives.effects import ShapeReply
from rejoinder.outbound.plan import AnswerWording, reply_mode


class AnsweredMessage(Struct, frozen=True):
    """The message that is answered."""

    id: str = ""
    is_message: bool = True
    """Whether it is a message in the chat; a command from the platform's own menu is not."""
    direct: bool = True
    among_bots: bool = False
    person: str = ""
    opens: NewThread | None = None
    """The thread that the answer opens (CH-2)."""
    reply_context: ReplyContext | None = None
    """The platform's own way to answer it (CH-3)."""


class ReplyAbilities(Struct, frozen=True):
    """What a conversation can show, and its reply mode. `can`: abilities as directives name them (OD-54)."""

    can: frozenset[str] = frozenset()
    mode: ReplyMode | None = None
    """The configured mode for direct chats or for groups, whichever this is."""
    replies_are_threads: bool = False
    private_needs_interaction: bool = False
    retitles_threads: bool = False
    title_length: int = 100
    speaks: bool = False


class ReplyShape(Struct, frozen=True):
    """How the reply looks so far."""

    target: str | None = None
    reply_all: bool = False
    silent: bool = False
    previews: bool = False
    only_for: str | None = None
    title: str = ""
    as_voice: bool = False
    """Whether the agent wants it to be spoken."""


class ShapeOutcome(Struct, frozen=True):
    shape: ReplyShape
    has_effect: bool = True
    why: str = ""
    """Why there is no effect; empty if the platform cannot do it."""


class ReplyTarget(Struct, frozen=True):
    """`result`: None if there is nothing to report."""

    message: str | None = None
    result: Literal["done", "unsupported", "denied"] | None = None
    why: str = ""


def initial_shape(answered: AnsweredMessage, here: ReplyAbilities) -> ReplyShape:
    """The shape before the agent has said anything about it."""
    mode = reply_mode(here.mode, direct=answered.direct, other_bot=answered.among_bots)
    is_plain = mode == "off" or answered.opens is not None or not answered.is_message
    return ReplyShape(None if is_plain else answered.id or None, mode == "all" or here.replies_are_threads)


def reply_target(reference: str, found: str | None, *, out_of_thread: bool) -> ReplyTarget:
    """The reply target for the message that the agent names. `found`: its id, if it is known here."""
    if reference == "none":
        return ReplyTarget()
    if found is None:
        return ReplyTarget(None, "denied", f"there is no message {reference!r} in this chat")
    if out_of_thread:
        why = f"{reference!r} is in the chat around this thread, and cannot be replied to from here"
        return ReplyTarget(None, "unsupported", why)
    return ReplyTarget(found, "done")


def aimed(shape: ReplyShape, target: ReplyTarget, here: ReplyAbilities) -> ReplyShape:
    """Applies the agent's choice. It overrides the mode even if it names an unknown message; then the answer replies to
    nothing."""
    return replace(shape, target=target.message, reply_all=here.replies_are_threads)


def shaped(
    shape: ReplyShape, effect: ShapeReply, ability: str | None, answered: AnsweredMessage, here: ReplyAbilities
) -> ShapeOutcome:
    """`ability`: the one that the platform needs for this effect."""
    if effect.silent is not None:
        shape = replace(shape, silent=effect.silent)
    if effect.previews is not None:
        shape = replace(shape, previews=effect.previews)
    if effect.as_voice:
        if not here.speaks:
            return ShapeOutcome(shape, False, "spoken answers are off here")
        shape = replace(shape, as_voice=True)
    if effect.title is not None:
        return _titled(shape, effect.title, answered, here)
    if effect.only_for_asker:
        usable = usable_abilities(
            here.can, answered.reply_context, private_needs_interaction=here.private_needs_interaction
        )
        is_private = "ephemeral" in usable
        if "ephemeral" in here.can and not is_private:
            return ShapeOutcome(shape, False, "it works only on answers to the platform's commands and buttons")
        if answered.person and is_private:
            shape = replace(shape, only_for=answered.person)
    return ShapeOutcome(shape, ability in here.can)


def usable_abilities(
    can: frozenset[str], context: ReplyContext | None, *, private_needs_interaction: bool
) -> frozenset[str]:
    """The abilities that work for an answer to this message; an answer for a single person may need an interaction
    (CH-29)."""
    if private_needs_interaction and not (context is not None and context.private):
        return can - {"ephemeral"}
    return can


def _titled(shape: ReplyShape, title: str, answered: AnsweredMessage, here: ReplyAbilities) -> ShapeOutcome:
    if answered.opens is None and not here.retitles_threads:
        return ShapeOutcome(shape, False, "this answer opens no thread")
    return ShapeOutcome(replace(shape, title=" ".join(title.split())[: here.title_length]))


def opened_thread(shape: ReplyShape, answered: AnsweredMessage) -> NewThread | None:
    """The thread that the reply opens, with the agent's title."""
    opens = answered.opens
    return replace(opens, title=shape.title) if opens is not None and shape.title else opens


def wording_of(shape: ReplyShape, answered: AnsweredMessage, author: str, addressed: tuple[str, ...]) -> AnswerWording:
    return AnswerWording(
        reply_to=shape.target,
        reply_all=shape.reply_all,
        silent=shape.silent,
        previews=shape.previews,
        author=author,
        addressed=addressed,
        only_for=shape.only_for,
        answers=answered.id,
        opens=opened_thread(shape, answered),
        title=shape.title,
        reply_context=answered.reply_context,
    )

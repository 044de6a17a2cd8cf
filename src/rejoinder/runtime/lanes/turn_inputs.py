"""What goes into a turn: the messages, the claim on it, and what is left of an earlier attempt."""

from msgspec import Struct

from rejoinder.events import Said
from rejoinder.inbound.message import Message
from rejoinder.runtime.sending.conversations import Conversation
from rejoinder.runtime.turn.presence import StatusSigns
from rejoinder.session import Session
from rejoinder.store.base import Run as Claim
from rejoinder.store.base import StoredPart, StoredTurn


class Asked(Struct, frozen=True):
    """A message that is to have a turn: as it was decided, where it was said, what was said around it before."""

    id: str
    event: int
    message: Message
    conversation: Conversation
    handle: str | None = None
    overheard: tuple[Said, ...] = ()
    signs: StatusSigns | None = None


class Granted(Struct, frozen=True):
    """A turn the store knows of: the claim on it, and the session as it was before."""

    claim: Claim
    session: Session


class Resumed(Struct, frozen=True):
    """A turn that another process began, what it had planned or sent of the answer, and what people have read of it."""

    turn: StoredTurn
    parts: tuple[StoredPart, ...] = ()
    said: str = ""

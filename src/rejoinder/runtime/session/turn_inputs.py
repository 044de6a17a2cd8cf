"""What goes into a turn: its messages, the claim on it, and what remains of an earlier attempt."""

from msgspec import Struct

from rejoinder.events import EarlierMessage
from rejoinder.inbound.message import InboundMessage
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.session.prefixes import Prefix
from rejoinder.runtime.session.presence import StatusSigns
from rejoinder.session import Session
from rejoinder.store.base import RunClaim, StoredPart, StoredTurn
from rejoinder.turns.suspicion import RerunPolicy, rerun_policy


class TurnInput(Struct, frozen=True):
    """A message that will get a turn: as it was decided, where it was said, and what was said there before it."""

    id: str
    event: int
    message: InboundMessage
    conversation: Conversation
    handle: str | None = None
    overheard: tuple[EarlierMessage, ...] = ()
    signs: StatusSigns | None = None


class DroppedInput(Struct, frozen=True):
    """A message that gets no turn, the notice about that, and the prefix of anything else that is said about it."""

    input: TurnInput
    notice: StoredPart
    prefix: Prefix


class GrantedTurn(Struct, frozen=True):
    """A turn recorded in the store: the claim on it, and the session as it was before."""

    claim: RunClaim
    session: Session


class ResumedTurn(Struct, frozen=True):
    """A turn that another process began, the parts of its answer so far, and the words of those that were sent."""

    turn: StoredTurn
    parts: tuple[StoredPart, ...] = ()
    said: str = ""

    @property
    def again(self) -> RerunPolicy:
        return rerun_policy(self.turn.crashes, self.turn.alone)

"""Places in the code where a test can kill the process, to prove that nothing is lost there (DU-20).

`REJOINDER_CRASH_AT=K3` kills at the first pass of K3, `K3:5` at the fifth. Killed means SIGKILL: no handler runs,
nothing is flushed. Unless the variable names a point, passing one costs a comparison. With `REJOINDER_CRASH_ONCE=FILE`,
passes count only while the file exists, because a point may be passed many times before anything of interest happens.

Only a channel knows the moment when the platform has accepted something and the answer is still unread; only the
caller of the channel knows what that something is. So the caller names the point with `calling`, and the channel
passes it with `answer_unread`.

    K1   bytes read                          telegram; web: in the rooms and the inbox, browser not told
    K2   parsed                              telegram and web
    K3   inside the inbox transaction        store
    K4   committed, not acknowledged         store
    K5   acknowledged                        telegram: the next poll has confirmed it; web: the browser is told
    K6   debounce armed                      lanes
    K7   lane claimed, no run row yet        lanes (where a turn begins at once the row is there already)
    K8   run row written, agent not asked    lanes
    K9   agent about to be asked             work
    K10  at the n-th delta                   delivery
    K11  placeholder accepted, answer unread telegram and web, for the sender
    K12  placeholder id read, not stored     sender
    K13  between edits of a draft            drafting
    K14  agent ended, text not stored        work
    K15  intents committed                   sender
    K16  part marked sending                 sender
    K17  part accepted, answer unread        telegram and web, for the sender
    K18  answer read, receipt not committed  sender
    K19  between parts                       sender
    K20  before an action                    sender
    K21  action accepted, no receipt         telegram and web, for the sender
    K22  receipts in, turn open              work
    K23  closed, not cleaned                 work
    K24  drain                               lanes
    K25  during recovery                     recovery
    K26  during a migration or a sweep       store
    K27  file kept, its part not planned     delivery
"""

import os
import signal
from contextvars import ContextVar

VARIABLE, ONCE = "REJOINDER_CRASH_AT", "REJOINDER_CRASH_ONCE"

_name, _, _pass = os.environ.get(VARIABLE, "").partition(":")
_passes_left = int(_pass) if _pass.isdecimal() else 1
_once = os.environ.get(ONCE, "")
_called_for: ContextVar[str | None] = ContextVar("called_for", default=None)


def crashpoint(name: str) -> None:
    global _passes_left
    if name != _name or (_once and not os.path.exists(_once)):
        return
    _passes_left -= 1
    if _passes_left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)


def is_armed(name: str) -> bool:
    """Whether this process is to die at this point. For a point between two writes that usually share one commit."""
    return name == _name


class calling:
    """Wraps the call of a channel and names the point that `answer_unread` passes inside it."""

    __slots__ = ("_before", "_name")

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._before = _called_for.set(self._name) if self._name == _name else None

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            _called_for.reset(self._before)


def answer_unread() -> None:
    """Channels call this when the platform has acted and we have not read its answer yet."""
    if (name := _called_for.get()) is not None:
        crashpoint(name)

"""Every error rejoinder raises on purpose, and what to do about each.

    RejoinderError              something the operator can understand and fix
    +-- BadUse                  the command line or an argument is wrong: exit status 2
    +-- BadConfiguration        the configuration is wrong: file, line, key and the fix; exit status 2
    |   +-- BadAgent            that of one agent
    +-- ChannelStopped          one account cannot be served until a person fixes it; the others go on
    +-- NotStored               the platform would not wait so long: it is told "busy", or nothing
    +-- StoreUnavailable        nothing can be kept now: acknowledge nothing, try later
    +-- Superseded              another writer has moved it on: throw away what you have
    |   +-- LeaseLost           the whole shard has another owner: end all that is done for it
    +-- Unreadable              one stored thing cannot be read: quarantine it, and go on with the others
    +-- FileRefused             an agent's file is not sent: the agent is told why
    +-- NotUnderstood           a recording or a page could not be read, or words not be spoken: go on without
    |   +-- TookTooLong         its time was over before it was

The message is the help: what, where, what to do. No traceback reaches a user.
"""

from typing import Literal

from msgspec import Struct


class RejoinderError(Exception):
    """Base of all; its text is one clear sentence for the person who runs rejoinder.

    `about`: what the text begins with, if the sentence itself does not say what it is about. A caller that has already
    named the subject shows `sentence` alone.
    """

    def __init__(self, sentence: str = "", *, about: str = "") -> None:
        super().__init__(f"{about}{sentence}")
        self.sentence = sentence


class BadUse(RejoinderError):
    """Never retry: the call itself is wrong."""


class Mistake(Struct, frozen=True):
    """One thing to fix in a configuration, and where."""

    file: str
    line: int | None
    key: str
    sentence: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(part for part in (place, self.key, self.sentence) if part)


class BadConfiguration(RejoinderError):
    """Never retry: the configuration has to be changed first. Its text has one line for each mistake."""

    def __init__(self, *mistakes: Mistake | str, about: str = "") -> None:
        super().__init__("\n".join(map(str, mistakes)), about=about)
        self.mistakes = tuple(mistake for mistake in mistakes if isinstance(mistake, Mistake))


class BadAgent(BadConfiguration):
    """Never retry: this agent cannot be opened with these settings."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence, about=f"agent {name!r}: ")


class ChannelStopped(RejoinderError):
    """Do not retry automatically: a person has to fix the account first. The text says what is wrong and how to fix it.
    `section`: where the account is set up, without `channels.`"""

    def __init__(self, sentence: str, section: str = "") -> None:
        super().__init__(sentence, about=f"[channels.{section}] " if section else "")


class NotStored(RejoinderError):
    """Try later: a message could not be stored within the time that its platform waits (CH-5). It may still be stored;
    if it is delivered again, it is recognised as the same message."""


Fault = Literal[
    "full",
    "read-only",
    "locked",
    "taken",
    "corrupt",
    "missing",
    "older",
    "newer",
    "foreign",
    "unreachable",
    "gone",
    "away",
    "no-login",
    "no-database",
    "no-rights",
    "crowded",
    "no-files",
    "standby",
    "served",
    "closed",
]

# Why a store does not work, and what the operator can do about it. The error adds the name of the store.
FAULTS: dict[Fault, str] = {
    "full": "The disk is full. Free some space; rejoinder then continues by itself.",
    "read-only": "It cannot be written. Make the file and its folder writable for rejoinder.",
    "locked": "Another program holds it. Stop that program; rejoinder then continues by itself.",
    "taken": "A store can have only one gateway. Stop the other one first, or name another file in gateway.store.",
    "corrupt": "It is damaged. Stop rejoinder, put the latest backup in its place and start again.",
    "missing": "No gateway has run on it yet. Start one, or name the right configuration with -c.",
    "older": "It was written by an older rejoinder. Start the gateway once; that brings it up to date.",
    "newer": "It was written by a newer rejoinder. Install that version, or restore an older backup.",
    "foreign": "It is not a rejoinder store. Name another file in gateway.store.",
    "unreachable": "It cannot be read or written. Check that its folder exists and its disk works.",
    "gone": "Its file was removed or replaced. Put it back, or restart rejoinder to go on with what is there now.",
    "away": "The database does not answer. Start it, or correct the address; rejoinder then continues by itself.",
    "no-login": "The database does not let this user in. Correct the user or the password in gateway.store, PGPASSWORD "
    "or the password file.",
    "no-database": "There is no such database. Create it with createdb, or correct gateway.store.",
    "no-rights": "This user may not do that in the database. Make it the owner of the database (docs/scale.md).",
    "crowded": "The database has no room for another connection. Raise max_connections, or stop programs that use "
    "some; rejoinder then continues by itself.",
    "no-files": "This process has too many files and connections open. Raise its limit (`ulimit -n`, or LimitNOFILE in "
    "its systemd unit) and restart it.",
    "standby": "The database can only be read: it is a standby, or set to read-only. Name the primary; "
    "rejoinder continues by itself as soon as it can write.",
    "served": "A gateway is running on it. Stop all gateways that use it, and try again.",
    "closed": "It has been closed.",
}


class StoreUnavailable(RejoinderError):
    """Try later: nothing was written, nothing may be acknowledged (DU-15)."""

    def __init__(self, fault: Fault, where: str, detail: str = "") -> None:
        said = f" ({detail})" if detail else ""
        super().__init__(f"The store {where} is unavailable{said}. {FAULTS[fault]}")
        self.fault: Fault = fault
        self.where = where


class Superseded(RejoinderError):
    """Never retry: the row is no longer in the state, or no longer held by the claim, that this write expects."""


class LeaseLost(Superseded):
    """Never retry: another process owns the shard, or may own it by now. Nothing was written or sent."""


class Unreadable(RejoinderError):
    """Never retry: another version has written it, or it is damaged. It is left on disk as it is."""


class FileRefused(RejoinderError):
    """Never retry: the file cannot be sent. `denied`: the agent may not send it, whatever it contains (DE-37)."""

    def __init__(self, why: str, *, denied: bool = False) -> None:
        super().__init__(why)
        self.denied = denied


class NotUnderstood(RejoinderError):
    """Continue without it: something could not be heard, read or spoken. The text is the rest of the sentence "it could
    not be heard: ..." for the person and the agent; `detail` is for the operator's log."""

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(why)
        self.detail = detail


class TookTooLong(NotUnderstood):
    """Continue without it: it was given up because it took too long."""

    def __init__(self, detail: str) -> None:
        super().__init__("it took too long", detail)

"""A stranger asks to be let in (IN-11): a pure decision over the pending codes.

One code per stranger, told at most once in five minutes, valid for an hour, at most three pending on an account. The
caller that keeps the state adds what `AskPairing` says, and removes expired codes.
"""

from datetime import datetime, timedelta

from msgspec import Struct

CODE_LENGTH = 8
ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ"  # no I, L or O: they look like digits and like each other
VALID_FOR = timedelta(hours=1)
TELL_EVERY = timedelta(minutes=5)
MOST_PENDING = 3


class PendingCode(Struct, frozen=True):
    """A code that waits for an owner."""

    sender: str
    code: str
    asked: datetime
    told: datetime


class PairingCodes(Struct, frozen=True):
    """The codes of one channel account; expired ones may be among them."""

    pending: tuple[PendingCode, ...] = ()


class SendCode(Struct, frozen=True):
    code: str
    asked: datetime


class StayQuiet(Struct, frozen=True):
    reason: str


def answer_stranger(pairing: PairingCodes, sender: str, now: datetime, random: bytes) -> SendCode | StayQuiet:
    """The code to tell this stranger, or the reason to stay silent now."""
    valid = [request for request in pairing.pending if now - request.asked < VALID_FOR]
    for request in valid:
        if request.sender == sender:
            if now - request.told < TELL_EVERY:
                return StayQuiet("the pairing code was sent less than five minutes ago")
            return SendCode(request.code, request.asked)
    if len(valid) >= MOST_PENDING:
        return StayQuiet(f"{MOST_PENDING} pairing requests are pending; the owner has to approve or let them expire")
    return SendCode(make_code(random), now)


def make_code(random: bytes) -> str:
    number = int.from_bytes(random, "big")
    letters: list[str] = []
    for _ in range(CODE_LENGTH):
        number, index = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[index])
    return "".join(letters)


def is_code(word: str) -> bool:
    return len(word) == CODE_LENGTH and all(letter in ALPHABET for letter in word.upper())


def find_request(pairing: PairingCodes, code: str, now: datetime) -> PendingCode | None:
    """The request that an owner may approve with this code."""
    for request in pairing.pending:
        if request.code == code.upper() and now - request.asked < VALID_FOR:
            return request
    return None

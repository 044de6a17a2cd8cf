"""The messages between the gateway and the process of an isolated python agent, one JSON document per line."""

import json

import msgspec
from msgspec import Struct

from rejoinder.agents.base import AgentEvent
from rejoinder.events import Turn
from rejoinder.unicode_repair import from_json

# --- to the process -------------------------------------------------------------------------------


class Start(Struct, frozen=True, tag="start"):
    run: int
    turn: Turn


class Cancel(Struct, frozen=True, tag="cancel"):
    run: int


class Offer(Struct, frozen=True, tag="offer"):
    """A further message for the run of its session."""

    offer: int
    turn: Turn


class Withdraw(Struct, frozen=True, tag="withdraw"):
    offer: int


# --- from the process -----------------------------------------------------------------------------


class Opened(Struct, frozen=True, tag="opened"):
    """Says that the function was found, or `why` it cannot be called."""

    why: str = ""


class Said(Struct, frozen=True, tag="said"):
    run: int
    event: AgentEvent


class Heard(Struct, frozen=True, tag="heard"):
    """Confirms a cancellation: the process is not too busy."""

    run: int


class Stuck(Struct, frozen=True, tag="stuck"):
    """Says that a cancelled run still goes on: only the end of the process ends it."""


class Answered(Struct, frozen=True, tag="answered"):
    offer: int
    taken: bool


ToProcess = Start | Cancel | Offer | Withdraw
FromProcess = Opened | Said | Heard | Stuck | Answered

TO_PROCESS: msgspec.json.Decoder[ToProcess] = msgspec.json.Decoder(ToProcess)
FROM_PROCESS: msgspec.json.Decoder[FromProcess] = msgspec.json.Decoder(FromProcess)


def encode(message: ToProcess | FromProcess) -> bytes:
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:  # half a character: the other half comes with the next piece
        return json.dumps(msgspec.to_builtins(message)).encode()


def read_answer(line: bytes) -> FromProcess:
    return from_json(line, FROM_PROCESS)


def read_request(line: bytes) -> ToProcess:
    return from_json(line, TO_PROCESS)

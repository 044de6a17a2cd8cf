"""JSON-RPC with an agent."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.agents.jsonrpc import Peer, PeerGone, RpcError


class Heard:
    """Keeps what the peer sent."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def requested(self, id: Any, method: str, params: Any) -> None:
        self.all.append(("request", id, method, params))

    def notified(self, method: str, params: Any) -> None:
        self.all.append(("notification", method, params))

    def noise(self, line: str) -> None:
        self.all.append(("noise", line))


def a_peer() -> tuple[Peer, Heard, list[Any]]:
    sent: list[Any] = []
    heard = Heard()
    return Peer(lambda line: sent.append(msgspec.json.decode(line)), heard), heard, sent


async def test_a_question_and_its_answer():
    peer, _, sent = a_peer()
    answer = peer.ask("initialize", {"a": 1})
    assert sent == [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"a": 1}}]
    peer.take(b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}')
    assert await answer == {"ok": True}


async def test_a_refusal_says_why():
    peer, _, _ = a_peer()
    answer = peer.ask("x", None)
    peer.take(b'{"id":1,"error":{"code":-32602,"message":"no","data":"such thing"}}')
    with pytest.raises(RpcError, match=r"no \(-32602\): such thing") as caught:
        await answer
    assert caught.value.code == -32602


@pytest.mark.parametrize("error", ["null", '"words"', "{}", '{"code":"x"}', "[1]", "7"])
async def test_odd_errors_are_answers_too(error: str):
    """Nobody waits for ever because an error had a strange shape; null is no error."""
    peer, _, _ = a_peer()
    answer = peer.ask("x", None)
    peer.take(f'{{"id":1,"error":{error}}}'.encode())
    assert answer.done()
    assert error == "null" or isinstance(answer.exception(), RpcError)


@pytest.mark.parametrize("id", ["true", "1.0", '"1"', "null", "[1]", "{}", "99"])
async def test_answers_to_nobody(id: str):
    """TU-33: an id that looks like ours but is not ours answers nothing."""
    peer, _, _ = a_peer()
    answer = peer.ask("x", None)
    peer.take(f'{{"id":{id},"result":1}}'.encode())
    assert not answer.done()


@given(st.text() | st.integers(-(2**63), 2**64 - 1) | st.none() | st.floats(allow_nan=False, allow_infinity=False))
def test_ids_of_the_peer_are_opaque(id: Any):
    """TU-33: strings, numbers, whatever: it comes back as it came."""
    peer, heard, sent = a_peer()
    peer.take(msgspec.json.encode({"jsonrpc": "2.0", "id": id, "method": "m"}))
    ((_, asked, _, _),) = heard.all
    peer.answer(asked, 1)
    peer.refuse(asked, -32601, "no")
    assert [message["id"] for message in sent] == [id, id]


DEEP = b'{"method":' * 5000 + b"7" + b"}" * 5000


@pytest.mark.parametrize("line", [b"hello", b"[1]", b"7", b'{"method":7}', b'{"a":', b"\xff\xfe", DEEP])
async def test_noise(line: bytes):
    """What is no message is kept for the operator and stops nothing."""
    peer, heard, _ = a_peer()
    peer.take(line)
    assert [kind for kind, *_ in heard.all] == ["noise"]
    peer.take(b"  ")
    peer.take(b'{"method":"m","params":1}')
    assert heard.all[1:] == [("notification", "m", 1)]


async def test_when_the_peer_is_gone():
    """TU-20: whoever waits is told at once, and whoever asks later too."""
    peer, _, sent = a_peer()
    waiting = peer.ask("x", None)
    peer.gone("it exited")
    for answer in (waiting, peer.ask("y", None)):
        with pytest.raises(PeerGone, match="it exited"):
            await answer
    peer.tell("z", None)
    assert len(sent) == 1


async def test_half_a_letter_is_no_noise():
    """TU-33: an agent that cuts its text in the middle of an emoji is heard anyway."""
    peer, heard, _ = a_peer()
    peer.take(b'{"method":"session/update","params":{"text":"\\ud83d"}}')
    assert heard.all == [("notification", "session/update", {"text": "\ud83d"})]


async def test_bytes_that_are_no_letter_cost_no_more_than_themselves():
    """TU-33: an agent that cuts its text in the middle of a letter's bytes is heard anyway."""
    peer, heard, _ = a_peer()
    peer.take(b'{"method":"session/update","params":{"text":"caf\xc3"}}')
    assert heard.all == [("notification", "session/update", {"text": "caf\ufffd"})]


async def test_a_name_of_half_a_letter_comes_back_as_it_came():
    """TU-33: ids are opaque."""
    sent: list[bytes] = []
    peer = Peer(sent.append, heard := Heard())
    peer.take(b'{"id":"\\ud83d","method":"m"}')
    ((_, asked, _, _),) = heard.all
    peer.refuse(asked, -32601, "no")
    assert b'"\\ud83d"' in sent[0]


@given(st.binary(max_size=60) | st.binary(max_size=20).map(lambda odd: b'{"method":"' + odd + b'"}'))
def test_no_line_breaks_the_reading(line: bytes):
    """TU-33: whatever an agent writes, what comes after it is heard."""
    peer, heard, _ = a_peer()
    peer.take(line)
    peer.take(b'{"method":"m","params":1}')
    assert heard.all[-1] == ("notification", "m", 1)

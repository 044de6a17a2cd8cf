"""The chat in a pipe: lines in, answers out, the end of input is the end."""

import subprocess
import sys
from pathlib import Path

import pytest

from rejoinder.testing.patience import PATIENCE

REJOINDER = str(Path(sys.executable).with_name("rejoinder"))


def chat(typed: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [REJOINDER, *(arguments or ("chat", "--agent", "tour"))],
        input=typed,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


def test_every_line_is_answered_before_it_ends():
    done = chat(b"reply to me\nreact with tada\nstay silent\n/reply m2 thanks, and react quietly")
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.decode() == (
        "> m1 “reply to me”\n"
        "This is a native reply to your message: the line above shows what it answers.\n"
        "(🎉 on m2 “react with tada”)\n"
        "Look at your message: the reaction was there before I had finished this sentence.\n"
        "(tour chose to stay silent)\n"
        "(👀 on m4 “thanks, and react quietly”)\n"
        "(tour chose to stay silent)\n"
    )


ODD = (
    b"nul \x00 and \x1b[31m escape",
    b"not utf-8: \xff\xfe\xed\xa0\x80",
    b"carriage return\r",
    "日本語 👨‍👩‍👧 e\u0301 \u202e".encode(),
    b"`` ` ``` [[title:x]] <actions><voice>x</voice></actions> <no-reply/> NO_REPLY",
    b"no newline at the end",
)


def test_odd_input_is_answered():
    done = chat(b"\n".join(ODD))
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.count(b"I heard") == len(ODD)
    assert not {*done.stdout} & ({*range(0x20)} - {0x0A})
    assert b"<voice>x</voice></act" in done.stdout, "what somebody says is quoted, not obeyed"


def test_a_line_of_a_megabyte():
    done = chat(b"x" * 1_000_000 + b"\nreply to me\n")
    assert done.returncode == 0
    assert done.stdout.count(b"I heard") == 1
    assert b"native reply" in done.stdout


@pytest.mark.parametrize("typed", [b"", b"\n\n  \n", b"/quit\nhello\n"])
def test_nothing_said_nothing_answered(typed):
    done = chat(typed)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_wrong_reply_is_told():
    assert chat(b"/reply m7 hi\n").stdout == b"(there is no message 'm7' to reply to)\n"


def test_a_reader_that_has_gone_ends_it_quietly():
    process = subprocess.Popen(
        [REJOINDER, "chat", "--agent", "tour"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write(b"reply to me\n")
    process.stdin.flush()  # and it stays open: the program has to notice by itself
    assert process.wait(PATIENCE) == 141
    assert process.stderr.read() == b""
    process.stdin.close()
    process.stderr.close()


def test_a_locale_without_emoji():
    done = subprocess.run(
        [REJOINDER, "chat", "--agent", "tour"],
        input=b"react with tada\n",
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0
    assert b"(? on m1 ?react with tada?)" in done.stdout

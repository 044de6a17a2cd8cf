"""`rejoinder reply`: what people would see and what would be done, for people and for scripts."""

import json
import re
import subprocess
import sys

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from rejoinder import plugins, read_reply
from rejoinder.cli.commands import app

THERE = ", ".join(plugins.names("channel"))
SAID = """\
[[reply_to:m42]]
[[reply-to:7]]
<actions>
  <react emoji="warning" message="m3" />
  <send-message chat="C1">Green again.</send-message>
</actions>
Great idea!
"""
DOCUMENT = {
    "text": "Great idea!\n",
    "silent": False,
    "directives": [
        {"name": "reply_to", "args": {"id": "m42"}, "body": None},
        {"name": "react", "args": {"emoji": "warning", "message": "m3"}, "body": None},
        {"name": "send_message", "args": {"chat": "C1"}, "body": "Green again."},
    ],
    "problems": [{"code": "unknown_key", "detail": "[[reply-to]] is not a known key: did you mean reply_to?"}],
    "chunks": ["Great idea!\n"],
}


def reply(said: str | bytes, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["reply", *arguments], input=said)


def document(said: str | bytes, *arguments: str) -> dict:
    result = reply(said, "--json", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


# --- --json ---------------------------------------------------------------------------------------


def test_one_document_with_stable_keys() -> None:
    """The keys, and the order in which people read them, are a promise to scripts."""
    assert document(SAID) == DOCUMENT
    assert list(document(SAID)) == ["text", "silent", "directives", "problems", "chunks"]


@pytest.mark.parametrize("size", [1, 2, 7, 4096])
def test_streamed_it_is_the_same_document(size: int) -> None:
    """OD-2: any chunking gives the same reading."""
    assert document(SAID, "--stream", str(size)) == DOCUMENT


@pytest.mark.parametrize(
    ("said", "silent", "text"),
    [
        ("", False, ""),
        ("NO_REPLY", True, ""),
        ("<no-reply/>", True, ""),
        ("All done. NO_REPLY", True, ""),
        ("[[reply_to:1]]", False, ""),
    ],
)
def test_nothing_to_see(said: str, silent: bool, text: str) -> None:
    """OD-40, OD-41: silence is `silent`, never a directive; no text is no chunk."""
    seen = document(said)
    assert (seen["silent"], seen["text"], seen["chunks"]) == (silent, text, [])


@pytest.mark.parametrize(
    ("channel", "text", "sizes"),
    [
        ("discord", "x" * 4500, [2000, 2000, 500]),
        ("telegram", "👍" * 3000, [2048, 952]),
        ("slack", "x" * 4500, [4000, 500]),
        ("web", "x" * 4500, [4500]),
    ],
)
def test_chunks_are_those_of_the_channel(channel: str, text: str, sizes: list[int]) -> None:
    """DE-10: as that platform would get them, in its own unit."""
    assert list(map(len, document(text, "--channel", channel)["chunks"])) == sizes


def test_json_is_utf_8() -> None:
    """What is not ASCII is readable; scripts in any locale get the same bytes."""
    assert "日本語 👍" in reply("日本語 👍", "--json").stdout_bytes.decode("utf-8")


# --- --jsonl --------------------------------------------------------------------------------------


def test_a_line_for_a_line() -> None:
    """One process answers many: `input` is one text, `segments` the texts between tool calls."""
    asked = [
        {"input": SAID},
        {"segments": ["Let me look.", "[[reply_to:1]]\nDone."]},
        {"input": "half \ud83d of a pair"},
    ]
    lines = "\n\n".join(map(json.dumps, asked)) + "\n"  # blank lines are skipped
    result = reply(lines, "--jsonl")
    first, second, third = map(json.loads, result.stdout.splitlines())
    assert first == DOCUMENT
    assert (second["text"], second["directives"][0]["args"]) == ("Let me look.Done.", {"id": "1"})
    assert third["text"] == "half \ud83d of a pair"
    assert reply(lines, "--jsonl", "--stream", "3").stdout == result.stdout


def test_each_line_is_answered_before_the_next_is_asked() -> None:
    """A script may hold the process open and wait for each answer."""
    with subprocess.Popen(
        [sys.executable, "-c", "from rejoinder.cli import main; main()", "reply", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for word in ("one", "two"):
            process.stdin.write(json.dumps({"input": word}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["text"] == word
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2 is not JSON: Expecting property name enclosed in double quotes at column 2"),
        ("[1]", 'line 2: expected {"input": "..."} or {"segments": ["...", ...]}'),
        ('{"inptu": "x"}', 'line 2: expected {"input": "..."} or {"segments": ["...", ...]}'),
        ('{"input": 5}', 'line 2: expected {"input": "..."} or {"segments": ["...", ...]}'),
        ('{"segments": ["a", 5]}', 'line 2: expected {"input": "..."} or {"segments": ["...", ...]}'),
        ("[" * 100_000, "line 2 is not JSON that can be read: it is nested too deeply"),
    ],
)
def test_a_wrong_line_is_named(line: str, complaint: str) -> None:
    """What came before it is answered; then one sentence says which line and what was expected."""
    result = reply(f'{{"input": "fine"}}\n{line}\n', "--jsonl")
    assert json.loads(result.stdout)["text"] == "fine"
    assert (result.exit_code, result.stderr) == (2, f"rejoinder: {complaint}\n")


# --- wrong use ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["--channel", "discrod"],
            f"no channel called 'discrod'; did you mean discord? there are: {THERE}",
        ),
        (
            ["--channel", ""],
            f"no channel called ''; there are: {THERE}",
        ),
        (
            ["--json", "--jsonl"],
            "--json and --jsonl exclude each other: --json reads one answer, --jsonl a line of JSON for each",
        ),
    ],
)
def test_wrong_use_is_one_sentence(arguments: list[str], complaint: str) -> None:
    """Exit status 2, the sentence on stderr, nothing on stdout."""
    result = reply("Hi", *arguments)
    assert (result.exit_code, result.stderr, result.stdout) == (2, f"rejoinder: {complaint}\n", "")


@pytest.mark.parametrize("arguments", [["--stream", "-1"], ["--stream", "x"], ["--stream"], ["--nonsense"], ["extra"]])
def test_wrong_options(arguments: list[str]) -> None:
    """Exit status 2, and nothing on stdout that a script could take for an answer."""
    result = reply("Hi", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--stream", "1"], ["--channel", "discord"]])
@pytest.mark.parametrize(
    "said",
    [
        b"\xff\xfe \xc3( caf\xe9",
        b"\x00 a \x00\x00 b",
        b"\xed\xa0\xbd alone",
        b"\xf0\x9f",
        b"\x1b]0;title\x07\x1b[31mred",
    ],
)
def test_odd_bytes_are_read(said: bytes, arguments: list[str]) -> None:
    """OD-7: not UTF-8, NULs, surrogates, escape codes: a reading, and nothing that would steer a terminal."""
    assert document(said, *arguments)["text"] == said.decode("utf-8", "replace")
    shown = reply(said, *arguments)
    assert shown.exit_code == 0
    assert not set("\x00\x07\x1b") & set(shown.stdout)


@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000, "[[" * 10_000, "<" * 10_000, "<actions>" * 10_000, "<react " * 10_000, "`" * 10_000],
    ids=["a megabyte", "[[", "<", "<actions>", "<react", "`"],
)
def test_large_input_is_read(text: str) -> None:
    """OD-5: a megabyte without a newline, ten thousand openers: a reading, and a layout, never a stall."""
    assert document(text, "--channel", "discord")["text"] == read_reply(text).text
    assert reply(text, "--channel", "discord").exit_code == 0


# --- the layout -----------------------------------------------------------------------------------


def test_the_layout_in_a_pipe() -> None:
    """Whole lines, nothing behind them, no escape code: what people see, what is done, and problems with a hint."""
    layout = """\
What people see  on telegram
  Great idea!

What is done
  reply_to      id=m42
                done: sends the answer as a native reply to that message
  react         emoji=warning, message=m3
                unsupported: Telegram allows a fixed set of reactions, and none is near ⚠️
  send_message  chat=C1
                Green again.
                denied: it needs a grant: [directives] allow = ["send_message"]

Problems
  unknown_key  [[reply-to]] is not a known key: did you mean reply_to?
"""
    assert reply(SAID, "--channel", "telegram").stdout == layout


def test_the_layout_of_a_stream() -> None:
    """`--stream` shows piece by piece what was certain by then, and what was held back."""
    layout = """\
As it streams  fed, and what came out
  "All d"  "All d"
  "one. "  "one."
  "NO_RE"  held back
  "PLY"    held back
  the end  silence

What people see
  nothing: the agent chose silence

What is done
  nothing
"""
    assert reply("All done. NO_REPLY", "--stream", "5").stdout == layout


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("", "_(no response)_, if a person asked: there is no text and no action"),
        ("[[title:T]]", "_(no response)_, if a person asked: there is no text and no action"),
        ('<react emoji="eyes"/>', "nothing: there is no text, only actions"),
        ("<no-reply/>", "nothing: the agent chose silence"),
    ],
)
def test_why_people_see_nothing(said: str, seen: str) -> None:
    """OD-44: actions alone send no message; neither text nor action is answered for."""
    assert reply(said).stdout.splitlines()[1] == f"  {seen}"


@pytest.mark.parametrize(
    ("channel", "seen"),
    [("telegram", "bold and a & b"), ("slack", "*bold* and a &amp; b"), ("discord", "**bold** and a & b")],
)
def test_people_see_what_the_platform_gets(channel: str, seen: str) -> None:
    """DE-1: in its own format; without a platform, as the agent wrote it. Scripts get the Markdown of each message."""
    said = "**bold** and a & b"
    assert reply(said, "--channel", channel).stdout.splitlines()[1] == f"  {seen}"
    assert reply(said).stdout.splitlines()[1] == f"  {said}"
    assert document(said, "--channel", channel)["chunks"] == [said]


def test_several_messages_are_told_apart() -> None:
    """A text too long for the platform is shown as the messages it becomes."""
    lines = reply("x" * 2500, "--channel", "discord").stdout.splitlines()
    assert lines[:4] == ["What people see  on discord, 2 messages", "  " + "x" * 2000, "  - 2 -", "  " + "x" * 500]


@pytest.mark.parametrize("width", [40, 80])
def test_the_layout_on_a_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps within the terminal's width, and has colours."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(width))
    shown = reply(SAID + "wide 日本語のテキスト " * 5, "--channel", "telegram", "--stream", "30").stdout
    assert "\x1b[36mreply_to" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(map(cell_len, plain.splitlines())) <= width


# --- what it costs --------------------------------------------------------------------------------

HEAVY = {
    "prompt_toolkit", "aiohttp", "starlette", "uvicorn", "discord", "slack_bolt", "nio", "telegram", "sqlite3", "acp",
}  # fmt: skip


@pytest.mark.parametrize("arguments", [["--json"], ["--jsonl"], ["--channel", "telegram"], ["--stream", "9"]])
def test_nothing_heavy_is_imported(arguments: list[str]) -> None:
    """No channel SDK, web server or line editor, whatever the output."""
    program = f"""
import sys
from rejoinder.cli import main
sys.argv = ["rejoinder", "reply", *{arguments!r}]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & {HEAVY!r}), file=sys.stderr)
"""
    said = json.dumps({"input": SAID}) if arguments == ["--jsonl"] else SAID
    done = subprocess.run([sys.executable, "-c", program], input=said, capture_output=True, text=True, check=True)
    assert done.stderr.split() == []

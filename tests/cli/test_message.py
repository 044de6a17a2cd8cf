"""`rejoinder message`: the dry run people use."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from rejoinder.cli.commands import app


def run(*words: str, stdin: str = "") -> Any:
    return CliRunner().invoke(app, ["message", *words], input=stdin)


def test_a_person_sees_the_outcome_and_every_stage() -> None:
    """A readable layout: what happens, what is said, each stage with its reason."""
    done = run("please /think high write")
    assert done.exit_code == 0
    for part in (
        "turn",
        "please write",
        "For this turn: thinking high.",
        "send_policy",
        "for this turn: think",
    ):
        assert part in done.stdout
    assert not any(line.endswith(" ") for line in done.stdout.splitlines()), "in a pipe nothing trails"


def test_a_drop_says_why() -> None:
    done = run("hello", "--chat", "group", "--as", "sender")
    assert "drop" in done.stdout
    assert "nobody mentioned us" in done.stdout


def test_markup_in_a_text_is_text() -> None:
    """What looks like the terminal's markup is shown as it is."""
    assert "[bold]x[/bold]" in run("[bold]x[/bold]").stdout


def test_json() -> None:
    """One document, keys as promised."""
    document = json.loads(run("/config show", "--as", "guest", "--json").stdout)
    assert list(document) == ["outcome", "reason", "agent_text", "replies", "directives", "stages"]
    assert (document["outcome"], document["agent_text"], document["replies"]) == ("drop", None, [])


def test_mention() -> None:
    """`@bot` is a native mention, `--mention` adds one; in code it is none."""
    assert json.loads(run("hi", "--chat", "group", "--mention", "--json").stdout)["outcome"] == "turn"
    assert json.loads(run("@bot hi", "--chat", "group", "--json").stdout)["outcome"] == "turn"
    for text in ("`@bot` hi", "me@bot.com hi", "@bots hi", "@bot.com hi"):
        assert json.loads(run(text, "--chat", "group", "--json").stdout)["outcome"] == "drop"


def test_jsonl_answers_line_by_line() -> None:
    """One process for many; blank lines do not count; unicode stays."""
    lines = [
        '{"text": "héllo 🙂\\nb"}',
        "",
        '{"text": "hi", "as": "sender", "chat": "group", "mention": true}',
    ]
    done = run("--jsonl", stdin="\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["outcome"] for answer in answers] == ["turn", "turn"]
    assert answers[0]["agent_text"] == "héllo 🙂\nb"


def test_bytes_that_are_no_text() -> None:
    """What cannot be read as UTF-8 is replaced, wherever it comes from."""
    assert json.loads(run("a\udcffb", "--json").stdout)["agent_text"] == "a\ufffdb"
    done = CliRunner().invoke(app, ["message", "--json"], input=b"a\xffb")
    assert json.loads(done.stdout)["agent_text"] == "a\ufffdb"
    assert json.loads(run("--jsonl", stdin='{"text": "a\\ud83d"}').stdout)["agent_text"] == "a\ud83d", "JSON can say it"


def test_text_from_standard_input() -> None:
    """A text with lines is easier piped than quoted."""
    assert json.loads(run("--json", stdin="a\n    b\n").stdout)["agent_text"] == "a\n    b\n"


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (["x", "--as", "king"], "", "owner, sender, guest, stranger, bot"),
        (["x", "--chat", "room"], "", "direct, group"),
        (["--jsonl"], '{"text": 5}\n', "line 1"),
        (["--jsonl"], '{"text": "a"}\nnonsense\n', "line 2"),
        (["--jsonl"], '{"txt": "a"}\n', "line 1"),
        (["--jsonl"], '{"text": "a"}\n{"text": "a", "as": "king"}\n', "line 2: there is no sender"),
        (["--jsonl"], "[" * 100_000, "line 1 is not JSON that can be read: it is nested too deeply"),
        (["x", "--jsonl"], "", "standard input"),
    ],
)
def test_wrong_use_is_explained(words: list[str], stdin: str, said: str) -> None:
    """Exit status 2, what and where, no traceback."""
    done = run(*words, stdin=stdin)
    assert done.exit_code == 2
    assert said in " ".join(done.output.replace("│", " ").split())
    assert "Traceback" not in done.output

"""What five kinds of people get for the same words, in a direct chat and in a group."""

from typing import Any

import pytest

# Letters: t a turn, a an answer, - nothing. Columns: owner sender guest stranger bot.
DIRECT = {
    "hello": "ttta-",
    "/help": "aaaa-",
    "/whoami": "aaaa-",
    "/commands": "aaaa-",
    "/status": "aa---",
    "/think high": "aa---",
    "/think banana": "aa---",
    "/t low": "aa---",
    "/queue steer": "aa---",
    "/exec host=node": "aa---",
    "/elevated off": "aa---",
    "/config show": "aa---",
    "/restart": "aa---",
    "/allowlist list": "aa---",
    "/approve ABCDEFGH": "aa---",
    "/send off": "aa---",
    "/new": "tt---",
    "/new go on": "tt---",
    "/compact": "aa---",
    "/stop": "aa---",
    "/bash ls": "aa---",
    "/tts on": "aa---",
    "stop": "aata-",
    "wait": "ttta-",
    "/frobnicate": "ttta-",
    "please /think high do": "ttta-",
    "say /status now": "ttta-",
    "": "-----",
}
GROUP = {
    "hello": "-----",
    "@bot hello": "ttt--",
    "/help": "aaa--",
    "/status": "aa---",
    "/think high": "aa---",
    "/think high write": "-----",
    "@bot /think high write": "ttt--",
    "/config show": "a----",
    "@bot /config show": "a----",
    "/elevated off": "a----",
    "/exec security=deny": "a----",
    "/new go on": "tt---",
    "/stop": "aa---",
    "stop": "-----",
    "@bot stop": "aat--",
    "stop @bot": "aat--",
    "/frobnicate": "-----",
    "@bot /frobnicate": "ttt--",
    "/activation always": "a----",
}
ACTORS = ("owner", "sender", "guest", "stranger", "bot")
LETTERS = {"turn": "t", "answer": "a", "drop": "-"}


@pytest.mark.parametrize(("text", "expected"), DIRECT.items())
def test_direct(ask: Any, text: str, expected: str) -> None:
    """IN-11, IN-14, IN-56: who is let in, who may command, who hears nothing."""
    assert "".join(LETTERS[ask(text, actor)["outcome"]] for actor in ACTORS) == expected


@pytest.mark.parametrize(("text", "expected"), GROUP.items())
def test_group(ask: Any, text: str, expected: str) -> None:
    """IN-10, IN-14, IN-30, IN-31, IN-70: besides, somebody has to mean us."""
    assert "".join(LETTERS[ask(text, actor, "group")["outcome"]] for actor in ACTORS) == expected


def test_a_mention_can_be_added(ask: Any) -> None:
    """As if the platform had told of one that is not in the text."""
    assert ask("hello", "guest", "group", mention=True)["outcome"] == "turn"
    assert ask("stop", "sender", "group", mention=True)["outcome"] == "answer"


@pytest.mark.parametrize(
    ("text", "actor", "reason"),
    [
        ("hello", "stranger", "this sender is not paired"),
        ("/config show", "guest", "/config is for the owner; this is a guest"),
        ("/config show", "owner", "commands.config is false"),
        ("/help", "owner", "/help"),
        ("hello", "bot", "messages from bots are not read here (bot_messages = off)"),
        ("hello", "owner", None),
    ],
)
def test_reasons(ask: Any, text: str, actor: str, reason: str | None) -> None:
    """Each ending says why; a turn needs no reason."""
    answer = ask(text, actor)
    assert answer["reason"] == reason
    assert reason is None or answer["stages"][-1]["reason"] == reason


@pytest.mark.parametrize(
    ("text", "directives"),
    [
        ("/think high /compact", {"think": "high"}),
        ("/think high\n/usage full", {"think": "high"}),
        ("/think high /verbose on /config show", {"think": "high", "verbose": "on"}),
        ("/think high /status", {"think": "high"}),
        ("/think /compact", {}),
    ],
)
def test_directives_before_a_command_are_told(ask: Any, text: str, directives: dict[str, str]) -> None:
    """IN-54: what is stored before the command is answered is listed with the answer."""
    answer = ask(text, "owner")
    assert (answer["outcome"], answer["directives"]) == ("answer", directives)


@pytest.mark.parametrize(("chat", "outcome", "replies"), [("direct", "answer", 1), ("group", "drop", 0)])
def test_a_refused_command_refuses_the_directives_before_it(ask: Any, chat: str, outcome: str, replies: int) -> None:
    """IN-14, IN-54: the message is validated whole; nothing is stored, nothing more is said."""
    answer = ask("/think high /restart", "sender", chat)
    assert (answer["outcome"], len(answer["replies"]), answer["directives"]) == (outcome, replies, {})

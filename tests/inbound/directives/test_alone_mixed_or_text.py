"""IN-50, IN-51, IN-54, IN-55: which texts are directives alone, which have some in them, which have none.

A row of ALONE is answered; a row of MIXED runs the agent on the cleaned text; a row of TEXT goes untouched.
"""

from typing import Any

import pytest

ALONE: list[tuple[str, dict[str, Any]]] = [
    ("/think high", {"think": "high"}),
    ("/think: high", {"think": "high"}),
    ("/think:high", {"think": "high"}),
    ("/thinking: medium", {"think": "medium"}),
    ("/THINK Ultra", {"think": "high"}),
    ("  /think high  ", {"think": "high"}),
    ("/think high\n", {"think": "high"}),
    ("/think\nhigh", {"think": "high"}),
    ("/think\thigh", {"think": "high"}),
    ("/think extra high", {"think": "xhigh"}),
    ("/think Extra High", {"think": "xhigh"}),
    ("/think extrahigh", {"think": "xhigh"}),
    ("/think", {}),
    ("/think:", {}),
    ("/think banana", {}),
    ("/think extra", {}),
    ("/think high.", {}),
    ("/think 5", {}),
    ("/t low", {"think": "low"}),
    ("/T LOW", {"think": "low"}),
    ("/t: low", {"think": "low"}),
    ("/t", {}),
    ("/v", {}),
    ("/v full", {"verbose": "full"}),
    ("/verbose on", {"verbose": "on"}),
    ("/verbose loud", {}),
    ("/reason on", {"reasoning": "on"}),
    ("/reasoning stream", {"reasoning": "stream"}),
    ("/reason why", {}),
    ("/elev off", {"elevated": "off"}),
    ("/elevated on", {}),
    ("/elevated maybe", {}),
    ("/exec", {}),
    ("/exec host=sandbox", {"exec": {"host": "sandbox"}}),
    ("/exec host:gateway ask:always", {"exec": {"host": "gateway", "ask": "always"}}),
    ("/exec: security=deny", {"exec": {"security": "deny"}}),
    ("/exec node=build-7 host=node", {"exec": {"node": "build-7", "host": "node"}}),
    ("/exec host=moon", {}),
    ("/exec host=sandbox ask=never", {}),
    ("/exec foo", {}),
    ("/queue", {}),
    ("/queue steer", {"queue": {"mode": "steer"}}),
    ("/queue steer-backlog", {"queue": {"mode": "steer-backlog"}}),
    ("/queue queue", {"queue": {"mode": "queue"}}),
    ("/queue debounce=2s", {"queue": {"debounce_ms": 2000}}),
    ("/queue debounce=1.5s cap:3", {"queue": {"debounce_ms": 1500, "cap": 3}}),
    ("/queue debounce=1m drop=summarize", {"queue": {"debounce_ms": 60000, "drop": "summarize"}}),
    ("/queue default", {"queue": {"mode": "default"}}),
    ("/queue reset", {"queue": {"mode": "default"}}),
    ("/queue banana", {}),
    ("/queue cap=0", {}),
    ("/queue collect cap=0", {}),
    ("/queue debounce=soon", {}),
    ("/queue drop=all", {}),
    ("/queue reset cap=5", {}),
    ("/queue cap=5 reset", {}),
    ("/queue debounce=1.5", {}),
    ("/queue debounce=1.5s", {"queue": {"debounce_ms": 1500}}),
    ("/model gpt-x", {"model": "gpt-x"}),
    ("/model: opus", {"model": "opus"}),
    ("/model opus.", {"model": "opus"}),
    ("/model openai/gpt-5@work", {"model": "openai/gpt-5@work"}),
    ("/model sonnet@work", {"model": "sonnet@work"}),
    ("/model cf/@cf/meta/x", {"model": "cf/@cf/meta/x"}),
    ("/model", {}),
    ("/status", {}),
    ("/think high /verbose on", {"think": "high", "verbose": "on"}),
    ("/verbose on\n/think high", {"think": "high", "verbose": "on"}),
    ("/think /verbose", {}),
    ("/think high /status", {"think": "high"}),
    ("/think high /help", {"think": "high"}),
    ("[[/help]] /think high", {"think": "high"}),
    ("/think high [[/whoami]]", {"think": "high"}),
    ("/think /help", {}),
    ("/think banana /help", {}),
    ("/think low /think high", {"think": "high"}),
    ("/think high /verbose loud", {}),
    ("/t low /v on", {"think": "low", "verbose": "on"}),
    ("/think high @bot", {"think": "high"}),
    ("@bot /think high", {"think": "high"}),
    ("@bot, /think high", {"think": "high"}),
    ("/think@bot high", {"think": "high"}),
    ("/T@Bot: low", {"think": "low"}),
    ("/queue@bot collect /model@bot opus", {"queue": {"mode": "collect"}, "model": "opus"}),
    ("/think@bot", {}),
    ("/think@bot banana", {}),
]

MIXED: list[tuple[str, str, dict[str, Any]]] = [
    ("please /think high write a poem", "please write a poem", {"think": "high"}),
    ("/think high write a poem", "write a poem", {"think": "high"}),
    ("write a poem /think high", "write a poem", {"think": "high"}),
    ("/think high\nwrite a poem", "write a poem", {"think": "high"}),
    ("write a poem\n/think high", "write a poem", {"think": "high"}),
    ("a\n/think high\nb", "a\nb", {"think": "high"}),
    ("a\n\n/think high\n\nb", "a\n\n\nb", {"think": "high"}),
    ("a\n  /think high\nb", "a\nb", {"think": "high"}),
    ("a /think high\nb", "a\nb", {"think": "high"}),
    ("a\n/think high b", "a\nb", {"think": "high"}),
    ("    /think high code\n\tmore", "    code\n\tmore", {"think": "high"}),
    ("a  /think high  b", "a   b", {"think": "high"}),
    ("a\t/think high b", "a\tb", {"think": "high"}),
    ("a\u3000/think high\u3000b", "a\u3000b", {"think": "high"}),
    ("/think extra high why?", "why?", {"think": "xhigh"}),
    ("/think high high", "high", {"think": "high"}),
    ("a /think:low b", "a b", {"think": "low"}),
    ("a /t low b", "a b", {"think": "low"}),
    ("a /think high /verbose on b", "a b", {"think": "high", "verbose": "on"}),
    ("a /think high /verbose on", "a", {"think": "high", "verbose": "on"}),
    ("/think high /t", "/t", {"think": "high"}),
    ("/v /t low", "/v", {"think": "low"}),
    ("/queue collect banana", "banana", {"queue": {"mode": "collect"}}),
    ("/exec host=sandbox then run it", "then run it", {"exec": {"host": "sandbox"}}),
    ("/model opus hello", "hello", {"model": "opus"}),
    ("/model anthropic/large go", "go", {"model": "anthropic/large"}),
    ("/model o3 go", "go", {"model": "o3"}),
    ("ask /model llama3:8b now", "ask now", {"model": "llama3:8b"}),
    ("ask /model openai/gpt-x now", "ask now", {"model": "openai/gpt-x"}),
    ("ask /model anthropic/opus now", "ask now", {"model": "anthropic/opus"}),
    ("ask /model gpt-x@work now", "ask now", {"model": "gpt-x@work"}),
    ("@bot /model o3 go", "@bot go", {"model": "o3"}),
    ("/model openai/gpt-5 hello", "hello", {"model": "openai/gpt-5"}),
    ("@bot /think high hello", "@bot hello", {"think": "high"}),
    ("use `x` /think high now", "use `x` now", {"think": "high"}),
    ("see http://a/b /think high now", "see http://a/b now", {"think": "high"}),
    ("mid ``` /think high", "mid ```", {"think": "high"}),
    ("it`s odd /think high isn`t", "it`s odd /think high isn`t", {}),
    ("/think high `code`", "`code`", {"think": "high"}),
    ("/think@bot high write a poem", "write a poem", {"think": "high"}),
    ("/status please", "please", {}),
    ("answer with /model opus.", "answer with.", {"model": "opus"}),
    ("/status@bot please", "please", {}),
    ("tell me /help@bot: now", "tell me now", {}),
    ("what is the /status here", "what is the here", {}),
]

TEXT: list[str] = [
    "look at /t and /v flags",
    "/t 5",
    "/t banana",
    "/t and more",
    "/v please",
    "/v /t",
    "/think-hard x",
    "/thinks high",
    "a/t b",
    "a/think high",
    "/tmp/thinking/x",
    "/think/high",
    "/think banana split",
    "/think high, please do",
    "please /think and write",
    "please /think",
    "please /think\nhigh hopes",
    "/reason why is the sky blue",
    "the /model is wrong",
    "the /model",
    "the /model and/or view",
    "the /model 3rd from left",
    "the /model v2 plan",
    "the /model built-in one",
    "/model built-in one",
    f"the /model {'x1' * 150}",
    "/model is broken, fix it",
    "/exec host=moon do it",
    "/exec foo host=node",
    "/queue at the shop",
    "`/think high`",
    "x `/think high` y",
    "`` ` /think high `` y",
    "```\n/think high\n``` look",
    "```\n/think high",
    "``` /think high",
    "~~~\n/think high\n~~~",
    "text ```\n\n/think high\n``` more",
    "> /think high\nwhat did he mean?",
    ">> /think high",
    "[see /think high](http://x) ok",
    "<http://x|see /think high> ok",
    "/think `high`",
    "/think-high",
    "http://host/think high",
    "/home/user/notes.txt what is in it?",
    "./think high",
    "//think high",
    "C:\\Work\\nxxx /nothing",
    "and/or /maybe high",
    "/frobnicate now",
    "/opus number nine",
    "/ think high",
    "/think@otherbot high",
    "/think@otherbot",
    "/think@otherbot high /help@otherbot me",
    "please /think@otherbot high write",
]


@pytest.mark.parametrize(("text", "stored"), ALONE, ids=[repr(row[0]) for row in ALONE])
def test_directives_alone_are_answered(ask: Any, text: str, stored: dict[str, Any]) -> None:
    """IN-54: the agent is not run; what is valid is stored, and nothing when anything is not."""
    answer = ask(text)
    assert answer["outcome"] == "answer"
    assert answer["directives"] == stored
    asked = sum(word.strip("[]") in ("/status", "/help", "/whoami") for word in text.split())
    nothing_else = text == "/status" or "banana" in text
    assert len(answer["replies"]) == 1 + (0 if nothing_else else asked)
    assert ".." not in answer["replies"][0]


@pytest.mark.parametrize(("text", "rest", "chosen"), MIXED, ids=[repr(row[0]) for row in MIXED])
def test_directives_in_a_text_hold_for_this_turn(ask: Any, text: str, rest: str, chosen: dict[str, Any]) -> None:
    """IN-55: the text is cleaned of exactly the token, and a short acknowledgement goes along."""
    turn = ask(text)
    assert turn["outcome"] == "turn"
    assert turn["agent_text"] == rest
    assert turn["directives"] == chosen
    assert len(turn["replies"]) == (0 if rest == text else 1)


@pytest.mark.parametrize("text", TEXT, ids=repr)
def test_what_only_looks_like_a_directive_is_text(ask: Any, text: str) -> None:
    """IN-51: no valid argument, not at white space, in code, in a quote: untouched, and nothing is said."""
    turn = ask(text)
    assert (turn["outcome"], turn["agent_text"]) == ("turn", text)
    assert turn["directives"] == {}
    assert turn["replies"] == []

"""Texts made of what has a meaning on this floor, and of what only looks like it, glued in any way."""

from hypothesis import strategies as st

PIECES = [
    *("/think", "/t", "/v", "/verbose", "/reasoning", "/elev", "/exec", "/queue", "/model", "/status", "/opus"),
    *("/help", "/whoami", "/new", "/stop", "/compact", "/config", "/frob", "/id", "! ", "stop", "[[/help]]", "[["),
    *("high", "extra high", "on", "full", "banana", "off", "host=node", "host=", "ask:off", "cap=2", "cap=0", "]]"),
    *("drop=old", "debounce=2s", "debounce=2\u017f", "steer", "default", "opus", "a/b-1", "gpt-x@work", "show", "x"),
    *(" ", " ", " ", "\n", "\t", "\r\n", "\r", "\u00a0", "\u2028", "\x0b", "\x1c", "\u200b", "\u202e", "\x00"),
    *("/", ":", "@", "@bot", "@other", ",", ".", "!", "\\", "`", "```", "~~~", "> ", "[a](", ")", "<http://a|", ">"),
    *("\u0131", "\u0130", "\u017f", "\u212a", "\uff0f", "\u0456", "e\u0301", "\U0001f600", "\ud800"),
    *("/th\u0131nk high", "/\u017ftatus", "[[/whoam\u0131]]", "/\u212aill", "/think high", "/queue steer cap=2"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def is_left_of(rest: str, text: str) -> bool:
    """Whether it is the text with some letters gone and none moved, changed or added."""
    letters = iter(text)
    return all(letter in letters for letter in rest)

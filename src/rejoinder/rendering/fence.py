"""Shows a text as it is, in a block of code that nothing in the text can close."""

import re

_RUNS = re.compile("`{3,}")


def fenced(text: str, language: str = "") -> str:
    longest = max(map(len, _RUNS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"

"""The line under an answer that says what it used (TU-29)."""

from typing import Literal


def usage_line(
    detail: Literal["off", "tokens", "full"] | None,
    tokens_in: int,
    tokens_out: int,
    context_tokens: int,
    model: str | None,
) -> str:
    """The line; empty unless it was requested with `/usage`."""
    if detail not in ("tokens", "full"):
        return ""
    line = f"{tokens_in} tokens in, {tokens_out} out"
    if detail == "full":
        line += f"; context {context_tokens}" if context_tokens else ""
        line += f"; {model}" if model else ""
    return f"_{line}_"

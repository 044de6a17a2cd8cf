"""JSON documents, one to a line: what `--jsonl` reads, and what it and `--json` print."""

import json
import sys
from collections.abc import Iterator
from typing import Any

from rejoinder.errors import BadUse


def read() -> Iterator[tuple[int, Any]]:
    """The documents on standard input, each with the number of its line; blank lines do not count."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        if line.strip():
            yield number, _document(line, number)


def _document(line: bytes, number: int) -> Any:
    try:
        return json.loads(line.strip().decode("utf-8", "replace"))
    except json.JSONDecodeError as why:
        raise BadUse(f"line {number} is not JSON: {why.msg} at column {why.colno}") from None
    except RecursionError:
        raise BadUse(f"line {number} is not JSON that can be read: it is nested too deeply") from None


def write(document: Any) -> None:
    # A lone surrogate cannot be written as UTF-8, but every JSON reader understands its escape.
    text = json.dumps(document, ensure_ascii=False)
    if any("\ud800" <= character <= "\udfff" for character in text):
        text = json.dumps(document)
    sys.stdout.buffer.write(text.encode("utf-8") + b"\n")
    sys.stdout.buffer.flush()

"""What others write into the log stays inside its line."""

import logging
import sys

import pytest

from rejoinder.cli.log_lines import FORMAT, LogLines

FORGED = "gone\n2026-01-01 00:00:00 ERROR all is lost\r\x1b[2J\x1b]0;title\x07\u202e\x9b31m\x85next\u2028line"


def written(record: logging.LogRecord) -> str:
    return LogLines(FORMAT).format(record)


def entry(message: str, *arguments: object, raised: BaseException | None = None) -> logging.LogRecord:
    info = None if raised is None else (type(raised), raised, raised.__traceback__)
    return logging.LogRecord("rejoinder", logging.WARNING, __file__, 1, message, arguments, info)


def test_an_entry_is_one_line_without_escapes() -> None:
    """An agent's words forge no entry, move no cursor and set no colour; nothing of them is lost but that."""
    for record in (entry("the agent said: %s", FORGED), entry(FORGED)):
        line = written(record)
        assert line.splitlines() == [line]
        assert line.replace(" ", "").isprintable()
        assert r"gone\n2026-01-01" in line


def test_no_line_of_a_traceback_looks_like_an_entry() -> None:
    try:
        raise ValueError(FORGED)
    except ValueError as problem:
        lines = written(entry("it failed", raised=problem)).splitlines()
    assert len(lines) > 3
    assert all(line.startswith("  ") for line in lines[1:])
    assert not any(sign in line for line in lines for sign in "\x1b\r\x07\x9b\x85\u2028")


def test_the_last_resort_is_calm_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A command without a log of its own prints warnings as Python does, and as harmlessly."""
    from rejoinder.cli import log_lines

    resort = logging.StreamHandler(sys.stderr)
    monkeypatch.setattr(logging, "lastResort", resort)
    log_lines.format_last_resort()
    resort.handle(entry("%s", FORGED))
    assert len(capsys.readouterr().err.splitlines()) == 1

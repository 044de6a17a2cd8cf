"""The benches measure what they say and fail when a bar is missed."""

import pytest

from bench.__main__ import main
from bench.naive import NaiveReader, naive_read
from bench.timing import (
    Bars,
    BarsMissed,
    CommandFailed,
    duration,
    measure,
    measure_at_most,
    measure_command,
    print_table,
)


def test_within_the_bars() -> None:
    """Figures up to their bars are ok."""
    bars = Bars()
    assert bars.verdict("speed", (1.0, 1.0), (2.0, 3.0)) == "ok"
    bars.settle()


def test_over_a_bar() -> None:
    """One figure over its bar fails the bench, which names the row."""
    bars = Bars()
    assert bars.verdict("speed", (1.0, 1.0), (4.0, 3.0)) == "OVER"
    with pytest.raises(BarsMissed, match="speed"):
        bars.settle()


def test_a_call_is_measured() -> None:
    """Time per call, not per sample."""
    calls: list[int] = []
    timing = measure(lambda: calls.append(sum(range(1000))))
    assert 0 < timing.best <= timing.median
    assert len(calls) > 15


def test_the_endless_is_given_up() -> None:
    """What takes longer than allowed has no figure."""

    def spin() -> None:
        while True:
            pass

    assert measure_at_most(0.01, spin) is None


def test_a_process_is_measured() -> None:
    """CPU time of a command; one that fails is told with its complaint."""
    assert measure_command(["sh", "-c", "cat"], b"x", runs=1).best >= 0
    with pytest.raises(CommandFailed, match="no luck"):
        measure_command(["sh", "-c", "cat; echo no luck >&2; exit 3"], runs=1)


@pytest.mark.parametrize(("seconds", "shown"), [(1.5, "1.5 s "), (0.0421, "42.1 ms"), (0.0000042, "4.2 µs")])
def test_durations_read_well(seconds: float, shown: str) -> None:
    """Three digits and a unit of two characters, so that columns align."""
    assert duration(seconds) == shown


def test_tables_align(capsys: pytest.CaptureFixture[str]) -> None:
    """Words left, figures right."""
    print_table("Title", ["", "n"], [["a", "10"], ["long", "1"]])
    assert capsys.readouterr().out == "\nTitle\n         n\n  ----  --\n  a     10\n  long   1\n"


def test_an_unknown_bench_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong use says what there is."""
    assert main(["raeder"]) == 2
    assert "No bench is called 'raeder'; there are: " in capsys.readouterr().err


def test_the_naive_reader_is_a_fair_one() -> None:
    """It reads a typical reply rightly, whole and streamed; else the comparison would be worth nothing."""
    reply = '[[reply_to:m1]]\n<actions>\n<react emoji="eyes" />\n</actions>\nSee `<actions>` there.\nBye'
    reading = naive_read(reply)
    assert reading.text == "See `<actions>` there.\nBye"
    assert [name for name, _, _ in reading.directives] == ["reply_to", "react"]
    assert "".join(map(NaiveReader().feed, reply.replace("`", ""))) == "See "  # holds an open block to the end
    assert "".join(map(NaiveReader().feed, reply.replace("`<actions>`", "it"))) == "See it there.\nBye"
    assert naive_read("NO_REPLY").silent
    assert naive_read("<no-reply/>").silent

"""Cron expressions, read and refused (TU-27)."""

from datetime import date

import pytest

from rejoinder.turns.expression import MEANING, BadExpression, read_expression


@pytest.mark.parametrize(
    ("text", "minutes", "hours"),
    [
        ("* * * * *", tuple(range(60)), tuple(range(24))),
        ("0 9 * * *", (0,), (9,)),
        ("*/15 8-18/5 * * *", (0, 15, 30, 45), (8, 13, 18)),
        ("5/20 0 * * *", (5, 25, 45), (0,)),
        ("0,30,10-12 1,1 * * *", (0, 10, 11, 12, 30), (1,)),
        ("  7   7 * * *  ", (7,), (7,)),
        ("59/5 23 * * *", (59,), (23,)),
    ],
)
def test_times_of_the_day(text: str, minutes: tuple[int, ...], hours: tuple[int, ...]) -> None:
    """TU-27: lists, ranges and steps, in order and each once."""
    expression = read_expression(text)
    assert (expression.minutes, expression.hours) == (minutes, hours)


@pytest.mark.parametrize(
    ("text", "day", "fits"),
    [
        ("0 0 * * 0", date(2026, 11, 15), True),  # a Sunday
        ("0 0 * * 7", date(2026, 11, 15), True),
        ("0 0 * * sun", date(2026, 11, 15), True),
        ("0 0 * * 5-7", date(2026, 11, 15), True),
        ("0 0 * * */7", date(2026, 11, 15), True),
        ("0 0 * * 1-5", date(2026, 11, 15), False),
        ("0 0 * * MON-fri", date(2026, 11, 16), True),
        ("0 0 15 * *", date(2026, 11, 15), True),
        ("0 0 15 nov *", date(2026, 11, 15), True),
        ("0 0 15 dec *", date(2026, 11, 15), False),
        ("0 0 13 * 5", date(2026, 11, 13), True),  # both
        ("0 0 13 * 5", date(2026, 10, 13), True),  # the 13th, a Tuesday
        ("0 0 13 * 5", date(2026, 11, 20), True),  # a Friday
        ("0 0 13 * 5", date(2026, 11, 14), False),
        ("0 0 */2 * 5", date(2026, 11, 13), True),  # begins with *: both have to hold
        ("0 0 */2 * 5", date(2026, 11, 20), False),
        ("0 0 30 2 1", date(2026, 2, 2), True),  # no such day of the month, but every Monday of February
    ],
)
def test_days(text: str, day: date, fits: bool) -> None:
    """TU-27: either day where both are limited, both where one of them begins with a star."""
    assert read_expression(text).fits(day) is fits


@pytest.mark.parametrize(
    ("text", "says", "at"),
    [
        ("", "it has 0 fields", 0),
        ("0 9 * *", "it has 4 fields", 7),
        ("0 0 9 * * *", "it has 6 fields", 10),
        ("60 9 * * *", "60 is not a valid minute; it goes from 0 to 59", 0),
        ("0 24 * * *", "24 is not a valid hour; it goes from 0 to 23", 2),
        ("0 9,9- * * *", "'9-' is not a valid hour", 4),
        ("0 9 0 * *", "0 is not a valid day of the month; it goes from 1 to 31", 4),
        ("0 9 * 13 *", "13 is not a valid month", 6),
        ("0 9 * * 8", "8 is not a valid day of the week; it goes from 0 to 7", 8),
        ("0 9 * * fry", "'fry' is not a valid day of the week; write for example *, 0, 0-6, */2, sun", 8),
        ("0 18-8 * * *", "'18-8' ends before it begins", 2),
        ("0 9-x * * *", "'x' is not a valid hour", 4),
        ("*/0 * * * *", "'0' is not a valid step", 2),
        ("0 */x * * *", "'x' is not a valid step", 4),
        ("*-5 * * * *", "'*-5' is not a valid minute", 0),
        ("? * * * *", "'?' is not a valid minute", 0),
        ("٣ * * * *", "'٣' is not a valid minute", 0),
        ("99999999999 * * * *", "is not a valid minute", 0),
        ("0 0 30 2 *", "no such day ever comes", 4),
        ("0 0 31 4,6,9,11 *", "no such day ever comes", 4),
        (" @dayly", "there is no @dayly; there are: @hourly", 1),
    ],
)
def test_what_cannot_be_read(text: str, says: str, at: int) -> None:
    """TU-27: a bad entry is refused with the place of the mistake."""
    with pytest.raises(BadExpression) as refused:
        read_expression(text)
    assert says in str(refused.value)
    assert refused.value.at == at


def test_words_for_whole_expressions() -> None:
    """TU-27: they are five fields like any other."""
    for word, meaning in MEANING.items():
        assert read_expression(word.upper()) == read_expression(meaning)
    assert read_expression("@daily").fits(date(2026, 1, 1))


@pytest.mark.parametrize(
    ("text", "is_rhythm"),
    [("*/10 9 * * *", True), ("30 * * * *", True), ("30 9 * * *", False), ("0-59 0-23 * * *", False)],
)
def test_a_pace_is_told_from_times_of_the_day(text: str, is_rhythm: bool) -> None:
    """TU-27: which of the two it is decides what a change of the clocks means."""
    assert read_expression(text).is_rhythm is is_rhythm

"""Faults of both engines (DU-15): damaged databases, and how an error becomes the fault behind it."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rejoinder.errors import StoreUnavailable


class Damaged(Exception):
    """A row does not have the content that was written."""


def known_fault(error: BaseException, where: str) -> StoreUnavailable | None:
    """The fault behind an error that belongs to no engine; None if there is none."""
    if isinstance(error, StoreUnavailable):
        return error
    if isinstance(error, Damaged | UnicodeDecodeError):
        return StoreUnavailable("corrupt", where, str(error))
    return None


@contextmanager
def raised_as_fault(where: str, fault_of: Callable[[Exception, str], StoreUnavailable | None]) -> Generator[None]:
    """Turns errors raised inside into the faults behind them. They are not chained, because the error's own text may
    contain secrets."""
    try:
        yield
    except Exception as error:
        fault = fault_of(error, where)
        if fault is None or fault is error:
            raise
        raise fault from None

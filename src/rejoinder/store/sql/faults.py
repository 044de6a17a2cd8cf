"""Faults of both engines (DU-15): a database that is damaged, and how an error becomes the fault behind it."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rejoinder.errors import StoreUnavailable


class Damaged(Exception):
    """What was read is not what was written."""


def known_fault(error: BaseException, where: str) -> StoreUnavailable | None:
    """The fault behind an error that is of no engine; None: there is none."""
    if isinstance(error, StoreUnavailable):
        return error
    if isinstance(error, Damaged | UnicodeDecodeError):
        return StoreUnavailable("corrupt", where, str(error))
    return None


@contextmanager
def raised_as_fault(where: str, fault_of: Callable[[Exception, str], StoreUnavailable | None]) -> Generator[None]:
    """Raises what fails inside as the fault behind it. Not from it: its own text may name what must not be shown."""
    try:
        yield
    except Exception as error:
        fault = fault_of(error, where)
        if fault is None or fault is error:
            raise
        raise fault from None

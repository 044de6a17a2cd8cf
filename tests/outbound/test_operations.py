"""What is to be done, as bytes."""

import pytest

from rejoinder.events import Attachment, Part, Route
from rejoinder.outbound.operations import Amend, Open, Operation, Say, decode, encode, words
from rejoinder.store.bodies import text_of

HELLO = Part(Route("web", "1"), "Hello.")
CHART = Part(Route("web", "1"), "", files=(Attachment("f1", "chart.png"),))


def test_a_row_is_written_whatever_a_name_holds():
    """DE-30: what cannot be written as it is, is written as nearly as it can be."""
    assert words(decode(encode(Say(Part(Route("web", "1"), "hello \ud83d"))))) == "hello �"


@pytest.mark.parametrize("operation", [Say(HELLO), Say(CHART), Open(HELLO), Amend("17", HELLO)], ids=repr)
def test_who_looks_into_the_store_reads_the_same(operation: Operation):
    """DE-33: a row tells its words also to who knows nothing of operations."""
    assert text_of(encode(operation)) == words(operation)

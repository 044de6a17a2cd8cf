"""The kinds of value that many keys take."""

import re

import msgspec
import pytest
from yarl import URL

from rejoinder.keys import Url

LONG = "a" * 63


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:9000/v1",
        "https://[::1]:8443",
        "http://localhost",
        "https://api.example.org./a..b?c=..d#e..f",
        f"https://{LONG}.{LONG}.org",
        f"https://ann:{LONG}..{LONG}@example.org/",
    ],
)
def test_an_address_of_a_host(address: str) -> None:
    assert msgspec.convert(address, Url) == address
    assert URL(address).host


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.org",
        "http://",
        "http:///path",
        "http://?query",
        "http://a..b",
        "http://.example.org",
        "http://ann@.example.org",
        "http://ann:p@a..b/",
        f"http://{LONG}a.org",
        "http://example..:80",
    ],
)
def test_an_address_that_names_no_host_is_refused_before_anybody_calls_it(address: str) -> None:
    """The resolver would raise a `UnicodeError`, which no call expects."""
    with pytest.raises(msgspec.ValidationError, match=re.escape("Expected `str` matching regex")):
        msgspec.convert(address, Url)

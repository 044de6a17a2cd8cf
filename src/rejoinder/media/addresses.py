"""Decides which addresses a link may lead to (DE-38). Pure: names are resolved elsewhere.

Rule 1: only https on its usual port, no user name and password, and no IP address in an unusual notation.
Rule 2: only addresses of the public internet: nothing private, local, reserved or shared, not even inside IPv6.
"""

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urljoin, urlsplit

from rejoinder.errors import NotUnderstood

LONGEST = 2048
PORT = 443
LONGEST_HOST = 253
_LABEL = r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)+[a-z][a-z0-9-]{{0,61}}[a-z0-9]", re.ASCII)
"""A host name whose last part begins with a letter: a name that ends in a number is an IP address in disguise."""
_DOTTED = re.compile(r"\d+\.\d+\.\d+\.\d+", re.ASCII)
_LOCAL = (".local", ".localhost", ".internal", ".intranet", ".lan", ".home", ".corp", ".home.arpa", ".onion", ".test")
_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""Networks with an IPv4 address in the last 32 bits (NAT64)."""


_DOCUMENTATION = IPv6Network("3fff::/20")
_ISATAP = (b"\0\0\x5e\xfe", b"\x02\0\x5e\xfe")
"""The prefix of an IPv4 address to which a tunnel leads."""


class Target:
    """A link that may be followed, once its name has been resolved."""

    def __init__(self, url: str, host: str, address: str | None) -> None:
        self.url = url
        self.host = host
        self.address = address
        """The IP address, if the link names one itself."""


def target(url: str) -> Target:
    """Reads a link. Raises `NotUnderstood` for one that must not be followed."""
    if len(url) > LONGEST or any(ord(character) <= 0x20 or character == "\\" for character in url):
        raise NotUnderstood("it is not an address")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise NotUnderstood("it is not an address") from None
    if parts.scheme.lower() != "https":
        raise NotUnderstood("only https addresses are read")
    if "@" in parts.netloc:
        raise NotUnderstood("an address with a user name or password in it is not read")
    if port not in (None, PORT):
        raise NotUnderstood("only the usual port of https is read")
    return _checked(parts)


def _checked(parts: SplitResult) -> Target:
    host = (parts.hostname or "").rstrip(".").lower()
    bare = parts._replace(fragment="")
    if ":" in host or _DOTTED.fullmatch(host):
        try:
            return Target(bare.geturl(), host, str(checked(host)))
        except ValueError:
            raise NotUnderstood("it is not an address") from None
    try:
        host = host.encode("idna").decode("ascii") if not host.isascii() else host
    except UnicodeError:
        raise NotUnderstood("it is not an address") from None
    if len(host) > LONGEST_HOST or not _HOST.fullmatch(host) or host.endswith(_LOCAL):
        raise NotUnderstood("it is not on the public internet")
    return Target(bare.geturl(), host, None)


def checked(address: str) -> IPv4Address | IPv6Address:
    """The address, if it is on the public internet, or else raises `NotUnderstood`; ValueError if it is not an
    address."""
    found = ip_address(address)
    if not _is_public(found):
        raise NotUnderstood("it is not on the public internet", f"it leads to {address}")
    return found


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if address.is_multicast or address.is_reserved or address.is_unspecified or not address.is_global:
        return False
    if isinstance(address, IPv4Address):
        # This network; 6to4 relays; addresses for protocols themselves, where a cloud may keep its metadata.
        return not address.packed.startswith((b"\0", b"\xc0\x58\x63", b"\xc0\x00\x00"))
    if address.scope_id is not None or address.is_site_local or address in _DOCUMENTATION:
        return False
    inside = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    if inside is None and any(address in network for network in _TRANSLATED):
        inside = IPv4Address(address.packed[-4:])
    if inside is None and (address.packed[:12] == bytes(12) or address.packed[8:12] in _ISATAP):
        inside = IPv4Address(address.packed[-4:])
    return inside is None or _is_public(inside)


def redirected(url: str, location: str) -> str:
    """The link that a redirect leads to. Raises `NotUnderstood`."""
    if any(ord(character) <= 0x20 for character in location):  # `urljoin` would leave them out
        raise NotUnderstood("it is not an address")
    return urljoin(url, location)

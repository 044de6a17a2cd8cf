"""Where a request comes from: the address at the other end, or the one that a trusted proxy has passed on."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

UNKNOWN = "unknown"


class Addresses:
    """`proxies`: addresses or networks whose `X-Forwarded-For` is believed."""

    def __init__(self, proxies: Iterable[str] = ()) -> None:
        self._proxies: tuple[IPv4Network | IPv6Network, ...] = tuple(ip_network(each, strict=False) for each in proxies)

    def is_proxy(self, address: str) -> bool:
        try:
            plain = _plain(address)
            return any(plain in network for network in self._proxies)
        except ValueError:
            return False

    def of(self, scope: Scope) -> str:
        """One machine, as it is counted."""
        client = scope.get("client")
        address = client[0] if client else UNKNOWN
        if self.is_proxy(address):
            passed = [
                each.strip() for line in Headers(scope=scope).getlist("x-forwarded-for") for each in line.split(",")
            ]
            # The last ones were written by our own proxies; what stands before them, anybody can write.
            address = next((each for each in reversed(passed) if not self.is_proxy(each)), address)
        return counted(address)


def counted(address: str) -> str:
    """Whoever has an IPv6 address has 2**64 of them: they count as one."""
    try:
        plain = _plain(address)
    except ValueError:
        return UNKNOWN
    return str(IPv6Network((int(plain) >> 64 << 64, 64))) if isinstance(plain, IPv6Address) else str(plain)


def _plain(address: str) -> IPv4Address | IPv6Address:
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    elif address.count(":") == 1:  # some proxies pass the port on, too
        address = address.partition(":")[0]
    found = ip_address(address.partition("%")[0])
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found

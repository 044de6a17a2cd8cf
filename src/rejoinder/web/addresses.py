"""The address that a request comes from: the one at the other end, or the one that a trusted proxy has passed on."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

from rejoinder.addresses import UNKNOWN, counted, parsed


class Addresses:
    """`proxies`: addresses or networks whose `X-Forwarded-For` is believed."""

    def __init__(self, proxies: Iterable[str] = ()) -> None:
        self._proxies: tuple[IPv4Network | IPv6Network, ...] = tuple(ip_network(each, strict=False) for each in proxies)

    def is_proxy(self, address: str) -> bool:
        try:
            plain = parsed(address)
            return any(plain in network for network in self._proxies)
        except ValueError:
            return False

    def of(self, scope: Scope) -> str:
        """The part of an address that counts as one machine."""
        client = scope.get("client")
        address = client[0] if client else UNKNOWN
        if self.is_proxy(address):
            passed = [
                each.strip() for line in Headers(scope=scope).getlist("x-forwarded-for") for each in line.split(",")
            ]
            # Our own proxies wrote the last entries; anybody can write those before them.
            address = next((each for each in reversed(passed) if not self.is_proxy(each)), address)
        return counted(address)

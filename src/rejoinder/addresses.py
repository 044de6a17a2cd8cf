"""Normalises addresses of other machines, so that all addresses of one network count as one."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

UNKNOWN = "unknown"


def counted(address: str) -> str:
    """A machine with an IPv6 address usually has a whole network of 2**64: the network counts as one address."""
    try:
        plain = parsed(address)
    except ValueError:
        return UNKNOWN
    return str(IPv6Network((int(plain) >> 64 << 64, 64))) if isinstance(plain, IPv6Address) else str(plain)


def is_this_machine(address: str) -> bool:
    try:
        return parsed(address).is_loopback
    except ValueError:
        return False


def parsed(address: str) -> IPv4Address | IPv6Address:
    """Raises ValueError if it is not an address."""
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    elif address.count(":") == 1:  # some proxies pass the port on, too
        address = address.partition(":")[0]
    found = ip_address(address.partition("%")[0])
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found

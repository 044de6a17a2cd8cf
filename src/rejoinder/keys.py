"""Types of value that many configuration keys share."""

from typing import Annotated, Literal

from msgspec import Meta

from rejoinder.durations import INTERVAL

Text = Annotated[str, Meta(min_length=1)]
Milliseconds = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=1)]
_NAMED = r"^https?://([^/?#]*@)?(?![^/?#]*@)(?!\.)(?![^/?#]*\.\.)(?![^/?#]*[^/?#.:\[\]]{64})[^/?#]"
"""Each label of a host name has 1 to 63 characters; any other length would fail deep in the resolver."""
Url = Annotated[
    str,
    Meta(pattern=_NAMED, extra={"expected": "an address that begins with http:// or https:// and a valid host"}),
]
Interval = Annotated[str, Meta(pattern=INTERVAL, extra={"expected": 'a length of time such as "30m" or "1h30m"'})]
Port = Annotated[int, Meta(ge=0, le=65535)]

Network = Annotated[
    str,
    Meta(
        pattern=r"^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$",
        extra={"expected": 'an address or a network such as "10.0.0.2" or "10.0.0.0/8"'},
    ),
]

DirectAccess = Literal["pairing", "allowlist", "open", "off"]
GroupAccess = Literal["allowlist", "open", "off"]
ThinkLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh"]

"""Warms up with replies that are never sent, so that everything a first reply loads or compiles is ready for the real
ones.

Rule 1: rehearsing is optional. A reply that comes before it is read and rendered in the same way, only slower.
Rule 2: emoji are left out, because only a gateway that sees a reaction should pay for their table of 8 MB.
"""

from collections.abc import Iterable
from typing import Final

from rejoinder.outbound.reading import read_reply
from rejoinder.rendering import RenderOptions, messages

PROSE: Final = "Good morning, everything is fine – so far.\n\nNothing else is new."
"""A typical reply. Its dash is not ASCII, because for such text some platforms count with a codec that has to be
loaded."""

MARKUP: Final = """\
[[reply_to_current]]
# Everything

- **bold**, *italic*, ~~gone~~, ``code ` \\<actions>`` and [a link](https://example.org)

| a | b |
|---|---|
| 1 | 2 |

```python
print("<actions>")
```

<actions><react emoji="none"/> ``code ` <b>`` </actions>
"""
"""A reply with every kind of mark, and a tag outside and inside a block, outside and inside code."""


def rehearse(reply: str, render_options: Iterable[RenderOptions]) -> None:
    """Reads a reply and renders it for each of these platforms."""
    text = read_reply(reply).text
    for options in render_options:
        messages(text, options)

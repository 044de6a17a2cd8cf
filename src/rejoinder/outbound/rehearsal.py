"""Warm-up with replies that are never sent: what the first reply of a kind loads or compiles is ready for the next.

Rule 1: nothing has to be rehearsed. A reply that comes before the rehearsal is read and rendered the same, only slower.
Rule 2: emoji are left out: only a gateway that sees a reaction should pay for their table of 8 MB.
"""

from collections.abc import Iterable
from typing import Final

from rejoinder.outbound.reading import read_reply
from rejoinder.rendering import RenderOptions, messages

PROSE: Final = "Good morning, everything is fine – so far.\n\nNothing else is new."
"""What most replies look like. Its dash is not ASCII: some platforms count that by a codec, which has to be loaded."""

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
"""Every kind of mark; and a tag outside and inside a block, outside and inside code."""


def rehearse(reply: str, render_options: Iterable[RenderOptions]) -> None:
    """Reads a reply and renders it for each of these platforms."""
    text = read_reply(reply).text
    for options in render_options:
        messages(text, options)

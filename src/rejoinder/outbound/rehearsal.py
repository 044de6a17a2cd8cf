"""Replies that nobody hears: what is loaded, compiled or built for the first of a kind is there for the next.

Rule 1: nothing has to be rehearsed. A reply that comes before it is read and rendered the same, only later.
Rule 2: emoji are left out: their table is 8 MB, which a gateway pays for that sees a reaction.
"""

from collections.abc import Iterable
from typing import Final

from rejoinder.outbound.plan import Manner
from rejoinder.outbound.reading import read_reply
from rejoinder.outbound.render import messages

PROSE: Final = "Good morning, all is well.\n\nNothing else is new."
"""As most replies are."""

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
"""Every kind of mark, and a tag outside and inside a block, outside and inside of code."""


def rehearse(reply: str, manners: Iterable[Manner]) -> None:
    """Reads a reply and renders it for each of these platforms."""
    text = read_reply(reply).text
    for manner in manners:
        messages(text, manner.platform, manner.limit, manner.unit, manner.tables)

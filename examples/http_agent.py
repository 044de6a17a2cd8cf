"""An agent behind a URL, whole: it streams its answer as JSON lines.

    python examples/http_agent.py 9100

and in rejoinder.toml:

    [agents.mine]
    kind = "http"
    url = "http://127.0.0.1:9100/turn"
"""

import asyncio
import json
import re
import sys
from typing import Any

from aiohttp import web


def said_in(turn: dict[str, Any]) -> str:
    """What people said. The other texts are blocks of the gateway's, about who said it: all of them end with the word
    that stands in the turn's very first tag, and nobody else knows it."""
    texts = [part["text"] for part in turn["parts"] if part["type"] == "text"]
    first = re.match(r"<\w+(-\w+>)\n", texts[0]) if texts else None
    return "\n".join(text for text in texts if first is None or not text.endswith(first[1]))


async def answer(request: web.Request) -> web.StreamResponse:
    said = said_in(await request.json())
    response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
    await response.prepare(request)

    async def tell(**event: object) -> None:
        await response.write(json.dumps(event).encode() + b"\n")

    await tell(type="tool_started", id="1", title="counting the words")
    words = said.split()
    await asyncio.sleep(0)  # your work goes here
    await tell(type="tool_ended", id="1", ok=True, output=str(len(words)))
    await tell(type="text", text=f"You said {len(words)} words, ")
    await tell(type="text", text=f"and the last was {words[-1]}." if words else "so I have nothing to say.")
    await tell(type="done")
    return response


def make_app() -> web.Application:
    app = web.Application()
    app.router.add_post("/turn", answer)
    return app


if __name__ == "__main__":
    web.run_app(make_app(), host="127.0.0.1", port=int(sys.argv[1]) if len(sys.argv) > 1 else 9100)

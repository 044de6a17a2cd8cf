"""A chat platform and a model without latency, in a process of their own, with a stopwatch.

`python -m bench.platform CHATS ROUNDS` prints its address, lets each chat ask its next question when the last
one is answered, and prints the times of every message as JSON when all are.
"""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable
from time import perf_counter

import msgspec
from aiohttp import web

ANSWER = ("Here is ", "what you ", "asked for.")


def answer(_: str) -> str:
    """An agent without a prompt: what grows with it grows in the gateway."""
    return "".join(ANSWER)


async def stream_answer(request: web.Request, said: Callable[[], None] = lambda: None) -> web.StreamResponse:
    """The model: says the same at once, whatever it is asked."""
    await request.read()
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for piece in ANSWER:
        said()
        chunk = {"id": "1", "model": "any", "choices": [{"index": 0, "delta": {"content": piece}}]}
        await response.write(b"data: " + msgspec.json.encode(chunk) + b"\n\n")
    stop = {"id": "1", "model": "any", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    await response.write(b"data: " + msgspec.json.encode(stop) + b"\n\ndata: [DONE]\n\n")
    return response


class Platform:
    def __init__(self, chats: int, rounds: int) -> None:
        self._rounds = rounds
        self._open = chats
        self._asked: dict[str, int] = defaultdict(int)
        self._updates: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self._times: dict[str, dict[str, float]] = {}
        self._began = 0.0
        self.over = asyncio.Event()
        for chat in range(chats):
            self._ask(f"chat-{chat}")

    def _ask(self, chat: str) -> None:
        if self._asked[chat] == self._rounds:
            self._open -= 1
            if not self._open:
                self.took = perf_counter() - self._began
                self.over.set()
            return
        self._asked[chat] += 1
        self._updates.put_nowait({"chat": chat, "id": f"{chat}/{self._asked[chat]}", "text": f"[{chat}] and now?"})

    def _mark(self, chat: str, what: str) -> None:
        self._times.setdefault(f"{chat}/{self._asked[chat]}", {})[what] = perf_counter()

    async def updates(self, _: web.Request) -> web.Response:
        """A long poll: what there is, as soon as there is something."""
        waiting = [asyncio.ensure_future(self._updates.get()), asyncio.ensure_future(self.over.wait())]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if self.over.is_set():
            waiting[0].cancel()
            return web.Response(body=b"null")
        waiting[1].cancel()
        found = [waiting[0].result()]
        while not self._updates.empty():
            found.append(self._updates.get_nowait())
        self._began = self._began or perf_counter()
        for update in found:
            self._mark(update["chat"], "accepted")
        return web.Response(body=msgspec.json.encode(found))

    async def model(self, request: web.Request) -> web.StreamResponse:
        body = msgspec.json.decode(await request.read())
        last = body["messages"][-1]["content"]
        text = last if isinstance(last, str) else " ".join(part.get("text", "") for part in last)
        chat = text[text.rindex("[chat-") + 1 : text.rindex("]")]
        self._mark(chat, "asked")
        return await stream_answer(request, lambda: self._mark(chat, "said"))

    async def send(self, request: web.Request) -> web.Response:
        said = msgspec.json.decode(await request.read())
        assert said["text"].strip() == "".join(ANSWER), said
        self._mark(said["chat"], "sent")
        number = self._asked[said["chat"]]
        self._ask(said["chat"])
        return web.Response(body=msgspec.json.encode({"id": f"{said['chat']}/sent-{number}"}))

    def report(self) -> dict[str, object]:
        times = list(self._times.values())
        return {
            "to_model": [each["asked"] - each["accepted"] for each in times],
            "to_channel": [each["sent"] - each["said"] for each in times],
            "per_second": len(times) / self.took,
        }


async def _serve(chats: int, rounds: int) -> None:
    platform = Platform(chats, rounds)
    app = web.Application()
    app.add_routes([web.get("/updates", platform.updates), web.post("/send", platform.send)])
    app.add_routes([web.post("/v1/chat/completions", platform.model)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await platform.over.wait()
    await asyncio.sleep(0.1)  # the last answers are on their way
    print(msgspec.json.encode(platform.report()).decode(), flush=True)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2])))

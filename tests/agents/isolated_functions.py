"""Functions for isolated agents: tests/agents/test_python_process.py asks them."""

import asyncio
import ctypes
import os
import sys
import threading
import time

from rejoinder.agents.base import ToolEnded, ToolStarted

seen = []  # kept for all sessions, as in the gateway


def talking(text: str) -> str:
    print("this is not the protocol")
    return f"You said {text}"


def counting(text: str) -> str:
    seen.append(text)
    return str(len(seen))


async def streaming(text: str):
    for word in text.split():
        await asyncio.sleep(0)
        yield f"{word} "


async def halves(text: str):
    yield "\ud83d"
    yield "\ude00"


def using_tools(text: str):
    yield ToolStarted("1", "thinking")
    yield ToolEnded("1", True, "o" * 1_000_000)
    yield "Done."


def huge(text: str) -> str:
    return "x" * 20_000_000


def raising(text: str) -> str:
    raise LookupError("no such thing")


def interrupting(text: str) -> str:
    raise KeyboardInterrupt


def exiting(text: str) -> str:
    sys.exit(3)


def leaving(text: str) -> str:
    print("good bye", file=sys.stderr, flush=True)
    os._exit(3)


def segfaulting(text: str) -> str:
    return ctypes.string_at(0).decode()


async def tasks_that_exit(text: str) -> str:
    async def inner() -> None:
        sys.exit(3)

    await asyncio.create_task(inner())
    return "never said"


async def slow(text: str):
    yield "Let me see"
    await asyncio.Event().wait()


def slow_in_a_thread(text: str):
    yield "Let me see"
    threading.Event().wait()


async def busy(text: str):
    """Says something once, and then lets nobody else in its process run."""
    yield "Let me see"
    if text != "calm":
        threading.Event().wait()
    yield "."


def steered(text: str, further):
    yield "Let me see. "
    while not (more := further.take()):
        time.sleep(0.01)
    yield f"And {len(more)} more."


def environment(text: str) -> str:
    return " ".join(sorted(name for name in os.environ if name.startswith("ISOLATED_")))


def wrong(turn, other) -> str:
    return ""

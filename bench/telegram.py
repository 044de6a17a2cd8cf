"""The whole gateway as it is run: `rejoinder run` with its store on the disk, serving Telegram, beside a durable relay
(bench/durable_relay.py) and a bare one (bench/bots.py)."""

from statistics import median

from bench.beside_relays import Beside
from bench.served import Served

GROWTH = 1.25
"""How much slower the last messages of a long chat may be, with an agent that has no prompt to grow."""
LONG, LONGS = 2000, 5
"""How long the chat is, and how often it is held: a busy moment of the machine meets its beginning or its end."""


def run() -> None:
    beside = Beside(Served("telegram", ("bare", "durable", "gateway")), sessions=50, each=20)
    beside.measure(rate_bar=True)
    growth = median(beside.served.measure("gateway", 1, LONG, "plain").growth for _ in range(LONGS))
    beside.add_own(f"p50 of the last of {LONG} messages over the first", growth, GROWTH)
    beside.show("`rejoinder run` on Telegram, every step on the disk", ("bare relay", "durable relay"))

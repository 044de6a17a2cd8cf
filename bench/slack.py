"""`rejoinder run` on Slack by Socket Mode beside two bots of slack-bolt (bench/bolt.py): one acknowledges a message
before it has done anything, one loses nothing."""

from bench.beside_relays import Beside
from bench.served import Served


def run() -> None:
    beside = Beside(Served("slack", ("bolt", "durable-bolt", "gateway")), sessions=20, each=10)
    beside.measure(rate_bar=False)
    title = "`rejoinder run` on Slack by Socket Mode, every step on the disk"
    beside.show(title, ("slack-bolt", "slack-bolt, durable"))

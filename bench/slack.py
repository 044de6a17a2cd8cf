"""`rejoinder run` on Slack by Socket Mode, and a bare bot of slack-bolt: the same fake Slack, the same model, each in a
process of its own, in turns. The bare bot keeps nothing: it acknowledges a message before it has done anything."""

from bench.beside_bare import compare
from bench.served import Served


def run() -> None:
    title = "`rejoinder run` on Slack by Socket Mode, every step on the disk"
    compare(Served("slack", ("bolt", "gateway")), title, "bare slack-bolt")

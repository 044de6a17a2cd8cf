"""`rejoinder run` on Discord beside two bots of discord.py (bench/discord_bot.py): one written as such bots are, which
keeps nothing, and one that loses nothing."""

from bench.beside_relays import Beside
from bench.served import Served


def run() -> None:
    beside = Beside(Served("discord", ("discord", "durable-discord", "gateway")), sessions=20, each=10)
    beside.measure(rate_bar=False)
    beside.show("`rejoinder run` on Discord, every step on the disk", ("discord.py", "discord.py, durable"))

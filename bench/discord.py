"""`rejoinder run` on Discord beside a bare bot of discord.py (bench/discord_bot.py), written as such bots are: it keeps
nothing."""

from bench.beside_bare import compare
from bench.served import Served


def run() -> None:
    compare(
        Served("discord", ("discord", "gateway")), "`rejoinder run` on Discord, every step on the disk", "discord.py"
    )

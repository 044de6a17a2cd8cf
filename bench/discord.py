"""`rejoinder run` on Discord, and a bare bot of discord.py (bench/discord_bot.py), written as people write such bots: it
keeps nothing."""

from bench.beside_bare import compare
from bench.served import Served


def run() -> None:
    compare(
        Served("discord", ("discord", "gateway")), "`rejoinder run` on Discord, every step on the disk", "discord.py"
    )

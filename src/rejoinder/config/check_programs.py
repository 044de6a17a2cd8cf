"""Checks of `[api.tokens.*]` and `[hooks.*]` that need more than one key."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from rejoinder.config.positions import Path
from rejoinder.config.programs import SHORTEST_SECRET
from rejoinder.config.schema import Settings
from rejoinder.config.wording import did_you_mean, listed, shown
from rejoinder.inbound.ids import split
from rejoinder.secret import Secret


def check_programs(settings: Settings, agents: frozenset[str], channels: frozenset[str]) -> Iterator[tuple[Path, str]]:
    """`channels`: the configured ones."""
    owners: dict[str, str] = {}
    for name, program in settings.api.tokens.items():
        here: Path = ("api", "tokens", name)
        yield from _long_enough((*here, "token"), program.token)
        other = owners.setdefault(program.token.reveal(), name)
        if other != name:
            yield (*here, "token"), f"this is the token of {shown(other)} too; give each program its own"
        for index, chat in enumerate(program.chats):
            yield from _chat((*here, "chats", index), chat, channels)
        for index, agent in enumerate(program.agents):
            if agent not in agents:
                there = did_you_mean(agent, agents, f"there are: {listed(sorted(agents))}")
                yield (*here, "agents", index), f"there is no agent {shown(agent)}; {there}"
    for name, hook in settings.hooks.items():
        yield from _long_enough(("hooks", name, "secret"), hook.secret)
        yield from _address(("hooks", name, "url"), hook.url)


def _long_enough(path: Path, secret: Secret) -> Iterator[tuple[Path, str]]:
    if len(secret.reveal()) < SHORTEST_SECRET:
        advice = "`openssl rand -hex 24` makes a good one"
        yield path, f"this is too easy to guess; use at least {SHORTEST_SECRET} characters ({advice})"


def _chat(path: Path, chat: str, channels: frozenset[str]) -> Iterator[tuple[Path, str]]:
    entry = split(chat)
    if entry.channel is None or not entry.id:
        yield path, f'{shown(chat)} names no chat; write channel:chat, such as "web:lobby"'
    elif entry.channel not in channels:
        there = did_you_mean(entry.channel, channels, f"there are: {listed(sorted(channels))}")
        yield path, f"there is no channel {shown(entry.channel)}; {there}"


def _address(path: Path, url: str) -> Iterator[tuple[Path, str]]:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises when it is none
    except ValueError as wrong:
        yield path, f"this is not an address: {wrong}"
        return
    if not parts.hostname or any(letter.isspace() or not letter.isprintable() for letter in url):
        yield path, "this is not an address; it has no host, or contains spaces"
    elif parts.username is not None or parts.password is not None:
        yield path, "a name and password in an address end up in logs; the signature tells who asks"
    elif parts.fragment:
        yield path, "what follows # is never sent; take it out"

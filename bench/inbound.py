"""Decisions a second on the inbound floor: plain text, a directive, a command, and long allow-lists."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec.structs import replace

from rejoinder.events import Chat, Inbound, Sender
from rejoinder.inbound import decide
from rejoinder.inbound.dry_run import CHANNEL, rehearsal_rules, rehearse
from rejoinder.inbound.facts import Facts, Me
from rejoinder.inbound.message import Message
from rejoinder.inbound.outcome import Walk
from rejoinder.inbound.rules import Rules, make_rules
from rejoinder.session import Session

PLAIN = "Could you look at the report again? The numbers for March seem to be off by one day."
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
BAR_MICROSECONDS = 60
BAR_RATIO = 1.5


def with_entries(rules: Rules, count: int) -> Rules:
    """The same rules with so many people on every list."""
    people = tuple(f"person-{number}" for number in range(count - 1))
    channel = rules.settings.channels[CHANNEL]
    longer = replace(channel, allow=(*people, "sender"), owners=(*people, "owner"))
    return make_rules(replace(rules.settings, channels={CHANNEL: longer}), rules.agents.values())


def decider(rules: Rules, text: str, sender: str = "sender") -> Callable[[], Walk]:
    """One decision, with nothing in it that is not part of one."""
    inbound = Inbound(CHANNEL, "1", "1", Chat(sender), Sender(sender), text)
    facts = Facts(Me("bot-id", "bot"))
    session = Session(key="key", agent="agent", started=NOW, touched=NOW)

    def find_session(message: Message) -> Session:
        return session

    return lambda: decide(inbound, facts, find_session, rules, NOW, time.perf_counter)


def microseconds(run: Callable[[], object], rounds: int = 2000, repeats: int = 7) -> float:
    """The best of several rounds: what the work costs when nothing else disturbs it."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(rounds):
            run()
        best = min(best, time.perf_counter() - start)
    return best / rounds * 1e6


def run() -> None:
    """Prints the table, and whether the bars are held."""
    rules = rehearsal_rules()
    ten, thousand = with_entries(rules, 10), with_entries(rules, 1000)
    rows = [
        ("plain text", microseconds(decider(rules, PLAIN))),
        ("a directive in a text", microseconds(decider(rules, f"/think high {PLAIN}"))),
        ("a directive alone", microseconds(decider(rules, "/think high"))),
        ("a command", microseconds(decider(rules, "/whoami"))),
        ("10 allow-list entries", microseconds(decider(ten, PLAIN))),
        ("1000 allow-list entries", microseconds(decider(thousand, PLAIN))),
    ]
    million = "word /t and `code` " * 55_000
    started = time.perf_counter()
    rehearse(million, "owner", "direct", rules, NOW, time.perf_counter)
    rows.append(("a million characters", (time.perf_counter() - started) * 1e6))
    print(f"{'inbound decision':<28}{'µs':>12}{'per second':>14}")
    for name, cost in rows:
        print(f"{name:<28}{cost:>12.1f}{1e6 / cost:>14,.0f}")
    plain, ratio = rows[0][1], rows[5][1] / rows[4][1]
    print(f"plain text under {BAR_MICROSECONDS} µs: {'yes' if plain < BAR_MICROSECONDS else 'NO'}")
    held = "yes" if ratio <= BAR_RATIO else "NO"
    print(f"1000 entries cost {ratio:.2f} times 10 entries (bar {BAR_RATIO}): {held}")


if __name__ == "__main__":
    run()

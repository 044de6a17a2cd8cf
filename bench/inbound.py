"""What a decision of the inbound floor costs: plain text, a directive, a command, and long allow-lists."""

from collections.abc import Callable
from datetime import UTC, datetime
from time import perf_counter

from msgspec.structs import replace

from bench.timing import Bars, duration, measure_at_most, measure_together, print_table
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.inbound import decide
from rejoinder.inbound.dry_run import CHANNEL, rehearsal_rules
from rejoinder.inbound.facts import Facts, OwnIdentity
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import StageResult
from rejoinder.inbound.rules import Rules, make_rules
from rejoinder.session import Session

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
PLAIN = "Could you look at the report again? The numbers for March seem to be off by one day."
PLAIN_BAR = 60e-6
ENTRIES_BAR = 1.5
MILLION_BAR = 5.0


def with_entries(rules: Rules, count: int) -> Rules:
    """The same rules with so many people on every list, the sender last."""
    people = tuple(f"person-{number}" for number in range(count - 1))
    channel = rules.settings.channels[CHANNEL]
    longer = replace(channel, allow=(*people, "sender"), owners=(*people, "owner"))
    listed = replace(rules.settings.commands, allow_from={CHANNEL: (*people, "sender")})
    settings = replace(rules.settings, channels={CHANNEL: longer}, commands=listed)
    return make_rules(settings, rules.agents.values())


def decider(rules: Rules, text: str) -> Callable[[], StageResult]:
    """One decision, with nothing in it that is not part of one."""
    inbound = Inbound(CHANNEL, "1", "1", Chat("sender"), Sender("sender"), text)
    facts = Facts(OwnIdentity("bot-id", "bot"))
    session = Session(key="key", agent="agent", started=NOW, touched=NOW)

    def find_session(message: InboundMessage) -> Session:
        return session

    return lambda: decide(inbound, facts, find_session, rules, NOW, perf_counter)


def run() -> None:
    rules, bars = rehearsal_rules(), Bars()
    decisions = {
        "plain text": decider(rules, PLAIN),
        "a directive in a text": decider(rules, f"{PLAIN} /think high"),
        "a directive alone": decider(rules, "/think high"),
        "a command": decider(rules, "/whoami"),
        "plain text, 10 allow-list entries": decider(with_entries(rules, 10), PLAIN),
        "plain text, 1000 allow-list entries": decider(with_entries(rules, 1000), PLAIN),
    }
    costs = dict(zip(decisions, (timing.best for timing in measure_together([*decisions.values()])), strict=True))
    rows = [[name, duration(cost), f"{1 / cost:,.0f}"] for name, cost in costs.items()]
    million = measure_at_most(4 * MILLION_BAR, decider(rules, "look at /t and `code` " * 50_000))
    rows.append(["a million characters", duration(million) if million else f"over {4 * MILLION_BAR:.0f} s", ""])
    print_table("Inbound decisions", ["message", "takes", "per second"], rows)

    ten, thousand = costs["plain text, 10 allow-list entries"], costs["plain text, 1000 allow-list entries"]
    ratio = thousand / ten
    plain = bars.verdict("plain text", (costs["plain text"], PLAIN_BAR))
    print(f"  plain text under {duration(PLAIN_BAR)}: {plain}")
    entries = bars.verdict("1000 allow-list entries", (ratio, ENTRIES_BAR))
    print(f"  1000 entries cost {ratio:.2f} times 10 (at most {ENTRIES_BAR}): {entries}")
    linear = bars.verdict("a million characters", (million or float("inf"), MILLION_BAR))
    print(f"  a million characters under {MILLION_BAR:.0f} s: {linear}")
    bars.settle()

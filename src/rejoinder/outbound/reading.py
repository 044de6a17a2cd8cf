"""Reads a whole reply at once: `read_reply`, and the `Reading` it returns."""

from msgspec import Struct

from rejoinder.events import Directive, Problem, ReplyEvent, Silent, Text
from rejoinder.outbound.directives import default_registry
from rejoinder.outbound.directives.declaration import Registry
from rejoinder.outbound.reader import ReplyReader
from rejoinder.outbound.silence import SilenceMode


class Reading(Struct, frozen=True):
    """What a whole reply says. If a header key has several values, only the last valid one is reported (OD-17)."""

    text: str
    silent: bool
    directives: tuple[Directive, ...]
    problems: tuple[Problem, ...]

    @staticmethod
    def of(events: list[ReplyEvent], registry: Registry | None = None) -> "Reading":
        silent = any(isinstance(event, Silent) for event in events)
        return Reading(
            text="" if silent else "".join(event.text for event in events if isinstance(event, Text)),
            silent=silent,
            directives=_effective([event for event in events if isinstance(event, Directive)], registry),
            problems=tuple(event for event in events if isinstance(event, Problem)),
        )


def _effective(written: list[Directive], registry: Registry | None) -> tuple[Directive, ...]:
    """Drops header values that later ones overrule, and all but the last `reply_to`, which can have only one target."""
    shaping = (registry or default_registry()).shaping
    last = {directive.name: index for index, directive in enumerate(written)}

    def counts(index: int, directive: Directive) -> bool:
        if directive.name not in shaping or index == last[directive.name]:
            return True
        return directive.name != "reply_to" and directive == written[last[directive.name]]

    return tuple(directive for index, directive in enumerate(written) if counts(index, directive))


def read_reply(
    *segments: str,
    registry: Registry | None = None,
    silence: SilenceMode = "edges",
    has_trigger: bool = True,
    heartbeat: bool = False,
    ack_max_chars: int = 300,
) -> Reading:
    """Read a whole reply: one text, or the texts between an agent's tool calls."""
    reader = ReplyReader(
        registry=registry,
        silence=silence,
        has_trigger=has_trigger,
        heartbeat=heartbeat,
        ack_max_chars=ack_max_chars,
    )
    events: list[ReplyEvent] = []
    for index, segment in enumerate(segments):
        if index:
            events += reader.next_segment()
        events += reader.feed(segment)
    events += reader.finish()
    return Reading.of(events, registry)

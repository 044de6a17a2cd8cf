"""Which parts nobody could be sure of (DU-3), by what really happened to them: those that were being sent when the
lease on their shard was lost. How long a trouble was meant to last does not matter: on a busy machine it lasts
longer.

The database itself notes each step of each part, with the generation that its shard had then. A look now and then from
outside would miss what happens between two looks. It notes them with the commit: whoever takes a shard over finds what
was being sent before it gives the shard its new generation, in the same transaction.
"""

from collections.abc import Collection, Iterable

from msgspec import Struct

from rejoinder.cli.parts import ShownPart
from tests.cluster.several import Cluster

RENEWED_EVERY, ENDS_EARLIER, CONNECTS_AGAIN = 3.0, 2.0, 2.0
"""Seconds: between two renewals of a lease, by which it ends here before it does in the database (SC-3, SC-5), and
until a gateway is back at a server that is."""
NOTE = """
CREATE SCHEMA judge;
CREATE TABLE judge.step (id bigserial, part bigint, state text, generation bigint);
CREATE FUNCTION judge.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO judge.step (part, state, generation)
    SELECT NEW.id, NEW.state, shard.generation FROM public.shard WHERE shard.id = NEW.shard;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER judged AFTER INSERT OR UPDATE OF state ON public.part DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION judge.note();
"""


class Step(Struct, frozen=True):
    part: int
    state: str
    generation: int
    """That of its shard, when it came to this state."""


def begin_to_note(cluster: Cluster) -> None:
    cluster.rows(NOTE)


def noted(cluster: Cluster) -> list[Step]:
    rows = cluster.rows("SELECT part, state, generation FROM judge.step ORDER BY id")
    return [Step(int(str(part)), str(state), int(str(generation))) for part, state, generation in rows]


def in_doubt(steps: Iterable[Step]) -> set[int]:
    """The parts that were being sent by one owner, and found so by the next."""
    last: dict[int, Step] = {}
    found: set[int] = set()
    for step in steps:
        before = last.get(step.part)
        if before is not None and before.state == "sending" and step.generation > before.generation:
            found.add(step.part)
        last[step.part] = step
    return found


def held_wrongly(held: Iterable[ShownPart], doubted: Collection[int], *, blind: bool) -> list[str]:
    """`blind`: the platform cannot be asked what has arrived, and nothing is sent twice: those in doubt are held."""
    return [
        f"held though its owner knew what became of it: {part.text!r}"
        for part in held
        if not blind or part.id not in doubted
    ]


def lost_wrongly(doubted: Collection[int], away: float, lease: float) -> list[str]:
    """`away`: the seconds for which the database was really away. A lease outlives a short absence (SC-22)."""
    if doubted and away < lease - ENDS_EARLIER - RENEWED_EVERY - CONNECTS_AGAIN:
        return [f"leases of {lease:g} s were lost, with {len(doubted)} messages, while it was away for {away:.1f} s"]
    return []

"""Say nothing: `<no-reply/>`. The reader knows this tag by name: it is silence, not a operation (OD-40, OD-42)."""

from rejoinder.outbound.directives.declaration import Declaration, Tag

DIRECTIVE = Declaration(
    name="no_reply",
    help="as the whole answer: nothing is sent, actions still run",
    tag=Tag(name="no-reply"),
)

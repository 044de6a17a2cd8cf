"""Link previews: `[[suppress_embeds:true]]`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, Key, boolean

DIRECTIVE = Declaration(
    name="suppress_embeds",
    help="hides (`true`) or allows (`false`) link previews",
    key=Key(name="suppress_embeds", argument=Argument("on", boolean), shown="`true` or `false`"),
    ability="previews",
    shapes_reply=True,
)

"""What the agent is told about directives, made from their declarations and the platform's abilities (OD-54)."""

from collections.abc import Collection

from rejoinder.outbound.directives.declaration import Declaration, Registry, Tag

HOW = """\
Besides your text you may use directives; people never see them.
- To reply to a certain message put `[[reply_to:<handle or id>]]` alone on the first line. Take the handle or id \
from the sender_context of a message, never invent one.
- Actions stand in one block, best before the text: `<actions>...</actions>`.
- No header in mid-message; never begin with `[[` or `<actions>` otherwise. To show a directive as text, put it \
in code.
What there is here:"""


def abilities_notice(registry: Registry, can: Collection[str], granted: Collection[str]) -> str:
    """Describes only what works here, because an agent that knew of more would try it."""
    lines = [
        f"- {_written(declared)}: {declared.help}"
        for declared in registry.declarations
        if (declared.ability is None or declared.ability in can) and (not declared.granted or declared.name in granted)
    ]
    return "\n".join([HOW, *lines]) if lines else ""


def _written(declared: Declaration) -> str:
    forms: list[str] = []
    if declared.key is not None and not declared.key.instead_of_tag:
        flags = [f"`[[{flag}]]`" for flag in declared.key.flags]
        forms += flags if declared.name in declared.key.flags else [f"`[[{declared.key.name}:...]]`", *flags]
    if declared.tag is not None:
        forms.append(f"`{_tag(declared.tag)}`")
    return " or ".join(forms)


def _tag(tag: Tag) -> str:
    attributes = "".join(
        f' {argument.attribute}="..."' if argument.required else f' [{argument.attribute}="..."]'
        for argument in tag.arguments
    )
    if tag.body == "none":
        return f"<{tag.name}{attributes} />"
    return f"<actions><{tag.name}{attributes}>...</{tag.name}></actions>"  # outside a block it would be shown as text

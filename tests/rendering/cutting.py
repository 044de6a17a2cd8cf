"""How the tests look at what `rendering.chunk` cuts."""

from rejoinder.events import LengthUnit
from rejoinder.rendering.chunk import cut


def split(text: str, limit: int | None, unit: LengthUnit = "characters") -> list[str]:
    """The messages a text becomes, without how they were made."""
    return [chunk.text for chunk in cut(text, limit, unit)]

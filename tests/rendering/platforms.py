"""Rendering by the name of a platform: what its channel declares."""

from rejoinder import rendering
from rejoinder.config.kinds import channel_kind
from rejoinder.events import LengthUnit, Rendering, TableStyle
from rejoinder.rendering import RenderedMessage, Renderer, RenderOptions

RENDERED = ("telegram", "slack", "discord", "matrix", "whatsapp", "signal")
PLATFORMS = (*RENDERED, "terminal", "web")


def renderer(platform: str) -> Renderer:
    return channel_kind(platform).renderer


def render(source: str, platform: str, tables: TableStyle = "code") -> Rendering:
    return rendering.render(source, renderer(platform), tables)


def messages(
    text: str, platform: str, limit: int | None, unit: LengthUnit = "characters", tables: TableStyle = "code"
) -> list[RenderedMessage]:
    return rendering.messages(text, RenderOptions(renderer(platform), limit, unit, tables))

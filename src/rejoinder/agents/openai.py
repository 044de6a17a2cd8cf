"""Any endpoint that speaks chat completions: OpenAI, OpenRouter, Ollama, vLLM, llama.cpp and their kin."""

from rejoinder.agents.chat_completions import ChatAgent
from rejoinder.agents.model_agent import ModelSettings


class Settings(ModelSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[agents.NAME]` with `kind = "openai"`."""

    base_url: str = "https://api.openai.com/v1"


def open_agent(name: str, settings: Settings) -> ChatAgent:
    return ChatAgent(name, settings)

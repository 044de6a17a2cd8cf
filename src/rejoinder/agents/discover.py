"""Which agent answers when none was chosen: a program on PATH, else a key in the environment, else the tour.

Pure: the installed programs and the environment go in, the choice and a sentence about it come out.
"""

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct, structs

from rejoinder.agents.settings import AGENT_KINDS, AcpSettings, TourSettings
from rejoinder.secret import Secret

TO_CHOOSE = "To choose another, write an [agents.NAME] section into rejoinder.toml."


class Program(Struct, frozen=True):
    """An agent on PATH that speaks the Agent Client Protocol, and the variables it signs in with."""

    command: tuple[str, ...]
    title: str
    keys: tuple[str, ...] = ()


class Key(Struct, frozen=True):
    """A variable that holds a key, and the models it opens: the newest we know, then fallbacks for when it is gone.

    Providers retire a name within a year or two; where they have a name for the latest model, that one is used.
    """

    variable: str
    title: str
    kind: str
    models: tuple[str, ...]
    base_url: str


class Choice(Struct, frozen=True):
    """`name`, `kind` and `settings` as in an [agents.NAME] section; `sentence` is for the person who started us."""

    name: str
    kind: str
    settings: Struct
    sentence: str


# The first one installed is used. Agents that sign in by themselves come before those that need a key.
PROGRAMS: tuple[Program, ...] = (
    Program(("claude-agent-acp",), "Claude Code", ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "IS_SANDBOX")),
    Program(("claude-code-acp",), "Claude Code", ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "IS_SANDBOX")),
    Program(("codex-acp",), "Codex", ("OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME")),
    Program(("gemini", "--acp"), "Gemini CLI", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    Program(("opencode", "acp"), "OpenCode", ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")),
    Program(("qwen", "--acp"), "Qwen Code", ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL")),
    Program(("cursor-agent", "acp"), "Cursor", ("CURSOR_API_KEY",)),
    Program(("kimi", "acp"), "Kimi Code", ("KIMI_API_KEY",)),
    Program(("auggie", "--acp"), "Auggie", ("AUGMENT_SESSION_AUTH",)),
    Program(("vibe-acp",), "Mistral Vibe", ("MISTRAL_API_KEY",)),
    Program(("hermes-acp",), "Hermes", ("OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")),
    Program(("fast-agent-acp",), "fast-agent", ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")),
)

KEYS: tuple[Key, ...] = (
    Key("ANTHROPIC_API_KEY", "Anthropic", "anthropic", ("claude-sonnet-5", "claude-sonnet-4-6"),
        "https://api.anthropic.com"),
    Key("OPENAI_API_KEY", "OpenAI", "openai", ("gpt-6-luna", "gpt-5.6-luna", "gpt-5.4-mini"),
        "https://api.openai.com/v1"),
    Key("OPENROUTER_API_KEY", "OpenRouter", "openai", ("openrouter/auto",), "https://openrouter.ai/api/v1"),
    Key("GEMINI_API_KEY", "Google", "openai", ("gemini-flash-latest",),
        "https://generativelanguage.googleapis.com/v1beta/openai"),
    Key("MISTRAL_API_KEY", "Mistral", "openai", ("mistral-small-latest",), "https://api.mistral.ai/v1"),
    Key("DEEPSEEK_API_KEY", "DeepSeek", "openai", ("deepseek-v4-flash", "deepseek-chat"),
        "https://api.deepseek.com/v1"),
    Key("GROQ_API_KEY", "Groq", "openai", ("openai/gpt-oss-120b",), "https://api.groq.com/openai/v1"),
)  # fmt: skip


def discover(installed: Collection[str], environment: Mapping[str, str], *, to_get_acp: str = "") -> Choice:
    """`installed` are names of programs on PATH; `to_get_acp`: the command that brings the protocol, if missing."""
    program = next((program for program in PROGRAMS if program.command[0] in installed), None)
    if program is not None and not to_get_acp:
        return _with_program(program, environment)
    key = next((key for key in KEYS if environment.get(key.variable)), None)
    choice = _tour() if key is None else _with_key(key, environment)
    if program is None:
        return choice
    missing = f"{program.title} is on your PATH; to answer with it, run: {to_get_acp}"
    return structs.replace(choice, sentence=f"{choice.sentence} {missing}")


def _name(title: str) -> str:
    """What people call it in the chat."""
    return title.lower().replace(" ", "-")


def _with_program(program: Program, environment: Mapping[str, str]) -> Choice:
    because = f"because {program.command[0]} is on your PATH"
    settings = AcpSettings(command=program.command, pass_env=_keys_of(program, environment))
    return Choice(_name(program.title), "acp", settings, f"Answering with {program.title}, {because}. {TO_CHOOSE}")


def _keys_of(program: Program, environment: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in program.keys if environment.get(name))


def _with_key(key: Key, environment: Mapping[str, str]) -> Choice:
    base_url = environment.get(key.variable.replace("_API_KEY", "_BASE_URL")) or key.base_url
    because = f"because {key.variable} is in your environment"
    model, *fallbacks = key.models
    api_key = Secret(environment[key.variable], f"${{{key.variable}}}")
    settings = AGENT_KINDS[key.kind](base_url=base_url, model=model, fallbacks=tuple(fallbacks), api_key=api_key)
    return Choice(
        _name(key.title), key.kind, settings, f"Answering with {model} of {key.title}, {because}. {TO_CHOOSE}"
    )


def _tour() -> Choice:
    variables = " or ".join(key.variable for key in KEYS[:2])
    instead = f"Install an agent (for instance {PROGRAMS[0].command[0]}) or set {variables}."
    return Choice(
        "tour",
        "tour",
        TourSettings(),
        f"Answering with the built-in tour: no agent and no API key was found. {instead} {TO_CHOOSE}",
    )


# --- for a person who chooses ------------------------------------------------------------------------


class Offer(Struct, frozen=True):
    """An agent that a person may choose: what it is, and its section with API keys as `${VARIABLE}`."""

    title: str
    section: dict[str, Any]
    asks: tuple[str, ...] = ()
    """Fields of the section whose values only a person knows."""


def offers(installed: Collection[str], environment: Mapping[str, str], *, can_acp: bool = True) -> tuple[Offer, ...]:
    """What there is to choose from: first what works as it is, then what still needs a key or an address."""
    programs = [_offer_of_program(each, environment) for each in PROGRAMS if can_acp and each.command[0] in installed]
    ready = [_offer_of_key(each, "is set") for each in KEYS if environment.get(each.variable)]
    others = [_offer_of_key(each, "is not set yet") for each in KEYS[:2] if not environment.get(each.variable)]
    own = {"kind": "openai", "base_url": "http://127.0.0.1:11434/v1", "model": ""}
    endpoint = Offer(
        "an endpoint of your own that speaks chat completions: Ollama, vLLM ...", own, ("base_url", "model")
    )
    tour = Offer("tour, the built-in guide without a model", {"kind": "tour"})
    return (*programs, *ready, tour, *others, endpoint)


def _offer_of_program(program: Program, environment: Mapping[str, str]) -> Offer:
    section = {"kind": "acp", "command": [*program.command], "pass_env": [*_keys_of(program, environment)]}
    return Offer(f"{program.title} ({program.command[0]} is on your PATH)", section)


def _offer_of_key(key: Key, state: str) -> Offer:
    model = key.models[0]
    section = {"kind": key.kind, "base_url": key.base_url, "model": model, "api_key": f"${{{key.variable}}}"}
    return Offer(f"{model} of {key.title} ({key.variable} {state})", section, ("model",))

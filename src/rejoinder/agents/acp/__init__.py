"""Any agent that speaks the Agent Client Protocol on its pipes: Claude Code, Codex, Gemini, OpenCode, others."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from rejoinder.agents.acp.permissions import Policy
from rejoinder.agents.acp.servers import McpServer
from rejoinder.agents.declaration import AgentKind, Program
from rejoinder.agents.settings import ModelSettings
from rejoinder.errors import BadAgent, BadConfiguration
from rejoinder.keys import Seconds, Text
from rejoinder.secret import Secret

if TYPE_CHECKING:
    from rejoinder.agents.acp.agent import AcpAgent


class Settings(ModelSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Any program that speaks the Agent Client Protocol on its standard input and output."""

    command: Annotated[tuple[Text, ...], Meta(min_length=1, examples=[["claude-agent-acp"]])]
    """The program and its arguments."""
    cwd: Text = "."
    """The folder it works in; `~` is the home folder."""
    model: Text | None = None
    """The model it starts with; unset: what the agent itself chooses."""
    env: dict[str, Secret] = {}
    """Environment variables to set for it, besides the harmless ones that it always gets."""
    pass_env: tuple[Text, ...] = ()
    """Names of variables of the gateway's environment that it gets as well."""
    auth_method: str = ""
    """The id of the sign-in method, for agents that require one."""
    options: dict[str, str | bool] = {}
    """Config options of the agent, set in every session, by id or category."""
    exec_options: dict[Literal["host", "node"], Text] = {}
    """Which of its config options `/exec host=` and `node=` set, by id: `{ host = "sandbox" }`."""
    permissions: Policy = "ask"
    """What happens when it asks whether it may use a tool: the person is asked (`ask`), or the answer is always yes
    (`allow`) or no (`deny`)."""
    allow: tuple[Text, ...] = ()
    """Tools allowed without asking: a kind (`read`), or a kind and a title pattern (`execute:git *`)."""
    mcp_servers: dict[str, McpServer] = {}
    """MCP servers that it is told to use, by name: a `command`, or a `url`."""
    steer: Literal["native", "cancel"] = "native"
    """How a message reaches a running turn: `native` uses the agent's own way, if it has one; `cancel` ends its prompt
    and asks it to go on with the message."""
    shared: bool = False
    """Whether its `cwd` and the files of its sessions are on a disk that all machines share, so that a session
    continues wherever its chat is served. Otherwise the agent on another machine starts a new session and gets the
    conversation so far. For PostgreSQL."""
    start_timeout: Seconds = 60
    """Seconds that its start, a new session or a change of its options may take."""
    load_timeout: Seconds = 60
    """Seconds that loading a session may take; a session that was not loaded in time is loaded again with the next
    turn."""


def open_agent(name: str, settings: Settings) -> "AcpAgent":
    from rejoinder.agents.acp.agent import AcpAgent

    if not settings.command:
        raise BadAgent(name, "`command` is empty; it is the program and its arguments")
    if not Path(settings.cwd).expanduser().is_dir():
        raise BadConfiguration(
            f"agents.{name}.cwd: {settings.cwd} is not a directory; make it, or name the folder the agent works in"
        )
    for server, wanted in settings.mcp_servers.items():
        if bool(wanted.command) == (wanted.url is not None):
            raise BadAgent(name, f"`mcp_servers.{server}` needs either a `command` or a `url`")
    return AcpAgent(name, settings)


# Agents that sign in by themselves come before those that need a key.
PROGRAMS = (
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

AGENT = AgentKind(
    open=open_agent,
    settings=Settings,
    needs="acp",
    programs=PROGRAMS,
    reads_files=True,
    machine_bound=True,
)

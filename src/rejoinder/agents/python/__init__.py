"""A Python function as an agent: `module:function`, given a Turn, or what people said if it asks for a `str`."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from rejoinder.agents.declaration import AgentKind
from rejoinder.agents.settings import AgentSettings
from rejoinder.events import PromptText, Turn
from rejoinder.keys import Text
from rejoinder.prompt_blocks import own_words

if TYPE_CHECKING:
    from rejoinder.agents.python.function import PythonAgent
    from rejoinder.agents.python.process import IsolatedAgent


class Settings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    """A folder to look for the module in, besides where Python looks anyway."""
    isolate: bool = False
    """Run it in a process of its own, so that a crash or an endless loop of the function does not harm the gateway."""
    pass_env: tuple[Text, ...] = ()
    """Names of variables of the gateway's environment that it gets in a process of its own."""
    takes_exec: bool = False
    """The function obeys the `host` and `node` of a turn, so `/exec host=` and `node=` may be used."""


def text_of(turn: Turn) -> str:
    """Only what people said, without sender context or other additions of the gateway. For the functions of users."""
    return "\n\n".join([part.text for part in own_words(turn.parts) if isinstance(part, PromptText)])


def open_agent(name: str, settings: Settings) -> "PythonAgent | IsolatedAgent":
    if settings.isolate:
        from rejoinder.agents.python.process import isolated

        return isolated(name, settings)
    from rejoinder.agents.python.function import PythonAgent, find

    return PythonAgent(name, settings, find(name, settings))


AGENT = AgentKind(open=open_agent, settings=Settings)

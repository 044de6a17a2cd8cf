"""An agent of your own behind a URL: the turn is posted as JSON, its events stream back."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from rejoinder.agents.declaration import AgentKind
from rejoinder.agents.settings import AgentSettings
from rejoinder.keys import Text, Url
from rejoinder.secret import Secret

if TYPE_CHECKING:
    from rejoinder.agents.http.agent import HttpAgent


class Settings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A web service that takes a turn and streams its answer."""

    url: Annotated[Url, Meta(examples=["http://127.0.0.1:9000/turn"])]
    """Where a turn is sent."""
    model: Text | None = None
    """The model it starts with; unset: what the agent itself chooses."""
    fallbacks: tuple[Text, ...] = ()
    """Models to try, in this order, when the first is down, refused or out of quota."""
    headers: dict[str, Secret] = {}
    """Headers sent along, such as `Authorization`."""
    takes_exec: bool = False
    """The service obeys the `host` and `node` of a turn, so `/exec host=` and `node=` may be used."""


def open_agent(name: str, settings: Settings) -> "HttpAgent":
    from rejoinder.agents.http.agent import HttpAgent

    return HttpAgent(name, settings)


AGENT = AgentKind(open=open_agent, settings=Settings)

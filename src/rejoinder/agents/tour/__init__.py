"""The built-in guide: no model, no key, the same answer to the same words."""

from typing import TYPE_CHECKING

from rejoinder.agents.declaration import AgentKind, AgentOffer
from rejoinder.agents.settings import AgentSettings

if TYPE_CHECKING:
    from rejoinder.agents.tour.guide import TourAgent


class Settings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The built-in agent that shows what rejoinder can do; needs no model."""


def open_agent(name: str, settings: Settings) -> "TourAgent":
    from rejoinder.agents.tour.guide import TourAgent

    return TourAgent(name)


AGENT = AgentKind(
    open=open_agent,
    settings=Settings,
    offers=(AgentOffer("tour, the built-in guide without a model", {}),),
    last_resort=True,
)

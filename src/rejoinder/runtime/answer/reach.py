"""Looks up whether an agent may send to another chat: it depends on who is let in there and whether anybody has written
(OD-52)."""

from msgspec import Struct

from rejoinder.events import Route
from rejoinder.inbound import reach
from rejoinder.inbound.access import edited_allow
from rejoinder.inbound.rules import Rules
from rejoinder.store.base import Paired, Store


class Reach(Struct, frozen=True):
    rules: Rules
    send_to: tuple[str, ...] = ()
    """Chats that the operator lists, whichever agent serves them."""

    async def refusal(self, route: Route, here: Route, agent: str, store: Store) -> str | None:
        """Why this agent, which speaks in `here`, may not send to `route`; None if it may."""
        is_here = (route.channel, route.account, route.chat) == (here.channel, here.account, here.chat)
        if is_here or reach.is_listed(route, self.send_to):
            return None
        found = await store.admission(route.channel, route.account)
        changes = [(edit.entry, edit.listed) for edit in found.edits]
        latest = await store.latest_event(route.channel, route.chat)
        return reach.refusal(
            route,
            agent,
            self.rules,
            allow=edited_allow(route.channel, changes, self.rules),
            paired=Paired(route.channel, route.account, route.chat) in found.paired,
            known=bool(await store.messages(route, limit=1)),
            direct=latest.inbound.chat.kind == "direct" if latest is not None else None,
            members=latest.inbound.chat.agents if latest is not None else (),
        )

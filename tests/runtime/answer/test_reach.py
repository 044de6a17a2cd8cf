"""Whether an agent may send to another chat, looked up in a store (OD-52)."""

from msgspec.structs import replace

from rejoinder.events import Chat, Route
from rejoinder.inbound.rules import AgentProfile, make_rules
from rejoinder.inbound.settings import ChannelSettings, InboundSettings
from rejoinder.runtime.answer.reach import Reach
from rejoinder.store.base import Accept, IndexedMessage, NoteMessages
from rejoinder.store.sqlite import MEMORY, open_store
from rejoinder.testing.store_contract.given import NOW, an_inbound


async def test_a_direct_chat_with_another_agent_is_not_its_own() -> None:
    """OD-52: both agents serve the channel, but only one of them this chat."""
    channel = ChannelSettings(agents=("ada", "bo"), dm="open", allow=("bo~ann",))
    rules = make_rules(InboundSettings(channels={"telegram": channel}), (AgentProfile("ada"), AgentProfile("bo")))
    there, here = Route("telegram", "bo~ann"), Route("telegram", "lobby")
    store = open_store(MEMORY)
    try:
        await store.write(Accept((replace(an_inbound(1), chat=Chat("bo~ann", agents=("bo",))),), NOW))
        assert await Reach(rules).refusal(there, here, "bo", store) is None
        assert "ada is not in this chat" in (await Reach(rules).refusal(there, here, "ada", store) or "")
        assert await Reach(rules, ("bo~ann",)).refusal(there, here, "ada", store) is None
    finally:
        await store.close()


async def test_a_stranger_who_wrote_is_not_reached_because_groups_are_open() -> None:
    """OD-52: what they wrote is remembered though they are not let in."""
    rules = make_rules(
        InboundSettings(channels={"telegram": ChannelSettings(agents=("ada",), groups="open")}), (AgentProfile("ada"),)
    )
    here = Route("telegram", "lobby")
    store = open_store(MEMORY)
    try:
        chats = (Chat("eve"), Chat("team", kind="group"))
        for number, chat in enumerate(chats, 1):
            await store.write(Accept((replace(an_inbound(number), chat=chat),), NOW))
            message = IndexedMessage(str(number), "eve", NOW)
            await store.write(NoteMessages(Route("telegram", chat.id), (message,)))
        refused = [await Reach(rules).refusal(Route("telegram", chat.id), here, "ada", store) for chat in chats]
        assert refused == ["nobody there is let in; add this chat to `directives.send_to` to allow it", None]
    finally:
        await store.close()

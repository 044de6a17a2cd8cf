"""The parts of a gateway that its pages get: values to show, and functions that change something."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, cast

import rejoinder
from rejoinder.agents.base import Failed, Usage
from rejoinder.app import Gateway
from rejoinder.channels.web.channel import WebChannel
from rejoinder.channels.web.nouns import Room
from rejoinder.config import schema
from rejoinder.events import Chat, Inbound, PromptImage, Sender
from rejoinder.programs.incoming import Incoming
from rejoinder.programs.invitations import Invitations
from rejoinder.runtime.serving import account_of
from rejoinder.runtime.session.completions import CompletionMessage, complete
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import (
    DropPart,
    PairingRequest,
    PairSender,
    PauseJob,
    RequestEventRerun,
    RequestJobRun,
    RequestTurnRerun,
    ResendPart,
    Store,
    StoredPart,
    StoredSubagent,
)
from rejoinder.web.services import ApiMessage, ChannelState, PageServices, TokenUsage, Unanswered

if TYPE_CHECKING:
    from rejoinder.programs.tools import ServedTools


def page_services(
    gateway: Gateway, settings: schema.Settings, web: WebChannel, tasks: Tasks, invitations: Invitations, address: str
) -> PageServices:
    store: Store = gateway.store
    rights = gateway.rights()

    def channels() -> tuple[ChannelState, ...]:
        return tuple(
            ChannelState(
                name,
                settings.channels[each.name].kind,
                gateway.listening.listens(name),
                gateway.listening.problem(name),
                gateway.listening.silent_for(name),
                gateway.listening.place_troubles(name),
            )
            for name, each in gateway.listeners.items()
        )

    async def answer(agent: str, messages: tuple[ApiMessage, ...]) -> AsyncGenerator[str | TokenUsage]:
        with gateway.lend(agent) as lent:
            now = gateway.in_effect
            most = now.agent(agent).max_answer_chars
            pieces = complete(lent, tuple(map(line, messages)), now.silence, now.directives, most)
            async with aclosing(pieces):
                async for piece in pieces:
                    match piece:
                        case Failed(sentence=sentence, detail=detail):
                            raise Unanswered(sentence, detail)
                        case Usage(input_tokens=taken, output_tokens=given):
                            yield TokenUsage(taken, given)
                        case str():
                            yield piece

    def line(message: ApiMessage) -> CompletionMessage:
        role = cast(Literal["system", "user", "assistant"], message.role)
        return CompletionMessage(role, message.text, tuple(PromptImage(kind, data) for kind, data in message.images))

    async def resend(part: StoredPart) -> None:
        await store.write(ResendPart(part))
        gateway.engines.changed()

    async def drop(part: StoredPart) -> None:
        await store.write(DropPart(part))

    async def rerun(verb: RequestEventRerun | RequestTurnRerun) -> None:
        await store.write(verb)
        gateway.engines.changed()

    async def change_job(verb: RequestJobRun | PauseJob) -> None:
        await store.write(verb)
        if gateway.scheduler is not None:
            gateway.scheduler.changed()

    async def approve(code: str) -> PairingRequest | None:
        request = await store.write(PairSender(code, gateway.now()))
        gateway.engines.changed()
        return request

    def doing(session: str) -> tuple[tuple[str, ...], str]:
        found = (engine.subagents.doing(session) for engine in gateway.engines)
        return next(filter(any, found), ((), ""))

    async def sees_subagent(person: str, room: Room, subagent: StoredSubagent) -> bool:
        chat, thread = Chat(room.id, room.kind, room.title, room.agents), subagent.route.thread
        asks = Inbound(web.name, "", "", chat, Sender(person), thread=thread)
        return await rights.may_see_subagent(asks, subagent)

    async def usable_commands(person: str, rooms: tuple[Room, ...]) -> frozenset[tuple[str, bool]]:
        chats = [Chat("", "direct"), Chat("", "group"), *[Chat(room.id, room.kind) for room in rooms]]
        return await rights.usable([Inbound(web.name, "", "", chat, Sender(person)) for chat in chats])

    return PageServices(
        channel=web,
        agents=tuple(gateway.agents),
        version=rejoinder.__version__,
        store=store,
        health=gateway.health,
        disagrees=lambda: gateway.cluster_member.disagrees,
        channels=channels,
        complete=answer,
        resend=resend,
        drop=drop,
        rerun=rerun,
        change_job=change_job,
        not_in_effect=lambda: gateway.not_in_effect,
        approve=approve,
        start=tasks.start,
        programs=Incoming(gateway, web),
        sees_subagent=sees_subagent,
        usable_commands=usable_commands,
        doing=doing,
        tools=_tools(gateway, address),
        hooks=lambda: tuple(gateway.configured.hooks),
        invitations=invitations,
        accounts=tuple((each.name, account_of(each)) for each in gateway.listeners.values()),
    )


def _tools(gateway: Gateway, address: str) -> "ServedTools | None":
    """The gateway's tools; agents are told about them. None if the package for tools is missing."""
    if find_spec("mcp") is None:
        return None
    from rejoinder.programs.tools import ServedTools  # noqa: PLC0415 - only loaded with its package

    tools = ServedTools(gateway.tools, address)
    gateway.offer_tools(tools)
    return tools

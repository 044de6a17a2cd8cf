"""`rejoinder run --demo`: a person asks for a review on the chat page; three agents answer her and each other.

Configured agents play first, if there are any; the cast takes the other parts. Nothing is kept, and the demo begins
when the first browser connects.
"""

import asyncio

from msgspec.structs import replace

from rejoinder.agents.base import Agent
from rejoinder.agents.cast import ASIDE, PARTS, REQUEST, CastAgent, CastMember
from rejoinder.app import MEMORY, Gateway
from rejoinder.channels.web import Settings as WebSettings
from rejoinder.channels.web import reading
from rejoinder.channels.web.avatars import person_named
from rejoinder.channels.web.channel import WebChannel
from rejoinder.channels.web.journal import LOBBY
from rejoinder.channels.web.protocol import TypingNow
from rejoinder.config import schema
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.events import Part, Route, TurnEnded
from rejoinder.wiring.opening import open_agents

PLAYERS = 3
PERSON = "Ann"
BEFORE = 1.5
TYPING = 2.5
QUIET = 3.0
"""Seconds until Ann begins to write, until she has written, and from the last word to the closing message."""
LOOKS_BACK = 50
"""How many messages to search for the one that her thread belongs to."""


def staged(settings: schema.Settings) -> tuple[schema.Settings, dict[str, Agent]]:
    """The configuration of the demo, and the agents in it: one page, one room, no other channel and no file."""
    ours = tuple(settings.agents)[:PLAYERS]
    parts = _parts_left(ours)
    names = (*ours, *(part.name for part in parts))
    agents = open_agents(replace(settings, agents={name: settings.agents[name] for name in ours}))
    for part in parts:
        agents[part.name] = CastAgent(part, tuple(name for name in (*names[1:], names[0]) if name != part.name))
    page = next((channel.settings for channel in settings.channels.values() if channel.kind == "web"), WebSettings())
    faces = {part.name: part.face for part in parts} | page.faces
    common = CommonChannelSettings(dm="open", groups="open", require_mention=False, agents=names)
    channels = {"web": schema.ConfiguredChannel("web", common, replace(page, faces=faces))}
    gateway = replace(settings.gateway, store=MEMORY)
    granted = replace(settings.directives, allow=tuple({*settings.directives.allow, "handoff"}))
    return replace(settings, channels=channels, gateway=gateway, directives=granted), agents


def _parts_left(ours: tuple[str, ...]) -> list[CastMember]:
    """The parts that no configured agent plays, in order; if a part's name is taken, it gets another part's name and
    face."""
    free = [part for part in PARTS if part.name not in ours]
    left: list[CastMember] = []
    for part in PARTS[len(ours) :]:
        looks = part if part in free else free[0]
        free.remove(looks)
        left.append(replace(part, name=looks.name, face=looks.face))
    return left


def next_steps(agents: dict[str, Agent]) -> tuple[str, ...]:
    """The lines that tell the person at the terminal what to do now."""
    names = tuple(agents)
    who = f"{', '.join(names[:-1])} and {names[-1]}"
    lines = [
        f"Open it: {who} review a function for {PERSON}, as soon as you look.",
        f"Join in: write @{names[1]} or answer one of their messages.",
    ]
    if any(isinstance(agent, CastAgent) for agent in agents.values()):
        lines.append("For agents of your own write [agents.NAME] sections into rejoinder.toml; see docs/rooms.md.")
    return tuple(lines)


async def play(gateway: Gateway, web: WebChannel, names: tuple[str, ...]) -> None:
    """Begins when the first browser connects; when all have spoken, it says in the room how to go on."""
    failed: set[str] = set()

    async def ended(turn: TurnEnded) -> None:
        if turn.outcome == "failed":
            failed.add(turn.agent)

    gateway.on("turn_ended", ended)
    await web.hub.came.wait()
    await asyncio.sleep(BEFORE)
    arrived = person_named(PERSON, gateway.agents)
    person = arrived.id
    await web.journal.arrive(arrived)
    first, second, third = names

    async def says(text: str, client: str, thread: str | None = None) -> None:
        web.hub.show(TypingNow(LOBBY, person, thread), None)
        await asyncio.sleep(TYPING)
        await web.journal.say(person, client, LOBBY, text, thread, None, ())
        await _until_quiet(gateway)

    await says(REQUEST.format(first=first, second=second, third=third), "demo")
    if not failed:
        await says(ASIDE.format(third=third), "demo-aside", await _where_a_thread_opens(web, person, names))
    ending = (
        f"That was the demo: every reply, reaction and hand-off was an agent's own choice. Your turn: "
        f"**@{second} tell me a joke**, paste some code, answer one of their messages, or **@all thanks**."
    )
    if failed:
        ending = (
            f"The demo ends here, because {' and '.join(sorted(failed))} could not answer. The reason is shown "
            f"above, and in full in the log. Fix it in rejoinder.toml and start again."
        )
    await web.send(Part(Route(web.name, LOBBY), ending, key="demo-end"))


async def _where_a_thread_opens(web: WebChannel, person: str, names: tuple[str, ...]) -> str | None:
    """The last words of the agent who was asked; people who are watching may have written something since."""
    messages, _ = await reading.history(web.journal.log, person, LOBBY, None, None, LOOKS_BACK)
    of_agents = [each for each in messages if each.author in names]
    asked = [each for each in of_agents if each.author == names[-1]] or of_agents
    return asked[-1].id if asked else None


async def _until_quiet(gateway: Gateway) -> None:
    """Waits until all turns have ended and none has begun for a while."""
    quiet = 0.0
    while quiet < QUIET:
        await asyncio.sleep(0.5)
        quiet = 0.0 if gateway.engine.lanes.running else quiet + 0.5

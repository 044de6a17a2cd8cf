"""The checks of `rejoinder doctor`: whether a gateway with this configuration would work, and what to do if not.

Rule 1: a check changes nothing, asks no model and says nothing in any chat.
Rule 2: every result is a finding; a check that fails does not prevent the others.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import aiohttp
from msgspec import Struct

from rejoinder import plugins
from rejoinder.agents.base import CanCheck as AgentCanCheck
from rejoinder.agents.base import CanClose as AgentCanClose
from rejoinder.agents.base import FailureKind
from rejoinder.agents.failures import RunFailed
from rejoinder.channels.accounts import section_of
from rejoinder.channels.base import CanCheck as ChannelCanCheck
from rejoinder.channels.base import CanClose as ChannelCanClose
from rejoinder.channels.base import Channel, StoresTrouble
from rejoinder.config import schema
from rejoinder.config.kinds import channel_kind, is_in_memory, store_file, store_kind
from rejoinder.config.skills import read_skills
from rejoinder.errors import BadUse, RejoinderError, StoreUnavailable
from rejoinder.media.check import check_documents, check_links, check_pictures, check_speech
from rejoinder.media.settings import MediaSettings, SpeechToText, TextToSpeech
from rejoinder.programs.serving import with_page
from rejoinder.runtime.inlet import PLACE
from rejoinder.runtime.settings_agreement import SCOPE
from rejoinder.store.base import Deployment, HookQueue, StoreReader
from rejoinder.turns.agreement import ACCOUNTS, accounts_named, difference, homes_by
from rejoinder.wiring import opening
from rejoinder.wiring.opening import account_names
from rejoinder.wiring.stores import open_for_operator, open_reader, place_of

Found = TypeVar("Found")

SECONDS = 70.0
"""Longer than any agent may take to start by default."""
ENOUGH_BYTES = 200 << 20
HEALTH_SECONDS = 5.0
LATE_SECONDS = 60.0
"""Seconds after which an undecided message is a sign of trouble; a takeover is over long before."""
EARLIEST = datetime(2025, 1, 1, tzinfo=UTC)
TOLERATED = timedelta(minutes=2)


ADVICE: dict[FailureKind, str] = {
    "auth": "set the right key",
    "billing": "top up the account of this key",
    "rate_limit": "wait a moment, then try again",
    "model_not_found": "choose another model",
    "timeout": "try again; if it keeps failing, check the network in between",
    "format": "check that the right program answers there, and update it",
    "overloaded": "wait a moment, then try again",
    "unreachable": "check that it is installed and runs, and that its command or address is right",
    "crashed": "start it by hand to see why",
}
"""The advice to the operator about an agent that cannot answer."""


NOTHING_NEEDED = "it opens, and needs nothing from outside"


class Finding(Struct, frozen=True):
    """The result of one check, with the keys of `--json`."""

    what: str
    ok: bool
    found: str
    """What was found, in one line or several; if something is wrong, also what to do."""


Look = Callable[[], Awaitable[str]]


async def examined(settings: schema.Settings) -> AsyncIterator[Finding]:
    async for finding in edges(settings):
        yield finding
    yield await _documents(settings.media)
    if (folder := settings.commands.skills) is not None:
        yield await _looked("commands.skills", lambda: _skills(folder))
    store = settings.gateway.store
    yield await _looked("store", lambda: _store(store))
    is_shared = store_kind(store).share is not None
    if is_shared and (deployment := await _read(store, lambda reader: reader.deployment())) is not None:
        yield await _looked("processes", lambda: _processes(deployment))
        yield await _looked("settings", lambda: _agreed(settings, others=bool(deployment.processes)))
    if (address := _page_of(settings)) is not None and await _gateway(store) is not None:
        yield await _looked("gateway", lambda: _health(address))
    if (disk := _folder(store)) is not None:
        yield await _looked("disk", lambda: _disk(disk))
    yield await _looked("clock", lambda: _clock(store))
    for name in settings.hooks:
        yield await _looked(f"hooks.{name}", lambda name=name: _hook(name, store))


async def edges(settings: schema.Settings) -> AsyncIterator[Finding]:
    """Checks everything that the gateway talks to: agents and platforms."""
    for name, agent in settings.agents.items():
        yield await _looked(f"agents.{name}", lambda name=name, configured=agent: _agent(name, configured, settings))
    for name, channel in settings.channels.items():
        if channel_kind(channel.kind).opened_by != "command":
            async for finding in _channel(name, channel, settings):
                yield finding
    async for finding in _media(settings.media):
        yield finding


async def _media(media: MediaSettings) -> AsyncIterator[Finding]:
    """Checks voice and links, if they are configured."""
    speech: tuple[tuple[str, SpeechToText | TextToSpeech], ...] = (
        ("speech_to_text", media.speech_to_text),
        ("text_to_speech", media.text_to_speech),
    )
    for name, service in speech:
        if service.is_on:
            yield await _looked(f"media.{name}", lambda service=service: check_speech(service))
    if media.pictures.command:
        yield await _looked("media.pictures", lambda: check_pictures(media.pictures))
    if media.links.enabled:
        yield await _looked("media.links", lambda: check_links(media.links))


async def _documents(media: MediaSettings) -> Finding:
    return await _looked("media.documents", lambda: check_documents(media.documents))


async def _looked(what: str, look: Look) -> Finding:
    try:
        async with asyncio.timeout(SECONDS):
            return Finding(what, True, await look())
    except RunFailed as problem:
        failure = problem.failure
        return Finding(what, False, "; ".join(filter(None, (failure.detail, ADVICE.get(failure.kind)))))
    except TimeoutError:
        return Finding(what, False, f"no answer within {SECONDS:.0f} s")
    except OSError as problem:
        return Finding(what, False, ": ".join(filter(None, (problem.filename, problem.strerror or str(problem)))))
    except RejoinderError as problem:
        return Finding(what, False, problem.sentence)
    except Exception as problem:  # noqa: BLE001 - a check of another package may raise anything
        return Finding(what, False, f"its check failed: {plugins.raised(problem)}")


# --- what is looked at ------------------------------------------------------------------------------


async def _agent(name: str, configured: schema.ConfiguredAgent, settings: schema.Settings) -> str:
    agent = opening.open_agents(schema.Settings(gateway=settings.gateway, agents={name: configured}))[name]
    try:
        if isinstance(agent, AgentCanCheck):
            return await agent.check()
        return NOTHING_NEEDED
    finally:
        if isinstance(agent, AgentCanClose):
            await agent.close()


async def _channel(
    name: str, configured: schema.ConfiguredChannel, settings: schema.Settings
) -> AsyncIterator[Finding]:
    """A check for each account, since each can fail by itself (CH-4)."""
    what = f"channels.{name}"
    if (check := channel_kind(configured.kind).check) is not None:
        gateway = await _gateway(settings.gateway.store)
        yield await _looked(what, lambda: check(configured.settings, gateway))
        return
    try:
        accounts = opening.open_accounts(name, configured)
    except RejoinderError as problem:
        yield Finding(what, False, problem.sentence)
        return
    store = settings.gateway.store
    for account, channel in accounts.items():
        section = section_of(what, account)
        yield await _looked(section, lambda channel=channel, account=account: _account(channel, account, store))


async def _account(channel: Channel, account: str, store: str) -> str:
    try:
        found = await channel.check() if isinstance(channel, ChannelCanCheck) else NOTHING_NEEDED
        if isinstance(channel, StoresTrouble) and (running := await _gateway(store)) is not None:
            places = await _read(store, lambda reader: reader.cursors(channel.name, PLACE, account))
            if trouble := channel.trouble_in(places or {}):
                raise BadUse(f"{found}; the gateway that runs ({running}) says: {trouble}")
        return found
    finally:
        if isinstance(channel, ChannelCanClose):
            await channel.close()


async def _skills(folder: str) -> str:
    skills = read_skills(folder)
    return f"{len(skills)} in {folder}" + "".join(f", /{skill.name}" for skill in skills)


async def _store(store: str) -> str:
    if is_in_memory(store):
        return "it is in memory: nothing survives the process"
    if (file := _not_yet_made(store)) is not None:
        return _to_be_made(file)
    reader = open_reader(store)
    try:
        await reader.check()
        sessions, quarantined = await reader.count_sessions(), len(await reader.quarantined())
    finally:
        await reader.close()
    held = f", and a gateway runs on it ({running})" if (running := await _gateway(store)) else ""
    in_quarantine = f"; {quarantined} quarantined, which `rejoinder dead` lists" if quarantined else ""
    return f"{place_of(store)} is intact, with {sessions} session{'' if sessions == 1 else 's'}{held}{in_quarantine}"


async def _processes(deployment: Deployment) -> str:
    """The processes that serve the store, and whether messages wait too long (SC-24)."""
    shards, processes = deployment.shards, deployment.processes
    if not processes:
        return f"none runs; {shards} shards wait for one"
    free = f", {deployment.unowned} of them held by no process" if deployment.unowned else ""
    lines = [f"{len(processes)} on {shards} shards{free}"]
    for each in processes:
        what = f"{each.shards} shards" if each.claims else "a front"
        duties = f"; {', '.join(each.duties)}" if each.duties else ""
        lease = f", lease {each.lease_seconds:.0f} s" if each.lease_seconds is not None else ""
        waits = f"; {each.waiting} messages wait, for {each.lag_seconds:.0f} s" if each.waiting else ""
        lines.append(f"{each.name}: {what}{lease}{duties}{waits}")
    report = "\n".join(lines)
    if not any(each.claims for each in processes):
        raise BadUse(f"{report}\nno process answers: only fronts run; start `rejoinder worker` or `rejoinder run`")
    if deployment.lag_seconds > LATE_SECONDS:
        late = f"a message has waited for {deployment.lag_seconds:.0f} s and no process has taken it"
        raise BadUse(f"{report}\n{late}; look at the log of the process that holds its shard")
    return report


async def _agreed(settings: schema.Settings, *, others: bool) -> str:
    """Whether a gateway with this configuration could work beside the others (SC-25)."""
    recorded = await _read(settings.gateway.store, lambda reader: reader.facts(SCOPE)) or {}
    accounts = [
        (name, each) for name, channel in with_page(settings).channels.items() for each in account_names(channel)
    ]
    here = {**homes_by(settings.session), ACCOUNTS: accounts_named(accounts)}
    if differs := difference(recorded, here, others=others):
        raise BadUse(differs)
    return "as recorded in the store" if recorded else "the first gateway that starts records them in the store"


def _page_of(settings: schema.Settings) -> str | None:
    """The address at which a gateway with this configuration reports its health."""
    for channel in settings.channels.values():
        if channel_kind(channel.kind).opened_by == "page":
            host, port = (getattr(channel.settings, name) for name in ("host", "port"))
            here = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
            return f"http://{here}:{port}/health" if port else None
    return None


async def _health(address: str) -> str:
    """Asks the running gateway for what only it can know, for example that no events arrive."""
    try:
        within = aiohttp.ClientTimeout(HEALTH_SECONDS)
        async with aiohttp.ClientSession(timeout=within) as http, http.get(address) as answer:
            problems = (await answer.json()).get("problems", [])
    except aiohttp.ClientConnectorError:
        return f"it runs, but nothing answers at {address}; if you started it with --port, ask /health at that port"
    except (aiohttp.ClientError, TimeoutError, ValueError, AttributeError) as problem:
        return f"it runs, but does not answer at {address} ({str(problem) or type(problem).__name__})"
    if problems:
        raise BadUse("it runs and says: " + " ".join(problems))
    return "it runs, and everything is fine"


def _to_be_made(file: Path) -> str:
    try:
        with tempfile.TemporaryFile(dir=file.parent):
            return f"{file} will be made by the first gateway"
    except OSError as problem:
        raise BadUse(
            f"nothing can be written in {file.parent} ({problem.strerror}); make that folder, or fix its owner"
        ) from None


async def _gateway(store: str) -> str | None:
    """The gateway that is using the store now."""
    if not _is_there(store):
        return None
    operator = open_for_operator(store)
    try:
        return await operator.gateway()
    except StoreUnavailable:
        return None  # the store's own finding says why
    finally:
        await operator.close()


async def _disk(folder: Path) -> str:
    free = shutil.disk_usage(folder).free
    if free < ENOUGH_BYTES:
        raise BadUse(f"only {free >> 20} MB are free in {folder}; free some space, or put gateway.store elsewhere")
    return f"{free >> 20:,} MB are free in {folder}"


async def _clock(store: str) -> str:
    """Compares the clock with times in the store: if it went back, waiting messages would look new for ever."""
    now = datetime.now(UTC)
    if now < EARLIEST:
        raise BadUse(f"the clock says {now:%Y-%m-%d %H:%M} UTC, which is in the past; set it")
    latest = await _latest(store)
    if latest is not None and latest > now + TOLERATED:
        raise BadUse(f"the clock says {now:%Y-%m-%d %H:%M} UTC, but a message came at {latest:%Y-%m-%d %H:%M}; set it")
    return f"{now:%Y-%m-%d %H:%M} UTC"


async def _latest(store: str) -> datetime | None:
    event = await _read(store, lambda reader: reader.latest_event())
    return event.accepted if event is not None else None


async def _hook(name: str, store: str) -> str:
    """Events that wait for a program; they show whether it can be reached."""
    queues = await _read(store, lambda reader: reader.hook_queues()) or ()
    queue = next((each for each in queues if each.hook == name), HookQueue(name))
    if queue.error and queue.oldest is not None:
        raise BadUse(
            f"{queue.waiting} events wait since {queue.oldest:%Y-%m-%d %H:%M} UTC: {queue.error}; "
            "they are posted once that is fixed"
        )
    if queue.dead:
        return f"{queue.waiting} events wait; {queue.dead} were given up after 24 hours"
    return f"{queue.waiting} events wait" if queue.waiting else "nothing waits"


async def _read(store: str, ask: Callable[[StoreReader], Awaitable[Found]]) -> Found | None:
    """None if there is no store, or it cannot be read: the store's own finding says why."""
    if not _is_there(store):
        return None
    try:
        reader = open_reader(store)
    except StoreUnavailable:
        return None
    try:
        return await ask(reader)
    except StoreUnavailable:
        return None
    finally:
        await reader.close()


def _is_there(store: str) -> bool:
    """Whether there may be something to read: not if the store is in memory, or its file does not exist yet."""
    return not is_in_memory(store) and _not_yet_made(store) is None


def _not_yet_made(store: str) -> Path | None:
    file = store_file(store)
    return None if file is None or Path(file).exists() else Path(file)


def _folder(store: str) -> Path | None:
    """The folder of the store's file; None if it does not exist, which the store's own finding reports."""
    file = store_file(store)
    return None if file is None or not Path(file).parent.is_dir() else Path(file).parent

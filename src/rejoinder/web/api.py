"""`/api`: what the console shows and does, also for programs. Routes and the document are made from `ENDPOINTS`."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from rejoinder.channels.web.logins import LONGEST_NAME
from rejoinder.errors import BadUse, StoreUnavailable, Superseded, Unreadable
from rejoinder.store.base import (
    OPEN_PART_STATES,
    PART_STATES,
    InboxEvent,
    PartState,
    PauseJob,
    RequestEventRerun,
    RequestJobRun,
    RequestTurnRerun,
    StoredPart,
    StoreReader,
)
from rejoinder.store.hook_events import HookQueue
from rejoinder.web import incoming, views
from rejoinder.web.flow import Flow
from rejoinder.web.openapi import ApiEndpoint, Parameter, openapi
from rejoinder.web.services import PageServices, PostedMessage, ProgramMessage, Refusal
from rejoinder.web.summaries import HandledTurn
from rejoinder.web.traces import SeveralChats, events_named

MOST_SUBAGENTS, MOST_ENTRIES = 20, 20
MOST_SESSIONS = 100
MOST_PARTS = 200
NO_INVITATIONS = "nobody can be invited here"
STUCK: tuple[PartState, ...] = ("dead", "held")
LARGEST_NUMBER = 2**62
MOST_DIGITS = len(str(LARGEST_NUMBER))


class NotFound(Exception):
    """The requested thing does not exist; the text names it."""


class BadRequest(Exception):
    """The request makes no sense; the text says why."""


class Conflict(Exception):
    """The current state does not allow it; the text says why."""


async def _sessions(services: PageServices, _: Flow, request: Request) -> Struct:
    stored = await services.store.sessions(MOST_SESSIONS)
    seen = [views.session_view(each, len(await services.store.waiting_inputs(each.session.key))) for each in stored]
    return views.SessionList(tuple(seen))


async def _lanes(services: PageServices, _: Flow, request: Request) -> Struct:
    lanes: list[views.LaneView] = []
    for stored in await services.store.sessions(MOST_SESSIONS):
        if waiting := await services.store.waiting_inputs(stored.session.key):
            line = tuple(map(views.waiting_view, waiting))
            lanes.append(views.LaneView(stored.session.key, stored.session.agent, line))
    return views.LaneList(tuple(lanes))


async def _outbox(services: PageServices, _: Flow, request: Request) -> Struct:
    wanted = request.query_params.get("state")
    if wanted is None:
        states = OPEN_PART_STATES
    elif wanted in PART_STATES:
        states: tuple[PartState, ...] = (wanted,)
    else:
        raise BadRequest(f"there is no state {wanted!r}; there are: {', '.join(PART_STATES)}")
    parts = await services.store.parts_in(*states, limit=MOST_PARTS)
    return views.PartList(tuple(map(views.part_view, parts)))


async def _retry(services: PageServices, _: Flow, request: Request) -> Struct:
    return await _with_stuck(services, request, services.resend)


async def _drop(services: PageServices, _: Flow, request: Request) -> Struct:
    return await _with_stuck(services, request, services.drop)


async def _with_stuck(services: PageServices, request: Request, do: Callable[[StoredPart], Awaitable[None]]) -> Struct:
    wanted = request.path_params["part"]
    number = int(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) <= MOST_DIGITS else 0
    part = await services.store.part(number) if 0 < number <= LARGEST_NUMBER else None
    if part is not None and part.state in STUCK:
        with suppress(Superseded):  # another process was faster
            await do(part)
            return views.Accepted()
    raise NotFound(f"no dead or unconfirmed part has the number {wanted}")


async def _quarantine(services: PageServices, _: Flow, request: Request) -> Struct:
    return views.QuarantineList(tuple(map(views.quarantined_view, await services.store.quarantined(MOST_PARTS))))


async def _rerun(services: PageServices, _: Flow, request: Request) -> Struct:
    kind, wanted = request.path_params["kind"], request.path_params["number"]
    for each in await services.store.quarantined():
        if each.number and (each.kind, str(each.number)) == (kind, wanted):
            with suppress(Superseded):  # another process was faster
                await services.rerun(
                    RequestTurnRerun(each.number) if kind == "turn" else RequestEventRerun(each.number)
                )
                return views.Accepted()
    raise NotFound(f"no {kind} {wanted} is quarantined")


async def _subagents(services: PageServices, _: Flow, request: Request) -> Struct:
    store = services.store
    stored = await store.latest_subagents(MOST_SUBAGENTS)
    logs = [await store.transcript(each.session, each.started, MOST_ENTRIES) for each in stored]
    doing = [services.doing(each.session) for each in stored]
    return views.SubagentList(tuple(map(views.subagent_view, stored, logs, doing)))


async def _processes(services: PageServices, _: Flow, request: Request) -> Struct:
    return views.ProcessList(await services.store.deployment())


async def _hooks(services: PageServices, _: Flow, request: Request) -> Struct:
    known = {each.hook: each for each in await services.store.hook_queues()}
    return views.HookList(tuple([known.get(name) or HookQueue(name) for name in services.hooks()]))


async def _jobs(services: PageServices, _: Flow, request: Request) -> Struct:
    return views.JobList(tuple(views.job_view(job) for job in await services.store.jobs() if job.schedule))


async def _run_job(services: PageServices, _: Flow, request: Request) -> Struct:
    return await _changed_job(services, RequestJobRun(request.path_params["job"]))


async def _pause_job(services: PageServices, _: Flow, request: Request) -> Struct:
    return await _changed_job(services, PauseJob(request.path_params["job"], True))


async def _resume_job(services: PageServices, _: Flow, request: Request) -> Struct:
    return await _changed_job(services, PauseJob(request.path_params["job"], False))


async def _changed_job(services: PageServices, verb: RequestJobRun | PauseJob) -> Struct:
    if any(job.schedule and job.name == verb.job for job in await services.store.jobs()):
        with suppress(Superseded):  # the job has just gone
            await services.change_job(verb)
            return views.Accepted()
    raise NotFound(f"there is no job {verb.job}")


async def _gateway(services: PageServices, _: Flow, request: Request) -> Struct:
    return views.GatewayView(services.version, services.agents, services.not_in_effect())


async def _channels(services: PageServices, _: Flow, request: Request) -> Struct:
    return views.Channels(services.channels())


async def _traces(services: PageServices, _: Flow, request: Request) -> Struct:
    message, store = request.path_params["message"], services.store
    try:
        events = await events_named(store, message)
    except SeveralChats as problem:
        raise Conflict(str(problem)) from None
    if not events:
        raise NotFound(f"no message has the id or handle {message}")
    return views.Traces(tuple([await _event(store, event) for event in events]))


async def _event(store: StoreReader, event: InboxEvent) -> views.EventView:
    handled: list[HandledTurn] = []
    for put in await store.inputs_of(event.id):
        stored = await store.session(put.session)
        turn = await store.turn(put.turn) if put.turn is not None else None
        agent = stored.session.agent if stored is not None else put.session
        handled.append(HandledTurn(agent, put, turn.turn if turn is not None else None))
    return views.event_view(event, await store.trace(event.id), tuple(handled))


async def _post_message(services: PageServices, _: Flow, request: Request) -> Struct:
    return await incoming.take(services, request)


async def _pairing(services: PageServices, _: Flow, request: Request) -> Struct:
    requests = [request for place in services.accounts for request in await services.store.pairing_requests(*place)]
    return views.PairingList(tuple(map(views.pairing_request_view, requests)))


async def _approve(services: PageServices, _: Flow, request: Request) -> Struct:
    code = request.path_params["code"]
    if await services.approve(code) is None:
        raise NotFound(f"no pairing request has the code {code}")
    return views.Accepted()


async def _people(services: PageServices, _: Flow, request: Request) -> Struct:
    if services.invitations is None:
        return views.PeopleList((), NO_INVITATIONS)
    invited = await services.invitations.listed()
    return views.PeopleList(tuple(map(views.invited_view, invited)), services.invitations.closed)


async def _invite(services: PageServices, _: Flow, request: Request) -> Struct:
    if services.invitations is None:
        raise NotFound(NO_INVITATIONS)
    try:
        return views.Invitation(*await services.invitations.invite(request.path_params["name"]))
    except BadUse as problem:
        raise Conflict(str(problem)) from None


async def _revoke(services: PageServices, _: Flow, request: Request) -> Struct:
    with suppress(BadUse):
        if services.invitations is not None:
            await services.invitations.revoke(request.path_params["name"])
            return views.Accepted()
    raise NotFound(f"nobody called {request.path_params['name']} is invited")


async def _series(services: PageServices, flow: Flow, request: Request) -> Struct:
    return views.Series(tuple(flow.points))


_STATE = Parameter(
    "state",
    "Only parts in this state. Left out: all parts that somebody may still have to act on.",
    "query",
    {"type": "string", "enum": list(PART_STATES)},
)
_PART = Parameter("part", "The number of a part.", schema={"type": "integer", "minimum": 1, "maximum": LARGEST_NUMBER})
_KIND = Parameter("kind", "The kind of what is quarantined.", schema={"type": "string", "enum": ["turn", "message"]})
_NUMBER = Parameter("number", "Its number.", schema={"type": "integer", "minimum": 1, "maximum": LARGEST_NUMBER})
_JOB = Parameter("job", "The name of a job; a heartbeat's is `heartbeat/` and its agent.")
_PERSON = Parameter(
    "name", "The name of a person, or their id.", schema={"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
)

_KEY = Parameter(
    "Idempotency-Key",
    "A request with the same key is the same message: it gets the same answer, and the message is sent only once.",
    "header",
    {"type": "string", "pattern": "^[!-~]{1,200}$"},
)

ENDPOINTS = (
    ApiEndpoint("GET", "/api/sessions", "The sessions, the latest first.", views.SessionList, _sessions),
    ApiEndpoint("GET", "/api/lanes", "Messages that wait for a turn, by session.", views.LaneList, _lanes),
    ApiEndpoint(
        "GET",
        "/api/outbox",
        "Parts that are being sent, or were not delivered.",
        views.PartList,
        _outbox,
        (_STATE,),
        (400,),
    ),
    ApiEndpoint(
        "POST", "/api/outbox/{part}/retry", "Send a dead part once more.", views.Accepted, _retry, (_PART,), (404,)
    ),
    ApiEndpoint(
        "POST", "/api/outbox/{part}/drop", "Drop a dead part for good.", views.Accepted, _drop, (_PART,), (404,)
    ),
    ApiEndpoint(
        "GET",
        "/api/quarantine",
        "Turns and messages that killed the gateway each time, or cannot be read.",
        views.QuarantineList,
        _quarantine,
    ),
    ApiEndpoint(
        "POST",
        "/api/quarantine/{kind}/{number}/retry",
        "Run it again.",
        views.Accepted,
        _rerun,
        (_KIND, _NUMBER),
        (404, 409),
    ),
    ApiEndpoint(
        "GET",
        "/api/subagents",
        "The sub-agents of conversations, the latest first, with their logs.",
        views.SubagentList,
        _subagents,
    ),
    ApiEndpoint("GET", "/api/hooks", "Webhooks: how many events wait, and why.", views.HookList, _hooks),
    ApiEndpoint(
        "GET",
        "/api/processes",
        "The processes on this store: shards, leases, how many messages wait and for how long.",
        views.ProcessList,
        _processes,
    ),
    ApiEndpoint(
        "GET",
        "/api/jobs",
        "Scheduled jobs and heartbeats: when each runs next, and how its last run went.",
        views.JobList,
        _jobs,
    ),
    ApiEndpoint("POST", "/api/jobs/{job}/run", "Run a job now.", views.Accepted, _run_job, (_JOB,), (404,)),
    ApiEndpoint(
        "POST",
        "/api/jobs/{job}/pause",
        "Pause a job until it is resumed.",
        views.Accepted,
        _pause_job,
        (_JOB,),
        (404,),
    ),
    ApiEndpoint("POST", "/api/jobs/{job}/resume", "Resume a paused job.", views.Accepted, _resume_job, (_JOB,), (404,)),
    ApiEndpoint(
        "GET",
        "/api/gateway",
        "The gateway itself, and which settings of its file are not in effect.",
        views.GatewayView,
        _gateway,
    ),
    ApiEndpoint("GET", "/api/channels", "The channels and whether they listen.", views.Channels, _channels),
    ApiEndpoint(
        "GET",
        "/api/messages/{message}/trace",
        "Why a message was answered, or not: each stage and its reason.",
        views.Traces,
        _traces,
        (Parameter("message", "The platform's id of the message, or a handle such as m42."),),
        (404, 409),
    ),
    ApiEndpoint(
        "POST",
        incoming.PATH,
        "Write to an agent in a chat, from a program.",
        PostedMessage,
        _post_message,
        (_KEY,),
        (400, 409, 413, 415, 422, 429),
        ProgramMessage,
        token=True,
    ),
    ApiEndpoint("GET", "/api/pairing", "Strangers who are waiting to be let in.", views.PairingList, _pairing),
    ApiEndpoint(
        "POST",
        "/api/pairing/{code}/approve",
        "Let in the stranger with this code.",
        views.Accepted,
        _approve,
        (Parameter("code", "The code that the stranger got."),),
        (404,),
    ),
    ApiEndpoint("GET", "/api/people", "Who has a login besides the owner.", views.PeopleList, _people),
    ApiEndpoint(
        "POST",
        "/api/people/{name}/invite",
        "Invite somebody with a login link of their own; an earlier login of theirs ends.",
        views.Invitation,
        _invite,
        (_PERSON,),
        (404, 409),
    ),
    ApiEndpoint(
        "POST", "/api/people/{name}/revoke", "End somebody's login.", views.Accepted, _revoke, (_PERSON,), (404,)
    ),
    ApiEndpoint(
        "GET", "/api/series", "The charts of the last fifteen minutes, one point a second.", views.Series, _series
    ),
)


def routes(services: PageServices, flow: Flow) -> list[BaseRoute]:
    document = msgspec.json.encode(openapi(services.version, ENDPOINTS))

    async def described(_: Request) -> Response:
        return Response(document, media_type="application/json")

    made: list[BaseRoute] = [Route(path, described) for path in ("/api", "/api/openapi.json")]
    return made + [
        Route(_pattern(each.path), _served(each, services, flow), methods=[each.method]) for each in ENDPOINTS
    ]


def _pattern(path: str) -> str:
    """Names may contain slashes, for example those of heartbeats, or the ids of Matrix messages."""
    return path.replace("}", ":path}")


def _served(endpoint: ApiEndpoint, services: PageServices, flow: Flow) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        try:
            return _json(await endpoint.handle(services, flow, request))
        except NotFound as problem:
            return _json(views.ErrorAnswer(str(problem)), 404)
        except BadRequest as problem:
            return _json(views.ErrorAnswer(str(problem)), 400)
        except (Conflict, Unreadable) as problem:
            return _json(views.ErrorAnswer(str(problem)), 409)
        except StoreUnavailable as problem:
            return _json(views.ErrorAnswer(str(problem)), 503)
        except Refusal as problem:
            return _json(views.ErrorAnswer(str(problem)), problem.status, problem.headers)

    return serve


def _json(document: Struct, status: int = 200, more: dict[str, str] | None = None) -> Response:
    headers = {"cache-control": "no-store", **(more or {})}
    return Response(msgspec.json.encode(document), status, headers, media_type="application/json")

"""A Slack app: Socket Mode, or signed HTTP events where Slack can reach us."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from rejoinder.channels.accounts import name_problems
from rejoinder.channels.base import DEFAULT_ACCOUNT, Channel, FileLimits, Limits
from rejoinder.channels.declaration import ChannelKind, Pace, Setup
from rejoinder.channels.slack import render
from rejoinder.channels.slack.emoji import REACTIONS
from rejoinder.channels.slack.manifest import app_manifest
from rejoinder.channels.threads import Threads
from rejoinder.identity import Identity, Shape
from rejoinder.keys import Port, Text, Url
from rejoinder.rendering import Renderer
from rejoinder.secret import Secret
from rejoinder.setup import SetupQuestion, asks_api_root

if TYPE_CHECKING:
    from rejoinder.channels.slack.event_source import EventSource

LIMITS = Limits(4000)
FILES = FileLimits(1_000_000_000, album=10)
API_ROOT = "https://slack.com/api/"


class Account(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One workspace of several."""

    bot_token: Annotated[Secret, Meta(examples=["${ACME_BOT_TOKEN}"])]
    """The bot token of this workspace."""
    app_token: Annotated[Secret, Meta(examples=["${ACME_APP_TOKEN}"])] | None = None
    """The app-level token of this workspace's app."""
    signing_secret: Secret | None = None
    """The signing secret of this workspace's app."""
    events_port: Port | None = None
    """The port to listen on for its signed events: one for each workspace."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Slack app, in one workspace or several."""

    bot_token: Annotated[Secret | None, Meta(examples=["${SLACK_BOT_TOKEN}"], extra={"unless": "accounts"})] = None
    """The bot token, `xoxb-...`; needed unless there are `accounts`."""
    app_token: Annotated[Secret | None, Meta(examples=["${SLACK_APP_TOKEN}"])] = None
    """The app-level token, `xapp-...`, with `connections:write`: events come by Socket Mode."""
    accounts: dict[str, Account] = {}
    """Several workspaces side by side, by name, all with the other keys of this section. What each has read, its
    sessions and its failures are its own."""
    api_root: Url = API_ROOT
    """For tests and proxies."""
    threads: Threads = "auto"
    """Whether an answer in a channel opens a thread: `auto` where the question mentions the app, `always`, or `off`."""
    suggested_prompts: Annotated[tuple[Text, ...], Meta(max_length=4)] = ()
    """Suggested first messages in the app's assistant: at most four sentences."""
    signing_secret: Annotated[Secret | None, Meta(examples=["${SLACK_SIGNING_SECRET}"])] = None
    """The app's signing secret: events come as signed HTTP requests instead of by Socket Mode."""
    events_path: Text = "/slack/events"
    """The path of the request URL that Slack calls for events, interactivity and the slash command."""
    events_host: Text = "127.0.0.1"
    """The address to listen on for these calls, behind the proxy that holds the certificate."""
    events_port: Port = 8768
    """The port to listen on for these calls."""

    def problems(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from name_problems(self.accounts)
        ports: dict[int, str] = {}
        tokens: dict[str, str] = {}
        for name, own in accounts(self).items():
            place = () if name == DEFAULT_ACCOUNT else ("accounts", name)
            if own.app_token is None and own.signing_secret is None:
                yield (
                    (*place, "app_token"),
                    "set `app_token` for Socket Mode, or `signing_secret` for signed HTTP events",
                )
            how = "app_token" if own.signing_secret is None else "signing_secret"
            secret: Secret | None = getattr(own, how)
            if secret is not None and (other := tokens.setdefault(secret.reveal(), name)) != name:
                yield (
                    (*place, how),
                    f"{other} has the same one, and Slack would mix their events; give each an app of its own",
                )
            elif own.signing_secret is not None and (other := ports.setdefault(own.events_port, name)) != name:
                yield (*place, "events_port"), f"{own.events_port} is the port of {other}; choose another"


def accounts(settings: Settings) -> dict[str, Settings]:
    """The settings of each workspace."""
    found = {} if settings.bot_token is None else {DEFAULT_ACCOUNT: settings}
    for name, own in settings.accounts.items():
        found[name] = replace(
            settings,
            bot_token=own.bot_token,
            app_token=own.app_token or settings.app_token,
            signing_secret=own.signing_secret or settings.signing_secret,
            events_port=settings.events_port if own.events_port is None else own.events_port,
            accounts={},
        )
    return found


def open_channel(name: str, settings: Settings, account: str = DEFAULT_ACCOUNT) -> Channel:
    from rejoinder.channels.slack.api import Api  # noqa: PLC0415 - only serving an app needs a client
    from rejoinder.channels.slack.bot import SlackApp  # noqa: PLC0415
    from rejoinder.channels.slack.retrying import Timings  # noqa: PLC0415

    assert settings.bot_token is not None, "an account has a token"
    pace = Timings()
    if settings.signing_secret is not None:
        from rejoinder.channels.slack.http_events import HttpEventSource, WebhookAddress  # noqa: PLC0415 - Socket Mode needs no server

        hook = WebhookAddress(settings.signing_secret, settings.events_path, settings.events_host, settings.events_port)
        listening: EventSource = HttpEventSource(hook, pace)
    else:
        from rejoinder.channels.slack.socket_mode import SocketEventSource  # noqa: PLC0415 - the SDK, only where it is used

        assert settings.app_token is not None, "the configuration was checked"
        listening = SocketEventSource(Api(settings.api_root, settings.app_token), pace)
    api = Api(settings.api_root, settings.bot_token)
    return SlackApp(
        name, api, listening, pace=pace, account=account, threads=settings.threads, prompts=settings.suggested_prompts
    )


_ID = re.compile(r"[A-Z][A-Z0-9]{2,}")
IDENTITY = Identity(
    Shape(_ID, 'letters and digits such as "U045VRZFT"'),
    Shape(_ID, 'letters and digits such as "C024BE91L"'),
)

SETUP = Setup(
    offer="Serve a Slack app?",
    steps="""\
  1. `rejoinder init --slack-manifest` prints a manifest. Open https://api.slack.com/apps, choose Create New App,
     From a manifest, and paste it.
  2. Install it to the workspace. The bot token (xoxb-) is under OAuth & Permissions.
  3. Under Basic Information, App-Level Tokens, make one with connections:write: the app token (xapp-).""",
    section={"bot_token": "${SLACK_BOT_TOKEN}", "app_token": "${SLACK_APP_TOKEN}"},
    asks=(asks_api_root("Web API", "Slack", API_ROOT),),
    verified=True,
    asks_then=(
        SetupQuestion(
            key="owners",
            question="Your own member id, such as U045VRZFT (Enter: `rejoinder pair` lets you in later)",
            optional=True,
            listed=True,
        ),
        SetupQuestion(
            key="allow_groups",
            question="A channel it may take part in, by its id, such as C024BE91L: at the end of the channel's details "
            "(Enter: direct messages only)",
            optional=True,
            listed=True,
        ),
    ),
    advice="""\
  More channels can be listed under `allow_groups`, by their ids. In each write /invite @ and the app's name, then
  mention it. It answers in a thread under the question; `threads` changes that.""",
)

CHANNEL = ChannelKind(
    settings=Settings,
    identity=IDENTITY,
    open=open_channel,
    accounts=accounts,
    limits=LIMITS,
    can=frozenset({"reply", "react", "send", "voice", "files", "ephemeral", "previews", "threads"}),
    renderer=Renderer(render.render, render.plain, keeps_prose=True),
    reactions=REACTIONS,
    pace=Pace(1.2, chat=(5, 1.0)),
    delivery="read back",
    files=FILES,
    edits="told",
    replies_are_threads=True,
    setup=SETUP,
    manifest=app_manifest(),
)

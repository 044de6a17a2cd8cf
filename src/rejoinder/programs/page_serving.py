"""Serves the chat page and the console of a gateway; this file is loaded only if there is a web channel."""

import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, cast

from rejoinder.app import Gateway
from rejoinder.blobs import Quota
from rejoinder.channels.web import Settings as WebSettings
from rejoinder.channels.web.channel import WebChannel
from rejoinder.channels.web.logins import hashed, is_hash
from rejoinder.channels.web.logins import new_token as make_token
from rejoinder.config import schema
from rejoinder.errors import BadUse
from rejoinder.events import ChangeInvitations
from rejoinder.programs.invitations import Invitations, public_address
from rejoinder.programs.page_services import page_services
from rejoinder.runtime.tasks import Tasks
from rejoinder.web.login import Login
from rejoinder.web.server import Pages, address

EVERYWHERE = ("0.0.0.0", "::")
"""Hosts that mean all addresses of a machine, and are not addresses themselves."""


async def open_pages(
    stack: AsyncExitStack,
    tasks: Tasks,
    gateway: Gateway,
    settings: schema.Settings,
    web: WebChannel,
    facts: WebSettings,
    listening: socket.socket,
    say: Callable[[str], None],
    new_token: bool,
) -> None:
    """Returns when the pages can be opened, and prints their addresses."""
    token_hash, shown_token = await _token(web, facts, new_token)
    login = Login(token_hash, await web.journal.invited())
    where = address(listening)
    invitations = Invitations(web, public_address(facts, listening) if login.needed else None)
    await invitations.begin()
    gateway.commands.provide(ChangeInvitations, invitations.command)
    services = page_services(gateway, settings, web, tasks, invitations, where)
    quota = Quota(facts.person_files_mb << 20, facts.files_mb << 20)
    pages = Pages(services, login, facts.hosts, proxies=facts.trusted_proxies, quota=quota)
    invitations.on_change(pages.refresh_logins)
    for name, hook in pages.hooks.items():
        gateway.on(name, cast(Any, hook))
    serving = tasks.start("pages", pages.serve(listening))
    stack.push_async_callback(tasks.wait, serving)
    stack.callback(pages.stop)
    tasks.start("figures", pages.flow.measure())
    if login.needed:
        tasks.start("logins", pages.know_logins())
    await pages.up.wait()
    say(f"The chat is at {where}")
    say(f"The console is at {where}/console")
    if facts.host in EVERYWHERE:
        say("Other machines reach both at this machine's address, on the same port.")
    if shown_token is not None:
        say(f"Log in with this token, which is not shown again: {shown_token}")
        say(f"or open this once: {where}/login?token={shown_token}")
    elif token_hash is not None:
        if facts.token is not None:
            say(f"Log in with the token of the configuration (channels.{web.name}.token).")
        else:
            say("Log in with your token. `rejoinder run --new-token` makes another one.")


async def _token(web: WebChannel, facts: WebSettings, new: bool) -> tuple[str | None, str | None]:
    """The hash to check the owner's logins against, and the token itself if it was made just now."""
    for key, sentence in facts.problems():  # settings that were not read from a file are unchecked
        raise BadUse(f"channels.{web.name}.{key[0]}: {sentence}")
    if facts.token is not None and new:
        raise BadUse(f"the token is in the configuration (channels.{web.name}.token): --new-token cannot change it")
    if facts.token is not None:
        return hashed(facts.token.reveal()), None
    if not facts.is_exposed:
        return None, None
    token_hash = None if new else await web.journal.token()
    if token_hash is not None and is_hash(token_hash):
        return token_hash, None
    token = make_token()
    token_hash = hashed(token)
    await web.journal.keep_token(token_hash)
    return token_hash, token

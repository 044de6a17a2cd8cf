"""Calls of Discord's REST API. The result of each is a value, never an exception."""

from collections.abc import Sequence
from typing import Any

import msgspec
from discord.http import Route

import discord
from rejoinder.channels.base import OutgoingFile
from rejoinder.channels.discord.client import Client
from rejoinder.channels.discord.http import RefusedCall, SingleAttemptClient
from rejoinder.channels.discord.outcomes import Answer, NoResponse, NotSent, Ok, Refused
from rejoinder.channels.http_faults import FAILED, is_ours, reason_of, server_of, was_written
from rejoinder.channels.multipart import Form
from rejoinder.errors import StoreUnavailable


class Api:
    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def server(self) -> str:
        """The server's address, for messages to people."""
        http = self._client.http
        return http.server if isinstance(http, SingleAttemptClient) else server_of(Route.BASE)

    async def call(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        params: dict[str, Any] | None = None,
        files: Sequence[OutgoingFile] = (),
        seconds: float | None = None,
        **ids: str,
    ) -> Answer:
        """`ids`: the values for the names in the path. The call is given up after `seconds`."""
        route = Route(method, path, **ids)
        how: dict[str, Any] = {}
        http, form = self._client.http, None
        if files and isinstance(http, SingleAttemptClient):
            named = [(f"files[{number}]", file) for number, file in enumerate(files)]
            how["upload"] = form = Form({"payload_json": msgspec.json.encode(json)}, named)
        elif files:
            how["form"] = await _collected(json, files)
        elif json is not None:
            how["json"] = json
        if params is not None:
            how["params"] = params
        if isinstance(http, SingleAttemptClient) and not http.has_logged_in:
            return NotSent("the bot has not logged in yet")
        if seconds is not None and isinstance(http, SingleAttemptClient):
            how["seconds"] = seconds
        try:
            return Ok(await http.request(route, **how))
        except RefusedCall as no:
            return Refused(no.status, no.code, no.text, no.retry_after, no.everywhere, no.foreign)
        except discord.HTTPException as no:
            return Refused(no.status, no.code, no.text)
        except FAILED as problem:
            written = was_written(problem) and (form is None or form.is_written)
            return (NoResponse if written else NotSent)(reason_of(problem), is_ours(problem))
        except StoreUnavailable as problem:  # the files are read from it while they are sent
            return (NoResponse if form is not None and form.is_written else NotSent)(str(problem))

    async def load(self, url: str, limit: int) -> bytes | str:
        """The file at this address, or why it could not be loaded."""
        http = self._client.http
        try:
            if isinstance(http, SingleAttemptClient):
                return await http.load(url, limit)
            content = await http.get_from_cdn(url)
        except (discord.HTTPException, *FAILED) as problem:
            return reason_of(problem)
        return content if len(content) <= limit else f"it has more than {limit} bytes"


async def _collected(json: Any, files: Sequence[OutgoingFile]) -> list[dict[str, Any]]:
    """The form as discord.py's own client expects it."""
    fields: list[dict[str, Any]] = [{"name": "payload_json", "value": msgspec.json.encode(json).decode()}]
    for number, file in enumerate(files):
        content = b"".join([chunk async for chunk in file.chunks()])
        of = {"filename": file.name, "content_type": file.mime}
        fields.append({"name": f"files[{number}]", "value": content, **of})
    return fields

"""Calls of Discord's REST API: what came of each is a value, never an exception."""

from collections.abc import Sequence
from typing import Any

import discord
import msgspec
from discord.http import Route

from rejoinder.channels.discord.client import Client
from rejoinder.channels.discord.http import OneAttempt, Turned
from rejoinder.channels.discord.outcomes import Answer, Ok, Refused, Unheard, Unreached
from rejoinder.channels.http_faults import FAILED, was_written

Upload = tuple[str, bytes, str]
"""A file: its name, its content and its type."""


class Api:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        params: dict[str, Any] | None = None,
        files: Sequence[Upload] = (),
        seconds: float | None = None,
        **ids: str,
    ) -> Answer:
        """`ids`: what stands for the names in the path; the call is given up after `seconds`."""
        route = Route(method, path, **ids)
        how: dict[str, Any] = {}
        if files:
            how["form"] = _form(json, files)
        elif json is not None:
            how["json"] = json
        if params is not None:
            how["params"] = params
        http = self._client.http
        if seconds is not None and isinstance(http, OneAttempt):
            how["seconds"] = seconds
        try:
            return Ok(await http.request(route, **how))
        except Turned as no:
            return Refused(no.status, no.code, no.text, no.retry_after, no.everywhere, no.foreign)
        except discord.HTTPException as no:
            return Refused(no.status, no.code, no.text)
        except FAILED as problem:
            return (Unheard if was_written(problem) else Unreached)(str(problem) or type(problem).__name__)

    async def load(self, url: str, limit: int) -> bytes | str:
        """The file at this address, or why it could not be loaded."""
        http = self._client.http
        try:
            if isinstance(http, OneAttempt):
                return await http.load(url, limit)
            content = await http.get_from_cdn(url)
        except (discord.HTTPException, *FAILED) as problem:
            return str(problem) or type(problem).__name__
        return content if len(content) <= limit else f"it has more than {limit} bytes"


def _form(json: Any, files: Sequence[Upload]) -> list[dict[str, Any]]:
    fields: list[dict[str, Any]] = [{"name": "payload_json", "value": msgspec.json.encode(json).decode()}]
    for number, (name, content, mime) in enumerate(files):
        of = {"filename": name, "content_type": mime or "application/octet-stream"}
        fields.append({"name": f"files[{number}]", "value": content, **of})
    return fields

"""A refusal as the client can read it: under `/v1` in the shape OpenAI's clients know, else a sentence."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

CODES = {401: "invalid_api_key", 413: "request_too_large"}


def refuse(path: str, status: int, why: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse(error(status, why) if path.startswith("/v1/") else {"error": why}, status, headers)


def error(status: int, why: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """The error as OpenAI writes it."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": why, "type": kind, "param": param, "code": code or CODES.get(status)}}

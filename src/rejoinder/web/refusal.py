"""A refusal in the client's form: under `/v1` as its SDK expects it, for a browser as a page, otherwise a sentence."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse, Response

STATIC = Path(__file__).parent / "static"
CODES = {401: "invalid_api_key", 413: "request_too_large"}
ANTHROPIC = "/v1/messages"
ANTHROPIC_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}


def refuse(
    path: str,
    status: int,
    why: str,
    headers: Mapping[str, str] | None = None,
    param: str | None = None,
    code: str | None = None,
) -> Response:
    if path.startswith(ANTHROPIC):
        document = anthropic_error(status, why)
    elif path.startswith("/v1/"):
        document = openai_error(status, why, param, code)
    else:
        document = {"error": why}
    return JSONResponse(document, status, headers)


def refuse_with_page(name: str, status: int) -> Response:
    """A page for a browser; our style sheet needs no login."""
    return Response((STATIC / name).read_bytes(), status, media_type="text/html")


def openai_error(status: int, why: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": why, "type": kind, "param": param, "code": code or CODES.get(status)}}


def anthropic_error(status: int, why: str) -> dict[str, Any]:
    kind = "api_error" if status >= 500 else ANTHROPIC_KINDS.get(status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": why}}

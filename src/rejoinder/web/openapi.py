"""The declaration of an endpoint of `/api`, and the OpenAPI document that is made from these."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request

from rejoinder.web import views
from rejoinder.web.flow import Flow
from rejoinder.web.services import PageServices

Handler = Callable[[PageServices, Flow, Request], Awaitable[Struct]]


class Parameter(Struct, frozen=True):
    name: str
    description: str
    place: str = "path"
    schema: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "string", "minLength": 1})


class ApiEndpoint(Struct, frozen=True):
    method: str
    path: str
    summary: str
    answer: type[Struct]
    handle: Handler
    parameters: tuple[Parameter, ...] = ()
    problems: tuple[int, ...] = ()
    """Statuses besides 200 that a correct call may get."""
    body: type[Struct] | None = None
    token: bool = False
    """Whether it is called with a program's own token, not with the page's login."""


def openapi(version: str, endpoints: Sequence[ApiEndpoint]) -> dict[str, Any]:
    bodies = {endpoint.body for endpoint in endpoints if endpoint.body is not None}
    records = [*{endpoint.answer for endpoint in endpoints}, *bodies, views.ErrorAnswer]
    _, components = msgspec.json.schema_components(records, ref_template="#/components/schemas/{name}")
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rejoinder",
            "version": version,
            "description": "Everything that the console shows and does.",
        },
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"program": {"type": "http", "scheme": "bearer"}}},
    }


_MARK = {
    "name": "X-Rejoinder",
    "in": "header",
    "required": True,
    "description": "Any value: no other site's page can send it.",
    "schema": {"type": "string", "pattern": "^[0-9A-Za-z]+$"},
}
_DESCRIPTIONS = {
    400: "The request is not valid.",
    401: "Log in first.",
    403: "The header is missing, another site asks, or this token may not do it.",
    404: "The requested thing does not exist.",
    409: "It conflicts with the current state.",
    413: "This is too large.",
    415: "This is not JSON.",
    422: "This cannot be sent there.",
    429: "Too many requests; wait as long as `Retry-After` says.",
    503: "The store cannot be read now.",
}


def _operation(endpoint: ApiEndpoint) -> dict[str, Any]:
    changes = endpoint.method == "POST"
    statuses = (*endpoint.problems, 401, 503, *((403,) if changes else ()))
    parameters = [
        {
            "name": each.name,
            "in": each.place,
            "required": each.place == "path",
            "description": each.description,
            "schema": each.schema,
        }
        for each in endpoint.parameters
    ]
    return {
        "summary": endpoint.summary,
        "operationId": endpoint.handle.__name__.strip("_"),
        "parameters": parameters + ([_MARK] if changes and not endpoint.token else []),
        **({"security": [{"program": []}]} if endpoint.token else {}),
        **({"requestBody": _content(endpoint.body.__name__, required=True)} if endpoint.body is not None else {}),
        "responses": {
            "200": {"description": "Done.", **_content(endpoint.answer.__name__)},
            **{
                str(each): {"description": _DESCRIPTIONS[each], **_content(views.ErrorAnswer.__name__)}
                for each in statuses
            },
        },
    }


def _content(record: str, **more: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{record}"}}}, **more}

"""The OpenAPI description: what FastAPI knows of the routes, with every problem and examples."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from nightgrid.service.http.guard.access import wants_key
from nightgrid.service.http.problem_kinds import Kind, kinds_of
from nightgrid.service.http.problems import PROBLEM_TYPE

EXAMPLES = "examples.json"
KEY = "key"
"""The name of the scheme by which keys are sent."""
DESCRIPTION = """Exact solves of puzzles: `/v1/games` says of which games.

Numbers that may pass 2^53 are texts. Every error is `application/problem+json` (RFC 9457) that
names what is wrong by JSON pointers. Where keys are wanted they are sent as `Authorization: Bearer
KEY`; a service on loopback wants none unless it is told to."""
PROBLEM = {
    "title": "Problem",
    "description": "What is wrong with a request, or why it cannot be answered.",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "description": "/problems/ and its kind."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "One sentence."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "detail"],
                "properties": {
                    "pointer": {
                        "type": "string",
                        "description": "JSON pointer into the body; `?name` for a parameter, the "
                        "name of a header or of a part of the path.",
                    },
                    "detail": {"type": "string"},
                },
            },
        },
    },
}
_RETRY_AFTER = {
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
}
_HEADERS = {
    401: {"WWW-Authenticate": {"description": "Bearer.", "schema": {"type": "string"}}},
    429: _RETRY_AFTER,
    503: _RETRY_AFTER,
}
_WAITING = {
    "Location": {"description": "Where the job is.", "schema": {"type": "string"}},
    **_RETRY_AFTER,
}
_ASKING: list[dict[str, Any]] = [
    {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "A request with the same key and body is answered as the first one.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
    },
    {
        "name": "Prefer",
        "in": "header",
        "description": "`wait=N` waits up to N seconds for the answer, `respond-async` not at all.",
        "schema": {"type": "string", "pattern": "^(wait=[0-9]{1,2}|respond-async)$"},
    },
]
"""Headers that a question is asked with."""
_MISPLACED = "#/$defs/"
"""Where pydantic puts the models of a schema that is made by itself."""


def operation_name(route: APIRoute) -> str:
    """Name an operation after its function."""
    return route.name


def describe(app: FastAPI) -> dict[str, Any]:
    """Describe all routes of an app, once."""
    if app.openapi_schema is None:
        app.openapi_schema = _completed(FastAPI.openapi(app))
    return app.openapi_schema


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    document["info"]["description"] = DESCRIPTION
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = PROBLEM
    components["securitySchemes"] = {KEY: {"type": "http", "scheme": "bearer"}}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _complete(operation, path, method, schemas)
    document["paths"] = dict(sorted(document["paths"].items()))
    components["schemas"] = dict(sorted(schemas.items()))
    return document


def _complete(operation: dict[str, Any], path: str, method: str, schemas: dict[str, Any]) -> None:
    name = operation["operationId"]
    responses = operation["responses"]
    responses.pop("422", None)
    by_status: dict[int, list[Kind]] = {}
    for kind in kinds_of(name, path=path, method=method):
        by_status.setdefault(kind.status, []).append(kind)
    for status, kinds in by_status.items():
        responses[str(status)] = _problem(status, kinds)
    operation["responses"] = dict(sorted(responses.items()))
    if wants_key(path):
        operation["security"] = [{}, {KEY: []}]
    if name == "post_solve":
        operation.setdefault("parameters", []).extend(_ASKING)
        responses["202"]["headers"] = _WAITING
    if "requestBody" in operation:
        _place_models(operation["requestBody"]["content"]["application/json"], schemas)
    _add_examples(operation, examples().get(name, {}))


def _problem(status: int, kinds: list[Kind]) -> dict[str, Any]:
    return {
        "description": "; or ".join(kind.when for kind in kinds) + ".",
        "headers": _HEADERS.get(status, {}),
        "content": {
            PROBLEM_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {
                    kind.slug: {
                        "value": {
                            "type": f"/problems/{kind.slug}",
                            "title": kind.title,
                            "status": kind.status,
                            "detail": kind.when,
                        }
                    }
                    for kind in kinds
                },
            }
        },
    }


def _place_models(content: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Put the models of a schema that was made by itself among all others."""
    schema = content["schema"]
    if "$ref" in schema:
        return
    for name, model in schema.pop("$defs", {}).items():
        schemas.setdefault(name, model)
    text = json.dumps(schema).replace(_MISPLACED, "#/components/schemas/")
    name = schema["title"]
    schemas[name] = json.loads(text)
    content["schema"] = {"$ref": f"#/components/schemas/{name}"}


def _add_examples(operation: dict[str, Any], given: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in given.get("parameters", {}):
            parameter["example"] = given["parameters"][parameter["name"]]
    if "bodies" in given:
        content = operation["requestBody"]["content"]["application/json"]
        content["examples"] = {name: {"value": body} for name, body in given["bodies"].items()}
    for status, value in given.get("responses", {}).items():
        for content in operation["responses"][status].get("content", {}).values():
            if "example" not in content:
                content["example"] = value
                break


@cache
def examples() -> dict[str, Any]:
    """Read the examples of operations, by their names."""
    found: dict[str, Any] = json.loads(
        resources.files("nightgrid.service.http").joinpath(EXAMPLES).read_text("utf-8")
    )
    return found

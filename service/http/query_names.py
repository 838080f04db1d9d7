"""Which parameters a request may have: those that the description of its route names."""

from __future__ import annotations

from fastapi import Request
from fastapi.exceptions import RequestValidationError

from nightgrid.service.http.field_faults import KNOWN, UNKNOWN_FIELD
from nightgrid.service.http.monitoring.route_names import route_of


async def refuse_unknown(request: Request) -> None:
    """Raise RequestValidationError for parameters that the route of a request does not have."""
    if not request.scope["query_string"]:
        return
    known = _names(request)
    unknown = [name for name in dict.fromkeys(request.query_params.keys()) if name not in known]
    if unknown:
        raise RequestValidationError(
            [
                {"type": UNKNOWN_FIELD, "loc": ("query", name), "msg": "", "ctx": {KNOWN: known}}
                for name in unknown
            ]
        )


def _names(request: Request) -> list[str]:
    operations = request.app.openapi()["paths"].get(route_of(request.scope), {})
    operation = operations.get(request.method.lower(), {})
    return [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]

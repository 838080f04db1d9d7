"""What is wrong with a field, in the words of all other sentences instead of the library's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError

from nightgrid.service.http.monitoring.route_names import route_of

Found = Mapping[str, Any]

_FIXED = {
    "missing": "is missing",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_parsing_size": "expected a smaller number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a finite number",
    "string_type": "expected a text",
    "string_unicode": "expected a text in UTF-8",
    "list_type": "expected a list",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "model_attributes_type": "expected an object",
}
_BOUNDED: dict[str, Callable[[Found], str]] = {
    "greater_than": lambda told: f"expected more than {told['gt']:g}",
    "greater_than_equal": lambda told: f"expected at least {told['ge']:g}",
    "less_than": lambda told: f"expected less than {told['lt']:g}",
    "less_than_equal": lambda told: f"expected at most {told['le']:g}",
    "literal_error": lambda told: f"expected one of {told['expected']}",
    "enum": lambda told: f"expected one of {told['expected']}",
    "string_too_long": lambda told: f"expected at most {told['max_length']} characters",
    "string_too_short": lambda told: f"expected at least {told['min_length']} characters",
    "too_long": lambda told: f"expected at most {told['max_length']} items",
    "too_short": lambda told: f"expected at least {told['min_length']} items",
    "string_pattern_mismatch": lambda told: f"expected a text like {told['pattern']}",
    "value_error": lambda told: str(told["error"]),
}
_UNKNOWN = "is unknown here"
UNKNOWN_FIELD = "extra_forbidden"
"""What pydantic calls a field, or a parameter, that there is not."""
KNOWN = "known"
"""In the context of an unknown field, where it is there: the names of fields that there are."""
HEX_ID = "^[0-9a-f]{32}$"
"""The pattern of ids, which has words of its own."""


def fault_of(error: Found) -> str:
    """Say what is wrong with a field, as pydantic found it."""
    kind, told = error["type"], error.get("ctx", {})
    if kind == "string_pattern_mismatch" and told["pattern"] == HEX_ID:
        return "expected 32 hexadecimal digits"
    if kind == UNKNOWN_FIELD:
        meant = get_close_matches(str(error["loc"][-1]), told.get(KNOWN, ()), 1)
        return _UNKNOWN + (f"; did you mean {meant[0]}?" if meant else "")
    if kind in _BOUNDED:
        return _BOUNDED[kind](told)
    return _FIXED.get(kind) or str(error["msg"])


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

"""Choose the media type of an answer by what a request accepts."""

from __future__ import annotations

from collections.abc import Sequence

from nightgrid.service.http.problems import FieldError, Problem

ANY = "*/*"


def chosen_type(accept: str, offered: Sequence[str]) -> str:
    """Choose a media type by an Accept header; without one, the first that is offered.

    Raises Problem with 406 where the header takes none of them.
    """
    wanted = [_range(part) for part in (accept or ANY).split(",")]
    best, best_weight = "", 0.0
    for kind in offered:
        matching = [(_precision(of), weight) for of, weight in wanted if _matches(of, kind)]
        weight = max(matching, default=(0, 0.0))[1]
        if weight > best_weight:
            best, best_weight = kind, weight
    if not best:
        detail = f"Accept is {accept!r:.80}; expected one of {', '.join(offered)}"
        errors = [FieldError(pointer="Accept", detail=detail)]
        raise Problem("not-acceptable", detail, errors=errors)
    return best


def _range(part: str) -> tuple[str, float]:
    """Read a media range with its weight; what cannot be read weighs nothing."""
    kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                weight = float(value)
            except ValueError:
                return kind, 0.0
            return kind, weight if 0 <= weight <= 1 else 0.0
    return kind, 1.0


def _matches(of: str, kind: str) -> bool:
    return of in (ANY, kind) or (of.endswith("/*") and kind.startswith(of[:-1]))


def _precision(of: str) -> int:
    return 0 if of == ANY else 1 if of.endswith("/*") else 2

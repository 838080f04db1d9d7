"""nightgrid: exact answers to Pips, Strands, Letter Boxed and Tiles, one board or a million.

    import nightgrid

    for board in nightgrid.read("2026-01-05.json"):
        print(board.level, nightgrid.solve(board, "count").count)

The names below are the public API; every other module may change from version to version. The
folders of the source (solvers, archive, workers, flows, service) lie beside this one and are linked
into it, so that an installation has one import name (docs/adr/0020-one-import-name.md).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nightgrid.service.api import Board, Lake, draw, read, solve
    from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
    from nightgrid.solvers.errors import (
        InvalidPuzzleError,
        NightgridError,
        PermanentError,
        TransientError,
    )

_HOMES = {
    **dict.fromkeys(("Board", "Lake", "draw", "read", "solve"), "nightgrid.service.api"),
    **dict.fromkeys(("Ask", "Budget", "Outcome", "Status"), "nightgrid.solvers.algebra"),
}
"""Where the public names are; the others are errors."""

__all__ = [
    "Ask",
    "Board",
    "Budget",
    "InvalidPuzzleError",
    "Lake",
    "NightgridError",
    "Outcome",
    "PermanentError",
    "Status",
    "TransientError",
    "draw",
    "read",
    "solve",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a worker imports this package, and no door."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name, "nightgrid.solvers.errors")), name)
    # Found without this function from then on.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""Parse Pips payloads: every level becomes a published puzzle or a fault with its place."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any

from nightgrid.archive.payloads.envelopes import (
    check_game,
    fault_of,
    identifier,
    in_input,
    print_date,
    text,
    without,
)
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.payloads.strict_json import looks_like, read_members, shown
from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.pips.check import check_solution
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import MAX_COORDINATE, Cell
from nightgrid.solvers.pips.solution import Placement, Solution
from nightgrid.solvers.sentences import plural

GAME = "pips"
LEVELS = ("easy", "medium", "hard")
"""The levels that every published payload has."""
FIRST_DATE = dt.date(2025, 8, 18)
"""The day of the first published puzzle."""
MAX_LEVELS = 16
"""Further puzzles in one payload are rejected: published ones have three."""

_BOARD_KEYS = ("dominoes", "regions")
_LEVEL_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


def read_payload(data: bytes, date: dt.date) -> list[Published | Fault]:
    """Parse the payload of a date, in the order of its levels.

    A payload for another date is one fault and no puzzle. Otherwise every level is a puzzle or a
    fault, and so is each missing one of LEVELS. A document that is not JSON is one fault.
    """
    try:
        return _read_payload(read_members(data), date)
    except InvalidPuzzleError as error:
        return [fault_of(error)]


def read_puzzles(data: bytes, name: str) -> list[Published | Fault]:
    """Parse a payload, one published puzzle object, or the canonical JSON of one puzzle.

    `name` is the input's name, used in every fault's message. Unlike `read_payload`, it accepts any
    date or none, and a payload without some of the levels.
    """
    found: list[Published | Fault]
    try:
        keyed = read_members(data)
        if any(key in keyed for key in _BOARD_KEYS):
            check_game(keyed, GAME)
            found = [_read_puzzle(keyed, "", date=None, level=None, editor=None)]
        else:
            found = _read_payload(keyed, None)
    except InvalidPuzzleError as error:
        found = [fault_of(error)]
    return in_input(found, name, without("solution"))


def _read_payload(keyed: Mapping[str, Any], expected: dt.date | None) -> list[Published | Fault]:
    date = print_date(keyed, expected)
    found: list[Published | Fault] = []
    editor: str | None = None
    try:
        editor = text(keyed.get("editor"), "editor")
    except InvalidPuzzleError as error:
        found.append(fault_of(error))
    levels = [(key, value) for key, value in keyed.items() if _is_level(key, value)]
    if not levels:
        expected_here = "a puzzle with dominoes and regions, or a payload with levels"
        message = f"{looks_like(keyed)} is not a puzzle; expected {expected_here}"
        return [*found, input_fault("no-puzzle", message)]
    found += [_read_level(key, value, date, editor) for key, value in levels[:MAX_LEVELS]]
    if len(levels) > MAX_LEVELS:
        message = f"{len(levels)} levels; all beyond the first {MAX_LEVELS} are refused"
        found.append(input_fault("too-many-levels", message))
    missing = [level for level in LEVELS if expected is not None and level not in keyed]
    for level in missing:
        message = f"expected a puzzle under {level!r}, but the key is missing"
        found.append(Fault(level=level, rule="missing-level", place=level, message=message))
    return found


def _is_level(key: str, value: Any) -> bool:
    return key in LEVELS or (isinstance(value, dict) and any(k in value for k in _BOARD_KEYS))


def _read_level(
    key: str, value: Any, date: dt.date | None, editor: str | None
) -> Published | Fault:
    level = key if _LEVEL_NAME.fullmatch(key) else None
    try:
        if level is None:
            raise InvalidPuzzleError(
                "bad-level-name", shown(key), "expected a level name of a-z, 0-9, '-' and '_'"
            )
        return _read_puzzle(value, level, date=date, level=level, editor=editor)
    except InvalidPuzzleError as error:
        return fault_of(error, level)


def _read_puzzle(
    value: Any, place: str, *, date: dt.date | None, level: str | None, editor: str | None
) -> Published:
    if value is None or (isinstance(value, dict) and value.get("dominoes", "") is None):
        raise InvalidPuzzleError("null-puzzle", place, "no puzzle here yet: dominoes is null")
    puzzle = Puzzle.from_json(value, place)
    assert isinstance(value, dict)  # Puzzle.from_json accepts nothing else
    prefix = f"{place}." if place else ""
    return Published(
        date=date,
        level=level,
        puzzle=puzzle,
        solution=_solution(puzzle, value, f"{prefix}solution"),
        source_id=identifier(value.get("id"), f"{prefix}id"),
        backend_id=text(value.get("backendId"), f"{prefix}backendId"),
        editor=editor,
        constructors=text(value.get("constructors"), f"{prefix}constructors"),
    )


def _solution(puzzle: Puzzle, value: Mapping[str, Any], place: str) -> Solution | None:
    """Parse and check the official solution: entry i has the cells of dominoes[i]."""
    entries = value.get("solution")
    if entries is None:
        return None
    if not isinstance(entries, list):
        raise InvalidPuzzleError("not-a-list", place, "expected a list of placements or null")
    dominoes = value["dominoes"]
    if len(entries) != len(dominoes):
        raise InvalidPuzzleError(
            "solution-length",
            place,
            f"expected {plural(len(dominoes), 'placement')}, one for each domino, got "
            f"{len(entries)}",
        )
    placements = [
        _placement(entry, domino, f"{place}[{i}]")
        for i, (entry, domino) in enumerate(zip(entries, dominoes, strict=True))
    ]
    check_solution(puzzle, placements, place)
    return tuple(sorted(placements))


def _placement(entry: Any, domino: Sequence[int], place: str) -> Placement:
    if not isinstance(entry, list) or len(entry) != 2:
        raise InvalidPuzzleError("bad-placement", place, "expected a list of two cells")
    halves = sorted(
        [(_cell(entry[0], f"{place}[0]"), domino[0]), (_cell(entry[1], f"{place}[1]"), domino[1])]
    )
    (cell_a, pip_a), (cell_b, pip_b) = halves
    return Placement(cell_a=cell_a, cell_b=cell_b, pip_a=pip_a, pip_b=pip_b)


def _cell(value: Any, place: str) -> Cell:
    if (
        isinstance(value, list)
        and len(value) == 2
        and all(type(number) is int and 0 <= number <= MAX_COORDINATE for number in value)
    ):
        return (value[0], value[1])
    raise InvalidPuzzleError(
        "bad-cell", place, f"expected a cell as two integers from 0 to {MAX_COORDINATE}"
    )

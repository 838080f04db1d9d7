"""What surrounds the boards in the inputs of every game: game, date, and the input's own name."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nightgrid.archive.payloads.fields import DATE_KEY, fault_of, member_value, print_date
from nightgrid.archive.payloads.published import Fault, Published
from nightgrid.archive.payloads.strict_json import Member, members_by_key, read_members, shown
from nightgrid.solvers.errors import InvalidPuzzleError, json_kind

Found = list[Published | Fault]


def in_input(
    found: Sequence[Published | Fault], name: str, way_out: Callable[[Fault], str] | None = None
) -> Found:
    """End every fault's message with the input's name, after what `way_out` says of a remedy."""
    return [
        Fault(
            level=item.level,
            rule=item.rule,
            place=item.place,
            message=f"{item.message}{way_out(item) if way_out else ''} (in {shown(name)})",
        )
        if isinstance(item, Fault)
        else item
        for item in found
    ]


def read_one(
    data: bytes,
    expected: dt.date | None,
    level: str,
    puzzle_of: Callable[[Mapping[str, Member], dt.date | None, str | None], Published],
) -> Found:
    """Read a payload that holds one puzzle: its members, its date, and what `puzzle_of` makes.

    With a date that is expected the payload has to be for it, and its puzzle has the level.
    """
    keyed, loose = members_by_key(list(read_members(data)))
    faults: Found = [fault_of(member.fault) for member in loose if member.fault]
    if faults:
        return faults
    try:
        date = print_date(keyed.pop(DATE_KEY, None), expected)
    except InvalidPuzzleError as error:
        return [fault_of(error)]
    named = level if expected is not None else None
    try:
        return [puzzle_of(keyed, date, named)]
    except InvalidPuzzleError as error:
        return [fault_of(error, named)]


def read_list(data: bytes, what: str, puzzle_of: Callable[[Any], Any]) -> Found:
    """Read a board that is a list by itself; `what` says of what."""
    try:
        items = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        message = f"expected a JSON object, or a list of {what}: {reason}"
        return [Fault(level=None, rule="not-json", place="", message=message)]
    try:
        return [Published(date=None, level=None, puzzle=puzzle_of(items))]
    except InvalidPuzzleError as error:
        return [fault_of(error)]


def values_of(keyed: Mapping[str, Member], game: str) -> dict[str, Any]:
    """Take the value of every member, and check that the object is of this game if it says so.

    Every member has to be readable: an unknown one too, or the payload is not what it seems. Raises
    InvalidPuzzleError.
    """
    obj = {key: member_value(member) for key, member in keyed.items()}
    named = obj.get("game", game)
    if named != game:
        got = repr(shown(named)) if isinstance(named, str) else json_kind(named)
        raise InvalidPuzzleError("wrong-game", "game", f"expected {game!r}, got {got}")
    return obj

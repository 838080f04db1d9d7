"""Parse boards of Tiles: the form in which the game's page holds them in memory, and our own JSON.

The page generates a board in the browser at every start, so payloads have no dates. In memory it is
`{"board": [{"layers": [{"id": "A3", "hidden": false}, ...]}, ...]}`, one object a tile. A hidden
layer is a feature that the player has deleted: it no longer belongs to the tile.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any

from nightgrid.archive.payloads.envelopes import (
    MAX_TEXT,
    check_game,
    fault_of,
    in_input,
    members_of,
    text,
)
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.payloads.strict_json import shown
from nightgrid.solvers.errors import Faults, InvalidPuzzleError, json_kind
from nightgrid.solvers.tiles.puzzle import Puzzle

GAME = "tiles"
LEVELS: tuple[str, ...] = ()
FIRST_DATE = dt.date(2019, 6, 1)
"""Payloads have no dates; the game was introduced in 2019."""

_PAGE_KEY = "board"
_OWN_KEY = "tiles"


def read_payload(data: bytes, date: dt.date) -> list[Published | Fault]:
    """Return a fault: the page has no payload for any date."""
    del data
    message = f"no board of Tiles is published for {date} or any date: the page makes its own"
    return [input_fault("no-dated-payload", message)]


def read_puzzles(data: bytes, name: str) -> list[Published | Fault]:
    """Parse one board: the page's `board`, our own `tiles`, or the bare list in either.

    `name` is the input's name, appended to every fault's message.
    """
    key = _PAGE_KEY if data.lstrip()[1:].lstrip()[:1] == b"{" else _OWN_KEY
    try:
        return [Published(date=None, level=None, puzzle=_read_board(members_of(data, key)))]
    except InvalidPuzzleError as error:
        return in_input([fault_of(error)], name)


def _read_board(obj: Mapping[str, Any]) -> Puzzle:
    check_game(obj, GAME)
    if _PAGE_KEY in obj and _OWN_KEY in obj:
        raise InvalidPuzzleError(
            "two-boards", _OWN_KEY, f"expected {_PAGE_KEY!r} or {_OWN_KEY!r}, got both"
        )
    if _PAGE_KEY in obj:
        return _page_board(obj[_PAGE_KEY])
    if _OWN_KEY not in obj:
        raise InvalidPuzzleError(
            "no-puzzle", "", f"expected a board of Tiles under {_PAGE_KEY!r} or {_OWN_KEY!r}"
        )
    tiles = obj[_OWN_KEY]
    faults = Faults()
    if isinstance(tiles, list):
        for i, tile in enumerate(tiles):
            for j, feature in enumerate(tile if isinstance(tile, list) else ()):
                with faults:
                    text(feature, f"{_OWN_KEY}[{i}][{j}]")
    faults.check()
    return Puzzle.from_json(obj)


def _page_board(board: Any) -> Puzzle:
    if not isinstance(board, list):
        raise InvalidPuzzleError(
            "board-type", _PAGE_KEY, f"expected a list of tiles, got {json_kind(board)}"
        )
    faults = Faults()
    at = ((f"{_PAGE_KEY}[{i}]", tile) for i, tile in enumerate(board))
    tiles = faults.each(at, lambda tile, place: _page_tile(tile, place, faults))
    faults.check()
    try:
        return Puzzle.from_json({"tiles": tiles})
    except InvalidPuzzleError as error:
        for each in (error, *error.others):
            faults.add(_of_page(each))
        faults.check()
        raise


def _of_page(error: InvalidPuzzleError) -> InvalidPuzzleError:
    """Convert the place of an error to the page's form."""
    place = error.place.replace(_OWN_KEY, _PAGE_KEY, 1)
    return InvalidPuzzleError(error.rule, place, error.detail)


def _page_tile(tile: Any, place: str, faults: Faults) -> list[str]:
    layers = tile.get("layers") if isinstance(tile, dict) else None
    if not isinstance(layers, list):
        raise InvalidPuzzleError("tile-type", place, "expected an object with a list `layers`")
    at = ((f"{place}.layers[{j}]", layer) for j, layer in enumerate(layers))
    read = faults.each(at, _layer)
    return [feature for feature, is_hidden in filter(None, read) if not is_hidden]


def _layer(layer: Any, at: str) -> tuple[str, bool]:
    if not isinstance(layer, dict):
        raise InvalidPuzzleError("layer-type", at, "expected an object with `id` and `hidden`")
    feature = text(layer.get("id"), f"{at}.id")
    hidden = layer.get("hidden", False)
    if not feature:
        raise InvalidPuzzleError(
            "layer-id", f"{at}.id", f"expected a text of 1 to {MAX_TEXT} characters"
        )
    if not isinstance(hidden, bool):
        got = shown(json.dumps(hidden))
        raise InvalidPuzzleError("layer-hidden", f"{at}.hidden", f"expected a boolean, got {got}")
    return feature, hidden

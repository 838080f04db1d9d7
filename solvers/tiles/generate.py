"""Random boards of the published form: the same number of layers on every tile, shapes in pairs.

In every layer each shape stands on an even number of tiles, so that every board can be cleared. The
same form and seed give the same board on every machine: whole numbers only, from a generator of
our own (splitmix64).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.errors import PermanentError, RuleError
from nightgrid.solvers.kernel.compiling import I32, I64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.tiles.columns import from_arrays
from nightgrid.solvers.tiles.model import GOLDEN, mixed
from nightgrid.solvers.tiles.puzzle import Puzzle

LAYERS_MAX = 26
"""A layer is named by a letter."""
TILES_MAX = 2**24
SHAPES_MAX = 2**24

_MIX_B = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What boards look like. The defaults are the published form."""

    tiles: int = 30
    layers: int = 3
    shapes_min: int = 6
    """Shapes of a layer: each layer draws its own number. Each appears, if there are tiles
    enough."""
    shapes_max: int = 12

    def __post_init__(self) -> None:
        if self.tiles % 2 or not 2 <= self.tiles <= TILES_MAX:
            raise RuleError(
                "tiles",
                f"is {self.tiles}; expected an even number from 2 to {TILES_MAX:,}, or a shape "
                "would be left over",
            )
        if not 1 <= self.layers <= LAYERS_MAX:
            raise RuleError("layers", f"is {self.layers}; expected 1 to {LAYERS_MAX}")
        if not 1 <= self.shapes_min <= self.shapes_max <= SHAPES_MAX:
            raise RuleError(
                "shapes",
                f"is {self.shapes_min}-{self.shapes_max}; expected a smaller and a larger number "
                f"from 1 to {SHAPES_MAX:,}",
            )


def generate(form: Form, seed: int) -> Puzzle:
    """Generate one board. Raises PermanentError for a seed below 0 or of more than 64 bits."""
    return from_arrays(generate_arrays(form, seed, 1), 0)


def generate_arrays(
    form: Form, seed: int, n: int, *, names: bool = True
) -> dict[str, npt.NDArray[Any]]:
    """Generate the boards of seeds `seed` to `seed + n - 1` column-wise, without a Python object.

    Without `names` the columns that hold them are left out: nothing that decides boards needs them.
    """
    if seed < 0 or n < 0 or seed + n > 2**64:
        raise PermanentError(f"seed is {seed}; expected 0 or more, and at most 64 bits")
    size = form.tiles * form.layers
    features = np.empty(n * size, np.int32)
    out = _Drawn(
        feature=features,
        name_size=np.empty(n * size if names else 0, np.int32),
        letter=np.empty(n * size * _NAME_LETTERS if names else 0, np.int32),
        ends=np.zeros((n + 1, 2), np.int64),
    )
    scratch = _Scratch(
        drawn=np.empty(form.tiles, np.int32),
        shape=np.empty((form.layers, form.tiles), np.int32),
        number=np.full((form.layers, form.shapes_max), -1, np.int32),
    )
    draw_rows(np.uint64(seed), form.shapes_min, form.shapes_max, scratch, out)
    arrays: dict[str, npt.NDArray[Any]] = {
        "size": np.full(n, form.tiles, np.int32),
        "feature.values": features,
        "feature.offsets": _rising(n, size),
        "tile_size.values": np.full(n * form.tiles, form.layers, np.int32),
        "tile_size.offsets": _rising(n, form.tiles),
    }
    if names:
        used = out.ends[-1]
        arrays["name_size.values"] = out.name_size[: used[0]].copy()
        arrays["name_letter.values"] = out.letter[: used[1]].copy()
        arrays["name_size.offsets"] = out.ends[:, 0].astype(np.int32)
        arrays["name_letter.offsets"] = out.ends[:, 1].astype(np.int32)
    return arrays


def to_page(puzzle: Puzzle) -> dict[str, Any]:
    """Write a board as the game's page holds it in memory: what
    `nightgrid.archive.games.tiles.payload`
    reads.
    """
    return {
        "board": [
            {"layers": [{"id": feature, "hidden": False} for feature in tile]}
            for tile in puzzle.tiles
        ]
    }


_NAME_LETTERS = 9
"""A letter and at most eight digits."""


def _rising(n: int, step: int) -> I32:
    if n * step >= 2**31:
        raise PermanentError(f"{n:,} boards hold {n * step:,} features; expected below 2^31")
    return np.arange(0, (n + 1) * step, step, dtype=np.int32)


@inlined_kernel
def _below(state: np.uint64, bound: Int) -> Int:
    """Draw a number below a bound of at most 2^24; the bias is at most 2^-8 of one in 2^32."""
    return int(((mixed(state) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


class _Scratch(NamedTuple):
    """What one board is drawn with."""

    drawn: I32
    """int32[tiles]: the shapes of a layer."""
    shape: I32
    """int32[layers, tiles]: the shapes of all layers."""
    number: I32
    """int32[layers, shapes]: the feature of each shape; -1 everywhere before and after."""


class _Drawn(NamedTuple):
    """Boards as columns: see generate_arrays."""

    feature: I32
    """int32[boards * tiles * layers]."""
    name_size: I32
    """The letters of each feature's name; empty where no names are wanted."""
    letter: I32
    """The names, one after the other."""
    ends: I64
    """int64[boards + 1, 2]: where the names and the letters of each board end."""


@search_kernel
def draw_rows(
    seed: np.uint64, shapes_min: Int, shapes_max: Int, scratch: _Scratch, out_rows: _Drawn
) -> None:
    """Draw one board a row."""
    drawn, shape, number = scratch
    feature, name_size, letter, ends = out_rows
    tiles, layers = len(drawn), len(shape)
    out = names = letters = 0
    for row in range(len(ends) - 1):
        state = mixed((seed + np.uint64(row)) * GOLDEN + _MIX_B)
        for layer in range(layers):
            state += GOLDEN
            shapes = shapes_min + _below(state, shapes_max - shapes_min + 1)
            for pair in range(tiles >> 1):
                state += GOLDEN
                each = pair < shapes <= tiles >> 1
                drawn[2 * pair] = drawn[2 * pair + 1] = pair if each else _below(state, shapes)
            for i in range(tiles - 1, 0, -1):
                state += GOLDEN
                j = _below(state, i + 1)
                drawn[i], drawn[j] = drawn[j], drawn[i]
            for i in range(tiles):
                shape[layer, i] = drawn[i]
        seen = 0
        for i in range(tiles):
            for layer in range(layers):
                s = shape[layer, i]
                if number[layer, s] < 0:
                    number[layer, s] = seen
                    seen += 1
                    if len(name_size):
                        digits = 1
                        power = 10
                        while s + 1 >= power:
                            digits += 1
                            power *= 10
                        letter[letters] = 65 + layer
                        rest = s + 1
                        for d in range(digits, 0, -1):
                            letter[letters + d] = 48 + rest % 10
                            rest //= 10
                        letters += digits + 1
                        name_size[names] = digits + 1
                        names += 1
                feature[out] = number[layer, s]
                out += 1
        for i in range(tiles):
            for layer in range(layers):
                number[layer, shape[layer, i]] = -1
        ends[row + 1, 0] = names
        ends[row + 1, 1] = letters

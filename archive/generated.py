"""Random boards by a spec such as `pips:n=1000,seed=7`: what it says, and its boards.

Board i depends on the spec's options and on i alone, so any slice can be made by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from solvers.errors import PermanentError

if TYPE_CHECKING:
    from solvers.pips.mix import Mix

BOARDS_MAX = 10**9
SEED_MAX = 2**31
PUBLISHED = "published"
"""The mix of the published archive: easy, medium and hard in turn."""
DOMINOES_MAX = 300
"""Dominoes of a board whose freedom is bounded, as that of all mixes but loose is: it is drawn
several times, in time that grows with the cube of its size. This one takes about a second."""
LOOSE_DOMINOES_MAX = 5_000
"""Dominoes of a board without such a bound, which takes about a second too."""


class Board(NamedTuple):
    """One generated board, and what it is drawn from."""

    puzzle: Any
    level: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A generator spec, read and checked."""

    game: str
    boards: int
    seed: int
    options: tuple[tuple[str, str], ...]
    """Everything but n and seed, sorted by name."""

    def __str__(self) -> str:
        """Write the spec in its one canonical form."""
        named = (f"{name}={value}" for name, value in self.options)
        return f"{self.game}:{','.join((f'n={self.boards}', *named, f'seed={self.seed}'))}"


def is_generator_spec(text: str) -> bool:
    """Tell whether a text means to be a generator spec, GAME:NAME=VALUE."""
    game, colon, rest = text.partition(":")
    return bool(colon) and game in _MAKERS and "=" in rest.partition(",")[0]


def read_generator_spec(text: str) -> Generated:
    """Read `GAME:n=BOARDS,NAME=VALUE,…,seed=SEED`.

    Raises PermanentError that names the option for anything that no board can be made of.
    """
    game, _, rest = text.partition(":")
    given: dict[str, str] = {}
    for item in rest.split(","):
        name, equals, value = (piece.strip() for piece in item.partition("="))
        if not equals or not name or not value or name in given:
            raise PermanentError(
                f"generator spec {text!r:.80} has {item!r:.40}; expected NAME=VALUE, each name once"
            )
        given[name] = value
    known = ("n", "seed", *_OPTIONS[game])
    for name in given:
        if name not in known:
            raise PermanentError(
                f"generator spec {text!r:.80} has {name!r:.40}; expected some of {', '.join(known)}"
            )
    if "n" not in given:
        raise PermanentError(f"generator spec {text!r:.80} has no n; expected n=BOARDS")
    spec = Generated(
        game=game,
        boards=_number("n", given.pop("n"), 1, BOARDS_MAX),
        seed=_number("seed", given.pop("seed", "0"), 0, SEED_MAX),
        options=tuple(sorted(given.items())),
    )
    _MAKERS[game](spec)
    return spec


def make_boards(spec: Generated, start: int, stop: int) -> Iterator[Board]:
    """Make boards `start` to `stop - 1`; the same whatever slice they are made in."""
    return _MAKERS[spec.game](spec)(start, stop)


_Make = Callable[[int, int], Iterator[Board]]


def _pips(spec: Generated) -> _Make:
    from solvers.pips.generator import generate_many
    from solvers.pips.mix import LEVELS, PRESETS

    said = dict(spec.options)
    changes: dict[str, Any] = {}
    if "dominoes" in said:
        least, most = _span("dominoes", said["dominoes"], LOOSE_DOMINOES_MAX)
        changes["dominoes"] = tuple((count, 1.0) for count in range(least, most + 1))
    if "rows" in said:
        rows = _number("rows", said["rows"], 1, 1_000)
        changes |= {"shape": "rectangle", "rows": rows, "cols": None}
    if "unconstrained" in said:
        changes["unconstrained"] = _share("unconstrained", said["unconstrained"])
    if "max_pip" in said:
        changes["max_pip"] = _number("max_pip", said["max_pip"], 0, 1_000)
    if "duplicates" in said:
        changes["duplicates"] = _choice("duplicates", said["duplicates"], ("yes", "no")) == "yes"
    # Boards whose size is said by itself are made like the hard ones, which come in most sizes.
    mix = said.get("mix", "hard" if "dominoes" in said else PUBLISHED)
    names: list[str] = []
    for name in mix.split("+"):
        known = (PUBLISHED, *PRESETS)
        names += LEVELS if _choice("mix", name, known) == PUBLISHED else [name]

    def changed(name: str) -> Mix:
        _check_sizes(spec, name, PRESETS[name], changes)
        try:
            return replace(PRESETS[name], **changes)
        except PermanentError as error:
            raise PermanentError(f"generator spec {str(spec)!r:.80}: {error}") from error

    mixes = [changed(name) for name in names]

    def make(start: int, stop: int) -> Iterator[Board]:
        made = generate_many(spec.seed, stop - start, mixes, start)
        for i, (puzzle, _) in zip(range(start, stop), made, strict=True):
            yield Board(puzzle, names[i % len(names)])

    return make


def _check_sizes(spec: Generated, name: str, mix: Mix, changes: Mapping[str, Any]) -> None:
    """Check the dominoes of a mix against what can be made, in the words of the spec."""
    sizes = [count for count, _ in changes.get("dominoes", mix.dominoes)]
    text = f"generator spec {str(spec)!r:.80}: dominoes is "
    if mix.freedom_bits is not None and max(sizes) > DOMINOES_MAX:
        raise PermanentError(
            f"{text}{dict(spec.options)['dominoes']!r:.40}; expected at most {DOMINOES_MAX:,} with "
            f"mix={name} (mix=loose: {LOOSE_DOMINOES_MAX:,})"
        )
    rows = changes.get("rows", mix.rows)
    if rows is None or not any(2 * count % rows for count in sizes):
        return
    step = rows // math.gcd(rows, 2)
    span = f"{min(sizes)} to {max(sizes)}" if len(sizes) > 1 else str(sizes[0])
    whose = "" if "dominoes" in changes else f" with mix={name}"
    why = f"rows={rows}" if "rows" in changes else f"mix={name}"
    raise PermanentError(
        f"{text}{span}{whose}; expected one multiple of {step}, such as "
        f"dominoes={step * max(1, -(-min(sizes) // step))}, for rectangles of {rows} rows ({why})"
    )


def _strands(spec: Generated) -> _Make:
    from archive.themes import strands_board

    def make(start: int, stop: int) -> Iterator[Board]:
        return (Board(strands_board(spec.seed, i)[0], None) for i in range(start, stop))

    return make


def _letterboxed(spec: Generated) -> _Make:
    from solvers.letterboxed.generator import LETTERS_PER_SIDE, SIDES, VOWELS_MIN, generate

    said = dict(spec.options)
    sides = _number("sides", said.get("sides", str(SIDES)), 2, 100)
    letters = _number("letters", said.get("letters", str(LETTERS_PER_SIDE)), 1, 100)
    usual = min(VOWELS_MIN, sides * letters)
    vowels = _number("vowels", said.get("vowels", str(usual)), 0, sides * letters)

    def board(i: int) -> Board:
        seed = spec.seed * _SEEDS_PER_STREAM + i
        puzzle = generate(seed, sides=sides, letters_per_side=letters, vowels_min=vowels)
        return Board(puzzle, None)

    board(0)
    return lambda start, stop: map(board, range(start, stop))


def _tiles(spec: Generated) -> _Make:
    from solvers.tiles.generator import Form, generate

    said = dict(spec.options)
    given: dict[str, int] = {
        name: _number(name, said[name], 1, 2**24) for name in ("tiles", "layers") if name in said
    }
    if "shapes" in said:
        given["shapes_min"], given["shapes_max"] = _span("shapes", said["shapes"])
    form = Form(**given)
    first = spec.seed * _SEEDS_PER_STREAM
    return lambda start, stop: (Board(generate(form, first + i), None) for i in range(start, stop))


_SEEDS_PER_STREAM = 2**32
_MAKERS: Mapping[str, Callable[[Generated], _Make]] = {
    "pips": _pips,
    "strands": _strands,
    "letterboxed": _letterboxed,
    "tiles": _tiles,
}
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "pips": ("mix", "dominoes", "rows", "unconstrained", "max_pip", "duplicates"),
    "strands": (),
    "letterboxed": ("sides", "letters", "vowels"),
    "tiles": ("tiles", "layers", "shapes"),
}


def _number(name: str, text: str, least: int, most: int) -> int:
    if text.isascii() and text.isdecimal() and len(text) <= 12 and least <= int(text) <= most:
        return int(text)
    raise PermanentError(
        f"generator spec: {name} is {text!r:.40}; expected a number from {least:,} to {most:,}"
    )


def _span(name: str, text: str, largest: int = 2**24) -> tuple[int, int]:
    least, _, most = text.partition("-")
    first, last = _number(name, least, 1, largest), _number(name, most or least, 1, largest)
    if first > last:
        raise PermanentError(
            f"generator spec: {name} is {text!r:.40}; expected a number, or a smaller and a larger"
        )
    return first, last


def _share(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise PermanentError(f"generator spec: {name} is {text!r:.40}; expected 0 to 1")
    return value


def _choice(name: str, text: str, known: tuple[str, ...]) -> str:
    if text not in known:
        raise PermanentError(
            f"generator spec: {name} is {text!r:.40}; expected one of {', '.join(known)}"
        )
    return text

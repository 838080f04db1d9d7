"""Parse generator specs such as `pips:n=1000,seed=7`, and generate their boards.

Board i depends only on the spec's options and on i, so any slice can be generated separately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from nightgrid.archive.games import archive_plug, has_plug
from nightgrid.solvers.errors import PermanentError, RuleError
from nightgrid.solvers.registry import DEFAULT_GAME

SEEDS_PER_STREAM = 2**32
"""Stride of seeds: boards of different seeds are independent."""


class Board(NamedTuple):
    """One generated board, and its source."""

    puzzle: Any
    level: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A parsed and validated generator spec."""

    game: str
    boards: int
    seed: int
    options: tuple[tuple[str, str], ...]
    """Everything but n and seed, sorted by name."""

    def __str__(self) -> str:
        """Return the canonical form of the spec."""
        named = (f"{name}={value}" for name, value in self.options)
        return f"{self.game}:{','.join((f'n={self.boards}', *named, f'seed={self.seed}'))}"


Make = Callable[[int, int], Iterator[Board]]
"""Generates the boards from one number to before another, independent of the slicing."""


def read_number(name: str, text: str, least: int, most: int) -> int:
    """Parse an option that is a whole number. Raises PermanentError that names the option."""
    if text.isascii() and text.isdecimal() and len(text) <= 12 and least <= int(text) <= most:
        return int(text)
    raise PermanentError(
        f"generator spec: {name} is {text!r:.40}; expected a number from {least:,} to {most:,}"
    )


def read_span(name: str, text: str, largest: int = 2**24) -> tuple[int, int]:
    """Parse an option that is a number, or two with a dash between them. Raises as above."""
    least, _, most = text.partition("-")
    first = read_number(name, least, 1, largest)
    last = read_number(name, most or least, 1, largest)
    if first > last:
        raise PermanentError(
            f"generator spec: {name} is {text!r:.40}; expected a number, or a smaller and a larger"
        )
    return first, last


def read_share(name: str, text: str) -> float:
    """Parse an option that is a share, 0 to 1. Raises as above."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise PermanentError(f"generator spec: {name} is {text!r:.40}; expected 0 to 1")
    return value


def read_choice(name: str, text: str, known: tuple[str, ...]) -> str:
    """Parse an option that is one of some words. Raises as above."""
    if text not in known:
        raise PermanentError(
            f"generator spec: {name} is {text!r:.40}; expected one of {', '.join(known)}"
        )
    return text


BOARDS_MAX = 10**9
SEED_MAX = 2**31
EXAMPLE = f"{DEFAULT_GAME}:n=1000,seed=7"
"""Example of a spec for error messages."""


def is_generator_spec(text: str) -> bool:
    """Return whether a text looks like a generator spec, GAME:NAME=VALUE."""
    game, colon, rest = text.partition(":")
    if not colon or "=" not in rest.partition(",")[0] or not has_plug(game):
        return False
    return archive_plug(game).corpus_options is not None


def read_generator_spec(text: str) -> Generated:
    """Parse `GAME:n=BOARDS,NAME=VALUE,…,seed=SEED`.

    Raises PermanentError that names an invalid option.
    """
    game, _, rest = text.partition(":")
    plug = archive_plug(game)
    given: dict[str, str] = {}
    for item in rest.split(","):
        name, equals, value = (piece.strip() for piece in item.partition("="))
        if not equals or not name or not value or name in given:
            raise PermanentError(
                f"generator spec {text!r:.80} has {item!r:.40}; expected NAME=VALUE, each name once"
            )
        given[name] = value
    known = ("n", "seed", *(plug.corpus_options or ()))
    for name in given:
        if name not in known:
            raise PermanentError(
                f"generator spec {text!r:.80} has {name!r:.40}; expected some of {', '.join(known)}"
            )
    if "n" not in given:
        raise PermanentError(f"generator spec {text!r:.80} has no n; expected n=BOARDS")
    spec = Generated(
        game=game,
        boards=read_number("n", given.pop("n"), 1, BOARDS_MAX),
        seed=read_number("seed", given.pop("seed", "0"), 0, SEED_MAX),
        options=tuple(sorted(given.items())),
    )
    try:
        plug.corpus_maker(spec)
    except RuleError as error:
        raise PermanentError(f"generator spec: {error.rule} {error.fault}") from error
    return spec


def make_boards(spec: Generated, start: int, stop: int) -> Iterator[Board]:
    """Generate boards `start` to `stop - 1`, independent of the slicing."""
    return archive_plug(spec.game).corpus_maker(spec)(start, stop)

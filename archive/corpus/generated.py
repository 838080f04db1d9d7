"""Random boards by a spec such as `pips:n=1000,seed=7`: what it says, and its boards.

Board i depends on the spec's options and on i alone, so any slice can be made by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from nightgrid.archive.games import archive_plug, has_plug
from nightgrid.archive.games.generator_spec import Board, Generated, read_number
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME

BOARDS_MAX = 10**9
SEED_MAX = 2**31
EXAMPLE = f"{DEFAULT_GAME}:n=1000,seed=7"
"""A spec to show to those who have written none."""


def is_generator_spec(text: str) -> bool:
    """Tell whether a text means to be a generator spec, GAME:NAME=VALUE."""
    game, colon, rest = text.partition(":")
    if not colon or "=" not in rest.partition(",")[0] or not has_plug(game):
        return False
    return archive_plug(game).corpus_options is not None


def read_generator_spec(text: str) -> Generated:
    """Read `GAME:n=BOARDS,NAME=VALUE,…,seed=SEED`.

    Raises PermanentError that names the option for anything that no board can be made of.
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
    plug.corpus_maker(spec)
    return spec


def make_boards(spec: Generated, start: int, stop: int) -> Iterator[Board]:
    """Make boards `start` to `stop - 1`; the same whatever slice they are made in."""
    return archive_plug(spec.game).corpus_maker(spec)(start, stop)

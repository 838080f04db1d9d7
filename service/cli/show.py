"""`nightgrid show`: puzzles drawn and not solved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.service.cli.answers import each_puzzle, head_json, say_board
from nightgrid.service.games import view
from nightgrid.service.options.game_options import with_typed_boards
from nightgrid.service.options.shared_options import (
    Files,
    GameName,
    Json,
    Levels,
    SvgFile,
    check_picture,
    one_picture,
    write_picture,
)
from nightgrid.service.terminal.console import Exit, emit, say, say_drawing

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found


@with_typed_boards
def show(
    *,
    files: Files = None,
    typed: Mapping[str, str],
    level: Levels = None,
    game: GameName = None,
    solution: Annotated[
        bool, typer.Option("--solution", help="Draw the payload's own solution as well.")
    ] = False,
    svg: SvgFile = None,
    json: Json = False,
) -> int:
    """Draw puzzles without solving them.

    Exit code: 0 drawn, 3 bad input.
    """
    from nightgrid.service.options.reading import read_sources

    check_picture(svg)
    return each_puzzle(
        one_picture(read_sources(files or [], level or (), game, typed), svg),
        lambda found, published: _show_one(found, published, solution=solution, svg=svg, json=json),
        ask=None,
        json=json,
    )


def _show_one(
    found: Found, published: Published, *, solution: bool, svg: Path | None, json: bool
) -> Exit:
    from nightgrid.solvers.registry import game

    played = game(found.game)
    shown = view(found.game)
    puzzle = published.puzzle
    official = published.solution
    if svg is not None:
        write_picture(svg, shown.svg(puzzle, official if solution else None, published.clue))
    if json:
        value = head_json(found, puzzle) | {"puzzle": played.puzzle_to_json(puzzle)}
        if solution:
            value["solution"] = None if official is None else played.solution_to_json(official)
        emit(value)
        return Exit.OK
    say_board(found.source, published, puzzle, shown)
    if solution:
        if official is None:
            say("The payload gives no solution.")
        else:
            say("Official solution:")
            say()
            say_drawing(shown.solution(puzzle, official, scored=False))
    return Exit.OK

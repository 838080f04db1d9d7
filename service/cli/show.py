"""`nightgrid show`: puzzles from files, the command line or a lake, drawn without solving them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.service.cli.answers import each_puzzle, head_json, say_head, say_unsolved
from nightgrid.service.games import view
from nightgrid.service.options.pictures import SvgFile, check_picture, one_picture, write_file
from nightgrid.service.options.shared_options import (
    Files,
    GameName,
    Json,
    LakeOption,
    Levels,
    Sides,
)
from nightgrid.service.terminal.console import emit, say, say_drawing
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.registry import game as game_of

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found


def show(
    *,
    files: Files = None,
    sides: Sides = None,
    level: Levels = None,
    game: GameName = None,
    solution: Annotated[
        bool, typer.Option("--solution", help="Draw the payload's own solution on the board.")
    ] = False,
    svg: SvgFile = None,
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Draw puzzles without solving them."""
    from nightgrid.service.options.reading import read_sources

    check_picture(svg)

    def draw(found: Found, published: Published) -> Exit:
        shown = view(found.game)
        puzzle, official = published.puzzle, published.solution
        if svg is not None:
            drawn = official if solution else None
            write_file(svg, shown.svg(puzzle, drawn, published.clue), "--svg")
        if json:
            # Drawing needs no kernels, and these come with the game.
            played = game_of(found.game)
            value = head_json(found, puzzle) | {"puzzle": played.puzzle_to_json(puzzle)}
            if solution:
                value["solution"] = None if official is None else played.solution_to_json(official)
            emit(value)
            return Exit.OK
        say_head(found, published, puzzle)
        if solution and official is not None:
            say("Official solution:")
            say()
            say_drawing(shown.solution(puzzle, official))
            return Exit.OK
        say_unsolved(found.game, puzzle)
        if solution:
            say("The payload gives no solution.")
        return Exit.OK

    sources = one_picture(read_sources(files or [], level or (), game, sides, lake), svg)
    return each_puzzle(sources, draw, json=json)

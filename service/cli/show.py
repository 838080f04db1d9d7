"""`nightgrid show`: puzzles from files, the command line or a lake, drawn without solving them.

Payloads are mutable: a board may be edited before its date and corrected after it. A lake keeps
each revision, and `--revision` and `--diff` show them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

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
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game as game_of
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.lookup.boards import Board
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import ReadItem

TOLD = ("source_id", "backend_id", "editor", "constructors", "clue", "par")
"""Fields of a payload that `--diff` compares together with the board."""
VALUE_CHARS = 100
"""Longer values are truncated in a list of changes; `--json` has them in full."""


def show(
    *,
    files: Files = None,
    sides: Sides = None,
    level: Levels = None,
    game: GameName = None,
    solution: Annotated[
        bool, typer.Option("--solution", help="Draw the payload's own solution on the board.")
    ] = False,
    revision: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Draw revision N of puzzles of a lake, 1 as first seen."
        ),
    ] = None,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="List what changed from revision to revision instead."),
    ] = False,
    svg: SvgFile = None,
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Draw puzzles without solving them.

    A lake keeps every revision of a puzzle: see --revision and --diff.
    """
    from nightgrid.service.options.reading import read_sources

    check_picture(svg)
    named = files or [], level or (), game, sides, lake
    if diff:
        for name, boards in _editions(*named):
            _say_changes(name, boards, json=json)
        return Exit.OK

    def draw(found: ReadItem, published: Published) -> Exit:
        shown = view(found.game)
        puzzle, official = published.puzzle, published.solution
        if svg is not None:
            drawn = official if solution else None
            write_file(svg, shown.svg(puzzle, drawn, published.clue), "--svg")
        if json:
            # Drawing needs no kernels, and these are loaded with the game.
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

    sources = read_sources(*named) if revision is None else _revisions(revision, _editions(*named))
    return each_puzzle(one_picture(sources, svg), draw, json=json)


def _editions(
    files: Sequence[str],
    levels: Sequence[str],
    game: str | None,
    sides: str | None,
    lake: str | None,
) -> Iterator[tuple[str, list[Board]]]:
    """Find every revision of the puzzles that references name, one edition at a time."""
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.archive.lookup.boards import find_boards
    from nightgrid.archive.lookup.reference import DateReference, read_reference
    from nightgrid.service.options.reading import is_reference
    from nightgrid.service.options.shared_options import read_settings

    opened = Lake.open(read_settings(lake=lake, writes=False).lake)
    wanted = [name.lower() for name in levels]
    if sides is not None or not files or not all(map(is_reference, files)):
        raise PermanentError("--revision and --diff need a puzzle of a lake: GAME/DATE[/LEVEL]")
    for text in files:
        reference = read_reference(text)
        if not isinstance(reference, DateReference):
            raise PermanentError(f"{text} has no revisions; expected GAME/DATE[/LEVEL]")
        if game not in (None, reference.game):
            raise PermanentError(f"{text} is of {reference.game}; --game is {game}")
        editions: dict[str, list[Board]] = {}
        for board in find_boards(opened, reference, every_revision=True):
            if not wanted or board.published.level in wanted:
                editions.setdefault(board.name, []).append(board)
        if not editions:
            raise PermanentError(f"{text} has no level {' or '.join(wanted)}")
        yield from editions.items()


def _revisions(number: int, editions: Iterable[tuple[str, list[Board]]]) -> Iterator[ReadItem]:
    from nightgrid.service.options.reading import ReadItem

    for name, boards in editions:
        if number > len(boards):
            has = plural(len(boards), "revision")
            raise PermanentError(f"{name} has {has}; --revision is {number}")
        board = boards[number - 1]
        yield ReadItem(source=name, game=board.game, item=board.published)


def _say_changes(name: str, boards: Sequence[Board], *, json: bool) -> None:
    """Print what each revision of an edition changed."""
    for before, after in pairwise([None, *boards]):
        assert after is not None
        changes = [] if before is None else list(_changes(_value(before), _value(after)))
        if json:
            told = [
                dict(zip(("field", "before", "after"), change, strict=True)) for change in changes
            ]
            at = {"revision": after.revision, "seen_at": f"{after.seen_at:%Y-%m-%dT%H:%M:%SZ}"}
            emit(
                {
                    "source": name,
                    "puzzle_id": after.published.puzzle.puzzle_id,
                    **at,
                    "changes": told,
                }
            )
            continue
        say(f"{name}, revision {after.revision}, seen {after.seen_at:%Y-%m-%d %H:%M} UTC")
        for field, old, new in changes:
            say(f"  {field}: {_short(old)} -> {_short(new)}")
    if not json and len(boards) == 1:
        say("  It has not changed.")


def _value(board: Board) -> dict[str, Any]:
    """Return a board as JSON, with its payload's facts about it."""
    played, published = game_of(board.game), board.published
    solution = published.solution
    return {
        **played.puzzle_to_json(published.puzzle),
        "solution": None if solution is None else played.solution_to_json(solution),
        **{name: getattr(published, name) for name in TOLD},
    }


def _changes(before: Any, after: Any, field: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Compare two JSON values; yield the fields that differ, as deep as their shapes agree."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in {**before, **after}:
            yield from _changes(before.get(name), after.get(name), f"{field}.{name}".strip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _changes(old, new, f"{field}[{i}]")
    elif before != after:
        yield field, before, after


def _short(value: Any) -> str:
    text = dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_CHARS else f"{text[:VALUE_CHARS]}..."

"""Boards of a lake by reference, as payloads would have given them.

A look-up reads the column that it compares, and the other columns only of row groups with a match:
no other row becomes a Python object.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.corpora import CORPORA, corpora_in, corpus_folder
from nightgrid.archive.games import archive_plug, archived_games, reader
from nightgrid.archive.ingest.editions import editions_path, last_revisions
from nightgrid.archive.ingest.puzzles import puzzles_folder, read_boards
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.faults import NotInLakeError
from nightgrid.archive.lake.schemas import CORPUS_ROWS, EDITIONS, corpus_schema
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.reference import (
    DateReference,
    IdReference,
    Reference,
    reference_text,
)
from nightgrid.archive.payloads.published import EDITION_FACTS, Published
from nightgrid.archive.results.files import RESULTS_FOLDER
from nightgrid.archive.results.results import find_submitted
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.solvers.canonical import ID_HEX_DIGITS
from nightgrid.solvers.errors import PermanentError

MATCHES_SHOWN = 5
"""Most matches of an ambiguous reference that a message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A puzzle of the lake, with the data of its edition; without an edition it has no date."""

    game: str
    published: Published
    revision: int | None = None
    seen_at: dt.datetime | None = None
    """The revision of its edition, and when that was first seen."""

    @property
    def name(self) -> str:
        """Its reference: game, date and level, or else its id."""
        date = self.published.date
        if date is None:
            return str(self.published.puzzle.puzzle_id)
        return reference_text(self.game, date, self.published.level)


def find_boards(lake: Lake, reference: Reference, *, every_revision: bool = False) -> list[Board]:
    """Find the boards of a reference, those of a date in the order of its levels.

    Of an edition with several revisions only the last one counts, drafts included, unless
    `every_revision` of a date is requested, in the order they were seen. A puzzle id is looked up
    among the puzzles of nights and of corpora, and a complete id also among those that answered
    jobs on demand came with; a puzzle of several dates gets the last of them. Raises
    PermanentError, in one sentence, if there is no lake, no such puzzle, or more than one for a
    prefix.
    """
    if isinstance(reference, DateReference):
        return _on_date(lake, reference, every_revision)
    return [_with_id(lake, reference)]


def boards_of_dates(lake: Lake, game: str, dates: Collection[dt.date]) -> list[Board]:
    """Find the boards of some dates of a game in one pass, by date and then by level.

    Leaves out unreadable boards: those whose puzzle is missing from the lake, and those that break
    a current rule. Raises PermanentError if a table is damaged.
    """
    wanted = pa.array(sorted(dates), pa.date32())
    rows = _in_order(game, editions_among(lake, game, "date", wanted))
    ids = pa.array([row["puzzle_id"] for row in rows], pa.string())
    table = read_boards(lake, game, ids)
    arrays = arrays_of(table)
    row_of = {name: row for row, name in enumerate(table.column("puzzle_id").to_pylist())}
    bound = open_game(lake, game)
    boards = []
    for row in rows:
        if row["puzzle_id"] in row_of:
            with suppress(PermanentError):
                puzzle = bound.from_arrays(arrays, row_of[row["puzzle_id"]])
                boards.append(_board(lake, game, puzzle, row))
    return boards


def check_has_puzzles(lake: Lake, *folders: str) -> None:
    """Raise PermanentError if there is not a lake with puzzles or with one of these folders."""
    if not any(map(lake.exists, ("puzzles", "editions", CORPORA, *folders))):
        hint = "; name one with --lake or NIGHTGRID_LAKE"
        public = "the lake has no puzzles yet"
        raise NotInLakeError("", lake.url, " is not a lake with puzzles", hint=hint, public=public)


def editions_of(lake: Lake, game: str) -> list[dict[str, Any]]:
    """Read the last revision of each date and level of a game."""
    found: list[dict[str, Any]] = last_revisions(
        lake.read_table(editions_path(game), EDITIONS)
    ).to_pylist()
    return found


def editions_among(lake: Lake, game: str, key: str, values: pa.Array) -> list[dict[str, Any]]:
    """Read the last revision of each date and level with a key among some dates or puzzles."""
    found = lake.rows_among(editions_path(game), EDITIONS, EDITIONS.names, key, values)
    rows: list[dict[str, Any]] = last_revisions(found).to_pylist()
    return rows


def _on_date(lake: Lake, reference: DateReference, every_revision: bool) -> list[Board]:
    check_has_puzzles(lake)
    game = reference.game
    dates = pa.array([reference.date], pa.date32())
    found = lake.rows_among(editions_path(game), EDITIONS, EDITIONS.names, "date", dates)
    rows = (found if every_revision else last_revisions(found)).to_pylist()
    if not rows:
        raise NotInLakeError(f"{reference} is not in ", lake.url, f", {_range(lake, game)}")
    rows = _in_order(game, rows)
    if reference.level is not None:
        levels = dict.fromkeys(row["level"] for row in rows)
        rows = [row for row in rows if row["level"] == reference.level]
        if not rows:
            has = f"; that date has {', '.join(levels)}"
            raise NotInLakeError(f"{reference} is not in ", lake.url, has)
    puzzles = _puzzles(lake, game, puzzles_folder(game), [row["puzzle_id"] for row in rows])
    missing = [row["puzzle_id"] for row in rows if row["puzzle_id"] not in puzzles]
    if missing:
        raise NotInLakeError(f"{reference}: puzzle {missing[0]} is missing from ", lake.url)
    return [_board(lake, game, puzzles[row["puzzle_id"]], row) for row in rows]


def _in_order(game: str, editions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort editions by date, those of a date in the order of the game's levels."""
    order = {level: i for i, level in enumerate(reader(game).LEVELS)}
    return sorted(
        editions,
        key=lambda row: (
            row["date"],
            order.get(row["level"], len(order)),
            row["level"],
            row["revision"],
        ),
    )


def _range(lake: Lake, game: str) -> str:
    """Describe the range of dates that a lake has of a game."""
    dates = lake.read_table(editions_path(game), EDITIONS, ["date"]).column("date")
    if not len(dates):
        return f"which has no date of {game}"
    ends = pc.min_max(dates).as_py()
    first, last = ends["min"], ends["max"]
    if first == last:
        return f"which has {first} of {game}"
    days = len(pc.unique(dates))
    whole = (last - first).days + 1 == days
    gaps = "" if whole else f", {days:,} of these days"
    return f"which has dates of {game} from {first} to {last}{gaps}"


def _with_id(lake: Lake, reference: IdReference) -> Board:
    check_has_puzzles(lake, RESULTS_FOLDER)
    whole = len(reference.prefix) == ID_HEX_DIGITS
    matches: dict[tuple[str, str], str] = {}
    for game, folder in _folders(lake):
        for puzzle_id in _ids(lake, folder, reference.prefix):
            matches.setdefault((puzzle_id, game), folder)
        if matches and whole:
            break
    if not matches and whole:
        row = find_submitted(lake, reference.prefix)
        if row is not None:
            value = with_words(lake, json.loads(row["puzzle"]))
            puzzle = open_game(lake, row["game"]).puzzle_from_json(value)
            return _board(lake, row["game"], puzzle, None)
    if not matches:
        which = reference if whole else f"whose id begins with {reference}"
        raise NotInLakeError("", lake.url, f" has no puzzle {which}")
    if len(matches) > 1:
        ids = sorted(puzzle_id for puzzle_id, _ in matches)
        more = f" and {len(ids) - MATCHES_SHOWN:,} more" if len(ids) > MATCHES_SHOWN else ""
        begin = f" begin with {reference}: {', '.join(ids[:MATCHES_SHOWN])}{more}"
        raise NotInLakeError(
            f"{len(ids):,} puzzles of ", lake.url, f"{begin}; expected more digits"
        )
    (((puzzle_id, game), folder),) = matches.items()
    rows = editions_among(lake, game, "puzzle_id", pa.array([puzzle_id]))
    puzzle = _puzzles(lake, game, folder, [puzzle_id])[puzzle_id]
    return _board(lake, game, puzzle, rows[-1] if rows else None)


def _folders(lake: Lake) -> Iterator[tuple[str, str]]:
    """List the tables that have puzzles, with their game, those of nights first."""
    games = archived_games()
    yield from ((game, puzzles_folder(game)) for game in games)
    for corpus in corpora_in(lake):
        if corpus.game in games:
            yield corpus.game, corpus_folder(corpus.corpus_id)


def _ids(lake: Lake, folder: str, prefix: str) -> Iterator[str]:
    """Find the puzzle ids of a folder that begin with a prefix."""
    for rows in lake.scan(folder, CORPUS_ROWS, ["puzzle_id"]):
        ids = rows.column("puzzle_id")
        yield from ids.filter(pc.starts_with(ids, prefix)).to_pylist()


def _puzzles(lake: Lake, game: str, folder: str, puzzle_ids: Sequence[str]) -> dict[str, Any]:
    """Read puzzles of a folder by id; leave out missing ones."""
    ids, schema = pa.array(sorted(set(puzzle_ids)), pa.string()), archive_plug(game).puzzles()
    # Rows of a corpus that are not puzzles have none of these columns.
    table = lake.rows_among(folder, corpus_schema(schema), schema.names, "puzzle_id", ids)
    arrays = arrays_of(table)
    bound = open_game(lake, game)
    found = table.column("puzzle_id").to_pylist()
    return {name: bound.from_arrays(arrays, row) for row, name in enumerate(found)}


def _board(lake: Lake, game: str, puzzle: Any, edition: dict[str, Any] | None) -> Board:
    if edition is None:
        return Board(game=game, published=Published(date=None, level=None, puzzle=puzzle))
    text = edition["official_solution"]
    solution = None if text is None else open_game(lake, game).solution_from_json(json.loads(text))
    told = {name: edition[name] for name in EDITION_FACTS}
    date: dt.date = edition["date"]
    return Board(
        game=game,
        published=Published(
            date=date, level=edition["level"], puzzle=puzzle, solution=solution, **told
        ),
        revision=edition["revision"],
        seen_at=edition["seen_at"],
    )

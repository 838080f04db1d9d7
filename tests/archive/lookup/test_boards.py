"""Boards of a lake by reference: those of payloads, and errors for missing ones."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter

import pyarrow as pa
import pytest

from nightgrid.archive.games import archive_plug, reader
from nightgrid.archive.ingest.puzzles import puzzles_folder, read_puzzle_table
from nightgrid.archive.lake.schemas import RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import boards_of_dates, find_boards
from nightgrid.archive.lookup.reference import PREFIX_MIN, read_reference
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import add_dictionaries, words_of
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError
from tests.archive.lookup.conftest import DAYS, GAMES, SAMPLE


def found(lake: Lake, text: str):
    return find_boards(lake, read_reference(text))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("day", DAYS)
def test_a_date_has_the_boards_of_its_payload(filled, game, day):
    boards = found(filled, f"{game}/{day}")

    payload = (SAMPLE / game / f"{day}.json").read_bytes()
    expected = reader(game).read_puzzles(payload, "payload")
    told = [(b.published.puzzle, b.published.solution, b.published.clue) for b in boards]
    assert told == [(item.puzzle, item.solution, item.clue) for item in expected]
    assert [board.name for board in boards] == [
        f"{game}/{day}/{board.published.level}" for board in boards
    ]


def test_boards_of_dates_are_those_of_each_date(filled):
    days = [dt.date.fromisoformat(day) for day in (*DAYS, "2026-01-03")]

    for game in GAMES:
        each = [board for day in DAYS for board in found(filled, f"{game}/{day}")]
        assert boards_of_dates(filled, game, days) == each


def test_boards_of_dates_leave_out_unreadable_ones(filled, tmp_path):
    table = read_puzzle_table(filled, "pips")
    lake = Lake.open(str(tmp_path / "lake"))
    editions = "editions/pips.parquet"
    lake.write_bytes(editions, filled.read_bytes(editions))
    lake.write_table(f"{puzzles_folder('pips')}/seg-00000.parquet", table.slice(1))
    days = [dt.date.fromisoformat(day) for day in DAYS]
    lost = table.column("puzzle_id")[0].as_py()
    whole = boards_of_dates(filled, "pips", days)

    assert boards_of_dates(lake, "pips", days) == [
        board for board in whole if board.published.puzzle.puzzle_id != lost
    ]

    lake.write_bytes(editions, b"PAR1 no more")
    with pytest.raises(PermanentError, match="is damaged"):
        boards_of_dates(lake, "pips", days)


def test_a_board_is_found_by_level_id_and_prefix(filled):
    (board,) = found(filled, "pips/2026-01-02/hard")
    puzzle_id = board.published.puzzle.puzzle_id

    assert found(filled, puzzle_id) == [board]
    assert found(filled, puzzle_id[:12].upper()) == [board]
    assert [b.published.level for b in found(filled, "pips/2026-01-02")] == [
        "easy", "medium", "hard",
    ]  # fmt: skip


def test_a_board_of_letter_boxed_has_its_dictionary(filled):
    (board,) = found(filled, "letterboxed/2026-01-02")

    assert len(board.published.puzzle.dictionary) > 50


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pips/2026-01-03", "dates of pips from 2026-01-01 to 2026-01-04, 3 of these days"),
        ("tiles/2026-01-03", "which has no date of tiles"),
        ("pips/2026-01-02/expert", "that date has easy, medium, hard"),
        ("0" * 32, "has no puzzle 00000000000000000000000000000000$"),
        ("00000000", "has no puzzle whose id begins with 00000000$"),
    ],
)
def test_a_missing_board_is_reported_in_one_sentence(filled, text, sentence):
    with pytest.raises(PermanentError, match=sentence):
        found(filled, text)


def test_a_folder_without_puzzles_is_not_a_lake(tmp_path):
    lake = Lake.open(str(tmp_path / "nowhere"))

    for text in ("pips/2026-01-03", "0" * 32):
        with pytest.raises(PermanentError, match="is not a lake with puzzles"):
            found(lake, text)
    assert not (tmp_path / "nowhere").exists()


def test_an_ambiguous_prefix_names_its_matches(filled, tmp_path):
    # The same board under made-up ids with a common prefix.
    table = read_puzzle_table(filled, "pips").slice(0, 1)
    ids = [f"{'abcd' if i % 2 else 'abce'}{i:028x}" for i in range(20)]
    schema = archive_plug("pips").puzzles()
    many = pa.concat_tables([table] * len(ids))
    many = many.set_column(0, schema.field(0), pa.array(ids)).cast(schema)
    lake = Lake.open(str(tmp_path / "lake"))
    lake.write_table(f"{puzzles_folder('pips')}/seg-00000.parquet", many)

    with pytest.raises(PermanentError, match=r"10 puzzles of .* begin with abcd: ") as error:
        found(lake, "abcd")
    assert len(re.findall(r"abcd[0-9a-f]{28}", str(error.value))) == 5
    assert "and 5 more; expected more digits" in str(error.value)
    assert Counter(name[:PREFIX_MIN] for name in ids) == {"abcd": 10, "abce": 10}


def test_puzzles_of_corpora_are_found_by_id(filled, tmp_path):
    from nightgrid.archive.corpus.corpus import open_corpus

    lake = Lake.open(str(tmp_path / "lake"))
    corpus = open_corpus(lake, "pips:n=5,seed=3")
    ids = [name for table in corpus.tables() for name in table.column("puzzle_id").to_pylist()]

    (board,) = found(lake, ids[3][:10])
    assert (board.published.puzzle.puzzle_id, board.published.date) == (ids[3], None)
    assert board.name == ids[3]


def test_the_board_of_a_job_is_found_by_its_whole_id(filled, tmp_path):
    """Given a board with words of its own, Then they come from the lake's dictionaries."""
    lake = Lake.open(str(tmp_path))
    (board, *_) = found(filled, "letterboxed/2026-01-02")
    puzzle = board.published.puzzle
    game = open_game(filled, "letterboxed")
    value = game.puzzle_to_json(puzzle)
    value["dictionary_id"] = puzzle.dictionary_id
    del value["dictionary"]
    puzzle_id = game.puzzle_id(puzzle)
    add_dictionaries(lake, words_of([puzzle]))
    told = {field.name: "" if field.type == pa.string() else 0 for field in RESULTS}
    told |= {"puzzle_id": puzzle_id, "game": "letterboxed", "count": None}
    rows = [told | {"puzzle": None}, told | {"puzzle": canonical_json(value)}]
    lake.write_table("results/r.parquet", pa.Table.from_pylist(rows, RESULTS))
    (asked,) = found(lake, puzzle_id)
    assert (asked.game, asked.published.puzzle) == ("letterboxed", puzzle)
    with pytest.raises(PermanentError, match="has no puzzle"):
        found(lake, puzzle_id[:8])


def test_a_damaged_table_is_reported(filled, tmp_path):
    lake = Lake.open(str(tmp_path / "lake"))
    lake.write_bytes("editions/pips.parquet", b"PAR1 no more")

    with pytest.raises(PermanentError, match="is damaged"):
        found(lake, "pips/2026-01-02")

"""Corpora: valid specs, the outcome of their rows, and the same bytes on every machine."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nightgrid.archive.corpus import bounded_reader
from nightgrid.archive.corpus import corpus as corpora
from nightgrid.archive.corpus import inputs as corpus_inputs
from nightgrid.archive.corpus.corpus import Corpus, open_corpus
from nightgrid.archive.corpus.inputs import Inputs
from nightgrid.archive.games import archive_plug
from nightgrid.archive.games.generator_spec import make_boards, read_generator_spec
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.schemas import CORPUS_ROWS
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS
from nightgrid.solvers.registry import game

PIPS_PUZZLES = archive_plug("pips").puzzles()

NEEDED = corpus_inputs.needed_columns("pips")
PIPS = game("pips")
Snapshot = Callable[[Path], dict[str, str]]


def ids(corpus: Corpus) -> list[str]:
    return [name for table in corpus.tables() for name in table.column("puzzle_id").to_pylist()]


def rows_of(corpus: Corpus) -> list[dict[str, Any]]:
    return corpus.lake.read_table(corpus.rows_path, CORPUS_ROWS).to_pylist()


def faults_of(corpus: Corpus) -> list[dict[str, Any]]:
    return [row for row in rows_of(corpus) if row["rule"] is not None]


def boards(count: int) -> pa.Table:
    mixes = [PRESETS["easy"]]
    return puzzles_table(PIPS, [puzzle for puzzle, _ in generate_many(5, count, mixes)])


@pytest.fixture
def slices_of_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (corpus_inputs, corpora, corpora.make_slice.__globals__):
        names = module if isinstance(module, dict) else vars(module)
        if "SLICE_BOARDS" in names:
            monkeypatch.setitem(names, "SLICE_BOARDS", 10)


def test_a_generator_spec_gives_the_boards_of_its_mix_in_order(lake: Lake):
    corpus = open_corpus(lake, "pips:seed=7,n=9,mix=published")
    expected = generate_many(7, 9, [PRESETS[level] for level in LEVELS])
    assert ids(corpus) == [puzzle.puzzle_id for puzzle, _ in expected]
    assert [row["level"] for row in rows_of(corpus)] == list(LEVELS) * 3
    assert (corpus.row_count, corpus.quarantined, corpus.game) == (9, 0, "pips")
    assert corpus.name == "pips:n=9,mix=published,seed=7"
    assert next(corpus.tables()).schema.equals(PIPS_PUZZLES, check_metadata=True)


def test_options_determine_the_boards(lake: Lake):
    corpus = open_corpus(lake, "pips:n=20,dominoes=4-5,seed=1")
    sizes = [size for table in corpus.tables() for size in table.column("size").to_pylist()]
    assert set(sizes) == {4, 5}
    tiles = open_corpus(lake, "tiles:n=2,tiles=8,layers=2,shapes=2-3")
    assert [table.column("size").to_pylist() for table in tiles.tables()] == [[8, 8]]
    letters = open_corpus(lake, "letterboxed:n=2,sides=3,letters=2")
    assert [table.column("size").to_pylist() for table in letters.tables()] == [[6, 6]]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("pips:n=3,dominoes=9-4", "dominoes is '9-4'; expected a number, or a smaller"),
        ("pips:n=3,mix=loose,dominoes=12-16", "dominoes is 12 to 16; expected one multiple of 2, "),
        ("pips:n=3,mix=loose,dominoes=13", "such as dominoes=14, for rectangles of 4 rows (mix=lo"),
        (
            "pips:n=3,mix=easy,rows=5",
            "dominoes is 3 to 7 with mix=easy; expected one multiple of 5",
        ),
        ("pips:n=3,dominoes=301", "dominoes is '301'; expected at most 300 with mix=hard"),
        ("pips:n=3,dominoes=12-301", "dominoes is '12-301'; expected at most 300"),
        ("pips:n=3,mix=loose,dominoes=5001", "dominoes is '5001'; expected a number from 1 to 5,0"),
        ("tiles:n=3,tiles=7", "expected an even number"),
    ],
)
def test_a_spec_that_is_invalid_is_refused_in_one_sentence(lake: Lake, spec: str, words: str):
    with pytest.raises(PermanentError, match=re.escape(words)):
        open_corpus(lake, spec)
    assert lake.list() == []


@pytest.mark.slow
def test_the_largest_boards_of_a_spec_are_made(lake: Lake):
    sizes = {"dominoes=300": 300, "dominoes=3000,mix=loose": 3_000}
    for options, size in sizes.items():
        corpus = open_corpus(lake, f"pips:n=1,{options}")
        assert [table.column("size").to_pylist() for table in corpus.tables()] == [[size]]


def test_a_corpus_that_was_killed_is_resumed(
    tmp_path: Path, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch, slices_of_ten: None
):
    spec = "pips:n=35,mix=easy,seed=2"
    whole = open_corpus(Lake.open(str(tmp_path / "whole")), spec)
    lake = Lake.open(str(tmp_path / "killed"))
    real, calls = corpora.make_slice, []

    def dies_in_the_second(lake: Lake, inputs: Inputs, number: int) -> int:
        calls.append(number)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(lake, inputs, number)

    monkeypatch.setattr(corpora, "make_slice", dies_in_the_second)
    with pytest.raises(KeyboardInterrupt):
        open_corpus(lake, spec)
    rows: list[tuple[int, int | None]] = []
    corpus = open_corpus(lake, spec, on_rows=lambda *at: rows.append(at))
    assert ids(corpus) == ids(whole)
    assert rows[0] == (10, 35), "finished slices are not recomputed"
    assert rows[-1] == (35, 35)
    assert calls == [0, 1, 1, 2, 3]
    open_corpus(lake, spec)
    assert len(calls) == 5
    assert snapshot(tmp_path / "whole") == snapshot(tmp_path / "killed")


def test_a_corpus_that_lacks_a_slice_is_rebuilt(lake: Lake):
    spec = "pips:n=9,seed=1,mix=easy"
    first = open_corpus(lake, spec)
    again = open_corpus(lake, spec)
    assert (first.is_new, again.is_new, again.row_count) == (True, False, 9)
    lake.delete(first.paths[0])
    made = open_corpus(lake, spec)
    assert (made.is_new, ids(made)) == (True, ids(first))


@pytest.mark.slow
def test_several_processes_make_the_same_as_one(tmp_path: Path, snapshot: Snapshot):
    table = boards(12)
    folder = tmp_path / "tables"
    folder.mkdir()
    pq.write_table(table, folder / "boards.parquet", row_group_size=4)
    for processes in (1, 2):
        told: list[tuple[int, int | None]] = []
        corpus = open_corpus(
            Lake.open(str(tmp_path / f"by{processes}")),
            str(folder),
            processes=processes,
            on_rows=lambda *at, told=told: told.append(at),
        )
        assert told[-1] == (12, None)
        assert ids(corpus) == table.column("puzzle_id").to_pylist()
        assert [row["source_row"] for row in rows_of(corpus)] == list(range(12))
    assert snapshot(tmp_path / "by1") == snapshot(tmp_path / "by2")


def test_payloads_join_back_to_file_and_level_and_faults_go_to_quarantine(
    lake: Lake, write_archive: Callable[..., Path]
):
    folder = write_archive("source", {"2026-01-01": 1, "2026-01-02": 2, "2026-01-03": 1})
    broken = json.loads((folder / "2026-01-02.json").read_text())
    broken["hard"]["dominoes"] = broken["hard"]["dominoes"][1:]
    (folder / "2026-01-02.json").write_text(json.dumps(broken))
    (folder / "notes.txt").write_text("not looked at")
    corpus = open_corpus(lake, str(folder))
    rows = rows_of(corpus)
    # The same boards have two dates: two rows of the corpus, but one job each.
    assert len(rows) == 9
    assert (corpus.row_count, corpus.quarantined) == (8, 1)
    names = {(row["source"], row["level"]): row["puzzle_id"] for row in rows}
    assert names["2026-01-01.json", "easy"] == names["2026-01-03.json", "easy"]
    assert names["2026-01-02.json", "hard"] is None
    (fault,) = faults_of(corpus)
    assert (fault["source"], fault["level"]) == ("2026-01-02.json", "hard")
    assert fault["rule"] == "domino-count"
    assert ids(corpus) == [row["puzzle_id"] for row in rows if row["puzzle_id"]]


def test_payloads_of_several_games_are_distinguished(
    lake: Lake, write_archive: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    folder = write_archive("source", {"2026-01-02": 1, "2026-01-03": 2})
    letters = {"printDate": "2026-01-01", "sides": ["TAP", "ERD", "NIL", "YCO"]}
    (folder / "0.json").write_text(json.dumps(letters))
    (folder / "1.json").write_text('["broken')
    told = r"several games, letterboxed \(0.json\) and pips \(2026-01-02.json\); expected one"
    with pytest.raises(PermanentError, match=told):
        open_corpus(lake, str(folder))
    assert lake.list() == []
    corpus = open_corpus(lake, str(folder), game="pips")
    assert corpus.row_count == 6
    faults = [(fault["source"], fault["rule"], fault["message"]) for fault in faults_of(corpus)]
    assert faults[0] == (
        "0.json",
        "other-game",
        "a payload of letterboxed; expected pips (in 0.json)",
    )
    assert [fault[:2] for fault in faults[1:]] == [("1.json", "not-json")]
    # Only some of many files are sampled; the others' games show in quarantine.
    monkeypatch.setattr(corpus_inputs, "SAMPLED_PAYLOADS", 1)
    few = open_corpus(lake, str(folder))
    assert (few.game, few.row_count, few.quarantined) == ("letterboxed", 1, 3)
    assert {fault["rule"] for fault in faults_of(few)} >= {"other-game"}


def test_a_corpus_is_its_contents_and_not_its_place(lake: Lake, write_archive: Callable[..., Path]):
    first = open_corpus(lake, str(write_archive("one", {"2026-01-01": 1})))
    same = open_corpus(lake, str(write_archive("two", {"2026-01-01": 1})))
    other = open_corpus(lake, str(write_archive("two", {"2026-01-01": 2})))
    assert first.corpus_id == same.corpus_id != other.corpus_id


def test_rows_of_parquet_are_validated_like_payloads(lake: Lake, tmp_path: Path):
    table = boards(10)
    rows = table.to_pylist()
    rows[1]["domino_a"] = [5, *rows[1]["domino_a"][1:], 3]
    rows[2] |= {"puzzle_id": "an id of another program", "game": "another", "size": 3}
    rows[3]["cell_row"] = None
    rows[4]["region_type"] = [99 for _ in rows[4]["region_type"]]
    rows[6]["cell_region"] = [-1, *rows[6]["cell_region"][1:]]
    rows[7]["cell_region"] = [9, *rows[7]["cell_region"][1:]]
    rows[9]["cell_col"] = rows[9]["cell_col"][1:]
    path = tmp_path / "mine.parquet"
    loose = pa.schema([field.with_nullable(True) for field in PIPS_PUZZLES])
    told = pa.Table.from_pylist(rows, loose).append_column("mine", pa.array(range(10)))
    pq.write_table(told, path)
    corpus = open_corpus(lake, str(path))
    kept = table.column("puzzle_id").to_pylist()
    assert ids(corpus) == [kept[0], kept[2], kept[5], kept[8]], "what follows from a board is made"
    faults = [
        [fault[name] for name in ("source_row", "rule", "place")] for fault in faults_of(corpus)
    ]
    assert faults == [
        [1, "columns", "domino_b"],
        [3, "null", "cell_row"],
        [4, "columns", "region_type[0]"],
        [6, "negative", "cell_region"],
        [7, "columns", "cell_region[0]"],
        [9, "columns", "cell_col"],
    ]
    said = {fault["source_row"]: fault["message"] for fault in faults_of(corpus)}
    cells = len(rows[9]["cell_row"])
    assert said[9] == f"{cells - 1} values; expected {cells}, as in cell_row"


@pytest.mark.parametrize(
    ("name", "column", "values", "place"),
    [
        ("strands", "letter", [65], "letter"),
        ("strands", "column_count", 0, "letter"),
        ("strands", "letter", [2**30], "letter"),
        ("letterboxed", "side_size", [3, 3, 3, 4], "side_size"),
        ("tiles", "tile_size", [1], "feature"),
        ("tiles", "name_size", [1], "name_letter"),
    ],
)
def test_lists_of_every_game_that_do_not_fit_name_their_column(
    lake: Lake, tmp_path: Path, name: str, column: str, values: object, place: str
):
    made = make_boards(read_generator_spec(f"{name}:n=2"), 0, 2)
    table = puzzles_table(game(name), [board.puzzle for board in made])
    rows = table.to_pylist()
    rows[1] |= {column: values}
    path = tmp_path / "mine.parquet"
    pq.write_table(pa.Table.from_pylist(rows, table.schema).drop(["puzzle_id", "size"]), path)
    corpus = open_corpus(lake, str(path))
    (fault,) = faults_of(corpus)
    assert (corpus.row_count, fault["source_row"]) == (1, 1)
    assert (fault["rule"], fault["place"]) == ("columns", place)


def test_a_damaged_file_or_row_group_does_not_affect_the_others(lake: Lake, tmp_path: Path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "a.parquet").write_bytes(b"no table")
    table = boards(8)
    pq.write_table(table, folder / "b.parquet", row_group_size=4, compression="zstd")
    with pq.ParquetFile(folder / "b.parquet") as file:
        column = file.metadata.row_group(1).column(PIPS_PUZZLES.get_field_index("cell_row"))
        start = column.dictionary_page_offset or column.data_page_offset
        stop = start + column.total_compressed_size
    data = bytearray((folder / "b.parquet").read_bytes())
    data[start:stop] = b"\xff" * (stop - start)
    (folder / "b.parquet").write_bytes(data)
    corpus = open_corpus(lake, str(folder))
    assert ids(corpus) == table.column("puzzle_id").to_pylist()[:4]
    assert corpus.quarantined == 2
    first, second = faults_of(corpus)
    assert [first[name] for name in ("source", "source_row", "rule")] == ["a.parquet", 0, "damaged"]
    assert "a.parquet cannot be read as Parquet" in first["message"]
    assert (second["source"], second["place"]) == ("b.parquet", "row group 1")
    assert second["message"].startswith("4 rows from row 4 on cannot be read: ")
    for path in folder.iterdir():
        path.write_bytes(b"no table either")
    with pytest.raises(PermanentError, match=r"a.parquet cannot be read as Parquet"):
        open_corpus(lake, str(folder))


@pytest.mark.slow
def test_a_bomb_and_a_reader_that_dies_affect_only_their_row_group(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "tables"
    folder.mkdir()
    table = boards(2)
    pq.write_table(table, folder / "a.parquet")
    text = pa.array(["x" * 2**20] * 2_000)
    repeated = {**{name: [[0]] * 2_000 for name in NEEDED}, NEEDED[0]: text}
    pq.write_table(pa.table(repeated), folder / "b.parquet", compression="zstd")
    many = pa.ListArray.from_arrays([0, 2**20], pa.array([0] * 2**20, pa.uint8()))
    pq.write_table(pa.table(dict.fromkeys(NEEDED, many)), folder / "c.parquet")
    rows = pa.table(dict.fromkeys(NEEDED, pa.nulls(2**24 + 1)))
    pq.write_table(rows, folder / "d.parquet", row_group_size=len(rows))
    corpus = open_corpus(lake, str(folder))
    assert ids(corpus) == table.column("puzzle_id").to_pylist()
    bomb, values, nulls = faults_of(corpus)
    assert "it has 16,777,217 rows; expected at most 16,777,216" in nulls["message"]
    assert "it takes more than 1,073,741,824 bytes of memory" in bomb["message"]
    assert "has a list of 1,048,576 values" in values["message"]

    command = [sys.executable, "-c", "import os; os.abort()"]
    monkeypatch.setattr(bounded_reader, "_command", lambda *_: command)
    (tmp_path / "one").mkdir()
    pq.write_table(table, tmp_path / "one/a.parquet")
    with pytest.raises(PermanentError, match=r"holds no valid puzzle of pips; .* shows what broke"):
        open_corpus(lake, str(tmp_path / "one"))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_bytes(b"no table"), "cannot be read as Parquet"),
        (
            lambda path: pq.write_table(pa.table({"a": [1]}), path),
            "has the columns a, which are no game's",
        ),
        (
            lambda path: pq.write_table(pa.table({f"c{i}": [1] for i in range(10)}), path),
            "has the columns c0, .*, c7 and 2 more, which are no game's",
        ),
        (
            lambda path: pq.write_table(boards(1).slice(0, 0), path),
            "mine.parquet' has no rows; expected at least one puzzle",
        ),
    ],
)
def test_a_table_that_is_invalid_is_refused(
    lake: Lake, tmp_path: Path, make: Callable[[Path], object], words: str
):
    path = tmp_path / "mine.parquet"
    make(path)
    with pytest.raises(PermanentError, match=words):
        open_corpus(lake, str(path))


def test_a_column_of_another_type_is_named(lake: Lake, tmp_path: Path):
    path = tmp_path / "mine.parquet"
    at = PIPS_PUZZLES.get_field_index("domino_a")
    texts = pa.array([["a"]] * 2)
    pq.write_table(boards(2).set_column(at, "domino_a", texts), path)
    with pytest.raises(PermanentError, match=r"mine.parquet: column domino_a is list.* expected"):
        open_corpus(lake, str(path))


def test_the_lake_itself_is_a_corpus(lake: Lake):
    open_corpus(lake, "pips:n=2,mix=easy")
    with pytest.raises(PermanentError, match=r"no puzzle of pips that a night .* not included"):
        open_corpus(lake, "lake")
    lake.write_table("puzzles/pips/seg-00000.parquet", boards(3))
    corpus = open_corpus(lake, "lake", game="pips")
    assert ids(corpus) == boards(3).column("puzzle_id").to_pylist()
    assert corpus.row_count == 3


def test_a_name_that_is_not_utf_8_is_refused(lake: Lake, tmp_path: Path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "\udcff.json").write_text("{}")
    with pytest.raises(PermanentError, match=r"\\udcff.json' is not UTF-8; expected a name"):
        open_corpus(lake, str(folder))

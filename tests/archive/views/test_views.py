"""Views: each row that counts appears once, however a lake has it twice."""

from __future__ import annotations

import pytest

from nightgrid.archive.corpus.corpus import open_corpus
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import find_results
from nightgrid.archive.views.catalogue import column_line, view_named, views
from nightgrid.archive.views.sql import ask
from nightgrid.solvers.errors import PermanentError
from tests.archive.views.conftest import JOBS, fill, twice

NAMES = {"puzzles", "editions", "results", "counts", "runtimes", "solutions", "ranks", "quarantine"}


def test_the_views_that_were_promised_are_there_and_every_column_is_described():
    assert set(views()) >= NAMES | {
        "corpora",
        "drafts",
        "revisions",
        "observations",
        "contradictions",
    }
    undescribed = [
        f"{view.name}.{name}"
        for view in views().values()
        for name in view.schema.names
        if not column_line(view.name, name)
    ]
    assert undescribed == []
    assert all(view.line and "\n" not in view.line for view in views().values())


def test_a_job_that_ended_several_times_has_one_result(lake):
    table = view_named("results").read(lake)

    assert sorted(table.column("job_id").to_pylist()) == JOBS[:5]
    expected = find_results(lake, JOBS).select(table.column_names)
    assert table.sort_by("job_id").to_pylist() == expected.to_pylist()
    told = {row["job_id"]: row for row in table.to_pylist()}
    assert [told[JOBS[1]]["run_id"], told[JOBS[1]]["count"]] == ["r2", 9]
    assert told[JOBS[3]]["budget_seconds"] == 5.0


@pytest.mark.parametrize("columns", [["count"], ["reason_code", "game"], ["run_id"], []])
def test_single_columns_equal_those_of_all_columns(lake, columns):
    whole = view_named("results").read(lake)
    some = view_named("results").read(lake, columns)

    assert some.column_names == [name for name in whole.column_names if name in columns]
    for name in columns:
        assert sorted(map(str, some.column(name).to_pylist())) == sorted(
            map(str, whole.column(name).to_pylist())
        )


def test_solutions_are_those_of_the_result_that_counts_each_once(lake):
    rows = view_named("solutions").read(lake, ["solution", "job_id"]).to_pylist()

    told = sorted((row["job_id"], row["solution"]) for row in rows)
    assert told == [(JOBS[1], '"r2 0"'), (JOBS[2], '"r1 0"'), (JOBS[2], '"r1 1"')]


def test_editions_are_the_current_ones_and_drafts_are_separate(lake):
    def stands(name: str) -> list[tuple[int, int]]:
        rows = view_named(name).read(lake, ["date", "revision"]).to_pylist()
        return sorted((row["date"].day, row["revision"]) for row in rows)

    assert stands("editions") == [(1, 2), (2, 1)]
    assert stands("drafts") == [(3, 2)]
    assert stands("revisions") == [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2)]


def test_a_board_in_two_segments_is_one_puzzle(lake, filled):
    twice(lake, filled)

    table = read_puzzle_table(filled, "pips")
    assert view_named("puzzles").read(lake).num_rows == len(table)
    assert view_named("puzzles_pips").read(lake, ["domino_a"]).num_rows == len(table)


def test_rows_of_a_corpus_have_its_name_and_join_their_results(tmp_path):
    lake = Lake.open(str(tmp_path / "lake"))
    made = [open_corpus(lake, f"pips:n=3,mix={mix},seed=1") for mix in ("easy", "hard")]
    lake.write_bytes("corpora/0123/part-00000.parquet", b"not made to its end", new=True)

    rows = view_named("corpora").read(lake).to_pylist()
    told = {(row["corpus_id"], row["corpus"], row["game"], row["level"]) for row in rows}
    assert told == {
        (corpus.corpus_id, corpus.name, "pips", mix)
        for corpus, mix in zip(made, ("easy", "hard"), strict=True)
    }
    ids = {row["puzzle_id"] for row in rows if row["corpus_id"] == made[0].corpus_id}
    assert ids == set(made[0].puzzle_ids().to_pylist())
    for columns in (["corpus"], ["level", "corpus_id"], []):
        some = view_named("corpora").read(lake, columns)
        names = [name for name in view_named("corpora").schema.names if name in columns]
        assert some.column_names == names
        assert not names or some.to_pylist() == [
            {name: row[name] for name in names} for row in rows
        ]
    (counted,) = ask(lake, "select count(*) as n from corpora").tables
    assert counted.to_pylist() == [{"n": 6}]


def test_broken_rules_are_listed(filled):
    (row,) = view_named("quarantine").read(filled).to_pylist()

    assert (row["game"], row["rule"], row["corpus"]) == ("pips", "not-json", "")


@pytest.mark.parametrize(
    "name", sorted(NAMES | {"contradictions", "corpora", "drafts", "observations", "puzzles_tiles"})
)
def test_an_empty_lake_has_every_column_and_no_row(tmp_path, name):
    view = view_named(name)

    table = view.read(Lake.open(str(tmp_path / "nothing")))
    assert (table.num_rows, table.schema) == (0, view.schema)
    assert not (tmp_path / "nothing").exists()


def test_an_unknown_view_or_column_is_refused_in_one_sentence(lake):
    with pytest.raises(PermanentError, match="there is no view 'result'; expected one of counts"):
        view_named("result")
    with pytest.raises(PermanentError, match="view results has no column 'cout'; expected job_id"):
        view_named("results").read(lake, ["cout"])


@pytest.mark.slow
def test_a_lake_in_an_object_store_has_the_same_rows(tmp_path, lake, s3_endpoint):
    far = fill(Lake.open(f"s3://bucket/{tmp_path.name}?endpoint_override={s3_endpoint}"))

    for name in ("results", "solutions", "editions"):
        here = view_named(name).read(lake)
        assert view_named(name).read(far).to_pylist() == here.to_pylist()

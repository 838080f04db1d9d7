"""A new version of a solver answers every board again; differences are reported."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest

from benchmarks.chaos.lakes.nights import night_of, write_days
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.contradictions import contradicted_count
from nightgrid.archive.results.results import read_results
from nightgrid.archive.views.catalogue import view_named
from nightgrid.flows.attention import CONTRADICTION
from nightgrid.flows.count.count import work_count
from nightgrid.flows.count.report import CountReport
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.report import GameReport
from nightgrid.service.report.page import report_text
from nightgrid.solvers.pips.game import PipsGame

BOARDS = 6


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    write_days(tmp_path / "source", [0, 1])
    assert night(tmp_path).contradictions == 0
    return Lake.open(str(tmp_path / "lake"))


def night(folder: Path) -> GameReport:
    return work_night(night_of(folder / "lake", folder / "source")).games[0]


def new_version() -> mock._patch[str]:
    return mock.patch.object(PipsGame, "solver_version", "pips-next")


def add_to_a_count(lake: Lake) -> str:
    """Make the previous version's count of one board wrong; return the board."""
    (path,) = [name for name in lake.list("results") if name.endswith(".parquet")]
    table = read_results(lake)
    counts = table.column("count").to_pylist()
    counts[2] += Decimal(1)
    at = table.column_names.index("count")
    changed = table.set_column(at, table.field(at), pa.array(counts, table.field(at).type))
    lake.write_table(path, changed)
    puzzle: str = table.column("puzzle_id")[2].as_py()
    return puzzle


def test_every_board_is_solved_again_once_and_nothing_is_reported_if_counts_agree(
    lake: Lake, tmp_path: Path
) -> None:
    with new_version():
        report, again = night(tmp_path), night(tmp_path)
    assert (report.planned, report.solved, report.contradictions) == (BOARDS, BOARDS, 0)
    assert (again.planned, again.already_known) == (0, BOARDS)
    assert not report.needs_attention
    assert contradicted_count(lake, "pips") == 0
    assert len(view_named("contradictions").read(lake)) == 0
    versions = read_results(lake).column("solver_version").to_pylist()
    assert sorted(versions) == ["pips-4"] * BOARDS + ["pips-next"] * BOARDS
    assert list(check_lake_files(lake)) == []


def test_a_count_that_differs_is_reported_once_and_ends_the_night_with_5(
    lake: Lake, tmp_path: Path
) -> None:
    puzzle = add_to_a_count(lake)
    assert contradicted_count(lake, "pips") == 0
    with new_version():
        report, again = night(tmp_path), night(tmp_path)
    (item,) = [item for item in report.attention if item.kind == CONTRADICTION]
    assert (report.contradictions, item.puzzle_id, item.ask) == (1, puzzle, "count")
    assert item.why.startswith("pips-4 said ")
    assert report.needs_attention
    ((heading, lines),) = report.attention_sections()
    assert heading == "pips: 1 answered differently by another version of the solver"
    assert lines == [f"{item.name}: {item.why}"]
    assert (again.contradictions, again.needs_attention) == (0, False)
    # The view, the metrics and the report still have it afterwards.
    assert contradicted_count(lake, "pips") == 1
    rows = view_named("contradictions").read(lake).sort_by("solver_version").to_pylist()
    assert [(row["puzzle_id"], row["solver_version"]) for row in rows] == [
        (puzzle, "pips-4"),
        (puzzle, "pips-next"),
    ]
    page = report_text(lake)
    assert page is not None
    (section,) = re.findall(r'<h2 id="contradictions">.*?</section>', page, re.DOTALL)
    assert section.count("<td>pips-4</td>") == section.count("<td>pips-next</td>") == 1
    # Both answers stay: a person has to find out which is wrong.
    rows = [row for row in read_results(lake).to_pylist() if row["puzzle_id"] == puzzle]
    assert len({row["count"] for row in rows}) == 2


def test_a_night_that_was_killed_before_it_compared_leaves_it_to_the_next(
    lake: Lake, tmp_path: Path
) -> None:
    add_to_a_count(lake)
    with new_version():
        with (
            mock.patch("nightgrid.flows.night.steps.contradictions", side_effect=KeyboardInterrupt),
            pytest.raises(KeyboardInterrupt),
        ):
            night(tmp_path)
        report = night(tmp_path)
    assert report.contradictions == 1


def count(folder: Path) -> CountReport:
    workers = night_of(folder / "lake", folder / "source").workers
    return work_count(CountSettings(corpus="lake", executor="inline", workers=workers))


def test_a_count_reports_differing_answers(lake: Lake, tmp_path: Path) -> None:
    """Given a count by a new version, Then it names the board, and the night after it does, too."""
    puzzle = add_to_a_count(lake)
    with new_version():
        report, again = count(tmp_path), count(tmp_path)
        assert night(tmp_path).contradictions == 1
    (item,) = [item for item in report.attention if item.kind == CONTRADICTION]
    assert (report.contradictions, item.puzzle_id, report.needs_attention) == (1, puzzle, True)
    assert (again.finished_before, again.contradictions) == (True, 0)

"""Who works a night: workers that are there, or workers of its own."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from contextlib import ExitStack

import pytest

from benchmarks.tuned import retuned
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.results.solution_files import files_of, tables_in
from nightgrid.flows import cluster
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.generate.generator import generate_many, to_payload
from nightgrid.solvers.pips.generate.mix import EASY, HARD
from nightgrid.solvers.registry import game as game_of
from nightgrid.workers.broker.queues import BATCH
from nightgrid.workers.broker.worker_keys import served_queues
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.cluster.supervisor import SERVER, supervisor_state
from nightgrid.workers.driver import drive as driving
from tests.flows.nights import results, run_one

pytestmark = pytest.mark.cluster

PIPS = game_of("pips")


@pytest.fixture
def on_celery(night, source):
    """A night of two days over Celery, and the same night inline, which it must equal."""
    inline = night(source(2), "inline")
    run_one(inline)
    settings = dataclasses.replace(
        inline,
        executor="celery",
        workers=inline.workers.model_copy(
            update={"lake": inline.workers.lake.replace("inline", "celery"), "batch_processes": 1}
        ),
    )
    return settings, inline


def test_a_night_starts_workers_of_its_own_and_stops_them(on_celery):
    settings, inline = on_celery

    report = run_one(settings)

    assert report.solved == 6
    assert results(settings).equals(results(inline))
    assert not served_queues(settings.workers)


@pytest.mark.long(
    short="tests/flows/test_cluster.py::test_a_night_starts_workers_of_its_own_and_stops_them"
)
def test_a_night_lists_thousands_of_solutions_of_a_board_in_files(on_celery, tmp_path):
    """A night that lists many solutions next to a small one."""
    settings, _ = on_celery
    small, other = generate_many(4, 2, [EASY])
    puzzle, solution = next(
        (puzzle, solution)
        for puzzle, solution in generate_many(4, 40, [HARD])
        if 4_000 < (PIPS.solve(puzzle, Ask(kind="count")).count or 0) < 9_000
    )
    levels = {"easy": small, "medium": other, "hard": (puzzle, solution)}
    date = dt.date(2026, 3, 1)
    folder = tmp_path / "loose"
    folder.mkdir()
    (folder / f"{date}.json").write_text(json.dumps(to_payload(date, levels)))
    game = dataclasses.replace(settings.games[0], source=str(folder), asks=(Ask(kind="all"),))
    workers = retuned(settings.workers, listing_rows=500, listing_row_bytes=10_000)

    report = run_one(dataclasses.replace(settings, games=(game,), workers=workers))

    assert report.solved == 3
    lake = Lake.open(workers.lake)
    row = max(lake.read_table("results", RESULTS).to_pylist(), key=lambda row: row["count"])
    files = files_of(lake, row["run_id"], row["job_id"], row["count"])
    expected = [PIPS.solution_text(found) for found in PIPS.stream(puzzle, Ask(kind="all"))]
    assert [
        text for table in tables_in(lake, files) for text in table.column("solution").to_pylist()
    ] == expected
    assert len(expected) / 500 <= len(files) < len(expected) / 100


@pytest.mark.long(
    short="tests/flows/test_cluster.py::test_a_night_starts_workers_of_its_own_and_stops_them"
)
def test_a_night_leaves_its_work_to_workers_that_are_there(on_celery):
    settings, inline = on_celery

    with local_cluster(settings.workers, roles=(SERVER, BATCH)):
        before = supervisor_state(settings.workers)
        report = run_one(settings)
        assert supervisor_state(settings.workers) == before

    assert report.solved == 6
    assert results(settings).equals(results(inline))


@pytest.mark.long(
    short="tests/flows/test_cluster.py::test_a_night_starts_workers_of_its_own_and_stops_them"
)
def test_work_goes_on_when_the_workers_that_were_there_end(on_celery, monkeypatch):
    settings, inline = on_celery
    first = ExitStack()
    drive = driving.drive

    def drive_on(*given, **named):
        assert BATCH in served_queues(settings.workers)
        first.close()
        return drive(*given, **named)

    monkeypatch.setattr(driving, "drive", drive_on)
    with first:
        first.enter_context(local_cluster(settings.workers, roles=(SERVER, BATCH)))
        report = run_one(settings)

    assert report.solved == 6
    assert results(settings).equals(results(inline))
    assert supervisor_state(settings.workers) is None


@pytest.mark.long(
    short="tests/flows/test_cluster.py::test_a_night_starts_workers_of_its_own_and_stops_them"
)
def test_workers_start_while_something_else_is_done_and_end_with_the_block(on_celery):
    settings, _ = on_celery
    workers = settings.workers

    with cluster.OwnWorkers(settings, ["pips"]) as ours:
        ours.begin()
        assert not served_queues(workers)
        ours.ready()
        assert BATCH in served_queues(workers)

    assert not served_queues(workers)


def test_workers_that_are_not_needed_after_all_are_not_waited_for(on_celery):
    settings, _ = on_celery

    with cluster.OwnWorkers(settings, ["pips"]) as ours:
        ours.begin()

    assert not served_queues(settings.workers)
    assert supervisor_state(settings.workers) is None

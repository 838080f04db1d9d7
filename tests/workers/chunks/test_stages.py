"""Staged counts advance layer by layer, whatever happens to their chunks."""

import os
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import toy_game as toy
import toy_layers
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from nightgrid.archive.lake.schemas import PARTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker.notices import Announcement
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.cluster.supervisor import supervisor_state
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import CeleryOutbox, InlineOutbox
from nightgrid.workers.runs.manifest import open_run, read_segments
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.staged import frontier_path, frontiers
from tests.drawn import drawn
from tests.workers.conftest import (
    BUDGET,
    COUNT,
    children_of,
    divide_all,
    quick_settings,
    result_rows,
)
from tests.workers.driver.test_driver import DyingOutbox, Killed
from tests.workers.planning import plan_run

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")


def small_settings(folder, **changes):
    return quick_settings(folder, poll_seconds=0.01, **changes)


def layered(*numbers):
    return toy.boards(max(numbers) + 1, dict.fromkeys(numbers, toy.LAYERED))


def count_in(folder, boards, *, budget=BUDGET, outbox=InlineOutbox, **changes):
    settings = small_settings(folder, **changes)
    lake = Lake.open(settings.lake)
    run_id = plan_run(lake, toy.TOY, boards, COUNT, budget)
    drive(lake, run_id, outbox(lake, settings), settings=settings)
    return lake, run_id


def counts(lake, run_id):
    return {row["puzzle_id"]: row for row in result_rows(lake, run_id)}


def row_of(lake, run_id, number):
    name = toy.ToyPuzzle(number=number, behaviour=toy.LAYERED).puzzle_id
    return counts(lake, run_id)[name]


def parts_of(lake, run_id):
    return lake.read_table(f"runs/run={run_id}/parts", PARTS).to_pylist()


def test_a_count_over_budget_continues_by_stages_with_the_same_result(kept_files, tmp_path):
    lake, run_id = count_in(tmp_path, layered(3, 5))
    for number in (3, 5):
        row = row_of(lake, run_id, number)
        assert (row["status"], row["count"]) == ("solved", toy_layers.walks(number))
        assert row["states"] == toy_layers.states(number)
    kinds = Counter(segment.kind for segment in read_segments(lake, run_id))
    assert kinds["stage"] > 4
    statuses = Counter(part["status"] for part in parts_of(lake, run_id))
    assert statuses["carried"] > 10


@hypothesis_settings(max_examples=drawn(8), deadline=None)
@given(
    number=st.integers(0, 50),
    carry_rows=st.integers(1, 100),
    stage_rows=st.integers(20, 300),
    parts_min=st.integers(1, 8),
)
def test_stages_of_any_size_give_the_same_count(
    tmp_path_factory, number, carry_rows, stage_rows, parts_min
):
    lake, run_id = count_in(
        tmp_path_factory.mktemp("sizes"),
        toy.boards(1, {0: toy.LAYERED}, start=number) if number == 0 else layered(number),
        stage_carry_rows=carry_rows,
        stage_rows=stage_rows,
        stage_parts_min=parts_min,
    )
    row = row_of(lake, run_id, number)
    assert (row["status"], row["count"]) == ("solved", toy_layers.walks(number))
    assert row["states"] == toy_layers.states(number)


class MeddlingOutbox(InlineOutbox):
    """Calls a function after every chunk that it solves, or instead of it."""

    meddle = staticmethod(lambda outbox, ref: None)
    """Called with every chunk before it is solved; its result, if any, is announced."""

    def wait(self, timeout_s):
        if self._waiting and (event := self.meddle(self, self._waiting[0])) is not None:
            self._waiting.popleft()
            return [event]
        return super().wait(timeout_s)


def meddling(meddle):
    return type("Meddling", (MeddlingOutbox,), {"meddle": staticmethod(meddle)})


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    lake, run_id = count_in(tmp_path_factory.mktemp("undisturbed"), layered(2))
    rows = result_rows(lake, run_id)
    assert row_of(lake, run_id, 2)["parts"] > 15
    return rows


def stage_of(lake, ref):
    rows = lake.read_row_groups(ref.manifest_path, [ref.chunk])
    path = rows.column("part_path")[0].as_py()
    return int(path.split(".")[0]) if path else None


def test_a_driver_that_dies_anywhere_leaves_the_same_row(tmp_path, undisturbed):
    settings = small_settings(tmp_path)
    lake = Lake.open(settings.lake)
    run_id = plan_run(lake, toy.TOY, layered(2), COUNT, BUDGET)
    deaths = 0
    while True:
        try:
            drive(lake, run_id, DyingOutbox(lake, settings, 3), settings=settings)
        except Killed:
            deaths += 1
        else:
            break
    assert deaths > 4
    assert result_rows(lake, run_id) == undisturbed


def test_chunks_of_a_stage_that_are_solved_twice_count_once(tmp_path, undisturbed):
    def twice(outbox, ref):
        solve_chunk(outbox._lake, ref, outbox._settings, "one")
        once = frontier_bytes(outbox._lake, ref)
        outbox._lake.delete(ref.result_path)
        solve_chunk(outbox._lake, ref, outbox._settings, "two")
        assert frontier_bytes(outbox._lake, ref) == once

    lake, run_id = count_in(tmp_path, layered(2), outbox=meddling(twice))
    assert result_rows(lake, run_id) == undisturbed


def frontier_bytes(lake, ref):
    return lake.read_bytes(frontier_path(ref)) if lake.exists(frontier_path(ref)) else None


def truncate(path):
    path.write_bytes(path.read_bytes()[:-40])


def blank(path):
    path.write_bytes(bytes(path.stat().st_size))


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "harm",
    [
        truncate,
        *(
            pytest.param(
                harm,
                marks=pytest.mark.long(
                    short="tests/workers/chunks/test_stages.py::test_states_that_are_missing_or_damaged_are_rebuilt"
                ),
            )
            for harm in (Path.unlink, blank, flip, empty)
        ),
    ],
)
def test_states_that_are_missing_or_damaged_are_rebuilt(tmp_path, undisturbed, harm):
    harmed = set()

    def spoil(outbox, ref):
        stage = stage_of(outbox._lake, ref)
        if stage in (3, 5) and stage not in harmed:
            harmed.add(stage)
            place = frontiers(outbox._lake, ref.run_id)[0]
            lost = ChunkRef(run_id=ref.run_id, segment=place[0], chunk=place[1])
            harm(Path(outbox._lake.url) / frontier_path(lost))

    lake, run_id = count_in(tmp_path, layered(2), outbox=meddling(spoil))
    assert harmed == {3, 5}
    assert result_rows(lake, run_id) == undisturbed


def test_a_first_part_whose_time_was_up_is_halved_and_counts_once(tmp_path, monkeypatch):
    advance = toy_layers.ToyLayers.advance
    paused = []

    def stand_still(self, first, last, rows_max=None):
        if first == 0 and not paused:
            paused.append(self)
            return first, "the budget of seconds ran out"
        return advance(self, first, last, rows_max)

    monkeypatch.setattr(toy_layers.ToyLayers, "advance", stand_still)
    lake, run_id = count_in(tmp_path, layered(2))
    row = row_of(lake, run_id, 2)
    assert paused
    assert (row["status"], row["count"]) == ("solved", toy_layers.walks(2))


def test_halves_of_a_part_that_continues_by_itself_meet_in_one_layer(tmp_path, monkeypatch):
    widths = (2, 4, 8, 8, 4, 8, 16, 32, 32, 1)

    def children(number, layer, place):
        # Few states in the middle, which become many again.
        return [(place * 7 + step * step * 11 + number) % widths[layer] for step in range(2)]

    advance = toy_layers.ToyLayers.advance
    paused = []

    def stand_still(self, first, last, rows_max=None):
        if first == 5 and last == toy_layers.LAYERS and not paused:
            paused.append(self)
            return first, "the budget of seconds ran out"
        return advance(self, first, last, rows_max)

    monkeypatch.setattr(toy_layers, "children", children)
    monkeypatch.setattr(toy_layers.ToyLayers, "advance", stand_still)
    lake, run_id = count_in(tmp_path, layered(2), stage_carry_rows=5, stage_parts_min=1)
    row = row_of(lake, run_id, 2)
    assert paused
    assert (row["status"], row["count"]) == ("solved", 2**toy_layers.LAYERS)


def test_at_most_two_stages_of_states_lie_in_the_lake(tmp_path):
    seen = []

    def look(outbox, ref):
        lake = outbox._lake
        refs = [
            ChunkRef(run_id=ref.run_id, segment=s, chunk=c) for s, c in frontiers(lake, ref.run_id)
        ]
        stages = {stage_of(lake, r) for r in refs}
        seen.append(stages)

    count_in(tmp_path, layered(2), outbox=meddling(look))
    assert max(map(len, seen)) == 2
    assert all(max(stages) - min(stages) <= 1 for stages in seen if stages)


def test_a_part_without_room_is_halved_until_it_fits(kept_files, tmp_path, undisturbed):
    budget = replace(BUDGET, table_bytes=8 * 3 * 60)
    lake, run_id = count_in(tmp_path, layered(2), budget=budget, stage_rows=1000)
    row = row_of(lake, run_id, 2)
    assert (row["status"], row["count"]) == ("solved", toy_layers.walks(2))
    assert row["states"] == toy_layers.states(2)
    paths = [part["part_path"] for part in parts_of(lake, run_id) if part["status"] == "split"]
    assert any(path.count(".") == 1 for path in paths)


def test_a_single_bucket_without_room_leaves_the_job_over_budget(kept_files, tmp_path):
    budget = replace(BUDGET, table_bytes=8 * 3 * 8)
    lake, run_id = count_in(tmp_path, layered(2), budget=budget)
    row = row_of(lake, run_id, 2)
    assert (row["status"], row["count"]) == ("over_budget", None)
    assert {p["reason_code"] for p in parts_of(lake, run_id)} >= {ReasonCode.TABLE_BYTES}


@pytest.mark.usefixtures("kept_files")
def test_a_part_that_kills_its_worker_leaves_the_job_poison_and_no_later_stage(tmp_path):
    def kill(outbox, ref):
        if stage_of(outbox._lake, ref) == 3:
            return Announcement(
                event="failed", ref=ref, reason=Reason(code=ReasonCode.PROCESS_LOST)
            )
        return None

    lake, run_id = count_in(tmp_path, layered(2), outbox=meddling(kill))
    row = row_of(lake, run_id, 2)
    assert (row["status"], row["count"]) == ("poison", None)
    kinds = [segment.kind for segment in read_segments(lake, run_id)]
    assert kinds.count("stage") == 3


def test_a_count_that_ends_in_the_middle_is_unsolvable(tmp_path, monkeypatch):
    alive = toy_layers.children
    monkeypatch.setattr(
        toy_layers, "children", lambda n, layer, place: [] if layer == 6 else alive(n, layer, place)
    )
    lake, run_id = count_in(tmp_path, layered(2))
    row = row_of(lake, run_id, 2)
    assert (row["status"], row["count"]) == ("unsolvable", 0)


def test_a_job_divided_in_advance_starts_with_its_first_stage(tmp_path, undisturbed, monkeypatch):
    settings = small_settings(tmp_path)
    lake = Lake.open(settings.lake)
    boards = toy.puzzles_table([toy.ToyPuzzle(number=2, behaviour=toy.LAYERED)])
    divide_all(monkeypatch, 2)
    run_id = plan_run(lake, toy.TOY, boards, COUNT, BUDGET)
    (rows,) = [lake.read_row_groups(r.manifest_path, [0]) for r in open_run(lake, run_id).chunks()]
    assert rows.column("part_path").to_pylist() == ["0"]
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    (row,) = result_rows(lake, run_id)
    assert (row["status"], row["count"]) == ("solved", toy_layers.walks(2))


@pytest.mark.parametrize("killed", [False, True])
def test_two_drivers_at_once_count_once(tmp_path, undisturbed, killed, monkeypatch):
    if killed:
        # The one that ends the run is killed before it has deleted its files.
        monkeypatch.setattr(Lake, "empty_folder", lambda *_, **__: None)
    both = [small_settings(tmp_path, var_dir=tmp_path / name) for name in ("one", "other")]
    lake = Lake.open(both[0].lake)
    run_id = plan_run(lake, toy.TOY, layered(2), COUNT, BUDGET)

    def work(settings):
        own = Lake.open(settings.lake)
        return drive(own, run_id, InlineOutbox(own, settings), settings=settings).finished

    with ThreadPoolExecutor(len(both)) as pool:
        assert list(pool.map(work, both)) == [True, True]
    assert result_rows(lake, run_id) == undisturbed


@pytest.mark.long(short="tests/workers/chunks/test_stages.py::test_two_drivers_at_once_count_once")
@pytest.mark.cluster
def test_real_workers_count_by_stages_though_one_is_killed(cluster, cluster_lake):
    lake = cluster_lake
    run_id = plan_run(lake, toy.TOY, layered(4), COUNT, BUDGET)
    killed = []

    def strike(progress):
        if not killed and progress.chunks_done > 5:
            batch = supervisor_state(cluster)["processes"]["batch"]["pid"]
            killed.append(children_of(batch)[0])
            os.kill(killed[0], signal.SIGKILL)

    drive(lake, run_id, CeleryOutbox(cluster), strike, settings=cluster)
    row = row_of(lake, run_id, 4)
    assert killed
    assert (row["status"], row["count"]) == ("solved", toy_layers.walks(4))
    assert row["states"] >= toy_layers.states(4)

"""A count of a corpus answers every distinct puzzle once, however it is interrupted."""

from __future__ import annotations

import itertools
import json
import multiprocessing
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.instruments.processes import wait_for
from benchmarks.tuned import tuned_settings
from nightgrid.archive.games.generator_spec import make_boards, read_generator_spec
from nightgrid.archive.lake.schemas import CORPUS_ROWS, RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.count import count as counting
from nightgrid.flows.count import planner as planning
from nightgrid.flows.count.count import work_count
from nightgrid.flows.count.planner import Planner, plan_count
from nightgrid.flows.count.report import CountReport
from nightgrid.flows.count.settings import CountSettings, asked_of, run_name
from nightgrid.flows.runs import StoppedError, Watch
from nightgrid.flows.start import run_count
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.solvers.registry import game
from nightgrid.workers.logs import logged_to
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.plan.planner import begin_run
from nightgrid.workers.runs.status import cancel_run
from nightgrid.workers.runs.unanswered_jobs import Retry

SPEC = "pips:n=60,mix=hard,seed=4"
Count = Callable[..., CountSettings]


class Killed(BaseException):
    """Simulates the end of the process."""


@pytest.fixture(autouse=True)
def _many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut even a short run into enough chunks to be stopped between two."""
    monkeypatch.setattr("nightgrid.workers.runs.plan.plan_pass.CHUNK_MIN_S", 1e-4)


@pytest.fixture
def settings(tmp_path: Path) -> Count:
    def of(corpus: str = SPEC, lake: str = "lake", **others: Any) -> CountSettings:
        workers = tuned_settings(lake=str(tmp_path / lake), games="pips", reconcile_seconds=1e-6)
        return CountSettings(corpus=corpus, executor="inline", workers=workers, **others)

    return of


def run(settings: CountSettings, **others: Any) -> CountReport:
    return run_count(settings, Watch(**others), prefect=False)


def results(settings: CountSettings) -> pa.Table:
    table = Lake.open(settings.workers.lake).read_table("results", RESULTS)
    return table.drop_columns(["kernel_ns"]).sort_by("job_id").combine_chunks()


def test_every_different_puzzle_is_answered_once_and_joins_back(settings: Count):
    report = run(settings())
    assert (report.rows, report.planned, report.quarantined) == (60, 60, 0)
    assert report.figures.statuses == {"solved": 60}
    assert report.jobs_worked == 60
    assert sum(number for _, number in report.figures.distribution()) == 60
    assert report.figures.states == report.states_worked > 0
    lake = settings().lake
    rows = lake.read_table(f"corpora/{report.corpus_id}", CORPUS_ROWS)
    answered = lake.read_table("results", RESULTS).column("puzzle_id").to_pylist()
    assert sorted(rows.column("puzzle_id").to_pylist()) == sorted(answered)
    largest = max(lake.read_table("results", RESULTS).column("count").to_pylist())
    assert report.figures.largest_count == largest


@pytest.mark.parametrize(
    ("corpus", "given", "words"),
    [
        ("tiles:n=3", {"ask": Ask(kind="count")}, "count is not for Tiles"),
        ("strands:n=3", {"rules": "spangram=maybe"}, "rule spangram is 'maybe'"),
        ("pips:n=3", {"rules": "teleports=no"}, "pips has no rules to switch"),
        ("pips:n=3", {"lexicon": "words.txt"}, "pips is not played with words"),
        ("letterboxed:n=3", {"lexicon": "nowhere.txt"}, "word list nowhere.txt"),
    ],
)
def test_an_unsupported_ask_is_refused_before_its_corpus_is_made(
    settings: Count, tmp_path: Path, corpus: str, given: dict[str, Any], words: str
):
    with pytest.raises(PermanentError, match=words):
        settings(corpus, **given)
    board = game(corpus.partition(":")[0])
    folder = tmp_path / "payloads"
    folder.mkdir()
    (made,) = make_boards(read_generator_spec(corpus), 0, 1)
    (folder / "a.json").write_text(json.dumps(board.puzzle_to_json(made.puzzle)))
    with pytest.raises(PermanentError, match=words):
        run(settings(str(folder), **given))
    assert not (tmp_path / "lake" / "corpora").exists()


def test_a_broken_file_of_a_corpus_is_named_once(settings: Count, tmp_path: Path):
    (made,) = make_boards(read_generator_spec("pips:n=1"), 0, 1)
    payloads = tmp_path / "payloads"
    payloads.mkdir()
    (payloads / "a.json").write_text("what")
    (payloads / "b.json").write_text(json.dumps(game("pips").puzzle_to_json(made.puzzle)))
    report = run(settings(str(payloads), game="pips"))
    ((_, (line,)),) = report.attention_sections()
    assert line == "a.json row 0: not-json: line 1, column 1: expected a JSON object, got 'what'"


def test_the_same_count_again_does_nothing_and_says_so(settings: Count):
    first = run(settings())
    again = run(settings(), on_progress=lambda _: pytest.fail("something was worked"))
    assert again.finished_before
    assert again.nothing_to_do().startswith("Nothing to do: all 60 pips puzzles of pips:n=60")
    assert again.figures == first.figures
    shorter = run(settings("pips:n=20,mix=hard,seed=4"))
    assert (shorter.planned, shorter.already_known, shorter.finished_before) == (0, 20, True)
    assert shorter.figures.jobs == 20


def test_lost_results_are_regenerated_by_the_same_count(settings: Count):
    first, lake = run(settings()), settings().lake
    before = results(settings())
    for path in lake.list("results"):
        lake.delete(path)
    estimate = counting.estimate_count(settings(), counting.bring_corpus(settings()))
    assert (estimate.job_count, lake.list("results")) == (60, []), "an estimate writes nothing"
    again = run(settings())
    assert (again.run_id != first.run_id, again.finished_before) == (True, False)
    assert results(settings()).drop_columns("run_id").equals(before.drop_columns("run_id"))


@pytest.mark.parametrize("step", ["plan", "solve", "solving"])
def test_a_count_that_was_killed_is_ended_by_the_same_call(settings: Count, step: str):
    def deadly(name: str, do: Callable[..., Any]) -> Callable[..., Any]:
        return die if name == step else do

    def die(*_: Any) -> Any:
        raise Killed

    def die_on_the_way(progress: Any) -> None:
        if progress.chunks_done == 3:
            raise Killed

    with pytest.raises(Killed):
        work_count(settings(), Watch(on_progress=die_on_the_way), as_step=deadly)
    report = run(settings())
    assert report.resumed == (step != "plan")
    assert report.chunks_found == (3 if step == "solving" else 0)
    run(settings(lake="undisturbed"))
    assert results(settings()).equals(results(settings(lake="undisturbed")))


def test_a_cancelled_count_continues_only_on_request(settings: Count):
    def cancel(progress: Any) -> None:
        if progress.chunks_done == 2:
            cancel_run(settings().lake, progress.run_id)

    with pytest.raises(StoppedError, match="is cancelled: 2 chunks are done") as stopped:
        run(settings(), on_progress=cancel)
    assert stopped.value.cancelled
    with pytest.raises(StoppedError, match="the same command with --resume continues"):
        run(settings())
    assert run(settings(resume=True)).figures.statuses == {"solved": 60}


@pytest.mark.parametrize(("planned", "ends"), [([1, 2, 3, 4], True), ([1, 1, 1, 1], False)])
def test_an_outage_that_planning_got_past_does_not_count_towards_the_next(
    settings: Count, monkeypatch: pytest.MonkeyPatch, planned: list[int], ends: bool
):
    """Given failures 40 s apart, Then a patience of 60 s only ends a plan without progress."""
    clock = SimpleNamespace(monotonic=itertools.count(0, 40).__next__, sleep=lambda _: None)
    monkeypatch.setattr("nightgrid.workers.driver.drive.time", clock)
    segments, left = iter(planned), iter(planned)

    def fail(*_: Any) -> None:
        if next(left, None) is not None:
            raise TransientError("the lake is away")

    monkeypatch.setattr(planning, "extend_run", fail)
    monkeypatch.setattr(planning, "count_segments", lambda *_: next(segments))
    count = settings()
    corpus = counting.bring_corpus(count)
    run_id = run_name(asked_of(count, corpus), corpus)
    with nullcontext() if ends else pytest.raises(TransientError):
        planning._plan(count, corpus, run_id)


@pytest.mark.slow
def test_a_planner_whose_process_was_killed_can_be_started_again(
    settings: Count, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    count = replace(settings(), executor="celery")
    corpus = counting.bring_corpus(count)
    others = set(multiprocessing.active_children())

    def ended() -> bool:
        return not set(multiprocessing.active_children()) - others

    with logged_to(tmp_path / "driver.log"), ExitStack() as ending:
        planner = Planner(count, corpus, ending)
        asking = asked_of(count, corpus)
        run_id = run_name(asking, corpus)
        begin_run(asking, run_id, puzzle_count=corpus.row_count)
        planner.start(run_id)
        for child in set(multiprocessing.active_children()) - others:
            child.kill()
        wait_for(lambda: not planner.is_at_it, "the end of the plan")
        with pytest.raises(TransientError, match="was killed"):
            planner.check()
        planner.start(run_id)
        wait_for(ended, "the end of the planner's process")
        planner.check()
    assert open_run(count.lake, run_id).job_count == 60
    assert '"run planned"' in (tmp_path / "driver.log").read_text()
    assert capfd.readouterr().err == "", "people are told nothing of events"


def test_a_board_that_ends_over_budget_again_is_listed_once(settings: Count, tmp_path: Path):
    few = {"budget_nodes": 300, "batch_row_nodes": 200, "split_depth_max": 0}
    workers = tuned_settings(lake=str(tmp_path / "lake"), games="pips", **few)
    count = replace(settings("pips:n=8,mix=published,seed=4"), workers=workers)
    for retry in (None, "over_budget", "all"):
        report = run(replace(count, retry=None if retry is None else Retry(retry)))
        assert report.figures.statuses["over_budget"] == 1
        listed = [item.puzzle_id for item in report.attention if item.kind == "over_budget"]
        assert len(listed) == 1
    told = run(count).nothing_to_do()
    assert told.startswith("Nothing new to do: of 8 pips puzzles of pips:n=8"), told
    assert told.endswith(", 1 over budget, which --retry over_budget works again.")


@pytest.mark.parametrize("executor", ["inline", "celery"])
def test_words_that_change_while_a_count_is_planned_end_it_with_a_reason(
    settings: Count, tmp_path: Path, executor: str, monkeypatch: pytest.MonkeyPatch
):
    """Given a word list that another program overwrites, Then the count ends and says so."""
    words = tmp_path / "words.txt"
    words.write_text("ACED\nDECAF\nFACE\n")
    count = settings("letterboxed:n=2,seed=1", lexicon=str(words))
    count = replace(count, executor=executor)

    def write_over(*given: Any, **named: Any) -> None:
        begin_run(*given, **named)
        words.write_text("ACED\nDECAF\nFACED\n")

    monkeypatch.setattr("nightgrid.flows.count.planner.begin_run", write_over)
    monkeypatch.setattr("nightgrid.flows.cluster.OwnWorkers.begin", lambda _: None)
    corpus = counting.bring_corpus(count)
    with (
        ExitStack() as ending,
        pytest.raises(PermanentError, match=r"words\.txt changed while run \w+ was planned"),
    ):
        plan_count(count, corpus, Planner(count, corpus, ending))
    assert not [path for path in count.lake.list("runs") if path.endswith("plan.json")]

"""`nightgrid count`: its output for people and programs, and how it is stopped."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.cli.demo import SAMPLES
from nightgrid.workers.runs.status import cancelled_path
from tests.service.scenes import BROKEN, PAIR, PAIR_COUNT, STUCK, environment, payload

Invoke = Callable[..., tuple[int, str, str]]
PLAIN = ("--lake", "lake", "--inline", "--no-prefect")
SPEC = "pips:n=40,mix=easy,seed=4"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Three payloads: boards known by hand, one of them twice, and an invalid one."""
    place = tmp_path / "payloads"
    place.mkdir()
    days = {"a": payload(easy=PAIR, hard=STUCK), "b": payload(easy=PAIR), "c": payload(easy=BROKEN)}
    for name, value in days.items():
        (place / f"{name}.json").write_text(json.dumps(value))
    return str(place)


def test_a_corpus_is_counted_reported_and_not_counted_again(invoke: Invoke, folder: str):
    code, out, err = invoke("count", folder, *PLAIN, "--verbose")
    assert code == 5, "a row is in quarantine"
    for words in (
        "pips: 3 puzzles, 2 different, 1 solved, 1 unsolvable, 1 in quarantine, ",
        "\npips: 1 unsolvable\n  a.json hard, puzzle ",
        "\npips: 1 in quarantine\n  c.json easy: duplicate-cell: ",
        f"Most solutions: {PAIR_COUNT}, of puzzle ",
        "in quarantine",
        'nightgrid query "select ',
    ):
        assert words in out
    assert any({"game", "pips"} <= set(line.split()) for line in out.splitlines())
    assert "--cancel" in err
    code, out, err = invoke("count", folder, *PLAIN, "--json")
    report = json.loads(out)
    assert [item["kind"] for item in report["attention"]] == ["unsolvable", "quarantine"]
    assert report["finished_before"] is True
    assert (report["rows"], report["planned"]) == (3, 2)
    assert report["distribution"] == {"0": 1, "2 to 9": 1}
    assert "jobs, " not in err
    code, out, _ = invoke("count", folder, *PLAIN)
    assert "Nothing to do: all 2 pips puzzles of " in out
    assert "in kernels" not in out, "the table of figures is for --verbose"


def test_the_question_that_people_are_told_works_when_it_is_pasted(invoke: Invoke, folder: str):
    _, out, _ = invoke("count", folder, *PLAIN)
    name, *words = shlex.split(out.splitlines()[-1])
    assert (name, words[0], len(out.splitlines()[-1]) < 400) == ("nightgrid", "query", True)
    code, out, err = invoke(*words, "--json")
    assert (code, err) == (0, "")
    found = [json.loads(line) for line in out.splitlines()]
    assert sorted((row["source"], row["source_row"], row["count"]) for row in found) == [
        ("a.json", 0, PAIR_COUNT),
        ("a.json", 1, 0),
        ("b.json", 0, PAIR_COUNT),
    ]


def test_a_count_of_the_lake_suggests_a_question_about_its_dates(invoke: Invoke, folder: str):
    folder = f"{folder}/dated"
    Path(folder).mkdir()
    Path(folder, "2026-01-05.json").write_bytes(Path(folder).with_name("a.json").read_bytes())
    assert invoke("nightly", "--source", folder, *PLAIN)[0] in (0, 5)
    _, out, _ = invoke("count", "lake", *PLAIN)
    _, *words = shlex.split(out.splitlines()[-1])
    rows = [json.loads(line) for line in invoke(*words, "--json")[1].splitlines()]
    assert [(row["date"], row["level"], row["count"]) for row in rows] == [
        ("2026-01-05", "easy", PAIR_COUNT),
        ("2026-01-05", "hard", 0),
    ]


def test_a_dry_run_prints_the_plan_and_solves_nothing(invoke: Invoke):
    code, out, _ = invoke("count", SPEC, *PLAIN, "--dry-run")
    assert code == 0
    assert re.search(r"wall time +│ +0 s │\n", out)
    assert "largest jobs" in out
    assert re.search(r"chunks +│ +1 ", out)
    code, out, _ = invoke("count", SPEC, *PLAIN, "--dry-run", "--json")
    plan = json.loads(out)
    assert (plan["jobs"], plan["already_known"], plan["begun_run"]) == (40, 0, None)
    assert len(plan["largest"]) == 5
    assert Lake.open("lake").list("runs") == []


@pytest.mark.parametrize("corpus", [SPEC, "letterboxed:n=2", str(SAMPLES["letterboxed"])])
def test_a_dry_run_keeps_the_corpus_for_the_count(invoke: Invoke, corpus: str) -> None:
    """Given no lake, When a count is dry, Then the lake has its corpus, which the count uses."""
    code, out, err = invoke("count", corpus, *PLAIN, "--dry-run", "--json")
    assert (code, json.loads(out)["already_known"]) == (0, 0), err
    lake = Lake.open("lake")
    kept = lake.list("corpora")
    assert kept
    assert {path.partition("/")[0] for path in lake.list("")} <= {
        "corpora",
        "dictionaries",
        "lake.json",
    }
    assert invoke("count", corpus, *PLAIN)[0] == 0
    assert lake.list("corpora") == kept


def test_a_dry_run_over_a_started_run_shows_its_progress(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
):
    from nightgrid.workers.driver import drive as driving
    from nightgrid.workers.driver.progress import Progress
    from nightgrid.workers.runs.plan import plan_pass as chunking

    drive = driving.drive

    def stop_after_two(lake: Lake, run_id: str, executor: Any, show: Any, **others: Any) -> None:
        def shown(progress: Progress) -> None:
            show(progress)
            if progress.chunks_done == 2:
                raise KeyboardInterrupt

        drive(lake, run_id, executor, shown, **others)

    with monkeypatch.context() as patch:
        patch.setattr(chunking, "CHUNK_MIN_S", 1e-4)
        patch.setattr(driving, "drive", stop_after_two)
        assert invoke("count", SPEC, *PLAIN)[0] == 130
    _, out, _ = invoke("count", SPEC, *PLAIN, "--dry-run")
    assert re.search(r"is begun: 2 chunks are done, \d+ are left; the same command continues", out)


def test_a_run_is_cancelled_and_resumed(invoke: Invoke, monkeypatch: pytest.MonkeyPatch):
    from nightgrid.workers.driver import drive as driving

    def stopped(*_args: object, **_named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(driving, "drive", stopped)
        code, _, err = invoke("count", SPEC, *PLAIN)
    assert code == 130
    assert "the same command continues" in err
    _, out, _ = invoke("count", SPEC, *PLAIN, "--dry-run", "--json")
    run_id = json.loads(out)["begun_run"]
    code, out, _ = invoke("count", "--cancel", run_id, "--lake", "lake")
    assert code == 0
    assert "0 chunks done" in out
    code, out, err = invoke("count", SPEC, *PLAIN)
    assert (code, out) == (130, "")
    assert "is cancelled: 0 chunks are done" in err
    assert "the same command with --resume continues" in err
    assert "interrupted" not in err
    _, out, _ = invoke("count", SPEC, *PLAIN, "--dry-run")
    assert f"Run {run_id} is cancelled: 0 chunks are done" in out
    assert "--resume continues" in out
    _, out, _ = invoke("count", SPEC, *PLAIN, "--dry-run", "--json")
    assert json.loads(out)["cancelled"] is True
    code, out, _ = invoke("count", SPEC, *PLAIN, "--resume", "--json")
    assert code == 0
    assert json.loads(out)["statuses"] == {"solved": 40}
    assert not Lake.open("lake").exists(cancelled_path(run_id))
    code, out, _ = invoke("count", "--cancel", run_id, "--lake", "lake", "--json")
    assert json.loads(out)["finished"] is True


def test_rules_and_words_are_those_of_the_command(invoke: Invoke, tmp_path: Path):
    (tmp_path / "words.txt").write_text("TAP\nPEN\nNET\n")
    words = ("count", "letterboxed:n=2,sides=3,letters=3,seed=1", *PLAIN, "--json")
    code, out, _ = invoke(*words, "--lexicon", "words.txt", "--rule", "words=3")
    assert code == 0
    report = json.loads(out)
    assert "3" in report["rules"]
    assert report["lexicon_id"]
    assert sum(report["statuses"].values()) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_the_same_command_continues(
    tmp_path: Path, invoke: Invoke, number: signal.Signals
):
    spec = "pips:n=4000,mix=hard,seed=3"
    process = subprocess.Popen(
        [sys.executable, "-m", "nightgrid", "count", spec, *PLAIN],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    # While the corpus is generated: the first line comes before its first slice.
    process.stderr.readline()
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "the same command continues" in err


def test_the_driver_logs_to_a_file_and_not_to_the_terminal(
    invoke: Invoke, folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    from nightgrid.workers.driver import drive as driving

    drive = driving.drive

    def troubled(*given: Any, **named: Any) -> driving.RunSummary:
        driving.log.warning("driver waits", error="no server")
        return drive(*given, **named)

    monkeypatch.setattr(driving, "drive", troubled)
    code, _, err = invoke("count", folder, *PLAIN)
    assert code == 5
    assert "driver waits" not in err
    log = (tmp_path / "var" / "lake" / "logs" / "driver.log").read_text()
    assert "driver waits" in log
    assert "\x1b" not in log


def test_a_game_without_counts_is_asked_for_the_first_solution(invoke: Invoke):
    code, out, _ = invoke("count", "tiles:n=3,tiles=6,layers=2,seed=1", *PLAIN, "--json")
    assert code == 0
    assert json.loads(out)["ask"] == "first"


def test_a_count_that_stops_at_the_first_solution_prints_no_numbers_of_solutions(invoke: Invoke):
    code, out, _ = invoke("count", "pips:n=5,seed=3", *PLAIN, "--ask", "first")
    assert code == 0
    assert "5 solved, 0 unsolvable, " in out
    assert "Most solutions" not in out
    assert "kernel_ns from corpora join results" in out

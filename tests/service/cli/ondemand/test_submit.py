"""`nightgrid worker`, `submit`, `status` and `result` together, each its own process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nightgrid.archive.lake.identity import read_lake_id
from nightgrid.archive.lake.location import make_folder
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.games import view
from nightgrid.service.options.shared_options import read_settings
from nightgrid.service.terminal import running
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import HARD
from nightgrid.solvers.registry import game
from nightgrid.workers.broker.redis_keys import make_lake_id
from nightgrid.workers.cluster import server
from nightgrid.workers.ondemand import submitting
from nightgrid.workers.ondemand.submissions import end_job, open_jobs, read_wanted
from tests.service.scenes import BROKEN, PAIR, PAIR_COUNT, STUCK, environment, payload
from tests.workers.ondemand.keeping import keep

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Invoke = Callable[..., tuple[int, str, str]]
Write = Callable[..., str]
READY_S = 120
"""Enough to compile kernels first."""


@pytest.fixture
def nightgrid(tmp_path: Path, warm_python: Path) -> Run:
    """Run the command line as a process, without loading time."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(warm_python), "-m", "nightgrid.service.cli.app", *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=environment(),
            timeout=READY_S,
            check=False,
        )

    return run


@pytest.fixture
def worker(tmp_path: Path, nightgrid: Run, warm_python: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Supervised workers of the lake `lake` with an embedded server, ready to work."""
    with subprocess.Popen(
        [str(warm_python), "-m", "nightgrid.service.cli.app", "worker", "--processes", "1"],
        cwd=tmp_path,
        env=environment(
            NIGHTGRID_GAMES="pips", NIGHTGRID_TUNING=os.environ.get("NIGHTGRID_TUNING", "{}")
        ),
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            deadline = time.monotonic() + READY_S
            while True:
                done = nightgrid("status", "--json")
                # Nothing is written before the worker has created the lake.
                last = done.stdout.splitlines()[-1:] or ["{}"]
                if (json.loads(last[0]).get("workers") or 0) >= 2:
                    break
                assert time.monotonic() < deadline, "the workers did not become ready"
                assert process.poll() is None
                time.sleep(0.2)
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def test_submit_waits_a_moment_for_a_server_that_starts(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given `nightgrid worker &` before, When work is submitted, Then it is accepted."""
    looks = iter([False, False, True])
    monkeypatch.setattr(running, "POLL_S", 0.0)
    monkeypatch.setattr(server, "is_up", lambda _: next(looks))
    monkeypatch.setattr(submitting, "submit", lambda *_, **__: "a" * 32)
    code, out, err = invoke("submit", write(PAIR))
    assert code == 0
    assert err.startswith("there was no lake at ")
    assert err.count("\n") == 1
    assert "a" * 32 in out
    assert list(looks) == []


def test_submit_does_not_wait_for_a_server_that_refuses_the_login(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "refusal", lambda _: "it refuses the login")
    assert invoke("submit", write(PAIR)) == (3, "", "nightgrid: it refuses the login\n")
    monkeypatch.setenv("NIGHTGRID_REDIS_URL", "redis://:secret@127.0.0.1:9/0")
    make_folder("lake")
    assert invoke("status")[1] == "0 queued, 0 working; it refuses the login\n"


def test_submit_without_a_server_is_one_line(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SERVER_PATIENCE_S", 0.0)
    code, out, err = invoke("submit", write(PAIR))
    assert (code, out) == (1, "")
    assert "start `nightgrid worker`" in err
    assert "trying again" not in err, "it stays until a worker is started"
    assert err.count("\n") == 1
    make_folder("lake")
    code, out, _ = invoke("status")
    assert code == 0
    assert out.startswith("0 queued, 0 working; no server runs at /")
    assert out.endswith("/server.sock\n"), "people see which side folder was looked at"
    monkeypatch.setenv("NIGHTGRID_REDIS_URL", "redis://user:secret@127.0.0.1:9/0")
    code, _, err = invoke("submit", write(PAIR))
    named = "the Redis server at 127.0.0.1:9 does not answer; NIGHTGRID_REDIS_URL names it"
    assert (code, err) == (1, f"nightgrid: {named}\n")
    code, out, _ = invoke("status")
    told = "the Redis server at 127.0.0.1:9 does not answer"
    assert (code, out) == (0, f"0 queued, 0 working; {told}\n")


def test_a_folder_of_other_files_is_not_a_lake_without_a_warning(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SERVER_PATIENCE_S", 0.0)
    others = Path("others").absolute()
    others.mkdir()
    (others / "notes.txt").touch()
    code, _, err = invoke("submit", write(PAIR), "--lake", "others")
    assert (code, err.count("\n")) == (1, 2)
    assert err.startswith(
        f"warning: {others} is not a lake yet, and holds files such as notes.txt: a lake is "
        "created next to them; --lake or NIGHTGRID_LAKE names another folder\n"
    )
    assert "warning" not in invoke("status", "--lake", "others")[2], "it only reads"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server answer that has no worker."""
    monkeypatch.setattr(submitting, "wake_keeper", lambda *_: None)
    monkeypatch.setattr(server, "is_up", lambda _: True)


def made_lake() -> Lake:
    make_folder("lake")
    return Lake.open(read_settings(lake="lake").lake)


def test_a_damaged_submission_is_named_by_status_and_stops_nothing(invoke: Invoke) -> None:
    path = f"runs/ondemand/a/{'a' * 32}--client.json"
    made_lake().write_bytes(path, b'{"job_id": ')
    code, out, err = invoke("status")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith(f"{path}: ")
    assert list(json.loads(invoke("status", "--json")[1])["damaged"]) == [path]


@pytest.mark.usefixtures("sent")
def test_a_refused_job_says_why_and_how_to_ask_again(invoke: Invoke, write: Write) -> None:
    lake = made_lake()
    job = invoke("submit", write(PAIR))[1].split()[0]
    wanted = read_wanted(lake, job)
    assert wanted is not None
    end_job(lake, wanted, "refused", "the words are missing")
    code, out, err = invoke("result", job, "--wait", "60")
    assert (code, out) == (1, "")
    assert f"job {job} is refused: the words are missing; nightgrid submit restarts it" in err
    assert invoke("status", job)[1] == f"{job}  refused: the words are missing\n"
    assert json.loads(invoke("submit", write(PAIR), "--json")[1])["state"] == "queued"


@pytest.mark.usefixtures("sent")
def test_a_lake_of_submitted_jobs_alone_is_announced_and_lists_its_results(
    invoke: Invoke, write: Write
) -> None:
    """Given a lake that was deleted under its worker, When a job is submitted, Then it says so."""
    code, out, err = invoke("submit", write(PAIR), "--lake", "new")
    assert code == 0
    assert "there was no lake at" in err
    assert "it was deleted or is not mounted here" in err
    settings = read_settings(lake="new")
    make_lake_id(settings)
    assert invoke("submit", write(PAIR), "--lake", "new")[2] == "", "now there is one"
    code, _, err = invoke("list", "results", "--lake", "new")
    assert (code, "is not a lake with puzzles" in err) == (3, True)
    keep(Lake.open(settings.lake), settings)
    code, listed, _ = invoke("list", "results", "--lake", "new", "--json")
    assert code == 0
    assert json.loads(listed)["job_id"] == out.split()[0]
    assert invoke("list", "puzzles", "--lake", "new")[0] == 3


@pytest.mark.usefixtures("sent")
def test_cancel_accepts_ids_and_names_and_reports_the_result(invoke: Invoke, write: Write) -> None:
    lake = made_lake()
    job = invoke("submit", write(PAIR))[1].split()[0]

    code, out, err = invoke("cancel", job)
    assert (code, err) == (0, "")
    assert out == f"{job}  cancelled; nightgrid submit restarts it\n"
    assert not open_jobs(lake).wanted
    assert invoke("cancel", job)[1] == f"{job}  cancelled: nothing to cancel\n"

    invoke("submit", write(PAIR))
    told = json.loads(invoke("cancel", job, "--json")[1])
    assert (told["job_id"], told["state"], told["was_open"]) == (job, "cancelled", True)
    for command in ("cancel", "status", "result"):
        code, out, err = invoke(command, "0" * 32, "pips/2026-01-05")
        assert (code, out) == (3, "")
        assert f"job {'0' * 32} was never submitted: " in err


@pytest.mark.cluster
def test_queued_solves_from_submit_to_result(
    worker: subprocess.Popen[bytes], nightgrid: Run, invoke: Invoke, write: Write
) -> None:
    board, _ = generate(HARD, 4)
    file = write(payload(easy=PAIR, medium=STUCK, hard=board.to_json()))

    submitted = nightgrid("submit", file)
    assert (submitted.returncode, submitted.stderr) == (0, "")
    told = [line.split() for line in submitted.stdout.splitlines()]
    assert [name for _, name in told] == [
        f"pips/2026-01-05/{x}" for x in ("easy", "medium", "hard")
    ]
    pair, stuck, hard = (job for job, _ in told)

    watched = nightgrid("status", "--watch")
    assert watched.returncode == 0
    *_, queues, served = watched.stdout.splitlines()
    assert queues.startswith("0 queued, 0 working")
    version = game("pips").solver_version
    assert served == f"lake {read_lake_id('lake')} is served with {version} by 2 workers"

    code, out, _ = invoke("result", pair, "--wait", "60", "--json")
    assert code == 0
    row = json.loads(out)
    assert (row["job_id"], row["status"], row["count"]) == (pair, "solved", PAIR_COUNT)
    assert invoke("result", stuck, "--wait", "60")[0] == 2
    code, out, _ = invoke("result", pair, stuck, "--json")
    assert code == 2, "over several jobs the largest counts"
    assert [json.loads(line)["job_id"] for line in out.splitlines()] == [pair, stuck]
    counted = invoke("result", hard, "--wait", "60", "--json")[1]
    expected = game("pips").solve(board, Ask(kind="count")).count
    assert json.loads(counted)["count"] == expected
    assert "done" in invoke("status", hard)[1]

    first = invoke("submit", file, "--level", "hard", "--ask", "first")[1].split()[0]
    drawn = nightgrid("result", first, "--wait", "60")
    (solution,) = game("pips").solve(board, Ask(kind="first")).solutions
    assert view("pips").solution(board, solution).plain in drawn.stdout

    code, out, _ = invoke("submit", write(payload(easy=BROKEN, hard=PAIR), "bad.json"), "--json")
    assert code == 3
    fault, known = (json.loads(line) for line in out.splitlines())
    assert (fault["status"], fault["rule"]) == ("invalid", "duplicate-cell")
    assert (known["job_id"], known["state"]) == (pair, "done"), "the lake knows it already"

    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0
    code, out, _ = invoke("submit", file, "--level", "easy")
    assert (code, out.split()[0]) == (0, pair), "known: no server needed"

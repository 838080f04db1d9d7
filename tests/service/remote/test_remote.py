"""submit, status, result and cancel print the same for a service as for a lake."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from nightgrid.service.http.guard.keys import add_key
from nightgrid.service.remote import NotThereError, RemoteJobs
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.ondemand.submissions import open_jobs
from tests.service.conftest import invoke
from tests.service.remote.conftest import Served
from tests.service.scenes import PAIR, PAIR_COUNT, STUCK

__all__ = ["invoke"]
Invoke = Callable[..., tuple[int, str, str]]


@pytest.fixture
def board(tmp_path: Path) -> str:
    path = tmp_path / "board.json"
    path.write_text(json.dumps(PAIR))
    return str(path)


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_board_makes_a_round_trip(served: Served, invoke: Invoke, board: str):
    where = ("--url", served.url)
    code, out, err = invoke("submit", board, "--ask", "all", *where)
    assert (code, err) == (0, "")
    job, name = out.strip().split("  ", 1)
    assert "board.json" in name
    assert invoke("status", job, *where)[1].startswith(f"{job}  queued")
    code, out, err = invoke("result", job, *where)
    assert (code, out) == (1, "")
    assert "has no result: it is queued" in err
    assert served.work() == 1
    assert invoke("status", job, *where)[1] == f"{job}  done\n"
    code, out, _ = invoke("result", job, *where)
    assert code == 0
    assert f"{PAIR_COUNT} solutions" in out
    lake = ("--lake", served.settings.lake)
    there, here = (objects(invoke("result", job, "--json", *at)[1]) for at in (where, lake))
    assert there[0]["solutions"] == here[0]["solutions"]
    assert {name: here[0][name] for name in there[0] if name != "run_id"} == {
        name: value for name, value in there[0].items() if name != "run_id"
    }
    drawn, same = (invoke("result", job, *at)[1] for at in (where, lake))
    assert drawn == same
    listed, same = (invoke("result", job, "--solutions", *at)[1] for at in (where, lake))
    assert [row | {"run_id": ""} for row in objects(listed)] == [
        row | {"run_id": ""} for row in objects(same)
    ]


def test_submissions_are_reported_as_for_a_lake(
    served: Served, invoke: Invoke, board: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("nightgrid.workers.cluster.server.is_up", lambda _: True)
    _, there, _ = invoke("submit", board, "--json", "--url", served.url)
    _, here, _ = invoke("submit", board, "--json", "--lake", served.settings.lake)
    assert objects(there) == objects(here)


def test_references_are_of_the_lake_of_the_service(worked: Served, invoke: Invoke):
    where = ("--url", worked.url)
    code, out, _ = invoke("submit", "pips/2026-01-01/hard", *where)
    job, name = out.strip().split("  ")
    assert name == "pips/2026-01-01/hard"
    code, out, _ = invoke("result", "pips/2026-01-01/hard", *where)
    assert (code, "count of puzzle" in out) == (0, True)
    code, out, _ = invoke("submit", "pips/2026-01-01", "--level", "easy", "-l", "hard", *where)
    assert len(out.splitlines()) == 2
    assert invoke("status", "pips/2026-01-01/hard", *where)[1].startswith(f"{job}  done")
    asked = ("--ask", "all", "--json")
    (told,) = objects(invoke("submit", "pips/2026-01-02/easy", *asked, *where)[1])
    assert (told["ask"], told["date"], told["level"]) == ("all", "2026-01-02", "easy")
    code, _, err = invoke("submit", "pips/2031-01-01/hard", *where)
    assert code == 3
    assert "is not in the lake" in err
    code, _, err = invoke("result", "0" * 32, *where)
    assert (code, "nothing was asked about" in err) == (3, True)
    by_id = "a board submitted from a file has its job id"
    code, _, err = invoke("cancel", "pips/2031-01-01/hard", *where)
    assert (code, "is not in the lake" in err, by_id in err) == (3, True, True)


def test_submit_waits_for_the_answer(worked: Served, invoke: Invoke, tmp_path: Path):
    stuck = tmp_path / "stuck.json"
    stuck.write_text(json.dumps(STUCK))
    code, out, err = invoke("submit", str(stuck), "--wait", "60", "--url", worked.url)
    assert (code, err) == (2, "")
    assert "unsolvable" in out
    code, out, _ = invoke("submit", str(stuck), "--wait", "0", "--json", "--url", worked.url)
    assert (code, objects(out)[0]["status"]) == (2, "unsolvable")


def test_a_job_is_cancelled(served: Served, invoke: Invoke, board: str):
    where = ("--url", served.url)
    job = invoke("submit", board, *where)[1].split()[0]
    assert invoke("cancel", job, *where)[1].startswith(f"{job}  cancelled; nightgrid submit")
    assert invoke("cancel", job, *where)[1].startswith(f"{job}  cancelled: nothing to cancel")
    code, _, err = invoke("result", job, *where)
    assert (code, "is cancelled" in err) == (1, True)


def test_a_job_may_have_a_deadline_in_a_lake_and_at_a_service(
    served: Served, invoke: Invoke, board: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("nightgrid.workers.cluster.server.is_up", lambda _: True)
    asked = {"count": ("--url", served.url), "all": ("--lake", served.settings.lake)}
    for ask, where in asked.items():
        before = time.time()
        code, _, err = invoke("submit", board, "--ask", ask, "--deadline", "120", *where)
        assert (code, err) == (0, "")
        (wanted,) = (
            w for w in open_jobs(served.lake).wanted.values() if str(w.last.question.ask) == ask
        )
        assert wanted.deadline_at is not None
        assert before + 120 <= wanted.deadline_at <= time.time() + 120
    job = invoke("submit", board, "--first", "--deadline", "0.01", *where)[1].split()[0]
    time.sleep(0.02)
    served.work()
    for where in asked.values():
        code, _, err = invoke("result", job, *where)
        assert (code, f"job {job} is expired: its deadline passed" in err) == (1, True), err
        assert invoke("status", job, *where)[1].startswith(f"{job}  expired: ")


def test_a_job_that_others_want_is_left(served: Served, invoke: Invoke, board: str):
    where = ("--url", served.url)
    job = invoke("submit", board, *where)[1].split()[0]
    assert invoke("submit", board, *where)[1].split()[0] == job
    said = invoke("cancel", job, *where)[1]
    assert said.startswith(f"{job}  queued: left; 1 other client wants it")
    assert invoke("cancel", job, *where)[1].startswith(f"{job}  cancelled; nightgrid submit")


@pytest.mark.parametrize("by_id", [False, True])
def test_an_open_job_is_found_by_its_puzzle(served: Served, invoke: Invoke, *, by_id: bool) -> None:
    """Given jobs that no worker has started, Then a reference finds them, as in a lake."""
    where = ("--url", served.url)

    def submit(name: str, ask: str) -> dict[str, Any]:
        (told,) = objects(invoke("submit", name, "--ask", ask, "--json", *where)[1])
        return told

    told = [submit("pips/2026-01-02/medium", ask) for ask in ("all", "all(1)")]
    jobs = {each["job_id"] for each in told}
    other = submit("pips/2026-01-02/easy", "all")["job_id"]
    name = told[0]["puzzle_id"] if by_id else "pips/2026-01-02/medium"
    shown = invoke("status", name, *where)[1]
    assert all(f"{job}  queued" in shown for job in jobs)
    assert other not in shown
    code, out, err = invoke("cancel", name, *where)
    assert (code, err) == (0, "")
    assert {line.split()[0] for line in out.splitlines() if "  cancelled;" in line} == jobs
    assert open_jobs(served.lake).wanted.keys() == {other}


def test_the_queue_of_a_service(served: Served, invoke: Invoke, board: str):
    where = ("--url", served.url)
    invoke("submit", board, *where)
    assert invoke("status", *where)[1].startswith("1 queued, 0 working, oldest")
    (told,) = objects(invoke("status", "--json", *where)[1])
    assert (told["waiting"], told["answers"]) == (1, False)


def test_watching_ends_when_all_is_done(
    served: Served, invoke: Invoke, board: str, monkeypatch: pytest.MonkeyPatch
):
    from nightgrid.service.cli.ondemand import status

    where = ("--url", served.url)
    job = invoke("submit", board, *where)[1].split()[0]
    monkeypatch.setattr(status.time, "sleep", lambda _: served.work())
    code, out, _ = invoke("status", job, "--watch", *where)
    assert code == 0
    assert [line.split()[1].rstrip(",") for line in out.splitlines()] == ["queued", "done"]


def test_rules_and_words_are_sent(worked: Served, invoke: Invoke, tmp_path: Path):
    strands = tmp_path / "strands.json"
    strands.write_text(json.dumps({"board": ["STAR", "WORD"]}))
    words = tmp_path / "words.txt"
    words.write_text("# words\nSTAR\n\nWORD\n")
    asked = (
        str(strands),
        "--lexicon",
        str(words),
        "--rule",
        "spangram=off",
        "--count",
        "--wait",
        "60",
    )
    code, out, err = invoke("submit", *asked, "--json", "--url", worked.url)
    assert (code, err) == (0, "")
    (told,) = objects(out)
    assert (told["status"], told["count"]) == ("solved", 1)
    assert "spangram=off" in told["rules"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--url", "ftp://host"), "--url is 'ftp://host'; expected http:// or https://"),
        (("--url", "http://user:secret@host"), "expected http:// or https:// and a host"),
        (("--url", "http://127.0.0.1:9", "--lake", "x"), "--url and --lake exclude one another"),
    ],
)
def test_invalid_service_urls(words: tuple[str, ...], told: str, invoke: Invoke):
    code, _, err = invoke("status", *words)
    assert code == 3
    assert told in err


def test_a_service_that_is_down_may_return(invoke: Invoke):
    code, _, err = invoke("status", "--url", "http://127.0.0.1:9")
    assert code == 1
    assert err.startswith("nightgrid: the service at http://127.0.0.1:9:")
    assert err.endswith("(a retry may help)\n")


def test_the_environment_names_the_service_and_the_key(
    serve: Callable[..., Served], invoke: Invoke, board: str, monkeypatch: pytest.MonkeyPatch
):
    served = serve(http_keys=True)
    key = add_key(served.lake, "alice", jobs=1)
    monkeypatch.setenv("NIGHTGRID_URL", served.url)
    code, _, err = invoke("submit", board)
    assert (code, "NIGHTGRID_API_KEY has the key to send" in err) == (3, True)
    monkeypatch.setenv("NIGHTGRID_API_KEY", key)
    assert invoke("submit", board)[0] == 0
    code, _, err = invoke("submit", board, "--ask", "first")
    assert (code, "may have 1 job open at once" in err) == (1, True)
    assert key not in err
    served.work()
    assert invoke("submit", board, "--ask", "first")[0] == 0
    assert invoke("status", "--lake", served.settings.lake)[0] == 0


def answering(status: int, text: str) -> RemoteJobs:
    transport = httpx.MockTransport(lambda _: httpx.Response(status, text=text))
    return RemoteJobs("http://host", transport=transport)


@pytest.mark.parametrize(
    ("status", "text", "kind", "told"),
    [
        (200, "<html>", PermanentError, "is not a nightgrid service"),
        (404, '{"detail": "none"}', NotThereError, "none"),
        (
            404,
            '{"type": "/problems/not-found", "detail": "there is nothing at this path"}',
            PermanentError,
            "no nightgrid service at http://host: there is nothing .* expected its address alone",
        ),
        (404, "<html>", PermanentError, "no nightgrid service at http://host: it answered 404"),
        (422, '{"detail": "bad"}', PermanentError, "bad"),
        (502, "<html>", TransientError, "it answered 502 Bad Gateway"),
        (429, '{"detail": "later"}', TransientError, "later"),
        (418, "[]", PermanentError, "no nightgrid service at http://host: it answered 418"),
        (
            501,
            "<html>",
            PermanentError,
            "no nightgrid service at http://host: it answered 501 Not Implemented; expected its",
        ),
    ],
)
def test_responses_of_other_servers(status: int, text: str, kind: type[Exception], told: str):
    with pytest.raises(kind, match=told):
        answering(status, text).ask("GET", "/v1/queue")


def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    told = r"\(by the proxy 127\.0\.0\.1:9; NO_PROXY names hosts that are reached without it\)"
    with pytest.raises(TransientError, match=rf"at http://host: connection refused {told}"):
        RemoteJobs("http://host").ask("GET", "/v1/games")
    with pytest.raises(PermanentError, match=rf"it answered 403 Forbidden {told}"):
        answering(403, "<html>").ask("GET", "/v1/games")

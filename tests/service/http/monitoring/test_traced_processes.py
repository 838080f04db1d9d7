"""A service and a Celery worker in separate processes send one trace to one collector."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from nightgrid.service.games.plug import SAMPLES
from tests.service.http.monitoring.otlp_collector import Collector, Span, collector
from tests.service.scenes import PAIR, environment

SOON_S = 120.0
"""Enough for both processes to start and solve, even if tests share two cores."""
TASK = "run/nightgrid.work_chunk"
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


@contextmanager
def process(folder: Path, *words: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    with (
        (folder / f"{words[0]}.log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-m", "nightgrid", *words],
            cwd=folder,
            env=environment(**env),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as made,
    ):
        try:
            yield made
        finally:
            made.terminate()
            made.wait(60)


def wait_for(look: Callable[[], Any], what: str) -> Any:
    ends_at = time.monotonic() + SOON_S
    while not (found := look()):
        assert time.monotonic() < ends_at, f"waited in vain for {what}"
        time.sleep(0.1)
    return found


def of_trace(where: Collector, trace: str) -> dict[str, Span]:
    return {span.name: span for span in where.spans() if span.trace == trace}


def chain(found: dict[str, Span], name: str) -> list[str]:
    """Name a span and its ancestors, ending with the client's own."""
    by_id = {span.id: span for span in found.values()}
    names, at = [], found[name].id
    while at in by_id:
        names.append(by_id[at].name)
        at = by_id[at].parent
    return [*names, at]


def ask(url: str, body: dict[str, Any], trace: str) -> dict[str, Any]:
    headers = {"traceparent": f"00-{trace}-{PARENT}-01", "Prefer": "wait=60"}
    told = httpx.post(f"{url}v1/solves", json=body, headers=headers, timeout=90)
    assert told.status_code in (200, 202), told.text
    solve = told.json()
    # Repeated requests of a client are not part of the trace.
    wait_for(
        lambda: (
            httpx.get(url.rstrip("/") + solve["links"]["self"], timeout=60).json()["state"]
            == "done"
        ),
        "the answer",
    )
    return solve


@pytest.mark.cluster
@pytest.mark.long(
    short="tests/service/http/monitoring/test_traced.py::"
    "test_a_question_is_traced_by_its_route_however_it_is_answered"
)
def test_one_trace_goes_through_the_service_and_a_worker(tmp_path: Path, redis_url: str):
    """Given two processes, Then the spans of both are parts of the client's trace."""
    board = json.loads((SAMPLES / "letterboxed/2026-01-01.json").read_text())
    # A board with words of its own goes through the queue.
    queued = {
        "puzzle": {"sides": board["sides"], "dictionary": board["dictionary"]},
        "game": "letterboxed",
        "ask": "first",
    }
    with collector() as where, ExitStack() as stack:
        env = {
            "NIGHTGRID_LAKE": str(tmp_path / "lake"),
            "NIGHTGRID_REDIS_URL": redis_url,
            "NIGHTGRID_TRACE_URL": where.url,
        }
        stack.enter_context(process(tmp_path, "worker", "--processes", "1", **env))
        words = ("serve", "--no-workers", "--port", "0", "--json")
        service = stack.enter_context(process(tmp_path, *words, **env))
        assert service.stdout is not None
        url = json.loads(service.stdout.readline())["url"]

        solve = ask(url, queued, TRACE)
        names = {"file", "kernel", TASK, "publish", "drive", "POST /v1/solves"}
        wait_for(lambda: names <= set(of_trace(where, TRACE)), "the spans")
        found = of_trace(where, TRACE)
        request = ["POST /v1/solves", PARENT]
        task = [TASK, "publish", "drive", *request]
        assert chain(found, "kernel") == ["kernel", *task]
        assert chain(found, "file") == ["file", *task]
        assert {name: found[name].role for name in ("publish", TASK, "kernel")} == {
            "publish": "keeper",
            TASK: "worker",
            "kernel": "worker",
        }
        assert found["kernel"].process == found["file"].process != found["publish"].process
        assert found["drive"].attributes["job"] in solve["links"]["self"]
        assert found[TASK].attributes["run"] == found["drive"].attributes["run"]

        # A small board is solved by a third process, of the service.
        other = TRACE[::-1]
        small = {"puzzle": PAIR, "game": "pips", "ask": "count"}
        wait_for(lambda: httpx.get(f"{url}healthz", timeout=60).status_code == 200, "the service")
        # The first board of a process loads kernels, and may become a job on a busy machine.
        ask(url, {**small, "ask": "first"}, "f" * 32)
        ask(url, small, other)
        wait_for(lambda: {"kernel", "POST /v1/solves"} <= set(of_trace(where, other)), "the spans")
        found = of_trace(where, other)
        assert chain(found, "kernel")[-2:] == request
        assert found["kernel"].process != found["POST /v1/solves"].process

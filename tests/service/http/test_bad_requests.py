"""Every row of the table of bad requests: one status, one problem, one sentence."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard.keys import add_key
from nightgrid.service.http.problems import KINDS
from tests.service.http.bad_requests import ANSWERS, REQUESTS, SOLVES, Request, answers
from tests.workers.ondemand.keeping import keep

LEAKS = re.compile(r"Traceback|pydantic|Arrow[A-Z]|Errno|Error:|NoneType|Input should|object at 0x")
"""Words of libraries and of Python."""
RECORD = os.environ.get("RECORD_BAD_REQUESTS")
"""If 1, answers are written into the table instead of being compared with it."""


@pytest.fixture(scope="module")
def lake(sample_lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad") / "lake"
    shutil.copytree(sample_lake, folder)
    return folder


@pytest.fixture(scope="module")
def keys(lake: Path) -> dict[str, str]:
    store = Lake.open(str(lake))
    return {
        "KEY": f"Bearer {add_key(store, 'few-requests', per_minute=1)}",
        "JOBS": f"Bearer {add_key(store, 'few-jobs', jobs=1)}",
    }


@pytest.fixture(scope="module")
def clients(
    lake: Path, open_client: Callable[..., TestClient], redis_url: str
) -> dict[bool, TestClient]:
    wants = {"redis_url": redis_url, "ondemand_wait_seconds": 1e9}
    return {given: open_client(lake, http_keys=given, **wants) for given in (False, True)}


def test_the_table_is_long_enough_and_has_no_row_twice():
    whats = [request.what for request in REQUESTS]
    assert len(whats) >= 60
    assert len(set(whats)) == len(whats)
    assert set(answers()) == set(whats) or RECORD


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.what)
def test_a_bad_request_is_one_sentence(
    request_: Request, clients: dict[bool, TestClient], keys: dict[str, str], lake: Path
):
    client = clients[request_.keys]
    headers = {name: keys.get(value, value) for name, value in request_.sent_headers.items()}
    if request_.before is not None:
        client.post(SOLVES, json=request_.before, headers=headers)
    answer = client.request(
        request_.method, request_.path, content=request_.content, headers=headers
    )
    told = answer.json()
    if request_.worked:
        compare(request_, answered(client, told["id"], lake))
        return
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    assert told["status"] == answer.status_code
    assert KINDS[told["type"].removeprefix("/problems/")].status == answer.status_code
    assert not LEAKS.search(answer.text)
    assert str(lake.parent) not in answer.text
    assert "\n" not in told["detail"]
    if answer.status_code in (401, 429, 503):
        wanted = "www-authenticate" if answer.status_code == 401 else "retry-after"
        assert wanted in answer.headers
    found = {name: told[name] for name in ("status", "type", "detail")}
    if "errors" in told:
        found["pointers"] = [each["pointer"] for each in told["errors"]]
    compare(request_, found)


def answered(client: TestClient, job_id: str, lake: Path) -> dict[str, Any]:
    """Make a worker solve a job; return the response to its client."""
    store, settings = Lake.open(str(lake)), client.app.state.service.settings.workers
    keep(store, settings)
    answer = client.get(f"{SOLVES}/{job_id}")
    assert not LEAKS.search(answer.text)
    solve = answer.json()
    assert solve["state"] == "done"
    detail = solve["reason"] or f"{solve['answer']['count']} solutions"
    return {
        "status": answer.status_code,
        "answer": solve["answer"]["status"],
        "reason_code": solve["answer"]["reason_code"],
        "detail": detail,
    }


def compare(request_: Request, found: dict[str, Any]) -> None:
    """Compare the answers with the table, or write them there."""
    if RECORD:
        whole = (answers() if ANSWERS.exists() else {}) | {request_.what: found}
        ANSWERS.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    assert found == answers()[request_.what]

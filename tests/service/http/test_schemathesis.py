"""Valid and invalid requests are answered as described."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

EXAMPLES = 4
"""Requests of an operation, right ones and as many wrong ones; `python -m
benchmarks.http.schemathesis` sends more."""


@pytest.mark.long(
    short="tests/service/http/test_openapi.py::test_an_operation_is_completely_described"
)
@pytest.mark.filterwarnings("ignore")
def test_every_operation_answers_as_it_is_described(
    sample_lake: Path, redis_url: str, tmp_path: Path, seed: int
):
    # Imported here, because it would take every collecting process a second.
    from benchmarks.http.schemathesis import fuzz, served

    shutil.copytree(sample_lake, tmp_path / "lake")
    with served(tmp_path / "lake", redis_url) as app:
        told = {label: (statuses, failed) for label, statuses, failed in fuzz(app, EXAMPLES, seed)}
        routes = [f"{m.upper()} {path}" for path, of in app.openapi()["paths"].items() for m in of]
    assert sorted(told) == sorted(routes)
    assert {label: failed for label, (_, failed) in told.items() if failed} == {}
    assert all(sum(statuses.values()) for statuses, _ in told.values())

"""The description is complete, and every problem is in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nightgrid.service.http.app import create_app
from nightgrid.service.http.problems import KINDS
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.workers.settings import Settings

HTTP = Path(__file__).resolve().parents[3] / "service/http"
DOCUMENT = create_app(ServiceSettings(workers=Settings.model_construct(lake="lake"))).openapi()
OPERATIONS = {
    operation["operationId"]: (method, path, operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}


def test_the_document_is_that_of_the_service(sample: TestClient):
    told = sample.get("/openapi.json").json()
    assert told == DOCUMENT
    assert told["openapi"].startswith("3.1")


def test_head_has_the_parameters_of_get(sample: TestClient) -> None:
    assert sample.head("/v1/results?limit=1").status_code == 200
    assert sample.head("/v1/results?limt=1").status_code == 422


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_completely_described(name: str):
    _, path, operation = OPERATIONS[name]
    assert operation["summary"]
    assert operation["description"]
    assert operation["tags"]
    assert {"200", "default"} <= set(operation["responses"])
    assert "422" not in operation["responses"]
    assert ("security" in operation) is (path not in ("/healthz", "/readyz"))


def raised() -> Iterator[str]:
    """Find the problems that the source names."""
    for path in HTTP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Problem" and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    yield str(first.value)


def test_every_problem_that_is_raised_is_described():
    found = list(raised())
    assert len(found) > 20
    assert set(found) <= KINDS.keys()

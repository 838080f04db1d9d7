"""The description is complete, its examples hold, and every problem stands in it."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from starlette.testclient import TestClient

from nightgrid.service.http.app import create_app
from nightgrid.service.http.openapi import describe, examples
from nightgrid.service.http.problem_kinds import BY_SLUG, KINDS
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.workers.settings import Settings

HTTP = Path(__file__).resolve().parents[3] / "service/http"
DOCUMENT = describe(create_app(ServiceSettings(workers=Settings.model_construct(lake="lake"))))
OPERATIONS = {
    operation["operationId"]: (method, path, operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}


NONE = "0" * 32
"""The id of no job."""
NEED_A_WORKER = ("readyz", "get_events")
"""Tests of their own have one."""


def check(value: Any, schema: dict[str, Any]) -> None:
    """Check a value against a schema of the document."""
    whole = {**schema, "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


def test_the_document_is_that_of_the_service(sample: TestClient):
    told = sample.get("/openapi.json").json()
    assert told == DOCUMENT
    assert told["openapi"].startswith("3.1")


def test_examples_are_of_operations():
    assert set(examples()) <= set(OPERATIONS)


@pytest.mark.parametrize("name", [n for n, (_, at, _) in OPERATIONS.items() if at[:4] == "/v1/"])
def test_a_parameter_that_an_operation_lacks_is_refused(name: str, sample: TestClient) -> None:
    """Given a misspelt name, Then the problem names the one that is meant, if there is one."""
    method, path, operation = OPERATIONS[name]
    path = path.format(game="pips", date="2026-01-01", level="hard", job_id=NONE)
    body = {"id": NONE} if method == "post" else None
    names = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
    for real in names or [""]:
        answer = sample.request(method, path, params={f"{real}x": "1"}, json=body)
        meant = f"; did you mean {real}?" if real else ""
        assert answer.status_code == 422, answer.text
        assert answer.json()["type"] == "/problems/bad-value"
        assert answer.json()["detail"] == f"?{real}x: is unknown here{meant}"
        assert answer.json()["errors"][0]["pointer"] == f"?{real}x"
    for real in names:
        answer = sample.request(method, path, params={real: "1"}, json=body)
        assert "is unknown here" not in answer.text


def test_head_has_the_parameters_of_get(sample: TestClient) -> None:
    assert sample.head("/v1/results?limit=1").status_code == 200
    assert sample.head("/v1/results?limt=1").status_code == 422


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_described_whole(name: str):
    method, path, operation = OPERATIONS[name]
    assert operation["summary"]
    assert operation["description"]
    assert operation["tags"]
    statuses = set(operation["responses"])
    assert {"200", "400", "401", "421", "429", "500", "503"} <= statuses
    assert ("403" in statuses) is (method in ("post", "delete"))
    assert ("413" in statuses) is ("requestBody" in operation)
    needs_none = ("/healthz", "/readyz")
    assert ("security" in operation) is (path not in needs_none)
    for status, response in operation["responses"].items():
        assert response["description"], status
        if int(status) >= 400:
            content = response["content"]["application/problem+json"]
            for each in content["examples"].values():
                check(each["value"], content["schema"])
                assert each["value"]["status"] == int(status)


@pytest.mark.parametrize("name", OPERATIONS)
def test_examples_of_answers_fit_their_schemas(name: str):
    _, _, operation = OPERATIONS[name]
    found = 0
    for response in operation["responses"].values():
        for content in response.get("content", {}).values():
            if "example" in content:
                found += 1
                check(content["example"], content.get("schema", {}))
    assert found == len(examples().get(name, {}).get("responses", {}))


@pytest.fixture(scope="module")
def lake(sample_lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake that examples may ask something of."""
    folder = tmp_path_factory.mktemp("examples") / "lake"
    shutil.copytree(sample_lake, folder)
    return folder


def requests() -> list[tuple[str, str]]:
    return [
        (name, body)
        for name, (_, _, operation) in OPERATIONS.items()
        if name not in NEED_A_WORKER
        for body in (
            operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        ).get("examples", {"": None})
    ]


@pytest.mark.parametrize(("name", "body"), requests())
def test_examples_of_requests_are_answered_as_described(
    name: str, body: str, lake: Path, open_client: Callable[..., TestClient], redis_url: str
):
    method, path, operation = OPERATIONS[name]
    client = open_client(lake, redis_url=redis_url, ondemand_wait_seconds=1e9)
    given = examples().get(name, {}).get("parameters", {})
    if "job_id" in given:
        asked = {"id": "pips/2026-01-01/hard", "ask": "count"}
        given = given | {"job_id": client.post("/v1/solves", json=asked).json()["id"]}
    places = {parameter["name"]: parameter["in"] for parameter in operation.get("parameters", ())}
    query = {key: value for key, value in given.items() if places[key] == "query"}
    for key, place in places.items():
        if place == "path":
            path = path.replace(f"{{{key}}}", str(given[key]))
    value = examples()[name]["bodies"][body] if body else None
    answer = client.request(method, path, params=query, json=value)
    if name in ("get_picture", "get_solutions"):
        # A count has no solutions.
        assert answer.status_code in (200, 404)
        return
    assert answer.status_code in (200, 202), answer.text
    content = operation["responses"][str(answer.status_code)]["content"]
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in content
    if kind == "application/json":
        check(answer.json(), content[kind]["schema"])


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
    assert set(found) <= BY_SLUG.keys()


def test_kinds_are_told_apart():
    assert len(BY_SLUG) == len(KINDS)
    assert all(kind.when and kind.title for kind in KINDS)

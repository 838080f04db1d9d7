"""GET /v1/results: the rows of `nightgrid list results`, in four representations."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup import listing
from nightgrid.archive.lookup.listing import RESULT_ROWS, list_results
from nightgrid.archive.lookup.row_filter import RowFilter
from nightgrid.service.http.lake.results import FORMATS, chosen_format

URL = "/v1/results"


def pages(client: TestClient, url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while url:
        told = client.get(url).json()
        found += told["results"]
        url = told["next"]
    return found


def accepting(client: TestClient, kind: str, url: str = URL) -> Any:
    answer = client.get(url, headers={"accept": FORMATS[kind]})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == FORMATS[kind]
    return answer


def test_every_representation_has_the_rows_that_the_command_lists(
    sample: TestClient, sample_lake: Path, invoke: Callable[..., tuple[int, str, str]]
):
    _, out, _ = invoke("list", "results", "--lake", str(sample_lake), "--json")
    listed = [json.loads(line) for line in out.splitlines()]
    assert len(listed) == 9
    with pa.ipc.open_stream(accepting(sample, "arrow").content) as stream:
        arrow = stream.read_all()
    parquet = pq.read_table(io.BytesIO(accepting(sample, "parquet").content))
    assert arrow.schema == parquet.schema == RESULT_ROWS
    assert arrow.to_pylist() == parquet.to_pylist()
    assert [row["job_id"] for row in arrow.to_pylist()] == [row["job_id"] for row in listed]
    _, out, _ = invoke("list", "results", "--lake", str(sample_lake), "--format", "csv")
    assert accepting(sample, "csv").text == out
    paged = pages(sample, f"{URL}?limit=4")
    texts = [row | {"count": str(row["count"])} for row in listed]
    assert paged == texts


def test_json_is_the_default_format(sample: TestClient):
    for accept in ("", "*/*", "application/*", "text/html, */*;q=0.1"):
        answer = sample.get(URL, headers={"accept": accept})
        assert answer.headers["content-type"] == "application/json"
    assert sample.get(f"{URL}?format=csv").headers["content-type"].startswith("text/csv")


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", "json"),
        ("text/html, */*;q=0.8", "json"),
        (";;;,,,", "json"),
        ("text/html, text/csv;q=0.2", "csv"),
        ("application/vnd.apache.parquet", "parquet"),
    ],
)
def test_the_first_format_that_a_client_names_is_sent(accept: str, chosen: str):
    assert chosen_format(accept) == chosen


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("game=pips", 9),
        ("game=strands,tiles", 0),
        ("from=2026-01-02", 6),
        ("from=2026-01-02&to=2026-01-02", 3),
        ("status=solved", 9),
        ("status=unsolvable,poison", 0),
        ("ask=count", 9),
        ("ask=all", 0),
        (f"id={'0' * 32}", 0),
        (f"puzzle_id={'0' * 32}", 0),
        ("limit=1000", 9),
    ],
)
def test_filters_choose_rows(query: str, rows: int, sample: TestClient):
    assert len(sample.get(f"{URL}?{query}").json()["results"]) == rows
    table = csv.reader(io.StringIO(accepting(sample, "csv", f"{URL}?{query}").text))
    assert len(list(table)) == rows + 1


def test_a_limit_that_no_list_reaches_is_refused_in_every_format(sample: TestClient):
    for form in ("json", "csv"):
        assert sample.get(f"{URL}?limit={10**19}&format={form}").status_code == 422


def test_one_job_and_one_puzzle_are_found_by_id(sample: TestClient):
    row = sample.get(f"{URL}?limit=1").json()["results"][0]
    for query in (f"id={row['job_id']}", f"puzzle_id={row['puzzle_id']}"):
        assert sample.get(f"{URL}?{query}").json() == {"results": [row], "next": None}


def test_pages_are_whole_though_rows_come_in_the_order_of_the_lake(
    sample: TestClient, sample_lake: Path, monkeypatch: pytest.MonkeyPatch
):
    """Given a list too long to sort, in batches of two, Then pages have each row once."""
    whole = pages(sample, f"{URL}?limit=1000")
    monkeypatch.setattr(listing, "SORTED_ROWS", 0)
    monkeypatch.setattr(listing, "BATCH_ROWS", 2)
    tables = list(list_results(Lake.open(str(sample_lake)), RowFilter()))
    assert max(map(len, tables)) <= 2
    found = pages(sample, f"{URL}?limit=2")
    assert sorted(found, key=str) == sorted(whole, key=str)
    assert accepting(sample, "csv", f"{URL}?limit=3").text.count("\n") == 4


def test_an_answer_without_a_damaged_file_says_so(
    sample_lake: Path, open_client: Callable[..., TestClient], tmp_path: Path
) -> None:
    """Given a damaged file of results, Then fewer rows never pass for all of them."""
    shutil.copytree(sample_lake, tmp_path / "lake")
    client = open_client(tmp_path / "lake")
    assert "nightgrid-skipped-files" not in client.get(URL).headers
    for path in (tmp_path / "lake" / "results").iterdir():
        path.write_bytes(b"")
    answer = client.get(URL)
    assert (answer.status_code, answer.json()["results"]) == (200, [])
    assert answer.headers["nightgrid-skipped-files"] == "1"


@pytest.mark.parametrize("path", ["/v1/puzzles/pips", "/v1/puzzles/pips/2026-01-01"])
def test_a_damaged_file_that_is_needed_is_not_the_clients_fault(
    sample_lake: Path, open_client: Callable[..., TestClient], tmp_path: Path, path: str
) -> None:
    shutil.copytree(sample_lake, tmp_path / "lake")
    (tmp_path / "lake" / "editions" / "pips.parquet").write_bytes(b"")
    answer = open_client(tmp_path / "lake").get(path)
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/damaged-lake")
    assert str(tmp_path) not in answer.text

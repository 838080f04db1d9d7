"""A lake in an object store that is slow, throttles, cuts answers off or lists late."""

from __future__ import annotations

import pytest

from benchmarks.chaos import bad_store as faults
from benchmarks.chaos.bad_store import KINDS, bad_store
from nightgrid.archive.lake.storage import Lake

# Starting the server takes 2 s.
pytestmark = pytest.mark.slow
FILES = 12


@pytest.fixture
def store(s3_endpoint, monkeypatch):
    monkeypatch.setattr(faults, "SLOW_S", 0.05)
    monkeypatch.setattr(faults, "LATE_S", 600.0)
    with bad_store(s3_endpoint, seed=3) as proxy:
        yield proxy


@pytest.mark.parametrize("kind", KINDS)
def test_written_files_exist_whatever_the_responses_were(store, kind):
    lake = Lake.open(f"s3://bucket/bad-{kind}?endpoint_override={store.url}")
    lake.list("folder")
    store.kind = kind
    texts = {f"folder/{number}.json": f"{number}\n".encode() for number in range(FILES)}
    for path, text in texts.items():
        lake.write_bytes(path, text, new=True)
    assert {path: lake.read_bytes(path) for path in texts} == texts
    for path in texts:
        assert not lake.write_bytes(path, b"another\n", new=True)
    lake.list("folder")
    assert store.struck[kind], "no answer was bad"
    store.kind = None
    assert set(lake.list("folder")) == set(texts)
    assert {path: lake.read_bytes(path) for path in texts} == texts


def test_a_late_listing_lacks_new_files(store):
    """So that the chaos suite's rows prove something."""
    lake = Lake.open(f"s3://bucket/late?endpoint_override={store.url}")
    assert lake.list("folder") == []
    store.kind = "late"
    lake.write_bytes("folder/new.json", b"{}\n")
    assert lake.list("folder") == []
    assert lake.read_bytes("folder/new.json") == b"{}\n"
    store.kind = None
    assert lake.list("folder") == ["folder/new.json"]

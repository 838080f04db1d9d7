"""Lakes in object stores: their requests, and how failures end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nightgrid.archive.lake.faults import LakeRefusesError, MissingFileError, NotExclusiveError
from nightgrid.archive.lake.identity import make_lake_id
from nightgrid.archive.lake.objects import store, url
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError, TransientError
from tests.archive.lake.objects.object_server import META, ObjectServer

pytestmark = pytest.mark.usefixtures("identity")


def test_files_are_written_read_listed_and_deleted(server: ObjectServer) -> None:
    lake = Lake.open(server.lake())
    assert lake.list() == []
    lake.write_bytes("runs/run=1/a b.json", b"old, and longer")
    lake.write_bytes("runs/run=1/a b.json", b"new")
    lake.write_bytes("runs/run=10/x", b"")
    assert lake.read_bytes("runs/run=1/a b.json") == b"new"
    assert lake.read_bytes("runs/run=10/x") == b""
    assert lake.list() == ["runs/run=1/a b.json", "runs/run=10/x"]
    assert lake.list("runs/run=1") == ["runs/run=1/a b.json"]
    assert lake.list("runs/run=1/a b.json") == []
    assert [lake.exists(name) for name in ("runs", "runs/run=10/x", "run", "x")] == [
        True,
        True,
        False,
        False,
    ]
    for _ in range(2):
        lake.delete("runs/run=1/a b.json")
    with pytest.raises(MissingFileError, match="does not exist in the lake"):
        lake.read_bytes("runs/run=1/a b.json")
    assert sorted(server.objects) == ["lake/runs/run=10/x"]


@pytest.mark.parametrize("page", [b"<html><body>Sign in</body></html>", b"<p>x<br></p>", b""])
def test_a_page_instead_of_a_listing_is_an_error_that_names_the_store(
    server: ObjectServer, page: bytes
) -> None:
    """Given a proxy that answers 200 to everything, Then the lake does not seem empty."""
    lake = Lake.open(server.lake())
    server.page = page
    place = re.escape(f"{server.service}://bucket/lake")
    for look in (lake.list, lake.folders):
        with pytest.raises(TransientError, match=rf"{place}.*as an object store does"):
            look("results")


def test_a_new_file_is_sent_under_the_condition_of_its_service(server: ObjectServer) -> None:
    lake = Lake.open(server.lake())
    lake.check_exclusive()
    server.requests.clear()
    assert lake.write_bytes("a", b"first", new=True)
    assert not lake.write_bytes("a", b"second", new=True)
    lake.write_bytes("a", b"third")
    puts = [request for request in server.requests if request.method == "PUT"]
    condition = "x-goog-if-generation-match" if server.service == "gs" else "if-none-match"
    value = "0" if server.service == "gs" else "*"
    assert [request.headers.get(condition) for request in puts] == [value, value, None]
    assert f"{META[server.service]}nightgridwriter" in puts[0].headers
    assert lake.read_bytes("a") == b"third"


def test_of_writers_at_once_one_creates_a_file(server: ObjectServer) -> None:
    for number in range(2):
        together = threading.Barrier(8, timeout=20)

        def race(mark: int, path: str = f"race/{number}") -> bool:
            lake = Lake.open(server.lake())
            together.wait()  # noqa: B023
            return lake.write_bytes(path, b"%d" % mark, new=True)

        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(race, range(8)))
        assert won.count(True) == 1
        winner = b"%d" % won.index(True)
        assert Lake.open(server.lake()).read_bytes(f"race/{number}") == winner


def made_twice(server: ObjectServer) -> None:
    make_lake_id(server.lake())
    store._heeding.clear()
    make_lake_id(server.lake())


@pytest.mark.parametrize("has_id", [False, True])
def test_a_store_that_heeds_no_conditions_is_refused_before_a_file_is_created(
    server: ObjectServer, has_id: bool
) -> None:
    if has_id:
        made_twice(server)
        store._heeding.clear()
    server.heeds = False
    before = set(server.objects)
    lake = Lake.open(server.lake())
    for ask in (
        lambda: make_lake_id(server.lake()),
        lambda: lake.write_bytes("a", b"first", new=True),
        lake.check_exclusive,
    ):
        with pytest.raises(NotExclusiveError, match=r"heeds no conditions: .*If-None-Match") as why:
            ask()
        assert "\n" not in str(why.value)
    assert set(server.objects) - before <= {f"lake/{store.PROBE}"}


def test_a_store_that_knows_no_conditions_is_refused(server: ObjectServer) -> None:
    server.troubles = ["501"]
    with pytest.raises(LakeRefusesError, match="501"):
        Lake.open(server.lake()).write_bytes("a", b"first", new=True)
    assert server.objects == {}


@pytest.mark.parametrize("retries", [0, 4])
@pytest.mark.parametrize("trouble", ["lost", "lost 503", "503", "500"])
def test_a_create_whose_answer_is_lost_is_known_as_ones_own(
    server: ObjectServer, trouble: str, retries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(url, "MAX_RETRIES", retries)
    server.troubles = [trouble]
    lake = Lake.open(server.lake())
    assert lake.write_bytes("a", b"mine", new=True), "sent again, it finds its own file"
    assert not lake.write_bytes("a", b"mine", new=True), "another write of the same bytes"


def test_a_conflict_on_s3_is_tried_again(s3: ObjectServer) -> None:
    # "On a 409 failure you should retry the upload": PutObject, If-None-Match.
    s3.troubles = ["409"]
    assert Lake.open(s3.lake()).write_bytes("a", b"mine", new=True)


def test_a_create_that_always_fails_is_transient(server: ObjectServer) -> None:
    server.troubles = ["503"] * store.CREATE_TRIES
    with pytest.raises(TransientError, match=r"a: the lake failed: .*503"):
        Lake.open(server.lake()).write_bytes("a", b"mine", new=True)
    assert server.troubles == []


@pytest.mark.parametrize("status", [400, 401, 403, 405, 301])
def test_refusals_of_a_store_are_permanent_and_not_retried(
    server: ObjectServer, status: int
) -> None:
    for writes in (
        lambda lake: lake.write_bytes("a", b"1"),
        lambda lake: lake.write_bytes("a", b"1", new=True),
    ):
        server.troubles, server.requests = [str(status)], []
        with pytest.raises(PermanentError, match="a: the lake refuses: ") as refusal:
            writes(Lake.open(server.lake()))
        assert "\n" not in str(refusal.value)
        assert len(server.requests) == 1


def test_a_missing_bucket_is_permanent_for_every_request(server: ObjectServer) -> None:
    lake = Lake.open(server.lake().replace("//bucket", "//nobody"))
    for ask in (
        lake.list,
        lambda: lake.read_bytes("a"),
        lambda: lake.exists("a/b"),
        lambda: lake.write_bytes("a", b""),
        lambda: lake.write_bytes("a", b"", new=True),
        lambda: lake.delete("a"),
    ):
        with pytest.raises(PermanentError, match="refuses: There is no such bucket"):
            ask()


def test_no_signature_of_a_url_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_KEY")
    monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", "sv=2024&sig=SECRET")
    with ObjectServer("az") as server:
        lake = Lake.open(server.lake())
        lake.write_bytes("a", b"1")
        assert "sig=SECRET" in server.requests[0].path
        server.troubles = ["403", "500"]
        for kind in (PermanentError, TransientError):
            with pytest.raises(kind) as refusal:
                lake.write_bytes("a", b"1")
            assert "SECRET" not in str(refusal.value)
    with pytest.raises(TransientError) as refusal:
        lake.read_bytes("a")
    assert "SECRET" not in str(refusal.value)


def test_small_files_take_one_request_and_large_ones_are_read_in_parts(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake.open(server.lake())
    data = os.urandom(5_000)
    lake.write_bytes("a", data)
    server.requests.clear()
    assert lake.read_bytes("a") == data
    assert [request.method for request in server.requests] == ["GET"]
    monkeypatch.setattr(store, "WHOLE_BYTES", 100)
    assert lake.read_bytes("a") == data
    with lake._storage.open_file("a") as file:
        assert file.size() == 5_000
        for begin, length in ((0, 10), (4_950, 50), (4_990, 100), (90, 20), (4_000, 1)):
            assert file.read_at(length, begin) == data[begin : begin + length]
        file.seek(4_999)
        assert file.read() == data[-1:]
        assert file.read() == b""


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("gs://", "names no bucket"),
        ("gs://bucket/x?region=here", "unknown options region"),
        ("az://container/x?account=a&color=red", "unknown options color"),
        ("az://container/x", "Account must be specified"),
        ("az://key:secret@container/x", "carries credentials"),
        ("s3://bucket/x?scheme=http", "needs endpoint_override"),
    ],
)
def test_a_url_that_is_not_a_lake_is_refused(url: str, message: str) -> None:
    with pytest.raises(PermanentError, match=message) as refusal:
        Lake.open(url)
    assert "secret" not in str(refusal.value)


FORKED = """
import os, sys
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError

before = sys.argv[2] == "before"
if before:
    Lake.open(sys.argv[1]).exists("a")
pid = os.fork()
if pid == 0:
    try:
        Lake.open(sys.argv[1]).exists("a")
    except PermanentError as error:
        os._exit(7 if "before a fork" in str(error) else 8)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.parametrize(("when", "code"), [("after", 0), ("before", 7)])
def test_a_process_forked_after_a_store_was_used_gets_an_error(
    s3: ObjectServer, when: str, code: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED, s3.lake(), when],
        cwd=Path(__file__).parents[4],
        check=False,
        timeout=60,
    )
    assert done.returncode == code

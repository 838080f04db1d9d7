"""A Redis server with users and passwords: our user only sees our keys, and no secret shows."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from starlette.testclient import TestClient

from nightgrid.workers.cluster.server import server_binary
from tests.service.scenes import PAIR

PREFIX = "gridtest:"
SECRET = "s3cret-of-the-test"
ADMIN = "s3cret-of-the-admin"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server on loopback whose user `grid` may only access keys that begin with PREFIX."""
    folder = tmp_path_factory.mktemp("redis")
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = int(free.getsockname()[1])
    (folder / "users.acl").write_text(
        f"user default on >{ADMIN} ~* &* +@all\n"
        f"user grid on >{SECRET} ~{PREFIX}* &{PREFIX}* +@all -@admin -@dangerous +keys +info\n"
    )
    options = {"port": number, "bind": "127.0.0.1", "dir": folder, "save": ""}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    command = [server_binary(), *words, "--aclfile", str(folder / "users.acl")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        with redis.Redis(port=number, password=ADMIN) as client:
            ends_at = time.monotonic() + 20
            while True:
                try:
                    client.ping()
                    break
                except redis.ConnectionError:
                    assert time.monotonic() < ends_at, "the server does not start"
                    time.sleep(0.02)
        yield number
    finally:
        process.terminate()
        process.wait(20)


def test_a_user_with_a_prefix_is_enough(
    port: int, open_client: Callable[..., TestClient], sample_lake: Path, tmp_path: Path
):
    import shutil

    shutil.copytree(sample_lake, tmp_path / "lake")
    url = f"redis://grid:{SECRET}@127.0.0.1:{port}/0"
    client = open_client(tmp_path / "lake", redis_url=url, key_prefix=PREFIX)
    answer = client.post("/v1/solves", json={"puzzle": PAIR})
    assert answer.status_code == 202, answer.text
    told = client.get("/v1/queue").json()
    assert (told["answers"], told["waiting"]) == (True, 1)
    with redis.Redis(port=port, password=ADMIN, decode_responses=True) as admin:
        keys = [str(key) for key in admin.scan_iter("*")]
        woken = [key for key in keys if key.endswith("keeper") and admin.type(key) == "list"]
        assert [admin.llen(key) for key in woken] == [1]
    assert keys
    assert [key for key in keys if not key.startswith(PREFIX)] == []


@pytest.mark.parametrize("user", ["grid:wrong", f"default:{SECRET}", "stranger:wrong"])
def test_a_wrong_password_is_a_server_that_does_not_answer(
    port: int,
    user: str,
    open_client: Callable[..., TestClient],
    sample_lake: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
):
    import shutil

    shutil.copytree(sample_lake, tmp_path / "lake")
    url = f"redis://{user}@127.0.0.1:{port}/0"
    client = open_client(tmp_path / "lake", redis_url=url, key_prefix=PREFIX)
    answers = [
        client.get("/readyz"),
        client.get("/v1/queue"),
        client.post("/v1/solves", json={"puzzle": PAIR}),
        client.get("/metrics"),
    ]
    assert [answer.status_code for answer in answers] == [503, 200, 202, 200]
    assert answers[1].json()["answers"] is False
    out, err = capfd.readouterr()
    seen = "".join([*(answer.text for answer in answers), out, err])
    for secret in (SECRET, ADMIN, *user.split(":")[1:]):
        assert secret not in seen.replace("wrong_values", "")

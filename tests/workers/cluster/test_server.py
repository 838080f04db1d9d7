"""The embedded server and the processes around it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from nightgrid.archive import outages
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.app import WORK_CHUNK, client_app
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.queues import overview, send
from nightgrid.workers.broker.redis_keys import BATCH
from nightgrid.workers.cluster import server
from nightgrid.workers.cluster.local import LOG_TAIL_LINES
from nightgrid.workers.cluster.supervisor import supervisor_state
from nightgrid.workers.processes import end_group, spawn
from nightgrid.workers.settings import SOCKET_PATH_BYTES, Settings
from tests.local_cluster import local_cluster
from tests.workers.cluster.test_survival import pid_of, wait_for
from tests.workers.conftest import is_alive, quick_settings

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")


@pytest.mark.cluster
def test_the_server_keeps_its_data_after_a_kill(tmp_path):
    settings = quick_settings(tmp_path)
    with local_cluster(settings, roles=("server",)), closing(connect(settings)) as client:
        assert client.config_get("appendonly", "maxmemory-policy", "port") == {
            "appendonly": "yes",
            "maxmemory-policy": "noeviction",
            "port": "0",
        }
        for i in range(200):
            client.set(f"key-{i}", i)
        time.sleep(1.2)  # the append-only file is written through every second
        old = pid_of(settings, "server")
        os.kill(old, signal.SIGKILL)
        wait_for(lambda: pid_of(settings, "server") != old and server.is_up(settings))
        assert client.exists(*(f"key-{i}" for i in range(200))) == 200
        new = pid_of(settings, "server")
    assert not is_alive(new)
    assert not server.is_up(settings)
    assert supervisor_state(settings) is None


@pytest.mark.cluster
def test_only_the_owner_may_open_the_servers_folders(tmp_path):
    settings = quick_settings(tmp_path)
    with local_cluster(settings, roles=("server",)):
        modes = {
            path.stat().st_mode & 0o777
            for path in (server.data_dir(settings), settings.socket_path.parent)
        }
        assert modes == {0o700}


@pytest.mark.cluster
@pytest.mark.long(reason="it waits for workers that never come")
def test_a_cluster_that_cannot_start_says_why_and_leaves_nothing(tmp_path):
    settings = quick_settings(
        tmp_path, celery_app="no_such_module", workers_start_seconds=25.0, soft_shutdown_seconds=1.0
    )
    log = settings.side_dir / "logs" / "batch.log"
    log.parent.mkdir(parents=True)
    log.write_text("an earlier start\n")
    with (
        pytest.raises(TransientError, match="no_such_module") as caught,
        local_cluster(settings, roles=("server", "batch")),
    ):
        pass
    assert "batch.log" in str(caught.value)
    assert "an earlier start" not in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 1 + LOG_TAIL_LINES
    assert not server.is_up(settings)


@pytest.mark.cluster
def test_a_dead_configured_server_is_named_without_its_password(tmp_path):
    settings = quick_settings(
        tmp_path, redis_url="redis://user:secret@127.0.0.1:1/0", broker_patience_seconds=0.5
    )
    told: list[tuple[str, object]] = []

    class Listener:
        def begin(self, outage):
            told.append(("begin", outage.what))

        def end(self, what, *, answers):
            told.append(("end", answers))

    with (
        outages.notifying(Listener()),
        pytest.raises(TransientError) as caught,
        local_cluster(settings, roles=("server", "batch")),
    ):
        pass
    assert told[0] == ("begin", "the Redis server at 127.0.0.1:1")
    assert told[-1] == ("end", False)
    assert str(caught.value).startswith(
        "the Redis server at 127.0.0.1:1, which NIGHTGRID_REDIS_URL names, did not answer for 0.5 s"
    )
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@contextmanager
def other_server(path, *options):
    """Run a server that is not ours on a socket, and yield its URL."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [server.server_binary(), "--port", "0", "--unixsocket", str(path), "--save", ""]
    with subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL) as process:
        try:
            wait_for(path.exists)
            yield f"unix://{path}"
        finally:
            process.terminate()


@pytest.mark.cluster
def test_a_server_that_refuses_the_login_is_distinguished_from_a_dead_one(tmp_path):
    path = tmp_path / "other.sock"
    urls = {word: f"unix://{word}{path}" for word in ("", ":wrong@", ":secret@")}
    asked = {word: quick_settings(tmp_path, redis_url=url) for word, url in urls.items()}
    assert server.refusal(asked[":wrong@"]) is None, "it is away"
    with other_server(path, "--requirepass", "secret"):
        wait_for(lambda: server.is_up(asked[":secret@"]))
        told = {word: server.refusal(settings) for word, settings in asked.items()}
        with (
            pytest.raises(PermanentError, match="refuses the login"),
            local_cluster(asked[":wrong@"], roles=("batch",)),
        ):
            pass
    named = f"the Redis server at {path}"
    assert told == {
        "": f"{named} requires a password, and NIGHTGRID_REDIS_URL has none",
        ":wrong@": f"{named} refuses the login of NIGHTGRID_REDIS_URL: "
        "invalid username-password pair or user is disabled",
        ":secret@": None,
    }


@pytest.mark.cluster
def test_a_full_server_is_reported_with_its_message(tmp_path):
    with other_server(
        tmp_path / "full.sock", "--maxmemory", "1", "--maxmemory-policy", "noeviction"
    ) as url:
        settings = quick_settings(tmp_path, redis_url=url)
        wait_for(lambda: server.is_up(settings))
        with (
            pytest.raises(TransientError, match=r"accepts no writes: .* used memory"),
            local_cluster(settings, roles=("batch",)),
        ):
            pass


def test_a_path_too_long_for_a_socket_gets_a_short_one(tmp_path):
    settings = quick_settings(tmp_path / ("x" * 120))
    assert len(os.fsencode(settings.socket_path)) <= SOCKET_PATH_BYTES
    assert settings.socket_path == quick_settings(tmp_path / ("x" * 120)).socket_path
    assert settings.socket_path != quick_settings(tmp_path / ("y" * 120)).socket_path


@pytest.mark.parametrize(
    ("url", "broker"),
    [
        ("redis://127.0.0.1:6379/3", "redis://127.0.0.1:6379/3"),
        ("rediss://example.org:6380/0", "rediss://example.org:6380/0?ssl_cert_reqs=required"),
        (
            "rediss://example.org:6380/0?ssl_cert_reqs=none",
            "rediss://example.org:6380/0?ssl_cert_reqs=none",
        ),
        ("unix:///run/redis.sock?db=2", "redis+socket:///run/redis.sock?virtual_host=2"),
    ],
)
def test_a_configured_server_is_used_and_never_started(url, broker):
    settings = Settings(redis_url=url)
    assert not server.is_embedded(settings)
    assert settings.broker_url == broker


def test_no_password_shows():
    settings = Settings(redis_url="redis://user:secret@127.0.0.1:6379/0")
    assert "secret" not in repr(settings)
    assert server.address(settings) == "127.0.0.1:6379"


def test_two_paths_to_one_lake_have_one_side_folder(tmp_path):
    """Given a link to a lake, or to its parent folder, Then both find one server."""
    (tmp_path / "disk" / "lake").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "lake")
    (tmp_path / "other").symlink_to(tmp_path / "disk")
    settings = Settings(lake=str(tmp_path / "disk" / "lake"))
    assert settings.side_dir == tmp_path / "disk" / "var" / "lake"
    for lake in (tmp_path / "link", tmp_path / "other" / "lake", tmp_path / "link" / ".." / "lake"):
        linked = Settings(lake=str(lake))
        assert (linked.side_dir, linked.server_url) == (settings.side_dir, settings.server_url)
    assert Settings(lake=str(tmp_path / "link"), var_dir=tmp_path / "x").side_dir == tmp_path / "x"


@pytest.mark.cluster
def test_a_lake_of_any_name_has_a_server_that_redis_and_celery_find(tmp_path):
    settings = quick_settings(tmp_path, lake=str(tmp_path / "q?x%41#y"))
    with local_cluster(settings, roles=("server",)):
        send(client_app(settings), WORK_CHUNK, BATCH, "about", {})
        with connect(settings) as client:
            assert overview(client, settings)[BATCH].queued == 1


@pytest.mark.parametrize("name", ["a?b", "a#b", "ab:c", "a%20b", "a\nb", "ü ñ"])
def test_a_lake_of_any_name_has_a_side_folder_of_that_name(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for lake in (name, str(tmp_path / name), (tmp_path / name).as_uri()):
        settings = Settings(lake=lake)
        assert settings.side_dir == tmp_path / "var" / name
        assert settings.lake == lake or Path(settings.lake) == tmp_path / name
        assert "://" in settings.lake or Path(settings.lake).is_absolute()


def test_a_group_ends_whole_even_if_it_ignores_signals(tmp_path):
    code = (
        "import signal, subprocess, sys, time; "
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        "print(child.pid, flush=True); time.sleep(60)"
    )
    log = tmp_path / "log"
    process = spawn([sys.executable, "-c", code], log_path=log)
    wait_for(lambda: log.read_text().strip())
    grandchild = int(log.read_text())
    assert end_group(process, (signal.SIGTERM, 0.2)) == -signal.SIGKILL
    wait_for(lambda: not is_alive(grandchild))


def test_workers_import_no_flow_engine_and_no_kernel_before_they_know_their_games():
    code = (
        "import sys, nightgrid.workers.ondemand.keeper; "
        "from nightgrid.workers.celery_worker import lifecycle, tasks; "
        "import nightgrid.workers.cluster.supervisor, nightgrid.workers.driver.driver; "
        "names = ('prefect', 'fastapi', 'numba'); "
        "print([m for m in names if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_child_whose_parent_died_before_it_asked_dies_at_once():
    code = (
        "from nightgrid.workers.processes import die_with_parent; die_with_parent(parent=1 << 30)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == (-9 if sys.platform == "linux" else 0)

"""Probes tell progress: a supervisor that goes round, workers that are heard and take work."""

import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from nightgrid.workers.cluster import heartbeats, probe, silent_workers
from nightgrid.workers.cluster.child_processes import ROLES
from nightgrid.workers.cluster.heartbeats import (
    FRESH_S,
    KEEPER_LIVE,
    KEEPER_READY,
    LIVE,
    READY,
    Heartbeats,
    write_heartbeat,
)
from nightgrid.workers.cluster.supervisor import Supervisor
from nightgrid.workers.settings import Settings


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(heartbeats, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.fixture
def told(tmp_path, monkeypatch):
    """What systemd is told, where it listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))

        def read():
            found = []
            while True:
                try:
                    found.append(heard.recv(100).decode())
                except BlockingIOError:
                    return found

        yield read


def update(of, clock, *, working):
    clock.now += 1.1
    of.update([] if working else ["interactive does not run"])


def test_workers_that_are_not_heard_are_live_and_not_ready(tmp_path, clock, told):
    of = Heartbeats(tmp_path, keeper=False)
    of.begin()
    update(of, clock, working=False)
    assert (probe.probe(tmp_path, LIVE), told()) == ("", ["WATCHDOG=1"])
    assert "it was never so, expected within 30 s" in probe.probe(tmp_path, READY)
    for _ in range(2):
        update(of, clock, working=True)
    assert probe.probe(tmp_path, READY) == ""
    assert told() == ["WATCHDOG=1", "READY=1", "WATCHDOG=1"]
    clock.now += FRESH_S[READY] + 1
    assert "it was last so 31 s ago" in probe.probe(tmp_path, READY)
    assert probe.probe(tmp_path, LIVE), "the supervisor does not go round"


def test_a_probe_says_what_is_missing_first(tmp_path, clock):
    """Given several things that are missing, Then one is named, and how many others there are."""
    of = Heartbeats(tmp_path, keeper=True)
    write_heartbeat(tmp_path, KEEPER_LIVE)
    of.begin()
    assert "a process is missing, a worker" in probe.probe(tmp_path, READY), "it says nothing yet"
    update(of, clock, working=False)
    why = f"not ready in {tmp_path}: interactive does not run, and 1 more; it was never so"
    assert probe.probe(tmp_path, READY).startswith(why)
    update(of, clock, working=True)
    why = f"not ready in {tmp_path}: the lake does not answer the keeper; it was never so"
    assert probe.probe(tmp_path, READY).startswith(why)
    clock.now += FRESH_S[LIVE] + 1
    assert "a process is missing, a worker" in probe.probe(tmp_path, READY), "it says no more"
    write_heartbeat(tmp_path, KEEPER_READY)
    update(of, clock, working=True)
    assert probe.probe(tmp_path, READY) == ""
    assert heartbeats.read_cause(tmp_path) == ""


def test_a_supervisor_names_its_processes_that_take_no_work(tmp_path):
    supervisor = Supervisor(Settings(lake=str(tmp_path / "lake"), var_dir=tmp_path), ROLES)
    assert supervisor._missing()[0] == "server does not run"
    assert len(supervisor._missing()) == len(ROLES)


def test_a_supervisor_that_stops_takes_no_work_and_the_next_one_begins_anew(tmp_path, clock, told):
    of = Heartbeats(tmp_path, keeper=False)
    of.begin()
    update(of, clock, working=True)
    told()
    of.end()
    assert (probe.probe(tmp_path, LIVE), told()) == ("", ["STOPPING=1"])
    assert probe.probe(tmp_path, READY)
    Heartbeats(tmp_path, keeper=False).begin()
    assert probe.probe(tmp_path, LIVE)


def test_a_keeper_that_stands_still_fails_the_probe(tmp_path, clock):
    of = Heartbeats(tmp_path, keeper=True)
    of.begin()
    update(of, clock, working=True)
    assert probe.probe(tmp_path, LIVE) == "", "its first round takes as long as any"
    assert probe.probe(tmp_path, READY), "it has not seen the lake"
    write_heartbeat(tmp_path, KEEPER_LIVE)
    write_heartbeat(tmp_path, KEEPER_READY)
    update(of, clock, working=True)
    assert probe.probe(tmp_path, READY) == ""
    clock.now += FRESH_S[KEEPER_LIVE]
    update(of, clock, working=True)
    clock.now += 1
    assert "its keeper does not go round" in probe.probe(tmp_path, LIVE)


def test_a_time_before_the_host_was_started_anew_is_none(tmp_path, clock):
    write_heartbeat(tmp_path, LIVE)
    clock.now = 5.0
    assert "it was never so" in probe.probe(tmp_path, LIVE)


@pytest.mark.parametrize("now", [1000.0006, 1000.9999999, 123456.78951])
def test_what_is_so_at_this_moment_is_so(now, tmp_path, clock):
    """No digit is rounded up: the time would lie in the future."""
    clock.now = now
    write_heartbeat(tmp_path, LIVE)
    assert heartbeats.age_s(tmp_path, LIVE) == 0


def test_a_worker_that_refuses_work_is_not_ready(tmp_path, monkeypatch):
    """Given a worker of another version, Then a rollout that waits for it does not go on."""
    settings = Settings(lake=str(tmp_path), liveness_interval_seconds=1e-6)
    monkeypatch.setattr(
        silent_workers, "living_workers", lambda *_: {"good": {}, "bad": {}, "elsewhere": {}}
    )
    monkeypatch.setattr(silent_workers, "refusals", lambda *_: {"bad": "another solver version"})
    watched = silent_workers.SilentWorkers(settings)
    assert watched.silent(["good", "bad", "mute"]) == set()
    assert watched.working == {"good"}


def test_the_program_says_why_and_imports_nothing_that_takes_time(tmp_path):
    command = [sys.executable, "-X", "importtime", "-m", "nightgrid.workers.cluster.probe", LIVE]
    env = {"NIGHTGRID_VAR_DIR": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"not live in {tmp_path}: the supervisor or")
    imported = {line.rsplit("|")[-1].strip() for line in done.stderr.splitlines()}
    assert not imported & {"pydantic", "redis", "celery", "numpy", "structlog"}
    write_heartbeat(tmp_path, LIVE)
    subprocess.run(command, env=env, check=True, capture_output=True)

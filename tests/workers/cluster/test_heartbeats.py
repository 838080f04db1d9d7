"""Probes show progress: a supervisor that goes round, workers that are heard and take work."""

import os
import socket
import subprocess
import sys
import time

import pytest

from nightgrid.workers.cluster import heartbeats, probe, supervisor
from nightgrid.workers.cluster.heartbeats import (
    FRESH_S,
    KEEPER_LIVE,
    KEEPER_READY,
    LIVE,
    READY,
    Heartbeats,
    write_heartbeat,
)
from nightgrid.workers.cluster.supervisor import ROLES, Supervisor
from nightgrid.workers.settings import Settings

MISSING = ["interactive does not run"]


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


def let_age(folder, name, seconds):
    then = time.time() - seconds
    os.utime(folder / heartbeats.FOLDER / name, (then, then))


def test_workers_that_are_not_heard_are_live_and_not_ready(tmp_path, told):
    of = Heartbeats(tmp_path, keeper=False)
    of.update(MISSING)
    assert (probe.probe(tmp_path, LIVE), told()) == ("", ["WATCHDOG=1"])
    assert "it was never so, expected within 30 s" in probe.probe(tmp_path, READY)
    for _ in range(2):
        of.update([])
    assert probe.probe(tmp_path, READY) == ""
    assert told() == ["WATCHDOG=1", "READY=1", "WATCHDOG=1"]
    let_age(tmp_path, READY, FRESH_S[READY] + 1)
    assert "it was last so 31 s ago" in probe.probe(tmp_path, READY)
    let_age(tmp_path, LIVE, FRESH_S[LIVE] + 1)
    assert probe.probe(tmp_path, LIVE), "the supervisor does not go round"


def test_a_probe_names_the_first_thing_that_is_missing(tmp_path):
    of = Heartbeats(tmp_path, keeper=True)
    assert "a process is missing, a worker" in probe.probe(tmp_path, READY), "it says nothing yet"
    of.update(MISSING)
    why = f"not ready in {tmp_path}: interactive does not run, and 1 more; it was never so"
    assert probe.probe(tmp_path, READY).startswith(why)
    of.update([])
    why = f"not ready in {tmp_path}: the lake does not answer the keeper; it was never so"
    assert probe.probe(tmp_path, READY).startswith(why)
    write_heartbeat(tmp_path, KEEPER_READY)
    of.update([])
    assert probe.probe(tmp_path, READY) == ""


def test_a_supervisor_that_stops_takes_no_work_and_the_next_one_begins_again(tmp_path, told):
    of = Heartbeats(tmp_path, keeper=False)
    of.update([])
    told()
    of.end()
    assert (probe.probe(tmp_path, LIVE), told()) == ("", ["STOPPING=1"])
    assert probe.probe(tmp_path, READY)
    Heartbeats(tmp_path, keeper=False)
    assert probe.probe(tmp_path, LIVE)


def test_a_keeper_that_stands_still_fails_the_probe(tmp_path, monkeypatch):
    of = Heartbeats(tmp_path, keeper=True)
    of.update([])
    assert probe.probe(tmp_path, LIVE) == "", "its first round takes as long as any"
    assert probe.probe(tmp_path, READY), "it has not seen the lake"
    monkeypatch.setattr(of, "_begun_at", time.monotonic() - FRESH_S[KEEPER_LIVE])
    write_heartbeat(tmp_path, KEEPER_LIVE)
    let_age(tmp_path, KEEPER_LIVE, FRESH_S[KEEPER_LIVE] + 1)
    let_age(tmp_path, LIVE, FRESH_S[LIVE] + 1)
    of.update([])
    assert "its keeper does not go round" in probe.probe(tmp_path, LIVE)


def test_a_supervisor_names_its_processes_that_take_no_work(tmp_path, monkeypatch):
    """Given a worker of another version, Then a rollout that waits for it does not go on."""
    settings = Settings(lake=str(tmp_path / "lake"), var_dir=tmp_path)
    watched = Supervisor(settings, ROLES)
    assert watched._missing() == [f"{role} does not run" for role in ROLES]
    for child in watched._children:
        child.process, child.worker = object(), child.role
    monkeypatch.setattr(supervisor, "living_workers", lambda *_: {"batch": {}, "interactive": {}})
    monkeypatch.setattr(supervisor, "refusals", lambda *_: {"batch": "another solver version"})
    assert watched._missing() == ["batch is not heard by the server, or refuses work"]


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

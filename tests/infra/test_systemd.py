"""Units of one machine: systemd parses them, they are sandboxed, and their programs start."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from nightgrid.service.games.plug import SAMPLES
from nightgrid.workers.settings import Settings
from tests.infra.footprint import MOST_BYTES, as_bytes
from tests.infra.unit_files import UNITS, environment, lines_of
from tests.local_cluster import local_cluster

ROOT = Path(__file__).resolve().parents[2]
SERVICES = [path for path in UNITS if path.suffix == ".service"]
PROGRAM = "/opt/nightgrid/.venv/bin/nightgrid"
STATE = "/var/lib/nightgrid"
EXPOSURE_MAX = 20
"""Exposure of 100, as rated by `systemd-analyze security`."""


def systemd_analyze() -> str:
    found = shutil.which("systemd-analyze")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("systemd-analyze is not installed: the package systemd has it")
        pytest.skip("systemd-analyze is not installed")
    return found


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """The units, with a program of this machine."""
    program = str(Path(sys.prefix) / "bin/nightgrid")
    for path in UNITS:
        (tmp_path / path.name).write_text(path.read_text().replace(PROGRAM, program))
    return [tmp_path / path.name for path in UNITS]


def test_systemd_reads_every_unit(units: list[Path]):
    done = subprocess.run(
        [systemd_analyze(), "verify", *units], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_a_service_is_closed(path: Path):
    subprocess.run(
        [
            *(systemd_analyze(), "security", "--offline=yes", f"--threshold={EXPOSURE_MAX}"),
            *("--no-pager", path),
        ],
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_a_service_leaves_memory_to_the_machine(path: Path):
    """Given workers by cores, Then their limit is a share of the machine; the page has its own."""
    text = path.read_text()
    ((high,),) = lines_of(text, "MemoryHigh")
    ((most,),) = lines_of(text, "MemoryMax")
    if path.stem == "nightgrid-http":
        assert as_bytes(high) < as_bytes(most)
        assert as_bytes(high) >= MOST_BYTES["http"] + Settings().ondemand_table_bytes
        return
    assert float(high.rstrip("%")) < float(most.rstrip("%")) < 100
    # The supervisor restarts a killed process, and the unit continues.
    assert lines_of(text, "OOMPolicy") == [["continue"]]


@pytest.mark.long(reason="it starts a keeper and waits until it is up")
def test_a_worker_notifies_systemd_when_it_takes_work(tmp_path: Path):
    """Given Type=notify, Then READY=1 comes from the process that systemd started."""
    unit = ROOT / "infra/systemd/nightgrid-worker.service"
    assert "Type=notify\n" in unit.read_text()
    assert "WatchdogSec=60\n" in unit.read_text()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.settimeout(60)
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "NIGHTGRID_LAKE": str(tmp_path / "lake"),
            "NIGHTGRID_VAR_DIR": str(tmp_path / "var"),
            "NOTIFY_SOCKET": str(tmp_path / "notify"),
        }
        (line,) = lines_of(unit.read_text(), "ExecStart")
        program = str(Path(sys.prefix) / "bin/nightgrid")
        # A keeper alone starts in a second; workers are started in test_comes_up.
        command = [program, *line[1:], "--only", "keeper"]
        settings = Settings(lake=env["NIGHTGRID_LAKE"], var_dir=tmp_path / "var")
        with (
            local_cluster(settings, roles=("server",)),
            subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) as process,
        ):
            told = []
            while "READY=1" not in told:
                told.append(heard.recv(100).decode())
            process.terminate()
            while told[-1] != "STOPPING=1":
                told.append(heard.recv(100).decode())
            assert process.wait(60) == 0
        assert set(told) == {"READY=1", "WATCHDOG=1", "STOPPING=1"}


def environment_of(unit: Path, state: Path) -> dict[str, str]:
    """Return the environment of a unit, with its state folder and kernels here."""
    said = environment(unit.read_text())
    del said["XDG_CACHE_HOME"]
    kept = {name: os.environ[name] for name in ("HOME", "XDG_CACHE_HOME") if name in os.environ}
    moved = {name: value.replace(STATE, str(state)) for name, value in said.items()}
    # systemd's own PATH, which has no virtual environment.
    return {**kept, "PATH": "/usr/local/bin:/usr/bin:/bin", **moved}


def command_of(unit: Path, key: str, state: Path) -> list[str]:
    (line,) = lines_of(unit.read_text(), key)
    assert line[0] == PROGRAM
    words = [word.replace(STATE, str(state)) for word in line[1:]]
    return [str(Path(sys.prefix) / "bin/nightgrid"), *words]


def test_the_night_of_the_timer_works_a_lake(tmp_path: Path):
    unit = ROOT / "infra/systemd/nightgrid-nightly.service"
    payloads = tmp_path / "payloads"
    payloads.mkdir()
    shutil.copy(SAMPLES / "pips/2026-01-01.json", payloads)
    # test_comes_up runs a night with workers.
    command = [*command_of(unit, "ExecStart", tmp_path), "--inline", "--json"]
    env = environment_of(unit, tmp_path)
    done = subprocess.run(
        command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["solved"] == 3
    assert (tmp_path / "lake/reports/report.html").is_file()

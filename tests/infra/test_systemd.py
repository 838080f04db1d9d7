"""Units of one machine: systemd reads them, they are closed, and what they start comes up."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNITS = sorted((ROOT / "infra/systemd").iterdir())
SERVICES = [path for path in UNITS if path.suffix == ".service"]
PROGRAM = "/opt/nightgrid/.venv/bin/nightgrid"
EXPOSURE_MAX = 20
"""Of 100, as `systemd-analyze security` counts."""


def systemd_analyze() -> str:
    found = shutil.which("systemd-analyze")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("systemd-analyze is not installed: the package systemd has it")
        pytest.skip("systemd-analyze is not installed")
    return found


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """The units, with a program that is here."""
    program = str(Path(sys.prefix) / "bin/nightgrid")
    for path in UNITS:
        (tmp_path / path.name).write_text(path.read_text().replace(PROGRAM, program))
    return [tmp_path / path.name for path in UNITS]


def test_systemd_reads_every_unit(units: list[Path]):
    done = subprocess.run(
        [systemd_analyze(), "verify", *units], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_systemd_notices_a_wrong_line(units: list[Path]):
    units[0].write_text(units[0].read_text().replace("Restart=always", "Restart=allways"))
    done = subprocess.run(
        [systemd_analyze(), "verify", units[0]], capture_output=True, text=True, check=False
    )
    assert "allways" in done.stderr


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


def words_of(path: Path, key: str) -> list[list[str]]:
    return [
        shlex.split(line) for line in re.findall(rf"^{key}=(.+)$", path.read_text(), re.MULTILINE)
    ]


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_what_a_service_writes_lies_in_its_own_folders(path: Path):
    text = path.read_text()
    (environment,) = words_of(path, "Environment")
    said = dict(word.split("=", 1) for word in environment)
    assert "StateDirectory=nightgrid\n" in text
    assert "CacheDirectory=nightgrid\n" in text
    for name in ("NIGHTGRID_LAKE", "NIGHTGRID_VAR_DIR"):
        assert said[name].startswith("/var/lib/nightgrid/")
    assert said["XDG_CACHE_HOME"] == "/var/cache/nightgrid"


def test_a_worker_tells_systemd_when_it_takes_work(tmp_path: Path):
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
        (line,) = words_of(unit, "ExecStart")
        program = str(Path(sys.prefix) / "bin/nightgrid")
        # A keeper alone is up in a second; workers are started in test_comes_up.
        command = [program, *line[1:], "--only", "keeper"]
        with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) as process:
            told = []
            while "READY=1" not in told:
                told.append(heard.recv(100).decode())
            process.terminate()
            while told[-1] != "STOPPING=1":
                told.append(heard.recv(100).decode())
            assert process.wait(60) == 0
        assert set(told) == {"READY=1", "WATCHDOG=1", "STOPPING=1"}

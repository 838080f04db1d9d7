"""Units of systemd and the line of cron run as they stand: as their user, below a closed root.

Nothing in a command line is replaced. The environment of this test is mounted at the program's
path, the folders of the units are folders of the test, and the network is one of its own, so that
ports are those of the units. The root is read-only, as with ProtectSystem=strict, and the program
has no rights. System calls and memory are not restricted here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from nightgrid.service.games.plug import SAMPLES
from tests.infra.contained import (
    ROOT,
    UP_S,
    USER,
    Container,
    Host,
    host,
    let_in,
    stopped,
    wait_until,
)
from tests.infra.unit_files import UNITS, environment, lines_of, seconds, text_of

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

VENV = "/opt/nightgrid/.venv"
STATE, CACHE, LOG = "/var/lib/nightgrid", "/var/cache/nightgrid", "/var/log"
PROBE = [f"{VENV}/bin/python", "-m", "nightgrid.workers.cluster.probe", "ready"]


@dataclass(slots=True, kw_only=True)
class Machine:
    """A machine with the folders that units and cron have."""

    host: Host
    folders: dict[str, Path]

    def start(self, name: str, command: list[str], said: Mapping[str, str]) -> Container:
        """Start a command line with what its unit says, and systemd's or cron's own PATH."""
        volumes = {Path(sys.prefix): VENV} | {here: there for there, here in self.folders.items()}
        return self.host.start(
            name,
            command,
            {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": STATE, **said},
            own=("/tmp",),
            volumes=volumes,
            work=STATE,
            own_pids=False,
        )

    def begin(self, unit: str, key: str = "ExecStart") -> Container:
        """Start a command line of a unit, word for word."""
        text = text_of(unit)
        assert f"WorkingDirectory={STATE}\n" in text
        assert "ProtectSystem=strict\n" in text
        (command,) = lines_of(text, key)
        return self.start(unit, command, environment(text))

    def to_end(self, container: Container) -> str:
        """Wait until a command has ended, well, and give what it has written."""
        assert container.process.wait(UP_S) == 0, container.said()
        return container.said()


@pytest.fixture
def machine(tmp_path: Path, kernels: Path):
    let_in(tmp_path)
    folders = {CACHE: kernels}
    for there in (STATE, LOG):
        folders[there] = tmp_path / Path(there).name
        folders[there].mkdir()
    (folders[STATE] / "payloads").mkdir()
    for path in (folders[STATE], folders[STATE] / "payloads", folders[LOG]):
        os.chown(path, USER, USER) if os.getuid() == 0 else None
    with host(tmp_path, ()) as made:
        yield Machine(host=made, folders=folders)


def crontab() -> tuple[dict[str, str], str]:
    """Give the variables of the crontab and the command of its line."""
    text = (ROOT / "infra/crontab").read_text()
    (line,) = re.findall(r"^\d+ \d+ \* \* \* (.*)$", text, re.MULTILINE)
    return dict(re.findall(r"^([A-Z_]+)=(.*)$", text, re.MULTILINE)), line


@pytest.mark.long(
    short="tests/infra/test_systemd.py::test_the_night_of_the_timer_works_a_lake",
)
def test_units_and_cron_of_one_machine_come_up_as_they_stand(machine: Machine):
    """Given a worker's unit that is up, Then service, night and cron's line use its server."""
    state = machine.folders[STATE]
    shutil.copy(SAMPLES / "pips/2026-01-01.json", state / "payloads")
    machine.to_end(machine.begin("nightgrid-worker", "ExecStartPre"))
    worker = machine.begin("nightgrid-worker")
    wait_until(worker, lambda: machine.host.run(worker, PROBE).returncode == 0, "workers")
    http = machine.begin("nightgrid-http")
    ready = "http://127.0.0.1:8765/readyz"
    wait_until(http, lambda: machine.host.fetch(ready)[0] == 200, "the service")

    night = machine.to_end(machine.begin("nightgrid-nightly"))
    gold = state / "lake/gold/nightly-pips.json"
    assert json.loads(gold.read_text())["solved"] == 3, night
    assert (state / "lake/reports/report.html").is_file()
    gold.unlink()

    shutil.copy(SAMPLES / "pips/2026-01-02.json", state / "payloads")
    said, line = crontab()
    # cron's own PATH, and the shell that the crontab names.
    command = [said["SHELL"], "-c", line]
    mailed = machine.to_end(machine.start("cron", command, {**said, "PATH": "/usr/bin:/bin"}))
    told = (machine.folders[LOG] / "nightgrid.log").read_text()
    assert mailed == "", told
    assert json.loads(gold.read_text())["solved"] == 3, told

    assert "compiling" not in told, "cron's night has other kernels than the units"
    # Both nights have worked by the workers of the unit.
    assert machine.host.run(worker, PROBE).returncode == 0
    for name, container in (("nightgrid-http", http), ("nightgrid-worker", worker)):
        stopped(container, seconds(text_of(name), "TimeoutStopSec"))


def test_every_service_comes_up_here():
    services = {path.stem for path in UNITS if path.suffix == ".service"}
    assert services == {"nightgrid-http", "nightgrid-nightly", "nightgrid-worker"}

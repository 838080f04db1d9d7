"""One port serves the metrics of all processes of a host."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from nightgrid.workers.cluster.supervisor import child_environment
from nightgrid.workers.exporter import exporting, metrics_environment
from nightgrid.workers.settings import Settings

WORK = """
import prometheus_client  # as Prefect does, before metrics are shared
from nightgrid.workers.settings import program_settings
from nightgrid.workers.exporter import share_metrics
share_metrics(program_settings())
from nightgrid.workers.metrics import CHUNKS, KEEPER_POLL, TASK_SECONDS, count_rows
count_rows("pips", {"solved": 2, "poison": 1}, states=7, kernel_ns=10**9)
CHUNKS.labels("send").inc(3)
TASK_SECONDS.labels("solve_chunk").observe(0.5)
KEEPER_POLL.set_to_current_time()
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Settings(lake=str(tmp_path / "lake"), var_dir=tmp_path / "var", metrics_port=port)


def work(settings: Settings) -> None:
    environment = child_environment(settings)
    subprocess.run([sys.executable, "-c", WORK], env=environment, check=True, timeout=60)


def scrape(settings: Settings) -> dict[str, float]:
    with urlopen(f"http://127.0.0.1:{settings.metrics_port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    rows = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in rows}


def test_a_host_serves_the_sum_of_its_processes(settings: Settings):
    """Given two processes that have ended, When their host is scraped, Then both are counted."""
    with exporting(settings):
        work(settings)
        work(settings)
        found = scrape(settings)
        with exporting(settings):
            assert scrape(settings) == found, "a second supervisor leaves the port to the first"
    assert found['nightgrid_rows_total{game="pips",status="solved"}'] == 4
    assert found['nightgrid_rows_total{game="tiles",status="poison"}'] == 0
    assert found['nightgrid_kernel_seconds_total{game="pips"}'] == 2
    assert found['nightgrid_chunks_total{transition="send"}'] == 6
    assert found['nightgrid_task_seconds_count{task="solve_chunk"}'] == 2
    assert found["nightgrid_keeper_look_timestamp_seconds"] > 1_700_000_000
    with exporting(settings):
        assert scrape(settings) == {}, "a supervisor begins at zero"


def test_without_a_port_nothing_is_written(tmp_path: Path):
    settings = Settings(lake=str(tmp_path / "lake"), var_dir=tmp_path / "var")
    assert metrics_environment(settings) == {}
    with exporting(settings):
        work(settings)
    assert not (tmp_path / "var").exists()

"""Send what the OpenAPI description allows, and what it does not, to every route of the service.

    python -m benchmarks.http.schemathesis --examples 200

The service runs in this process over a lake of sample boards, with a Redis server and no worker:
what is asked is queued. schemathesis makes requests from the description, examples, boundary
values and wrong ones included, and checks each answer against it. Prints a row for each operation,
and ends with 1 where a check fails.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.python import asgi
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from benchmarks.tuned import tuned_settings
from nightgrid.service.cli.app import main as command
from nightgrid.service.http.app import create_app
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.worker_keys import write_heartbeat
from nightgrid.workers.cluster.server import is_up, server_command
from nightgrid.workers.settings import Settings

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]
"""Checks of every answer. Whether a body is accepted depends on more than its schema."""
SAMPLE = Path(__file__).resolve().parents[2] / "service/sample/pips/2026-01-01.json"
LONG_S = 3600.0


@contextmanager
def served(lake: Path, redis_url: str) -> Iterator[Any]:
    """Make an app over a lake; a worker that does nothing says that it lives."""
    settings = tuned_settings(
        lake=str(lake),
        redis_url=redis_url,  # type: ignore[arg-type]
        liveness_ttl_seconds=LONG_S,
        ondemand_wait_seconds=1e9,
    )
    with connect(settings) as client:
        write_heartbeat(client, settings, "idle", {"queues": ["interactive"], "processes": 1})
    yield create_app(ServiceSettings(workers=settings))


def fuzz(app: Any, examples: int, seed: int) -> Iterator[tuple[str, dict[int, int], str]]:
    """Send requests to every operation: (operation, answers by status, what failed)."""
    schema = schemathesis.openapi.from_dict(app.openapi())
    schema.app = app
    with asgi.get_client(app) as client:
        for found in schema.get_all_operations():
            operation = found.ok()
            statuses: dict[int, int] = {}
            failed = ""
            try:
                _send(operation, client, examples, seed, statuses)
            except Exception as error:  # noqa: BLE001 - every failure is reported with its operation
                failed = "\n".join([str(error), *getattr(error, "__notes__", ())])
                for inner in getattr(error, "exceptions", ()):
                    failed += f"\n{inner}"
            yield operation.label, statuses, failed


def _send(operation: Any, client: Any, examples: int, seed: int, statuses: dict[int, int]) -> None:
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        strategy = operation.as_strategy(generation_mode=mode)

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(case=strategy)
        def send(case: Any) -> None:
            if case.operation.path.endswith("/events") and case.method == "GET":
                # Events of a job that waits have no end.
                (name,) = re.findall(r"\{(\w+)\}", case.operation.path)
                case.path_parameters = {name: "0" * 32}
            if "Prefer" in case.headers:
                # Nor does a wait for it: no worker is there.
                case.headers["Prefer"] = "wait=0"
            answer = case.call(base_url="http://localhost", session=client)
            statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
            case.validate_response(answer, checks=CHECKS)

        try:
            send()
        except Unsatisfiable:
            # Nothing of some operations can be wrong.
            if mode is GenerationMode.POSITIVE:
                raise


def main() -> int:
    """Fuzz every operation, print what came, and tell whether all checks held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    worst, begun = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder) / "lake"
        source = Path(folder) / "source"
        source.mkdir()
        (source / SAMPLE.name).write_bytes(SAMPLE.read_bytes())
        words = ("--source", f"pips={source}", "--lake", str(lake), "--inline", "--no-prefect")
        command(("nightly", *words))
        settings = Settings(lake=str(lake))
        server = subprocess.Popen(server_command(settings), stdout=subprocess.DEVNULL)
        try:
            while not is_up(settings):
                time.sleep(0.02)
            with served(lake, settings.server_url) as app:
                for label, statuses, failed in fuzz(app, given.examples, given.seed):
                    told = ", ".join(f"{n} x {status}" for status, n in sorted(statuses.items()))
                    print(f"| `{label}` | {told} | {'failed' if failed else 'holds'} |", flush=True)
                    if failed:
                        worst = 1
                        print(failed, file=sys.stderr)
        finally:
            server.terminate()
            server.wait(20)
    print(f"{time.monotonic() - begun:.0f} s", file=sys.stderr)
    return worst


if __name__ == "__main__":
    sys.exit(main())

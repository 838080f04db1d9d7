"""Run commands in forks that may take a bounded amount of memory more than this process has.

`python -m benchmarks.instruments.limited_commands` reads a JSON object a line from standard input,
{"words", "folder", "env", "limit_mb"}, and answers with one: {"code", "err"}. The
address space of a process has its libraries and threads as well, so the bound is set once they are
loaded.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

LOADED = (
    "nightgrid.archive.corpus.corpus",
    "nightgrid.archive.lookup.listing",
    "nightgrid.flows.count.count",
    "nightgrid.flows.start",
    "nightgrid.service.cli.count",
    "nightgrid.service.cli.demo",
    "nightgrid.service.cli.listing",
    "nightgrid.service.cli.night",
    "nightgrid.service.cli.ondemand.submit",
    "nightgrid.service.cli.solve",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "rich.progress",
)


def main() -> None:
    """Answer every line."""
    for name in LOADED:
        importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


def _run(asked: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile("w+") as err:
        process = os.fork()
        if process == 0:
            os.dup2(err.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os._exit(_command(asked))
        _, status = os.waitpid(process, 0)
        err.seek(0)
        return {"code": os.waitstatus_to_exitcode(status), "err": err.read()}


def _command(asked: dict[str, Any]) -> int:
    from nightgrid.service.cli.app import main as command

    os.chdir(asked["folder"])
    os.environ.update(asked["env"])
    has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = asked["limit_mb"] * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (has + limit, has + limit))
    try:
        code = int(command(asked["words"]))
    except BaseException:  # noqa: BLE001 - a fork must not go on as the process that it comes from
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    main()

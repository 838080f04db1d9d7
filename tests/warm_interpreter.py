"""Run commands in forks of one process that has loaded nightgrid and its kernels.

`started` starts a listening process, and writes the programs `nightgrid` and `python`, which hand
over their arguments, folder, environment and three streams. A fork runs the command without the
seconds of imports. It receives the program's signals, and if one kills it, the program too.
Processes that a command starts with `sys.executable` are also forks: `nightgrid worker` has its
supervisor, its Celery workers and its keeper.

Modules read their environment in the listening process, so variables that matter then (plugged-in
games, Prefect's server) are passed to `started`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import re
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BATCH_COMMANDS = ("nightly", "count", "demo")
INLINE = ("--inline", "--no-prefect")
LIBRARIES = (
    "celery.__main__",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.worker.consumer",
    "kombu.transport.redis",
    "duckdb",
    "pyarrow.compute",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "redis",
    "rich.console",
    "rich.live",
    "rich.progress",
    "rich.table",
)
"""Modules that commands import late, to keep other commands quick."""
PARENT_LOOK_S = 5.0
"""Time after which this process ends if its tests were killed."""
REAL = "DOCS_REAL"
"""If set, nights and counts start workers and Prefect, as for a reader."""
CLIENT = """#!{python} -ISE
import json, os, select, signal, socket, sys
if os.environ.get({real!r}):
    head = ["-m", "nightgrid"] if {name!r} == "nightgrid" else []
    os.execv({python!r}, [{python!r}, *head, *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX)
server.connect({socket!r})
asked = dict(name={name!r}, words=sys.argv[1:], folder=os.getcwd(), environment=dict(os.environ))
asked["python"] = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "python")
text = json.dumps(asked).encode()
socket.send_fds(server, [len(text).to_bytes(4, "big")], [0, 1, 2])
server.sendall(text)
fork = int.from_bytes(server.recv(4), "big")
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
    signal.signal(number, lambda number, _: os.kill(fork, number))
code = server.recv(16)
try:
    # What it holds is free when it is gone, and not before.
    select.select([os.pidfd_open(fork)], [], [])
except ProcessLookupError:
    pass
if not code:
    # It was killed before it could say how it ended.
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(int(code))
"""


@contextmanager
def started(folder: Path, *modules: str, **environ: str) -> Iterator[Path]:
    """Start a process that has loaded `modules` too, and write the programs into `folder`/bin."""
    (folder / "bin").mkdir(parents=True)
    # A socket's path has to be short.
    with tempfile.TemporaryDirectory(prefix="ng-warm-") as short:
        path = f"{short}/warm"
        for name in ("nightgrid", "python"):
            program = folder / "bin" / name
            text = CLIENT.format(name=name, socket=path, python=sys.executable, real=REAL)
            program.write_text(text)
            program.chmod(0o755)
        path_of = shlex.quote(str(folder / "bin"))
        (folder / "bin" / "activate").write_text(f"PATH={path_of}:$PATH\n")
        command = [sys.executable, "-m", "tests.warm_interpreter", path, *modules]
        with subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as warm:
            assert warm.stdout is not None
            try:
                assert warm.stdout.readline() == "ready\n"
                yield folder
            finally:
                # With the forks that took too long.
                os.killpg(warm.pid, signal.SIGKILL)


def serve(path: str, *modules: str) -> None:
    """Load what commands need, then run each command in a fork, until the process is ended."""
    load(modules)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("ready", flush=True)
    parent = os.getppid()
    # Reap ended forks, since other processes check whether they still live.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        while not select.select([listener], [], [], PARENT_LOOK_S)[0]:
            if os.getppid() != parent:
                return
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            _work(connection)
        connection.close()


def load(more: tuple[str, ...]) -> None:
    """Load everything that commands need, and `more`, for the forks of this process."""
    import nightgrid
    from nightgrid.solvers.registry import GAMES, game

    modules = [found.name for found in pkgutil.walk_packages(nightgrid.__path__, "nightgrid.")]
    # Prefect takes seconds, and nights and counts here do without it. The tasks connect to Celery's
    # signals, with the settings at that time.
    late = re.compile(r"__main__|\.flows\.prefect\.|\.workers\.celery_worker\.")
    modules = [name for name in modules if not late.search(name)]
    for name in (*modules, *LIBRARIES, *more):
        importlib.import_module(name)
    for name in GAMES:
        game(name).warm()
    gc.freeze()


def _work(connection: socket.socket) -> None:
    head, streams, _, _ = socket.recv_fds(connection, 4, 3)
    text = b""
    while len(text) < int.from_bytes(head, "big"):
        text += connection.recv(1 << 16)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    connection.sendall(os.getpid().to_bytes(4, "big"))
    asked = json.loads(text)
    sys.executable = asked["python"]
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    # The streams of the listening process are not a terminal's, and are flushed.
    sys.stdout, sys.stderr, sys.stdin = (os.fdopen(n, m) for n, m in ((1, "w"), (2, "w"), (0, "r")))
    try:
        code = _run(asked["name"], asked["words"])
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - a fork must not go on as the process that listens
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(str(code).encode())
    os._exit(code)


def _run(name: str, words: list[str]) -> int:
    sys.path[0] = str(Path.cwd())
    if name == "python":
        return _python(words)
    from nightgrid.service.cli.app import main

    if words[:1] and words[0] in BATCH_COMMANDS and "--cancel" not in words:
        words = [*words, *(option for option in INLINE if option not in words)]
    return main(words)


def _python(words: list[str]) -> int:
    flag, rest = words[0], words[1:]
    sys.argv = words
    if flag == "-c":
        module: Any = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<text>", "exec"), vars(module))
    elif flag == "-m":
        sys.argv = rest
        # The Celery app reads its settings when it is imported: from this environment.
        if not rest[0].startswith(("nightgrid.service", "nightgrid.flows")):
            # Metric names are registered once a process.
            kept = "nightgrid.workers.metrics"
            for module in [name for name in sys.modules if name.startswith("nightgrid.workers")]:
                if module != kept:
                    del sys.modules[module]
        sys.modules.pop(rest[0], None)
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(flag, run_name="__main__")
    return 0


if __name__ == "__main__":
    serve(*sys.argv[1:])

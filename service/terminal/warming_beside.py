"""Compile kernels in a process of its own, while its parent goes on with something else.

As a program, `python -m nightgrid.service.terminal.warming_beside GAME...` is that process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from nightgrid.solvers.errors import TransientError

INTERRUPTED = 128 + signal.SIGINT
ENDING_SECONDS = 2.0
"""How long the process may need to take its moving line away."""


@contextmanager
def warming_beside(names: Iterable[str], env: Mapping[str, str]) -> Iterator[Callable[[], bool]]:
    """Compile what is not compiled of these games, with its progress shown; yield what looks.

    What is yielded tells whether the kernels are ready, and raises TransientError where they could
    not be compiled. At the end of the body the process ends, ready or not.
    """
    from nightgrid.solvers import warming

    missing = [name for name in names if not warming.is_compiled(name)]
    if not missing:
        yield lambda: True
        return
    from nightgrid.workers.processes import die_with_parent, end_group

    # A session of its own: Ctrl-C comes to the parent, which ends this process and its children.
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, *missing],
        stdin=subprocess.DEVNULL,
        env=dict(env),
        start_new_session=True,
        preexec_fn=partial(die_with_parent, parent=os.getpid()),  # noqa: PLW1509
    )

    def ready() -> bool:
        code = process.poll()
        if code:
            raise TransientError(f"the kernels of {', '.join(missing)} could not be compiled")
        return code == 0

    try:
        yield ready
    finally:
        end_group(process, (signal.SIGINT, ENDING_SECONDS))


def main() -> int:
    """Compile the kernels of the games that are named, as a program."""
    from nightgrid.service.terminal.console import complain, prepare_streams
    from nightgrid.service.terminal.progress import warm_games

    # A shell that starts its parent with & has it ignore SIGINT, which is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    prepare_streams()
    try:
        warm_games(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - one line instead of a traceback
        complain(f"{type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

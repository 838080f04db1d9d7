"""Processes end with their parent, without a message."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import os, signal
from nightgrid.solvers.child_processes import pool_of

if __name__ == "__main__":
    with pool_of(1) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_leaves_no_words_on_the_terminal(tmp_path: Path) -> None:
    program = tmp_path / "killed.py"
    program.write_text(CODE)

    # Standard error ends with the last process that has it open.
    done = subprocess.run(
        [sys.executable, str(program)],
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (-9, b"")

"""A lock is held by one process and given back by its end, however it ends."""

import subprocess
import sys

import pytest

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.processes import alone

HOLD = """
import sys, time
from pathlib import Path
from nightgrid.workers.processes import alone
with alone(Path(sys.argv[1]), "night", "taken"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_has_one_holder_and_outlives_none(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(TransientError, match="taken"), alone(tmp_path, "night", "taken"):
            pass
        with alone(tmp_path, "another", "taken"):
            pass
        holder.kill()
        holder.wait()
    with alone(tmp_path, "night", "taken"):
        pass

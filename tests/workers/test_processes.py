"""A lock is held by one process and given back by its end, however it ends."""

import subprocess
import sys

import pytest

from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.processes import locked

HOLD = """
import sys, time
from pathlib import Path
from nightgrid.workers.processes import locked
with locked(Path(sys.argv[1]), "night", "taken"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_has_one_holder_and_outlives_none(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(TransientError, match="taken"), locked(tmp_path, "night", "taken"):
            pass
        with locked(tmp_path, "another", "taken"):
            pass
        holder.kill()
        holder.wait()
    with locked(tmp_path, "night", "taken"):
        pass


def test_a_side_folder_that_cannot_be_made_is_named_with_the_setting(tmp_path):
    (tmp_path / "var").touch()
    told = rf"^{tmp_path}/var/lake, the folder .* \(Not a directory\); NIGHTGRID_VAR_DIR names"
    with pytest.raises(PermanentError, match=told), locked(tmp_path / "var" / "lake", "night", ""):
        pass

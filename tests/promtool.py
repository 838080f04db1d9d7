"""promtool, which checks and tests alert rules as Prometheus reads them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

INSTALL = "install it with `apt-get install prometheus`, or name its program in PROMTOOL"


def promtool(*arguments: str | Path) -> str:
    """Run it, and give what it says; without one, the test fails in CI and is skipped elsewhere."""
    found = os.environ.get("PROMTOOL") or shutil.which("promtool")
    if found is None:
        reason = f"there is no promtool to check rules with: {INSTALL}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run(
        [found, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

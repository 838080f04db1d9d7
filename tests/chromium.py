"""The Chromium for tests of the page and of reports."""

from __future__ import annotations

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
INSTALL = "install it with `apt-get install chromium`, or name its program in CHROMIUM"


def chromium() -> str:
    """Find the browser; without one, the test fails in CI and is skipped elsewhere."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = f"there is no Chromium: {INSTALL}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found

"""The tests that one process runs in sequence."""

from __future__ import annotations

WAITING_FOLDERS = ("tests/workers", "tests/flows", "tests/fifth_game", "tests/service/web")
"""Folders whose tests share a server, in the order in which they begin."""
ALONE = (
    "tests/flows/count/",
    "tests/flows/night/",
    "tests/workers/chunks/",
    "tests/workers/driver/",
    "tests/workers/runs/",
)
"""Slow files in these folders whose tests start few workers or none."""


def share_of(nodeid: str) -> str:
    """Name the group of a test, whose tests one process runs in sequence: a file or a folder."""
    file = nodeid.split("::", maxsplit=1)[0]
    folders = [folder for folder in WAITING_FOLDERS if file.startswith(f"{folder}/")]
    return folders[0] if folders and not file.startswith(ALONE) else file

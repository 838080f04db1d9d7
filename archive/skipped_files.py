"""Damaged and foreign files that readers skipped, to be reported at the end of a command."""

from __future__ import annotations

import threading

_files: dict[str, str] = {}
_lock = threading.Lock()


def skip_file(path: str, why: object) -> None:
    """Record that a file was skipped, and why in one sentence."""
    with _lock:
        _files[path] = " ".join(str(why).split())


def skipped_files() -> dict[str, str]:
    """Return the files skipped since they were last reported, by path."""
    with _lock:
        return dict(_files)


def forget(*paths: str) -> None:
    """Forget files that were reported or repaired."""
    with _lock:
        for path in paths:
            _files.pop(path, None)

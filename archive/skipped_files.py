"""Damaged and foreign files that a reader went on without: a door names them at its end."""

from __future__ import annotations

import threading

_files: dict[str, str] = {}
_lock = threading.Lock()


def skip_file(path: str, why: object) -> None:
    """Remember that a file was left out, and why in one sentence."""
    with _lock:
        _files[path] = " ".join(str(why).split())


def skipped_files() -> dict[str, str]:
    """Return which files were left out since they were named last, by path."""
    with _lock:
        return dict(_files)


def forget(*paths: str) -> None:
    """Forget files: they were named, or mended."""
    with _lock:
        for path in paths:
            _files.pop(path, None)

"""Child processes that leave Ctrl-C to their parent, and never outlive it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

SILENT = "ignore:resource_tracker:UserWarning"
"""Silences the resource tracker's warning after a killed process."""


@contextmanager
def pool_of(
    processes: int, prepare: Callable[..., None] | None = None, *given: Any
) -> Iterator[ProcessPoolExecutor]:
    """Open a pool; whatever ends the body, its processes end too.

    Each process calls `prepare` with what is given before its first task.
    """
    _begin_tracker()
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        processes, mp_context=context, initializer=begin, initargs=(prepare, *given)
    )
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_tracker() -> None:
    """Start Python's resource tracker, which warns on the terminal if we are killed.

    It still cleans up semaphores; its warnings are set when it starts.
    """
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = SILENT if not before else f"{before},{SILENT}"
    try:
        resource_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def begin(prepare: Callable[..., None] | None = None, *given: Any) -> None:
    """Ignore Ctrl-C, and exit when the parent exits, however that happens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if prepare is not None:
        prepare(*given)
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

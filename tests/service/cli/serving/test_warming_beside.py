"""Kernels are compiled in a process that reports when they are ready, and ends with its parent."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from nightgrid.service.cli.serving.worker import warming_beside
from nightgrid.solvers import warming
from nightgrid.solvers.errors import TransientError
from tests.service.scenes import environment


def test_nothing_is_started_for_kernels_that_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "is_compiled", lambda _: True)
    with warming_beside(["pips"], {}) as ready:
        assert ready()


def test_kernels_that_cannot_be_compiled_are_reported(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warming, "is_compiled", lambda _: False)
    with (
        warming_beside(["no-game"], environment()) as ready,
        pytest.raises(TransientError, match="no-game"),
    ):
        _until(ready)
    err = capfd.readouterr().err
    assert "no-game" in err
    assert err.count("\n") == 1, "one line, no traceback"


def _until(ready: Callable[[], bool]) -> None:
    while not ready():
        time.sleep(0.05)

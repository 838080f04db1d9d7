"""Warnings reach people as one line, without places in the program."""

from __future__ import annotations

import warnings

import pytest

from nightgrid.service.cli import app


def test_a_warning_of_this_program_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    own = str(app._PACKAGE / "solvers" / "kernel" / "compiling.py")
    app._show_warning("kernels cannot be kept", RuntimeWarning, own, 7)
    assert capsys.readouterr().err == "nightgrid: warning: kernels cannot be kept\n"


def test_a_warning_of_a_library_stays_as_python_shows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[tuple[object, ...]] = []
    monkeypatch.setattr(app, "_python_shows", lambda *told: shown.append(told))
    app._show_warning("old", DeprecationWarning, warnings.__file__, 3)
    assert shown == [("old", DeprecationWarning, warnings.__file__, 3, None, None)]

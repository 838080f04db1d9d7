"""The report for people: every night writes it, and its failure does not fail the night."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.report import REPORT_PATH
from nightgrid.flows.night.settings import NightSettings
from nightgrid.flows.runs import Watch
from nightgrid.service.report import page as report_page


def test_a_night_that_no_door_has_started_leaves_its_report(
    source: Callable[[int], Path], night: Callable[..., NightSettings]
):
    settings = night(source(1))
    work_night(settings)
    first = settings.lake.read_bytes(REPORT_PATH)
    assert first.startswith(b"<!doctype html>")

    work_night(settings)
    assert settings.lake.read_bytes(REPORT_PATH) == first, "an idle night leaves it"


@pytest.mark.parametrize("fault", [ValueError("a bad row"), OSError("no space")], ids=str)
def test_a_report_that_fails_affects_only_the_report(
    source: Callable[[int], Path],
    night: Callable[..., NightSettings],
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
):
    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr(report_page, "write_nightly_report", fail)
    notes: list[str] = []
    settings = night(source(1))

    done = work_night(settings, Watch(on_note=notes.append))

    assert done.games[0].solved == 3
    assert notes == [f"no report was written: {fault}"]
    assert not settings.lake.exists(REPORT_PATH)

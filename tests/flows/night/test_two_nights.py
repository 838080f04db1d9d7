"""The short form of the two nights of `benchmarks/chaos/lakes/suite.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.chaos.lakes import nights as chaos_nights
from benchmarks.chaos.lakes.nights import Field, Found


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Field:
    return Field.make(tmp_path_factory.mktemp("field"))


def is_good(found: Found) -> bool:
    return found.struck > 0 and not (found.lost or found.doubled or found.differing or found.bad)


@pytest.mark.parametrize("first", [40, 120])
def test_two_whole_nights_alternating_lose_no_board_and_later_nights_work(
    field: Field, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """Given two nights whose leases fail them, When steps alternate, Then the next has all."""
    monkeypatch.setattr(chaos_nights, "ORDERS", [first])
    assert is_good(chaos_nights.in_forced_orders(field, tmp_path))

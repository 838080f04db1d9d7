"""Bars of shares, and the distribution of a count."""

from __future__ import annotations

import pytest

from nightgrid.service.cli.count import SPREAD_CHARS, say_spread
from nightgrid.service.drawing import bar


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0, ""),
        (0.0001, ""),
        (0.004, "▏"),
        (1 / 40, "█"),
        (0.0375, "█▌"),
        (0.5, "█" * 20),
        (1, "█" * 40),
    ],
)
def test_bars_are_drawn_to_an_eighth_of_a_character(share: float, expected: str) -> None:
    assert bar(share, 40) == expected


def test_shares_that_differ_have_bars_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    say_spread("solutions", [("0", 3), ("1", 5_000), ("2 to 9", 9_957), ("10 to 99", 40)])
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]
    assert [row[2:] for row in cells if len(row) == 4] == [
        ["< 0.1 %", ""],
        ["33.3 %", "█" * 15 + "▏"],
        ["66.4 %", "█" * SPREAD_CHARS],
        ["0.3 %", "▏"],
    ]

"""On a narrow terminal no column is left out and no word broken: rows become records."""

from __future__ import annotations

import pytest

from nightgrid.service.cli.listing import SHOWN
from nightgrid.service.terminal import colour
from nightgrid.service.terminal.console import say_table

WHY = "the budget of nodes ran out; --budget-nodes gives it more, and smaller parts may help"
ROWS = {
    "results": {
        "puzzle": "pips/2026-01-05/medium",
        "ask": "count",
        "status": "over_budget",
        "count": "12,345,678",
        "seconds": "90.0 s",
        "reason|hint": WHY,
    },
    "quarantine": {
        "game": "letterboxed",
        "date": "2026-01-05",
        "source": "2026-01-05.json",
        "rule": "print-date-mismatch",
        "place": "yesterdaysSolution",
        "message": "expected the words of themeWords, and not 2026-01-04",
    },
}


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("kind", sorted(ROWS))
def test_every_heading_and_every_word_is_there(
    kind: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(colour, "PIPED_WIDTH_CHARS", width)
    headings, cells = list(SHOWN[kind].values()), list(ROWS[kind].values())
    say_table(headings, [cells, cells], whole=1)
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    for heading in headings:
        assert heading in words
    for word in " ".join(cells).split():
        assert words.count(word) >= 2, word
    assert ("┏" in out) == (width == 200)


def test_a_table_that_just_fits_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [["a" * 20, "b" * 20]]
    monkeypatch.setattr(colour, "PIPED_WIDTH_CHARS", 47)
    say_table(["x", "y"], rows, title="both")
    monkeypatch.setattr(colour, "PIPED_WIDTH_CHARS", 46)
    assert "┏" in capsys.readouterr().out
    say_table(["x", "y"], [*rows, ["", "c"]], title="both")
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["both", f"x  {'a' * 20}", f"y  {'b' * 20}", "", "y  c", ""]


def test_a_word_that_is_longer_than_the_terminal_stays_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(colour, "PIPED_WIDTH_CHARS", 30)
    path = f"results/{'a' * 60}.parquet"
    say_table(["file", "what"], [[path, "it is damaged and is made again"]])
    assert capsys.readouterr().out.splitlines() == [
        f"file  {path}",
        "what  it is damaged and is",
        "      made again",
        "",
    ]

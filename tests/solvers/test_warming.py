"""Kernels are compiled ahead of time, and a mark records it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightgrid.solvers import warming
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.kernel import compiling
from nightgrid.solvers.tiles.game import TilesGame


def test_a_game_is_compiled_once_it_was_warmed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compiling, "cache_dir", lambda: tmp_path)
    warmed = []

    def note(self: TilesGame) -> None:
        warmed.append(self)

    monkeypatch.setattr(TilesGame, "warm", note)
    assert not warming.is_compiled("tiles")
    assert warming.warm("tiles") >= 0
    assert len(warmed) == 1
    assert warming.is_compiled("tiles")
    assert not warming.is_compiled("pips")


def test_a_game_whose_kernels_fail_is_not_marked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compiling, "cache_dir", lambda: tmp_path)

    def fail(self: TilesGame) -> None:
        raise MemoryError

    monkeypatch.setattr(TilesGame, "warm", fail)
    with pytest.raises(MemoryError):
        warming.warm("tiles")
    assert not warming.is_compiled("tiles")


def test_an_unknown_game_is_refused() -> None:
    with pytest.raises(PermanentError, match="unknown game"):
        warming.warm("chess")


@pytest.mark.slow
def test_games_are_warmed_in_processes_of_their_own() -> None:
    done = dict(warming.warm_side_by_side(["tiles", "letterboxed"], 2))
    assert done.keys() == {"tiles", "letterboxed"}
    assert all(warming.is_compiled(name) for name in done)

"""Kernels are compiled ahead, and a mark says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightgrid.solvers import warming
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.kernel import compiling
from nightgrid.solvers.registry import GAMES, game_plug
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


@pytest.mark.parametrize("name", GAMES)
def test_about_as_many_kernels_are_compiled_as_a_game_says(name: str) -> None:
    warming.warm(name)
    own = _compiled_of(name)
    # Rare kernels and those of tests are among what lies there.
    assert own / 2 <= game_plug(name).kernel_count <= own * 1.2
    assert _compiled_of("kernel") / 2 <= warming.SHARED_KERNEL_COUNT
    assert warming.kernels_of([name]) == warming.SHARED_KERNEL_COUNT + game_plug(name).kernel_count


def _compiled_of(package: str) -> int:
    """Count the kernels on disk of a package of the solvers, as its sources are now."""
    solvers = Path(compiling.__file__).resolve().parents[1]
    found = 0
    for source in (solvers / package).rglob("*.py"):
        module = "-".join(source.relative_to(solvers).with_suffix("").parts)
        folder = compiling.cache_dir() / f"{module}-{compiling.source_digest(source.resolve())}"
        found += sum(1 for _ in folder.rglob("*.nbc"))
    return found

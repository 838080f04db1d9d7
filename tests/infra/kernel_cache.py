"""Compiled kernels of this machine, where a container or an image of a test looks for them."""

from __future__ import annotations

import shutil
from pathlib import Path

from nightgrid.solvers import kernel, warming
from nightgrid.solvers.kernel.compiling import SourceCacheLocator, cache_dir
from nightgrid.solvers.registry import GAMES, game


def copy_kernels(cache_home: Path) -> None:
    """Fill a folder for XDG_CACHE_HOME as `nightgrid warmup` leaves it."""
    for name in GAMES:
        game(name).warm()
        assert warming.warm(name) >= 0
    source, target = cache_dir(), cache_home / "nightgrid" / "kernels"
    target.mkdir(parents=True, exist_ok=True)
    solvers = Path(kernel.__file__).resolve().parents[1]
    names = {SourceCacheLocator.get_suitable_cache_subpath(str(p)) for p in solvers.rglob("*.py")}
    for name in names:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
    for mark in source.glob("*.compiled"):
        shutil.copy2(mark, target)

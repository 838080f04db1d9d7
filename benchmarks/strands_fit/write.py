"""Write fitted weights as the ranking reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.ranking.features import Learned
from nightgrid.archive.games.strands.ranking.weights import vocabulary_here


def write_weights(
    folder: Path, name: str, text: Mapping[str, Any], wordness: npt.NDArray[Any],
    learned: Learned,
) -> None:  # fmt: skip
    """Write fitted weights as two files; the provenance includes the versions of the vocabulary."""
    folder.mkdir(parents=True, exist_ok=True)
    provenance = {**text["provenance"], "vocabulary": vocabulary_here()}
    body = json.dumps(
        {"name": name, **text, "provenance": provenance}, indent=2, ensure_ascii=False
    )
    (folder / f"{name}.json").write_text(f"{body}\n")
    phrases: dict[str, Any] = {
        key: array.astype(np.float16) for key, array in learned.phrases.arrays().items()
    }
    np.savez_compressed(
        folder / f"{name}.npz",
        wordness=wordness.astype(np.float16),
        basis=learned.plda.basis.astype(np.float16),
        spread=learned.plda.spread.astype(np.float32),
        **phrases,
    )

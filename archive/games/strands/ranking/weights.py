"""Fitted weights: a file with where they come from, and one of arrays beside it."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.ranking.features import FEATURES, Learned
from nightgrid.archive.games.strands.ranking.phrases import Phrases
from nightgrid.archive.games.strands.ranking.plda import Plda
from nightgrid.archive.games.strands.ranking.themes import SO_FAR, THEME
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.strands.ranking.weighed_terms import WeighedTerms

FOLDER = Path(__file__).parent / "fitted"
NAME = "meant-12"
"""The weights that are used unless others are named. A refit takes a new name, and so does a change
of what is ranked: stored ranks say which weights they come from. They are fitted on all boards at
hand. Those of JUDGED are fitted in the same way without the last ones, which judge both."""
JUDGED = "meant-11"
VOCABULARY_PACKAGES = ("wordfreq", "symspellpy")
"""Packages whose lists the vocabulary is made of."""
OTHER_VOCABULARY = "+"
"""Stands in the name of a ranker before the versions of packages that its weights do not know."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """Everything that was fitted, for one version of terms and features."""

    name: str
    provenance: Mapping[str, Any]
    """The command, the boards by date, the vocabulary, the model and what was chosen how."""
    search: WeighedTerms
    """With what the model knows of words."""
    search_alone: WeighedTerms
    """Fitted without the model."""
    cover: npt.NDArray[np.float64]
    """float64[FEATURES]: nats for a unit of each feature of a cover."""
    theme: npt.NDArray[np.float64]
    """float64[1 + THEME]: nats for one of the score so far, and for a unit of each feature."""
    alone_temperature: float
    """Divisor of scores of `search_alone` before they become probabilities."""
    wordness: npt.NDArray[np.float32]
    """float32[DIMENSIONS]: likeness to words that boards use."""
    learned: Learned


@lru_cache(maxsize=4)
def fitted_weights(name: str = NAME) -> Weights:
    """Open fitted weights by name. Raises PermanentError for ones that are not there."""
    try:
        text: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_bytes())
        arrays = dict(np.load(FOLDER / f"{name}.npz", allow_pickle=False))
    except OSError as error:
        known = ", ".join(sorted(path.stem for path in FOLDER.glob("*.json")))
        raise PermanentError(f"no fitted weights {name!r:.40}; expected one of {known}") from error
    return Weights(
        name=text["name"],
        provenance=text["provenance"],
        search=WeighedTerms(f"{text['name']} search", text["search"]),
        search_alone=WeighedTerms(f"{text['name']} alone", text["search_alone"]),
        cover=np.array([float(text["cover"].get(feature, 0)) for feature in FEATURES]),
        theme=np.array([float(text["theme"][name]) for name in (SO_FAR, *THEME)]),
        alone_temperature=float(text["alone_temperature"]),
        wordness=arrays["wordness"].astype(np.float32),
        learned=Learned(
            plda=Plda(
                basis=arrays["basis"].astype(np.float64),
                spread=arrays["spread"].astype(np.float64),
            ),
            phrases=Phrases.of(arrays),
        ),
    )


def name_here(name: str = NAME) -> str:
    """Name weights as they rank on this machine: with the versions of other lists of words.

    Ranks that were made with another vocabulary are not taken for those of these weights.
    """
    fitted, here = (provenance_of(name) or {}).get("vocabulary"), vocabulary_here()
    if fitted in (None, here):
        return name
    return name + "".join(f"{OTHER_VOCABULARY}{package}-{here[package]}" for package in here)


def vocabulary_here() -> dict[str, str]:
    """Name the versions of the packages that the vocabulary is made of on this machine."""
    return {package: importlib.metadata.version(package) for package in VOCABULARY_PACKAGES}


def provenance_of(name: str) -> Mapping[str, Any] | None:
    """Read where fitted weights come from, and nothing else of them; None: they are not here.

    `name` may be one of `name_here`.
    """
    name = name.partition(OTHER_VOCABULARY)[0]
    if name not in {path.stem for path in FOLDER.glob("*.json")}:
        return None
    provenance: Mapping[str, Any] = json.loads((FOLDER / f"{name}.json").read_bytes())["provenance"]
    return provenance


def write_weights(
    folder: Path, name: str, text: Mapping[str, Any], wordness: npt.NDArray[Any],
    learned: Learned,
) -> None:  # fmt: skip
    """Write fitted weights as two files; the versions of the vocabulary go into the provenance."""
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

"""Fitted weights: a file with their provenance, and one with their arrays."""

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
NAME = "meant-14"
"""The default weights. A refit gets a new name, and so does a change of the ranked features: stored
ranks state their weights. They are fitted on all available boards. Those of JUDGED are fitted in
the same way without the last boards, which judge both."""
JUDGED = "meant-13"
VOCABULARY_PACKAGES = ("wordfreq", "symspellpy", "spylls")
"""Packages whose lists make up the vocabulary."""
OTHER_VOCABULARY = "+"
"""Separates the name of a ranker from package versions that its weights were not fitted with."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """All fitted parameters, for one version of terms and features."""

    name: str
    provenance: Mapping[str, Any]
    """The command, the boards by date, the vocabulary, the model and the choices made."""
    search: WeighedTerms
    """With the model's terms of words."""
    search_alone: WeighedTerms
    """Fitted without the model."""
    cover: npt.NDArray[np.float64]
    """float64[FEATURES]: nats for a unit of each feature of a cover."""
    theme: npt.NDArray[np.float64]
    """float64[1 + THEME]: nats for one unit of the score so far, and of each feature."""
    alone_temperature: float
    """Divisor of scores of `search_alone` before they become probabilities."""
    wordness: npt.NDArray[np.float32]
    """float32[DIMENSIONS]: likeness to words that boards use."""
    learned: Learned


@lru_cache(maxsize=4)
def fitted_weights(name: str = NAME) -> Weights:
    """Open fitted weights by name. Raises PermanentError for unknown ones."""
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
    """Return the name of weights on this machine, with the versions of differing word lists.

    Ranks made with another vocabulary do not count as those of these weights.
    """
    fitted, here = (provenance_of(name) or {}).get("vocabulary"), vocabulary_here()
    if fitted in (None, here):
        return name
    return name + "".join(f"{OTHER_VOCABULARY}{package}-{here[package]}" for package in here)


def vocabulary_here() -> dict[str, str]:
    """Return the versions of the packages of the vocabulary on this machine."""
    return {package: importlib.metadata.version(package) for package in VOCABULARY_PACKAGES}


def provenance_of(name: str) -> Mapping[str, Any] | None:
    """Read only the provenance of fitted weights; None if they are not here.

    `name` may be one of `name_here`.
    """
    name = name.partition(OTHER_VOCABULARY)[0]
    if name not in {path.stem for path in FOLDER.glob("*.json")}:
        return None
    provenance: Mapping[str, Any] = json.loads((FOLDER / f"{name}.json").read_bytes())["provenance"]
    return provenance

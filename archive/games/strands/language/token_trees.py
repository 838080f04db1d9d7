"""Texts as a tree of tokens: what several begin with stands in it once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TokenTree:
    """Tokens in an order in which each stands behind its parent."""

    ids: I64
    """int64[tokens]: the number of each token in its vocabulary."""
    parents: I64
    """int64[tokens]: the token before each; -1 for first ones."""
    depths: I64
    """int64[tokens]: how many tokens stand before each."""
    paths: list[I64]
    """The tokens of each text, by their place in the tree."""

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]]) -> TokenTree:
        """Make the tree of texts, each a list of numbers of tokens."""
        places: dict[tuple[int, int], int] = {}
        ids: list[int] = []
        parents: list[int] = []
        depths: list[int] = []
        paths = []
        for text in texts:
            at, path = -1, []
            for depth, token in enumerate(text):
                place = places.setdefault((at, token), len(ids))
                if place == len(ids):
                    ids.append(token)
                    parents.append(at)
                    depths.append(depth)
                at = place
                path.append(place)
            paths.append(np.array(path, np.int64))
        return cls(
            ids=np.array(ids, np.int64), parents=np.array(parents, np.int64),
            depths=np.array(depths, np.int64), paths=paths,
        )  # fmt: skip

    def sees(self) -> npt.NDArray[np.bool_]:
        """Tell which tokens stand before which, or are the same: bool[tokens, tokens]."""
        seen = np.eye(len(self.ids), dtype=np.bool_)
        for token, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                seen[token] |= seen[parent]
        return seen

"""How much likelier words are as one theme than as strangers: probabilistic discriminants.

A theme has a centre, and its words lie around it: words of one theme spread as WITHIN says, centres
as BETWEEN says. Both are learned from sets of words that were published together, in the space of
the main directions of the vocabulary, and are diagonal there after one change of basis. Method:
Ioffe, "Probabilistic Linear Discriminant Analysis", ECCV 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plda:
    """The learned basis, in which words of one theme spread by 1 in every direction."""

    basis: F64
    """float64[DIMENSIONS, directions]: what vectors are multiplied with."""
    spread: F64
    """float64[directions]: how centres spread."""

    def project(self, vectors: npt.NDArray[np.float32]) -> F64:
        """Turn centred vectors into the basis."""
        projected: F64 = vectors.astype(np.float64) @ self.basis
        return projected

    def together(self, projected: F64) -> float:
        """Return how much likelier (in nats) projected vectors are as one theme than apart."""
        return float(self._joint(projected) - sum(self._joint(row[None]) for row in projected))

    def joins(self, projected: F64) -> F64:
        """Return how much likelier each vector is given the others than alone, in nats."""
        everything = self._joint(projected)
        values = [
            everything - self._joint(np.delete(projected, i, axis=0)) - self._joint(row[None])
            for i, row in enumerate(projected)
        ]
        return np.array(values)

    def _joint(self, x: F64) -> float:
        """Return the log density of vectors of one theme, less a constant a vector."""
        n = len(x)
        if n == 0:
            return 0.0
        total = x.sum(axis=0)
        shared = total**2 * self.spread / (1 + n * self.spread)
        return float(-0.5 * ((x**2).sum() - shared.sum() + np.log1p(n * self.spread).sum()))

"""How much likelier words are as one theme than as unrelated words: probabilistic LDA.

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
    """float64[DIMENSIONS, directions]: the projection."""
    spread: F64
    """float64[directions]: the variances of centres."""

    def project(self, vectors: npt.NDArray[np.float32]) -> F64:
        """Project centred vectors into the basis."""
        projected: F64 = vectors.astype(np.float64) @ self.basis
        return projected

    def together(self, projected: F64) -> F64:
        """Return the log likelihood ratio of one theme against unrelated words, in nats.

        Sets are float64[..., words, directions]; the result is float64[...].
        """
        whole, alone = self._whole(projected), self._alone(projected)
        apart: F64 = whole - alone.sum(axis=-1)
        return apart

    def joins(self, projected: F64) -> F64:
        """Return how much likelier each vector is given the others than alone: [..., words]."""
        count, squares = projected.shape[-2], (projected**2).sum(axis=-1)
        others = projected.sum(axis=-2)[..., None, :] - projected
        rest = self._joint(others, squares.sum(axis=-1)[..., None] - squares, count - 1)
        joins: F64 = self._whole(projected)[..., None] - rest - self._alone(projected)
        return joins

    def _whole(self, projected: F64) -> F64:
        squares = (projected**2).sum(axis=(-2, -1))
        return self._joint(projected.sum(axis=-2), squares, projected.shape[-2])

    def _alone(self, projected: F64) -> F64:
        return self._joint(projected, (projected**2).sum(axis=-1), 1)

    def _joint(self, total: F64, squares: F64, n: int) -> F64:
        """Return the log density of n vectors of one theme, less a constant a vector.

        `total` is their sum, `squares` the sum of their squared lengths.
        """
        shared = (total**2 * (self.spread / (1 + n * self.spread))).sum(axis=-1)
        density: F64 = -0.5 * (squares - shared + np.log1p(n * self.spread).sum())
        return density

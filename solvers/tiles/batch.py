"""Decide many boards in one call: does every feature stand on an even number of tiles?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import search_kernel

_ONE = np.uint64(1)
_LOW_BITS = np.uint64(63)
_WORD_SHIFT = np.uint64(6)


@search_kernel
def decide_rows(
    feature: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    parity: npt.NDArray[np.uint64],
    solvable: npt.NDArray[np.bool_],
) -> None:
    """Write for each row whether it is solvable (article 000, Theorem 4), in linear time.

    `feature` (int32) holds the rows' features, numbers below 64 * len(parity); row i is
    feature[offsets[i]:offsets[i + 1]]. `parity` is scratch, uint64, all zero before and after.
    """
    for row in range(len(offsets) - 1):
        start, stop = offsets[row], offsets[row + 1]
        if len(parity) == 1:
            word = np.uint64(0)
            for i in range(start, stop):
                word ^= _ONE << np.uint64(feature[i])
            solvable[row] = word == 0
            continue
        odd = 0
        for i in range(start, stop):
            number = np.uint64(feature[i])
            bit = _ONE << (number & _LOW_BITS)
            parity[number >> _WORD_SHIFT] ^= bit
            odd += 1 if parity[number >> _WORD_SHIFT] & bit else -1
        solvable[row] = odd == 0
        if odd:
            for i in range(start, stop):
                parity[np.uint64(feature[i]) >> _WORD_SHIFT] = 0

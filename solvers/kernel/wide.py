"""128-bit counts in kernels, as two uint64 words (hi, lo). They saturate and never wrap.

A saturated count stays the largest value through all later steps, so that a result that is too
large is detected, while a large intermediate count in a dead end does no harm.
"""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.compiling import kernel

FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_HALF = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)

# 10**38, one more than the largest count that an outcome holds.
LIMIT_HI = np.uint64(10**38 >> 64)
LIMIT_LO = np.uint64(10**38 & (2**64 - 1))


@kernel
def add(
    hi_a: np.uint64, lo_a: np.uint64, hi_b: np.uint64, lo_b: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Add two counts."""
    lo = lo_a + lo_b
    carry = _ONE if lo < lo_a else _ZERO
    hi = hi_a + hi_b
    over = hi < hi_a
    hi += carry
    if over or (carry == _ONE and hi == _ZERO):
        return FULL, FULL
    return hi, lo


@kernel
def times_over(
    hi: np.uint64, lo: np.uint64, factor: np.uint64, divisor: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Multiply a count by `factor` and divide by `divisor`, both below 2**32, without remainder.

    The product may need 160 bits; only a quotient beyond 128 bits saturates.
    """
    if hi == FULL and lo == FULL:
        return hi, lo
    # Five 32-bit limbs, least significant first.
    a0 = (lo & _HALF) * factor
    a1 = (lo >> _32) * factor + (a0 >> _32)
    a2 = (hi & _HALF) * factor + (a1 >> _32)
    a3 = (hi >> _32) * factor + (a2 >> _32)
    top = a3 >> _32
    if divisor == _ONE:
        if top:
            return FULL, FULL
        return (a3 << _32) | (a2 & _HALF), (a1 << _32) | (a0 & _HALF)
    if top >= divisor:
        return FULL, FULL
    rest = (top << _32) | (a3 & _HALF)
    q3 = rest // divisor
    rest = ((rest % divisor) << _32) | (a2 & _HALF)
    q2 = rest // divisor
    rest = ((rest % divisor) << _32) | (a1 & _HALF)
    q1 = rest // divisor
    rest = ((rest % divisor) << _32) | (a0 & _HALF)
    q0 = rest // divisor
    return (q3 << _32) | q2, (q1 << _32) | q0


@kernel
def over_limit(hi: np.uint64, lo: np.uint64) -> bool:
    """Return whether a count is 10**38 or more."""
    return bool(hi > LIMIT_HI or (hi == LIMIT_HI and lo >= LIMIT_LO))


@kernel
def times(
    hi_a: np.uint64, lo_a: np.uint64, hi_b: np.uint64, lo_b: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Multiply two counts."""
    if (hi_a | lo_a) == _ZERO or (hi_b | lo_b) == _ZERO:
        return _ZERO, _ZERO
    if hi_a != _ZERO and hi_b != _ZERO:  # noqa: PLR1714  plain for the compiler
        return FULL, FULL
    hi, lo = _times_words(lo_a, lo_b)
    for high, low in ((hi_a, lo_b), (hi_b, lo_a)):
        if high != _ZERO:
            over, cross = _times_words(high, low)
            hi += cross
            if over != _ZERO or hi < cross:
                return FULL, FULL
    return hi, lo


@kernel
def _times_words(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    a0, a1 = a & _HALF, a >> _32
    b0, b1 = b & _HALF, b >> _32
    low = a0 * b0
    middle = a1 * b0 + (low >> _32)
    other = a0 * b1 + (middle & _HALF)
    return a1 * b1 + (middle >> _32) + (other >> _32), (other << _32) | (low & _HALF)

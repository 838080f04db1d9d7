"""Machine-level operations of kernels: instructions on bits and on the cache, and the clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from nightgrid.solvers.kernel.compiling import I64, Int, kernel

ZERO, ONE = np.uint64(0), np.uint64(1)
"""Constants for bit operations: combined with an int, a uint64 would become a float64."""


def _popcount(typingctx: Any, word: Any) -> tuple[Signature, Any]:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


popcount: Callable[[np.uint64], Any] = intrinsic(_popcount)
"""Count the one bits of a uint64, as int64."""


def _trailing_zeros(typingctx: Any, word: Any) -> tuple[Signature, Any]:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir

        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


trailing_zeros: Callable[[np.uint64], Any] = intrinsic(_trailing_zeros)
"""Count the zero bits below the lowest one bit of a uint64, as int64; 64 for zero."""


def _prefetch(typingctx: Any, array: Any, element: Any) -> tuple[Signature, Any]:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir

        view = context.make_array(signature.args[0])(context, builder, args[0])
        item = builder.gep(view.data, [args[1]])
        line = builder.bitcast(item, ir.IntType(8).as_pointer())
        flags = [ir.Constant(ir.IntType(32), flag) for flag in (1, 3, 1)]
        parameters = [line.type, *(flag.type for flag in flags)]
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [line.type], ir.FunctionType(ir.VoidType(), parameters)
        )
        builder.call(function, [line, *flags])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


prefetch: Callable[[npt.NDArray[Any], Any], None] = intrinsic(_prefetch)
"""Prefetch the cache line of an element of a contiguous array, counted from its start.

The element may be out of bounds: a prefetch never faults.
"""

_CLOCK_MONOTONIC = 6 if sys.platform == "darwin" else 1
# Resolved from the C library by name, which unlike a ctypes pointer can be cached on disk.
_clock_gettime = types.ExternalFunction(
    "clock_gettime", types.int32(types.int32, types.CPointer(types.int64))
)


CLOCK_WORDS = 3
STOP_AT = 2
"""A clock is int64[CLOCK_WORDS]: two words of scratch, and the address of a stop, or 0."""


def _load(typingctx: Any, address: Any) -> tuple[Signature, Any]:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir

        cell = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        # Atomic: another thread writes it, and a loop must reload it.
        return builder.load_atomic(cell, "monotonic", 8)

    return types.int64(types.int64), codegen


_load_int64: Callable[[Any], Any] = intrinsic(_load)
"""Read the int64 at an address."""


@kernel
def monotonic_ns(clock: I64) -> int:
    """Read the monotonic clock in nanoseconds."""
    _clock_gettime(np.int32(_CLOCK_MONOTONIC), clock.ctypes)
    return clock[0] * 1_000_000_000 + clock[1]


@kernel
def is_stopped(address: Int) -> bool:
    """Return whether a solve was told to stop; `address` is a budget's `stop_address`."""
    return bool(address != 0 and _load_int64(np.int64(address)) != 0)


@kernel
def is_late(clock: I64, deadline_ns: Int) -> bool:
    """Return whether a deadline on the monotonic clock has passed, or the solve has to stop."""
    return bool(is_stopped(clock[STOP_AT]) or monotonic_ns(clock) > deadline_ns)

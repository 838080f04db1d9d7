"""What kernels ask of the machine: single instructions on bits and on the cache, and its clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from nightgrid.solvers.kernel.compiling import I64, kernel

ZERO, ONE = np.uint64(0), np.uint64(1)
"""What words of bits are combined with: with an int, a uint64 becomes a float64."""


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
"""Ask for the cache line of an element of a contiguous array, counted from its start.

The element may lie anywhere: a prefetch never faults.
"""

_CLOCK_MONOTONIC = 6 if sys.platform == "darwin" else 1
# Resolved from the C library by name, which unlike a ctypes pointer can be cached on disk.
_clock_gettime = types.ExternalFunction(
    "clock_gettime", types.int32(types.int32, types.CPointer(types.int64))
)


@kernel
def monotonic_ns(timespec: I64) -> int:
    """Read the monotonic clock in nanoseconds; `timespec` is scratch, int64[2]."""
    _clock_gettime(np.int32(_CLOCK_MONOTONIC), timespec.ctypes)
    return timespec[0] * 1_000_000_000 + timespec[1]

"""Bit operations that compile to one machine instruction each."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic


@intrinsic
def popcount(typingctx: Any, word: Any) -> tuple[Signature, Any]:
    """Count the one bits of a uint64, as int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx: Any, word: Any) -> tuple[Signature, Any]:
    """Count the zero bits below the lowest one bit of a uint64, as int64; 64 for zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir

        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen

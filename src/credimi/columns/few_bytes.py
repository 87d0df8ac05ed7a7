"""Texts as integers: eight bytes at a time, and keys of texts of any length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.compile.jit import NDArray, inlined, intrinsic, ir, types

if TYPE_CHECKING:
    ByteArray = NDArray[Any]  # of bytes


LOAD = 8  # bytes that are read at once
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: it spreads neighbours
OTHER_MULTIPLIER = np.uint64(0xC2B2AE3D27D4EB4F)


@intrinsic
def eight_bytes(_typing: Any, data: Any, at: Any) -> Any:
    """The eight bytes from index `at` on, as an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        value = builder.load(builder.bitcast(builder.gep(start, [arguments[1]]), ir.IntType(64).as_pointer()))
        value.align = 1
        return value

    return types.uint64(data, types.int64), generate


@inlined
def few_bytes(data: ByteArray, start: int, length: int) -> np.uint64:
    """Up to eight bytes as an integer, filled up with 0; never reads beyond the buffer."""
    if start + LOAD <= data.size:
        if length == 0:
            return np.uint64(0)
        return np.uint64(eight_bytes(data, start) & (~np.uint64(0) >> np.uint64(8 * (LOAD - length))))
    key = np.uint64(0)
    for byte in range(length):
        key |= np.uint64(data[start + byte]) << np.uint64(8 * byte)
    return key


@inlined
def keys(data: ByteArray, start: Any, length: Any) -> tuple[np.uint64, np.uint64]:
    """Two keys: the bytes of a text of up to sixteen, or a hash of a longer one and its last eight bytes."""
    if length <= LOAD:
        return few_bytes(data, start, length), np.uint64(0)
    last = few_bytes(data, start + length - LOAD, LOAD)
    key = few_bytes(data, start, LOAD)
    for at in range(start + LOAD, start + length - LOAD, LOAD):
        key = (key ^ (key >> np.uint64(29))) * MULTIPLIER ^ few_bytes(data, at, LOAD)
    return key, last

"""64 bytes at a time: LLVM's vectors, written out where its optimiser would not find them."""

from __future__ import annotations

from typing import Any

from credimi.kernels.jit import intrinsic, ir, types

WORD = 64  # bytes in a vector, and bits in the word that says something of each
INTEGER = ir.IntType(64)
ROWS = ir.VectorType(ir.IntType(8), WORD)
_INDEX = ir.IntType(32)


def splat(builder: Any, scalar: Any, vector: Any) -> Any:
    """The scalar in all lanes."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, _INDEX(0))
    return builder.shuffle_vector(
        first, undefined, ir.Constant(ir.VectorType(_INDEX, vector.count), [0] * vector.count)
    )


def data_of(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """The address of an array's first element."""
    return context.make_array(kind)(context, builder, array).data


def load(builder: Any, pointer: Any, vector: Any) -> Any:
    """A vector from an address that need not be aligned."""
    value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    value.align = 1
    return value


@intrinsic
def equal_bits(_typing: Any, codes: Any, word: Any, value: Any) -> Any:  # noqa: ARG001  (the form of an intrinsic is Numba's)
    """Which of the 64 codes from 64 * word on equal the value, one bit each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        codes, word, value = arguments
        at = builder.gep(data_of(context, builder, signature.args[0], codes), [builder.mul(word, INTEGER(WORD))])
        equal = builder.icmp_unsigned("==", load(builder, at, ROWS), splat(builder, value, ROWS))
        return builder.bitcast(equal, INTEGER)

    return types.uint64(codes, types.int64, types.uint8), generate

"""64 bytes at a time: LLVM's vectors, written out where its optimiser would not use them."""

from __future__ import annotations

from typing import Any

from credimi.compile.jit import intrinsic, ir, types

LLVM = Any  # a type, a value or a builder, as Numba hands them to an intrinsic

WORD = 64  # bytes in a vector, and bits in a word that has one for each of these bytes
INTEGER = ir.IntType(64)
ROWS = ir.VectorType(ir.IntType(8), WORD)
_INDEX = ir.IntType(32)


def splat(builder: LLVM, scalar: LLVM, vector: LLVM) -> LLVM:
    """The scalar in all lanes."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, _INDEX(0))
    return builder.shuffle_vector(
        first, undefined, ir.Constant(ir.VectorType(_INDEX, vector.count), [0] * vector.count)
    )


def data_of(context: LLVM, builder: LLVM, array_type: LLVM, array: LLVM) -> LLVM:
    """The address of an array's first element."""
    return context.make_array(array_type)(context, builder, array).data


def load(builder: LLVM, pointer: LLVM, vector: LLVM) -> LLVM:
    """A vector from an address that need not be aligned."""
    value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    value.align = 1
    return value


@intrinsic
def equal_bits(_typing: LLVM, codes: LLVM, word: LLVM, value: LLVM) -> LLVM:
    """One bit for each of the 64 codes from 64 * word on: whether it equals the value."""

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        codes, word, value = arguments
        at = builder.gep(data_of(context, builder, signature.args[0], codes), [builder.mul(word, INTEGER(WORD))])
        equal = builder.icmp_unsigned("==", load(builder, at, ROWS), splat(builder, value, ROWS))
        return builder.bitcast(equal, INTEGER)

    return types.uint64(codes, types.int64, types.uint8), generate

"""Names for what callers may pass, and for what other libraries return: none of it has a type that could be checked.

Frames, arrays and files come from libraries that are installed or not, and share no class; what they are is found out
when they are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

    AnyArray: TypeAlias = NDArray[Any]  # of numbers, text or objects

Data: TypeAlias = Any  # what `credimi.count` takes, and scikit-learn's X: paths, frames, arrays, lists of rows
Values: TypeAlias = Any  # one column: an array, a series, a list; scikit-learn's y
Value: TypeAlias = Any  # one cell, a label, or a name of pandas, which may be anything hashable
Record: TypeAlias = dict[str, Any]  # plain data, as JSON has it; keywords that are passed on
Option: TypeAlias = Any  # a keyword that is passed on, and checked where it is used
Foreign: TypeAlias = Any  # an object of a library that carries no types, or keeps them to itself

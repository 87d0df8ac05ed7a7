"""The types that every kernel is called with from Python: what is compiled ahead, and what `credimi warm-up` compiles.

A type is a dtype of numpy without its byte order, followed by the dimensions if it is an array: `f8` is a float,
`u1[:]` an array of bytes, `f8[:,:]` a matrix. All arrays are C-contiguous. Parentheses are a tuple of integers, or the
`Workspace` of `information_matrix`. The tests fail if a kernel is called with other types.
"""

from itertools import product

import numpy as np

_TABLES = "f8[:] i8[:] i8[:] i8[:]"  # cells of all tables; offset, rows and columns of each
_WORKSPACE = "(f8[:,:] f8[:,:] f8[:,:,:] f8[:,:,:])"
_CODES = ("u1", "u2", "u4")

SIGNATURES: dict[str, tuple[str, ...]] = {
    "evidence.adaptive_weights.weigh": (f"{_TABLES} i8[:] i8[:] f8 f8 f8 f8 f8 f8[:] f8[:,:] f8[:,:] i8[:]",),
    "evidence.adaptive_weights.augment": (f"{_TABLES} f8 f8[:,:] f8[:,:] i8[:] i8[:] f8[:] f8[:]",),
    "evidence.two_sided_weights.weigh_two_sided": (
        f"{_TABLES} i8[:] i8[:] f8 f8 f8 f8 f8 b1 f8[:] f8[:,:] f8[:,:] i8[:] b1[:] f8[:,:] f8[:,:]",
    ),
    "evidence.occurring.pack_occurring": (f"{_TABLES} b1[:] f8[:] i8[:] i8[:]",),
    "evidence.evidence_at.log_evidence_at": (f"{_TABLES} f8 f8[:] f8[:]",),
    "evidence.evidence_at.log_prior_of_points": (f"{_TABLES} f8 f8 f8 f8[:,:] f8[:]",),
    "moments.many_tables.classify": (f"{_TABLES} i1[:] f8[:]",),
    "moments.leading.leading_one_sided": (f"{_TABLES} f8[:] i8[:] i1[:] f8[:] f8[:]",),
    "moments.side_by_side.matched_complete": (f"{_TABLES} f8[:] i1[:] i8[:] f8[:] f8[:] b1[:]",),
    "moments.many_tables.matched_one_sided": (f"{_TABLES} f8[:] i1[:] i8[:] f8[:] f8[:] b1[:]",),
    "moments.many_tables.two_sided": (f"{_TABLES} f8[:] i8[:] b1 b1 f8[:] f8[:]",),
    "moments.information_matrix.solve": (f"f8[:,:] {_WORKSPACE} f8[:,:]",),
    "moments.information_matrix.variances": (f"f8[:,:] f8 {_WORKSPACE} f8[:,:] f8[:] f8[:]",),
    "bounds.least_information.centres": ("f8[:,:,:] f8[:,:] f8[:,:] f8[:,:,:]",),
    "bounds.least_information.least": ("f8[:,:,:] f8[:,:] f8[:,:] f8[:,:,:] f8 f8[:] f8[:]",),
    "bounds.both_missing.search": (
        "f8[:,:,:] f8[:,:] f8[:,:] f8[:,:,:] f8[:] f8 f8 b1 i8 f8[:] f8[:,:,:] f8[:] f8[:,:,:]",
    ),
    "bounds.largest_information.largest": ("f8[:,:,:] f8[:,:] f8[:,:] f8[:,:,:] f8 f8[:] u1[:,:,:] f8[:] u1[:,:,:]",),
    "mode.find.find_mode": (f"f8[:,:] f8[:] f8[:] f8[:,:] f8[:] f8[:] {_WORKSPACE}",),
    "mixture_tails.log_scales": ("f8[:] f8[:] f8[:]",),
    "mixture_tails.upper_tails": ("f8[:] f8[:] f8[:] f8[:] i8[:] f8[:] f8[:] b1 f8[:] f8[:]",),
    "mixture_tails.quantiles": ("f8[:] f8[:] f8[:] f8[:] i8[:] f8[:] f8[:] b1 f8[:] f8[:]",),
    "changes.curves.fill_nodes": ("f8[:] f8[:] f8[:] f8[:] f8[:] i8[:] f8[:]",),
    "changes.curves.fill_curves": ("f8[:] f8[:] f8[:] f8[:] i8[:] f8[:] f8[:] i8[:] f8[:] f8[:] f8[:] i8[:]",),
    "changes.pairs.compare_pairs": (
        "f8[:] f8[:] f8[:] f8[:] i8[:] f8[:] f8[:] i8[:] f8[:] f8[:] f8[:] i8[:] f8[:,:] f8 f8 f8[:,:]",
    ),
    "networks.edge_evidence.weigh_edges": ("u2[:,:] i8[:] f8[:] i8[:,:] f8 f8 f8 i8 f8[:] f8[:] f8[:]",),
    "networks.order_samples.sample_orders": (
        "i8[:,:] i8[:] i8[:] i8[:] i8[:] f8[:] i8[:] i8 i8 i8 u8[:] f8[:,:] f8[:,:] f8[:] i8[:]",
    ),
    "networks.missing_cells.draw_missing": (
        "u2[:,:] i8[:] i8 i8[:] i8[:] i8[:,:] i8[:,:] i8[:] i8[:] i8[:] f8[:] u8[:] f8[:,:]",
    ),
    "trees.best_split.boundaries": ("f8[:] u2[:] i8 u1[:]",),
    "trees.best_split.fill_table": ("i8[:] f8",),
    "trees.best_split.sums_below": ("u2[:] i8[:,:]",),
    "trees.best_split.best_split": ("u2[:] u1[:] i8[:,:] i8 i8 i8 f8 i8[:] f8 i8[:] i8[:] i8[:]",),
    "trees.node_tables.count_columns": ("u1[:,:] u2[:] i8[:] f8[:] i8 i8 i8[:] i8[:] f8[:]",),
    "trees.node_tables.settle_columns": ("f8[:] i8[:] i8[:] i8 u1[:] f8[:] i8[:,:] i8[:,:] f8[:] f8[:]",),
    "trees.strength_evidence.table_evidence": ("f8[:,:] f8[:] f8[:]",),
    "trees.strength_evidence.cut_evidence": ("f8[:,:] i8[:] f8[:] f8[:,:]",),
    "trees.node_tables.settle_wide_column": ("u2[:] u2[:] i8[:] f8[:] i8 i8 b1 u1[:] i8[:] f8[:] i8[:] i8[:] f8[:]",),
    "pair_counts.group_bits": ("u1[:] u8[:,:]",),
    "pair_counts.count_bits": tuple(
        f"u1[:] u1[:] u8[:,:] i8[:] i8[:,:] ({' '.join(['i8'] * lanes)})" for lanes in (2, 4, 8)
    ),
    "pair_counts.count_joint": ("u1[:] u1[:] u1[:] u1[:] u1[:] i8 i8[:] i8[:,:]",),
    "pair_counts.count_cells": tuple(f"{one}[:] {other}[:] i8[:,:]" for one, other in product(_CODES, _CODES)),
    "pairs.column_bits.fill_columns": ("u1[:,:] u2[:] i8[:] i8[:] i8[:] i8[:] u8[:,:,:]",),
    "pairs.pair_bits.count_pair": ("u1[:] u1[:] u2[:] f8[:] f8[:,:,:]",),
    "pairs.pair_evidence.evidence_of_blocks": ("u8[:,:,:] i8[:] i8[:,:] i8[:,:] i8[:,:] i8 i8 f8[:,:,:]",),
    "pairs.pair_evidence.evidence_of_pairs": ("f8[:] i8[:] i8 i8[:,:] i8[:,:] f8[:,:]",),
    "pairs.pair_screen.screen_blocks": (
        "u8[:,:,:] i8[:] i8[:,:] i8[:,:] i8[:,:] f8[:] f8[:] b1[:] f8[:,:] f8 f8 i8 i8 i8 i8[:,:] f8[:,:]",
    ),
    "pairs.all_pairs.pack_bits": ("u1[:] i8 u8[:]",),
    "pairs.all_pairs.count_common": ("u8[:,:] u8[:,:] i8[:,:]",),
    "pairs.all_pairs.fill_tables": ("i8[:,:] i8[:] i8[:] i8[:] i8[:] i8[:] i8[:,:] i8 i8[:] f8[:]",),
    "pairs.all_pairs.make_couple": ("u1[:] u1[:] i8 u1[:]",),
    "pairs.all_pairs.count_couples": ("u1[:] u1[:,:] i8[:] i8[:,:] i8[:] i8[:,:] f8[:]",),
    "pairs.forest_cells.complete_rows": ("u2[:,:] i8[:] i8[:] i8[:] i8[:] f8[:] u8[:] f8[:]",),
    "pairs.missing_margins.score": (f"{_TABLES} f8[:,:]",),
    "pairs.star_mesh.take_out": ("f8[:] f8[:] i8 i8 f8[:] f8[:]",),
    "pairs.star_mesh.keep": ("f8[:] f8[:] i8 i8[:] i8 f8[:] f8[:]",),
    "pairs.star_mesh.conductances": ("f8[:] f8[:] i8 i8 i8[:] f8[:] f8[:] f8[:,:]",),
    "pairs.star_mesh.draw_trees": ("f8[:] f8[:] f8[:] f8[:] f8[:] f8[:] u8[:] i8[:,:,:]",),
    "surveys.one_sided.one_sided_sums": (f"{_TABLES} f8[:] i8[:] f8[:,:] f8[:,:]",),
    "surveys.two_sided.two_sided_sums": (f"{_TABLES} f8[:] i8[:] f8[:,:] f8[:] f8[:,:]",),
    "wide_counts.count_columns": tuple(f"u1[:,:] {group}[:] i8[:] i8[:] i8[:] i8[:]" for group in _CODES),
    "reading.csv_fields.encode_fields": ("u1[:] i8 i8 i8 i8[:] u1[:] i4[:] u8[:,:] u1[:,:,:] i8[:,:] i8[:] u1[:,:]",),
    "reading.csv_fields.copy_fields": ("u1[:] i8 i8 i8 i4[:] i4[:] u1[:]",),
    "reading.csv_fields.find_line_end": ("u1[:] i8 u1[:] i8[:]",),
    "reading.parquet_pages.decode_page": ("u1[:] u1[:] i8 u1[:,:] u1[:]",),
    "reading.small_codes.gather": tuple(
        f"{value}[:] i8 i8 {value}[:] i8 u1[:,:] i8 u1[:] u1[:] u8[:]" for value in ("u1", "i8", "f8")
    ),
    "reading.sort_numbers.sort": ("f8[:] u2[:] i8 u8[:,:] u2[:,:] i8[:,:] i8[:]",),
    "reading.sort_numbers.differences": ("u8[:] i8 i8 i8[:]",),
    "reading.sort_numbers.count_labels": ("u8[:] u2[:] i8 i8 f8[:] i8[:,:]",),
    "reading.sort_numbers.entropy_left": ("i8[:,:] i8 i8 f8[:] f8[:]",),
    "reading.text_codes.encode_texts": tuple(f"{offset}[:] u1[:] u1[:] i8 u1[:] i8[:]" for offset in ("i4", "i8")),
    "reading.mdl_splits.sums_below": ("i8[:,:] i8[:,:] i8[:]",),
    "reading.mdl_splits.run_edges": ("i8[:,:] i8 i8[:]",),
    "reading.mdl_splits.split_all": ("i8[:,:] f8[:] f8[:] f8 f8[:] i8[:]",),
    "reading.small_counts.count_rows": tuple(
        f"{value}[:] i8 {value}[:] u1[:] u8[:,:] i8[:,:,:] u1[:] u8[:]" for value in ("u1", "i8", "f8")
    ),
    "reading.small_counts.count_column": tuple(
        f"{value}[:] {value}[:] u1[:] u8[:,:] u8[:,:] u1[:] u8[:] ({' '.join(['i8'] * lanes)})"
        for value, lanes in product(("u1", "i8", "f8"), (2, 4, 8))
    ),
    "reading.text_codes.encode_integers": ("i8[:] u1[:] i8 u1[:] i8[:]",),
    "reading.text_codes.narrow": tuple(
        f"{value}[:] i8 u1[:] i8 {code}[:]" for value in ("i4", "i8") for code in _CODES
    ),
}

FIRST_NEEDED = (  # by every ranking, with their first types; longest to compile first
    "evidence.two_sided_weights.weigh_two_sided",
    "moments.many_tables.two_sided",
    "evidence.adaptive_weights.weigh",
    "moments.side_by_side.matched_complete",
    "moments.leading.leading_one_sided",
    "moments.many_tables.matched_one_sided",
    "mixture_tails.quantiles",
    "evidence.adaptive_weights.augment",
    "mixture_tails.upper_tails",
    "moments.many_tables.classify",
    "mixture_tails.log_scales",
)

NEEDED_BY: dict[str, tuple[str, ...]] = {  # by other commands: the beginnings of the names of kernels
    "select": ("evidence.occurring", "pairs.column_bits", "pairs.pair_bits", "pairs.pair_evidence.evidence_of_blocks"),
    "interactions": ("pairs.column_bits", "pairs.pair_bits", "pairs.pair_evidence", "pairs.pair_screen"),
    "pairs": ("evidence.evidence_at", "pairs.all_pairs", "pairs.missing_margins", "pairs.star_mesh"),
    "network": ("networks.", "evidence.evidence_at", "pairs.all_pairs", "pairs.missing_margins"),
    "compare": ("changes.",),
    "tree": ("trees.node_tables", "trees.strength_evidence"),
    "table": ("evidence.occurring", "mode."),
}

NEEDED_FOR_MANY_CELLS = (  # of a file, if numpy and pyarrow take longer than loading these
    "pair_counts.",
    "reading.csv_fields.",
    "reading.parquet_pages.",
    "reading.sort_numbers.",
    "reading.text_codes.",
)

_DTYPES = ("f8", "i8", "i4", "i1", "u1", "u2", "u4", "u8", "b1")
_PLAIN = {int: "i8", float: "f8", bool: "b1"}
_BRACKETS = {1: "[:]", 2: "[:,:]", 3: "[:,:,:]"}
_ARRAY_WORDS = {
    (np.dtype(name), dimensions): name + brackets for name in _DTYPES for dimensions, brackets in _BRACKETS.items()
}


def signature_of(arguments: tuple[object, ...]) -> str:
    """The types of a call's arguments, in the notation of this module."""
    # Fast, as every call of a kernel comes here.
    return " ".join([_PLAIN.get(type(argument)) or _word(argument) for argument in arguments])


def _word(argument: object) -> str:
    if isinstance(argument, np.ndarray):
        word = _ARRAY_WORDS.get((argument.dtype, argument.ndim))
        return word if word is not None and argument.flags.c_contiguous else f"strided {argument.dtype.str}"
    if isinstance(argument, tuple):
        return f"({signature_of(argument)})"
    if isinstance(argument, (bool, np.bool_)):
        return "b1"
    return "f8" if isinstance(argument, (float, np.floating)) else "i8"


def name_of(function: object) -> str:
    """The name of a kernel in this module: that of its module, without the common beginning, and its own."""
    return f"{function.__module__}.{getattr(function, '__name__', '')}".removeprefix("credimi.kernels.")

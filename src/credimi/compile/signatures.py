"""The types that every kernel is called with from Python: what is compiled ahead, and what `credimi warm-up` compiles.

A type is a dtype of numpy without its byte order, followed by the dimensions if it is an array: `f8` is a float,
`u1[:]` an array of bytes, `f8[:,:]` a matrix. All arrays are C-contiguous. Parentheses are a tuple of integers, or the
`Workspace` of `inference.moments.information_matrix`. The tests fail if a kernel is called with other types.
"""

import re
from collections import namedtuple
from itertools import product
from pathlib import Path

import numpy as np

# Few arrays with named parts: a call passes seven numbers for every array, and compiling takes longer for each.
Workspace = namedtuple(  # noqa: PYI024  (Numba compiles this form, not the class with annotations)
    "Workspace",
    [
        "rows",  # (7, r)
        "columns",  # (8, s)
        "cells",  # (7, r, s)
        "squares",  # (2, s, s)
    ],
)

_TABLES = "f8[:] i8[:] i8[:] i8[:]"  # cells of all tables; offset, rows and columns of each
_WORKSPACE = "(f8[:,:] f8[:,:] f8[:,:,:] f8[:,:,:])"
_CODES = ("u1", "u2", "u4")

SIGNATURES: dict[str, tuple[str, ...]] = {
    "inference.evidence.adaptive_weights.weigh": (
        f"{_TABLES} i8[:] i8[:] f8 f8 f8 f8 f8 f8[:] f8[:] f8[:,:] f8[:,:] i8[:]",
    ),
    "inference.evidence.adaptive_weights.augment": (f"{_TABLES} f8 f8[:,:] f8[:,:] i8[:] i8[:] f8[:] f8[:]",),
    "inference.evidence.two_sided_weights.weigh_two_sided": (
        f"{_TABLES} i8[:] i8[:] f8 f8 f8 f8 f8 b1 f8[:] f8[:] f8[:,:] f8[:,:] i8[:] b1[:] f8[:,:] f8[:,:]",
    ),
    "inference.numbers.all_cuts_kernels.weigh_cuts": (
        "f8[:,:,:] f8[:] f8[:,:] f8[:,:] f8[:,:,:] f8[:] f8[:] f8 b1 b1 f8[:,:] f8[:,:] f8[:,:,:] f8[:,:]",
    ),
    "inference.numbers.all_cuts_kernels.find_borders": ("i8 f8[:,:] f8[:] f8[:,:] f8[:,:,:] i8 i8 i8[:] f8[:]",),
    "inference.evidence.occurring.pack_occurring": (f"{_TABLES} b1[:] f8[:] i8[:] i8[:]",),
    "inference.numbers.bits_kernels.count_cells": ("i8[:] i8[:] f8[:] f8[:] i8[:] i8[:] f8[:,:,:] f8[:,:,:]",),
    "inference.numbers.bits_kernels.fill_evidence": ("f8[:,:,:] f8[:] f8[:,:,:]",),
    "inference.numbers.bits_sums.sum_over_cuts": ("f8[:,:,:] i8[:] f8[:] f8[:,:,:]",),
    "inference.numbers.bits_sums.moments_over_cuts": ("f8[:,:,:] f8 f8[:,:] i8[:] f8[:] f8[:,:] f8[:,:,:]",),
    "core.table_patterns.classify": (f"{_TABLES} i1[:] f8[:]",),
    "inference.moments.leading.leading_one_sided": (f"{_TABLES} f8[:] i8[:] i1[:] f8[:] f8[:]",),
    "inference.moments.side_by_side.matched_complete": (f"{_TABLES} f8[:] i1[:] i8[:] f8[:] f8[:] b1[:]",),
    "inference.moments.many_tables.matched_one_sided": (f"{_TABLES} f8[:] i1[:] i8[:] f8[:] f8[:] b1[:]",),
    "inference.moments.many_tables.two_sided": (f"{_TABLES} f8[:] i8[:] b1 b1 f8[:] f8[:]",),
    "inference.moments.information_matrix.solve": (f"f8[:,:] {_WORKSPACE} f8[:,:]",),
    "inference.moments.information_matrix.variances": (f"f8 {_WORKSPACE}",),
    "inference.bounds.least_information.centres": ("f8[:,:,:] f8[:,:] f8[:,:] f8[:,:,:]",),
    "inference.bounds.least_information.least": ("f8[:,:,:] f8[:,:] f8[:,:] f8[:,:,:] f8 f8[:] f8[:]",),
    "inference.bounds.both_missing.search": (
        "f8[:,:,:] f8[:,:] f8[:,:] f8[:,:,:] f8[:] f8 f8 b1 i8 f8[:] f8[:,:,:] f8[:] f8[:,:,:]",
    ),
    "inference.bounds.largest_information.largest": (
        "f8[:,:,:] f8[:,:] f8[:,:] f8[:,:,:] f8 f8[:] u1[:,:,:] f8[:] u1[:,:,:]",
    ),
    "inference.mode.find.find_mode": (_WORKSPACE,),
    "inference.distributions.mixture_tails.log_scales": ("f8[:] f8[:] f8[:]",),
    "inference.distributions.mixture_tails.upper_tails": ("f8[:] f8[:] f8[:] f8[:] i8[:] f8[:] f8[:] b1 f8[:] f8[:]",),
    "inference.distributions.mixture_tails.quantiles": ("f8[:] f8[:] f8[:] f8[:] i8[:] f8[:] f8[:] b1 f8[:] f8[:]",),
    "questions.compare.change_curves.fill_nodes": ("f8[:] f8[:] f8[:] f8[:] f8[:] i8[:] f8[:]",),
    "questions.compare.change_curves.fill_curves": (
        "f8[:] f8[:] f8[:] f8[:] i8[:] f8[:] f8[:] i8[:] f8[:] f8[:] f8[:] i8[:]",
    ),
    "questions.compare.change_pairs.compare_pairs": (
        "f8[:] f8[:] f8[:] f8[:] i8[:] f8[:] f8[:] i8[:] f8[:] f8[:] f8[:] i8[:] f8[:,:] f8 f8 f8[:,:]",
    ),
    "questions.network.edge_evidence_kernels.weigh_edges": (
        "u2[:,:] i8[:] f8[:] i8[:,:] f8 f8 f8 i8 f8[:] f8[:] f8[:]",
    ),
    "questions.network.order_samples.sample_orders": (
        "i8[:,:] i8[:] i8[:] i8[:] i8[:] f8[:] i8[:] i8 i8 i8 u8[:] f8[:,:] f8[:,:] f8[:] i8[:]",
    ),
    "questions.pairs.imputation.draw_missing": (
        "u2[:,:] i8[:] i8 i8[:] i8[:] i8[:,:] i8[:,:] i8[:] i8[:] i8[:] f8[:] u8[:] f8[:,:]",
    ),
    "columns.numbers.propose_borders.propose": ("f8[:,:,:] i8 i8[:]",),
    "columns.numbers.propose_borders.refine": ("f8[:,:] i8[:,:] i8[:]",),
    "columns.numbers.best_split.boundaries": ("f8[:] u2[:] i8 u1[:]",),
    "columns.numbers.best_split.fill_table": ("i8[:] f8",),
    "columns.numbers.best_split.sums_below": ("u2[:] i8[:,:]",),
    "columns.numbers.best_split.best_split": ("u2[:] u1[:] i8[:,:] i8 i8 i8 f8 i8[:] f8 i8[:] i8[:] i8[:]",),
    "counts.nodes.node_tables.count_columns": ("u1[:,:] u2[:] i8[:] f8[:] i8 i8 i8[:] i8[:] f8[:]",),
    "counts.nodes.node_tables.interpret_columns": ("f8[:] i8[:] i8[:] i8 u1[:] f8[:] i8[:,:] i8[:,:] f8[:] f8[:]",),
    "questions.tree.strength_evidence.table_evidence": ("f8[:,:] f8[:] f8[:] f8[:]",),
    "questions.tree.strength_evidence.cut_evidence": ("f8[:,:] i8[:] f8[:] f8[:,:] f8[:,:]",),
    "counts.nodes.node_tables.count_wide_column": ("u2[:] u2[:] i8[:] f8[:] i8 i8 u1[:] i8[:] f8[:]",),
    "columns.pair_counts.group_bits": ("u1[:] u8[:,:]",),
    "columns.pair_counts.count_bits": tuple(
        f"u1[:] u1[:] u8[:,:] i8[:] i8[:,:] ({' '.join(['i8'] * lanes)})" for lanes in (2, 4, 8)
    ),
    "columns.pair_counts.count_joint": ("u1[:] u1[:] u1[:] u1[:] u1[:] i8 i8[:] i8[:,:]",),
    "columns.pair_counts.count_cells": tuple(f"{one}[:] {other}[:] i8[:,:]" for one, other in product(_CODES, _CODES)),
    "counts.rows.pair_bits.fill_columns": ("u1[:,:] u2[:] i8[:] i8[:] i8[:] i8[:] u8[:,:,:]",),
    "counts.rows.pair_bits.count_pair": ("u1[:] u1[:] u2[:] f8[:] f8[:,:,:]",),
    "inference.evidence.pair_evidence.evidence_of_blocks": ("u8[:,:,:] i8[:] i8[:,:] i8[:,:] i8[:,:] i8 i8 f8[:,:,:]",),
    "inference.evidence.pair_evidence.evidence_of_pairs": ("f8[:] i8[:] i8 i8[:,:] i8[:,:] f8[:,:]",),
    "questions.interactions.pair_screen.screen_tables": (
        "f8[:] i8[:] i8 i8[:,:] i8[:,:] f8[:] f8[:] b1[:] f8[:,:] i8 f8 f8 i8[:,:] f8[:,:]",
    ),
    "questions.interactions.pair_screen.screen_blocks": (
        "u8[:,:,:] i8[:] i8[:,:] i8[:,:] i8[:,:] f8[:] f8[:] b1[:] f8[:,:] f8 f8 i8 i8 i8 i8[:,:] f8[:,:]",
    ),
    "counts.rows.all_pairs.pack_bits": ("u1[:] i8 u8[:]",),
    "counts.rows.all_pairs.count_common": ("u8[:,:] u8[:,:] i8[:,:]",),
    "counts.rows.all_pairs.fill_tables": ("i8[:,:] i8[:] i8[:] i8[:] i8[:] i8[:] i8[:,:] i8 i8[:] f8[:]",),
    "counts.rows.all_pairs.make_couple": ("u1[:] u1[:] i8 u1[:]",),
    "counts.rows.all_pairs.count_couples": ("u1[:] u1[:,:] i8[:] i8[:,:] i8[:] i8[:,:] f8[:]",),
    "questions.pairs.forest_cells.complete_rows": ("u2[:,:] i8[:] i8[:] i8[:] i8[:] f8[:] u8[:] f8[:]",),
    "questions.pairs.missing_by_others.score": (f"{_TABLES} f8[:,:]",),
    "questions.pairs.star_mesh.take_out": ("f8[:] f8[:] i8 i8 f8[:] f8[:]",),
    "questions.pairs.star_mesh.keep": ("f8[:] f8[:] i8 i8[:] i8 f8[:] f8[:]",),
    "questions.pairs.star_mesh.conductances": ("f8[:] f8[:] i8 i8 i8[:] f8[:] f8[:] f8[:,:]",),
    "questions.pairs.star_mesh.draw_trees": ("f8[:] f8[:] f8[:] f8[:] f8[:] f8[:] u8[:] i8[:,:,:]",),
    "counts.survey.one_sided.one_sided_sums": (f"{_TABLES} f8[:] i8[:] f8[:,:] f8[:,:]",),
    "counts.survey.two_sided.two_sided_sums": (f"{_TABLES} f8[:] i8[:] f8[:,:] f8[:] f8[:,:]",),
    "sources.csv.csv_fields.encode_fields": (
        "u1[:] i8 i8 i8 i8[:] u1[:] i4[:] u8[:,:] u1[:,:,:] i8[:,:] i8[:] u1[:,:]",
    ),
    "sources.csv.csv_fields.copy_fields": ("u1[:] i8 i8 i8 i4[:] i4[:] u1[:]",),
    "sources.parquet.parquet_pages.decode_page": ("u1[:] u1[:] i8 u1[:,:] u1[:]",),
    "columns.numbers.small_codes_kernels.gather": tuple(
        f"{value}[:] i8 i8 {value}[:] i8 u1[:,:] i8 u1[:] u1[:] u8[:]" for value in ("u1", "i8", "f8")
    ),
    "columns.numbers.sort_numbers.sort": ("f8[:] u2[:] i8 u8[:,:] u2[:,:] i8[:,:] i8[:]",),
    "columns.numbers.sort_numbers.differences": ("u8[:] i8 i8 i8[:]",),
    "columns.numbers.sort_numbers.count_labels": ("u8[:] u2[:] i8 i8 f8[:] i8[:,:]",),
    "columns.numbers.sort_numbers.entropy_left": ("i8[:,:] i8 i8 f8[:] f8[:]",),
    "columns.text_codes.encode_texts": tuple(f"{offset}[:] u1[:] u1[:] i8 u1[:] i8[:]" for offset in ("i4", "i8")),
    "columns.numbers.sort_numbers.sums_below": ("i8[:,:] i8[:,:] i8[:]",),
    "columns.numbers.sort_numbers.run_edges": ("i8[:,:] i8 i8[:]",),
    "columns.numbers.sort_numbers.split_all": ("i8[:,:] f8[:] f8[:] f8 f8[:] i8[:]",),
    "columns.text_codes.encode_integers": ("i8[:] u1[:] i8 u1[:] i8[:]",),
}

FIRST_NEEDED = (  # by every ranking, with their first types; longest to compile first
    "inference.evidence.two_sided_weights.weigh_two_sided",
    "inference.moments.many_tables.two_sided",
    "inference.evidence.adaptive_weights.weigh",
    "inference.numbers.all_cuts_kernels.weigh_cuts",
    "inference.numbers.all_cuts_kernels.find_borders",
    "inference.moments.side_by_side.matched_complete",
    "inference.moments.leading.leading_one_sided",
    "inference.moments.many_tables.matched_one_sided",
    "inference.distributions.mixture_tails.quantiles",
    "inference.evidence.adaptive_weights.augment",
    "inference.distributions.mixture_tails.upper_tails",
    "columns.numbers.propose_borders.refine",
    "columns.numbers.propose_borders.propose",
    "core.table_patterns.classify",
    "inference.distributions.mixture_tails.log_scales",
)

NEEDED_BY: dict[str, tuple[str, ...]] = {  # by other commands: the beginnings of the names of kernels
    "select": (
        "inference.evidence.occurring",
        "counts.rows.pair_bits",
        "inference.evidence.pair_evidence.evidence_of_blocks",
    ),
    "interactions": (
        "counts.rows.pair_bits",
        "inference.evidence.pair_evidence",
        "questions.interactions.pair_screen",
    ),
    "pairs": (
        "counts.rows.all_pairs",
        "questions.pairs.missing_by_others",
        "questions.pairs.star_mesh",
    ),
    "network": (
        "questions.network.",
        "questions.pairs.imputation",
        "counts.rows.all_pairs",
        "questions.pairs.missing_by_others",
    ),
    "compare": ("questions.compare.",),
    "tree": ("counts.nodes.node_tables", "questions.tree.strength_evidence"),
    "table": ("inference.evidence.occurring", "inference.mode."),
}
_PARTS = ("select", "interactions", "pairs", "network", "tree", "table")
NEEDED_BY["report"] = tuple({kernel: None for part in _PARTS for kernel in NEEDED_BY[part]})
NEEDED_BY["report"] += (
    "inference.moments.information_matrix.solve",
)  # of effects, if both columns have missing values

NEEDED_FOR_MANY_CELLS = (  # of a file, if numpy and pyarrow take longer than loading these
    "columns.pair_counts.",
    "sources.csv.csv_fields.",
    "sources.parquet.parquet_pages.",
    "columns.numbers.sort_numbers.",
    "columns.text_codes.",
)

THAT_READ = (  # kernels that read values and count them, whatever the source
    "columns.numbers.small_codes_kernels.",
    *NEEDED_FOR_MANY_CELLS,
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
    """The name of a kernel in this module: that of its module, without `credimi.`, and its own."""
    return f"{function.__module__}.{getattr(function, '__name__', '')}".removeprefix("credimi.")


_PACKAGE = Path(__file__).parents[1]
_KERNEL_IMPORT = re.compile(r"^from credimi\.(\S+) import ([^(\n]+|\([^)]+\))", re.MULTILINE)
_NOT_COMPILED = ("compile.jit", "compile.signatures")  # they say how and for what; what they hold is in no kernel


def files_used_by(*modules: str) -> set[Path]:
    """The files of modules of kernels, named without `credimi.`, and those of all kernels that they import."""
    files: set[Path] = set()
    open_modules = list(modules)
    while open_modules:
        path = _PACKAGE.joinpath(*open_modules.pop().split(".")).with_suffix(".py")
        if path not in files and path.exists():
            files.add(path)
            for package, names in _KERNEL_IMPORT.findall(path.read_text(encoding="utf-8")):
                used = [package, *(f"{package}.{name}" for name in re.findall(r"\w+", names))]
                open_modules += [name for name in used if name not in _NOT_COMPILED]
    return files

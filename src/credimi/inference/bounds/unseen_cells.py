"""The cells of a table if both sides have missing values: what is unseen in each, for given odds of being missing.

A cell has n rows that show class and value, f whose value is missing, t whose class is missing, and z that lack both.
With theta, the odds that the value is missing, and phi, the odds that the class is,

    f + z = theta (n + t),      t + z = phi (n + f),      z = kappa f t .

kappa ties the two: kappa = 1/n if one is missing independently of the other, and z runs from 0 to all that theta and
phi allow as kappa runs from 0 to infinity. Without z, f = n theta (1 + phi)/(1 - theta phi), and t likewise. With it,

    kappa (1 + phi) f^2 + (1 - theta phi - kappa n (theta - phi)) f - theta n (1 + phi) = 0

has one positive root, and the equation of t is the same with theta and phi exchanged.

**Within a factor.** theta_ij = lambda_i rho_ij with rho_ij between 1 and G, so that the odds differ by at most G within
class i; phi_ij = mu_j sigma_ij; kappa_ij = zeta tau_ij. The tilts rho, sigma and tau are free, and lambda, mu and zeta
follow from what is known: the sums of f in every class, of t in every value, and of z in the table. Every mechanism
within the factor has such tilts. Equal tilts are missing at random.

`solve_cells` finds lambda, mu and zeta. Without z, the sums are power series in them with positive coefficients, so
the logarithms of the sums are convex in the logarithms of lambda and mu, where Newton's method is at home. It starts
with a sweep that gives each class its f and each value its t in turn, which is always possible. If theta phi reaches 1,
where the series diverge, or the sums come no nearer, the step becomes shorter.

`fill_slopes` has the derivatives of I by the logarithms of all tilts. dp = df + dt + dz of the cells follows from the
logarithmic derivatives of the three equations; with u = kappa t, w = kappa f and D = 1 - theta phi + u (1 + theta) + w
(1 + phi),

    df = [(1 + w) (f + z) dlog theta + (theta - w) (t + z) dlog phi - z (1 + theta) dlog kappa]/D .

lambda, mu and zeta move so that the sums stay: one multiplier for each sum, from one system of r + s + 1 equations.
"""

from __future__ import annotations

import math
from collections import namedtuple

from credimi.compile.jit import FloatArray, inlined

_MAX_ERROR = 1e-10  # relative, of the sums
_MAX_GOOD_ERROR = 1e-7  # is good enough if rounding prevents a smaller one
_MAX_NEWTON_STEPS = 60
_MAX_HALVINGS = 30  # of a step
_MAX_ROUNDS = 5
_INSIDE = 0.99  # theta phi to start from, if it is too large
_MAX_STEP = 3.0  # of a logarithm
_NEARLY_ONE = 1.0 - 1e-13  # theta phi must be below, without z

# The planes of `cells`, each (r, s); the last but two are the tilts, and `AT_RANDOM` is tau at random.
F, T, Z, U, W, F_BY_THETA, F_BY_PHI, F_BY_KAPPA, T_BY_THETA, T_BY_PHI, T_BY_KAPPA, P, SLOPE = range(13)
RHO, SIGMA, TAU, SEEN, AT_RANDOM, PLANES = range(13, 19)
# The lines, each r + s + 1: the sums of f, of t and of z; lambda, mu and zeta; the sums that these have; and scratch.
SUMS, UNKNOWN, FOUND, STEP, BEFORE, WAY = range(6)

Box = namedtuple(  # noqa: PYI024  (Numba compiles this form, not the class with annotations)
    "Box",
    [
        "cells",  # (18, r, s)
        "lines",  # (6, r + s + 1)
        "matrix",  # (r + s + 1, r + s + 1)
        "margins",  # (r + s,), of p
        "log_factor",
        "log_ties",
        "total",  # the sum of the cells
        "with_z",
    ],
)


@inlined
def _solve_equations(matrix: FloatArray, right: FloatArray, size: int) -> None:
    """Replace the right side by the solution; the matrix is lost."""
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if pivot != k:
            right[k], right[pivot] = right[pivot], right[k]
            for j in range(k, size):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
        if abs(matrix[k, k]) < 1e-300:
            matrix[k, k] = 1e-300
        inverse = 1.0 / matrix[k, k]
        for i in range(k + 1, size):
            ratio = matrix[i, k] * inverse
            if ratio != 0.0:
                right[i] -= ratio * right[k]
                for j in range(k + 1, size):
                    matrix[i, j] -= ratio * matrix[k, j]
    for k in range(size - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, size):
            total -= matrix[k, j] * right[j]
        right[k] = total / matrix[k, k]


@inlined
def _positive_root(square: float, linear: float, constant: float) -> float:
    """The positive x of square x^2 + linear x = constant, all but `linear` being positive or 0."""
    if constant <= 0.0:
        return 0.0 if linear >= 0.0 or square <= 0.0 else -linear / square
    root = math.sqrt(linear * linear + 4.0 * square * constant)
    return 2.0 * constant / (linear + root) if linear > 0.0 else (root - linear) / (2.0 * square)


@inlined
def _sweep(box: Box) -> None:
    """Give each class its f for the present t, each value its t for these f, and the table its z."""
    cells, sums, unknown = box.cells, box.lines[SUMS], box.lines[UNKNOWN]
    r, s = cells.shape[1], cells.shape[2]
    zeta = unknown[r + s] if box.with_z else 0.0
    for i in range(r):
        total = 0.0
        for j in range(s):
            t = cells[T, i, j]
            cells[F, i, j] = cells[RHO, i, j] * (cells[SEEN, i, j] + t) / (1.0 + zeta * cells[TAU, i, j] * t)
            total += cells[F, i, j]
        unknown[i] = sums[i] / total if total > 0.0 else 0.0
        for j in range(s):
            cells[F, i, j] *= unknown[i]
    for j in range(s):
        total = 0.0
        for i in range(r):
            f = cells[F, i, j]
            cells[T, i, j] = cells[SIGMA, i, j] * (cells[SEEN, i, j] + f) / (1.0 + zeta * cells[TAU, i, j] * f)
            total += cells[T, i, j]
        unknown[r + j] = sums[r + j] / total if total > 0.0 else 0.0
        for i in range(r):
            cells[T, i, j] *= unknown[r + j]
    if box.with_z:
        total = 0.0
        for i in range(r):
            for j in range(s):
                total += cells[TAU, i, j] * cells[F, i, j] * cells[T, i, j]
        unknown[r + s] = sums[r + s] / total


@inlined
def _fill_cells(box: Box) -> bool:
    """Fill f, t, z and their derivatives, and the sums that they have; False if theta phi is not below 1."""
    cells, unknown, found = box.cells, box.lines[UNKNOWN], box.lines[FOUND]
    r, s = cells.shape[1], cells.shape[2]
    found[:] = 0.0
    for i in range(r):
        for j in range(s):
            n, theta, phi = cells[SEEN, i, j], unknown[i] * cells[RHO, i, j], unknown[r + j] * cells[SIGMA, i, j]
            if not box.with_z and theta * phi >= _NEARLY_ONE:
                return False
            rest = 1.0 - theta * phi
            kappa = unknown[r + s] * cells[TAU, i, j] if box.with_z else 0.0
            tied = kappa * n * (theta - phi)
            f = _positive_root(kappa * (1.0 + phi), rest - tied, theta * n * (1.0 + phi))
            t = _positive_root(kappa * (1.0 + theta), rest + tied, phi * n * (1.0 + theta))
            z, u, w = kappa * f * t, kappa * t, kappa * f
            rest += u * (1.0 + theta) + w * (1.0 + phi)
            no_value, no_class = (f + z) / rest, (t + z) / rest
            cells[F, i, j], cells[T, i, j], cells[Z, i, j], cells[U, i, j], cells[W, i, j] = f, t, z, u, w
            cells[F_BY_THETA, i, j], cells[F_BY_PHI, i, j] = (1.0 + w) * no_value, (theta - w) * no_class
            cells[T_BY_THETA, i, j], cells[T_BY_PHI, i, j] = (phi - u) * no_value, (1.0 + u) * no_class
            cells[F_BY_KAPPA, i, j], cells[T_BY_KAPPA, i, j] = -z * (1.0 + theta) / rest, -z * (1.0 + phi) / rest
            found[i] += f
            found[r + j] += t
            found[r + s] += z
    return True


@inlined
def _fill_matrix(box: Box, size: int) -> None:
    """Fill the derivatives of the sums by the logarithms of lambda, mu and zeta."""
    cells, matrix = box.cells, box.matrix
    r, s = cells.shape[1], cells.shape[2]
    last = r + s
    for k in range(size):
        for m in range(size):
            matrix[k, m] = 0.0
    for i in range(r):
        for j in range(s):
            u, w = cells[U, i, j], cells[W, i, j]
            matrix[i, i] += cells[F_BY_THETA, i, j]
            matrix[i, r + j] = cells[F_BY_PHI, i, j]
            matrix[r + j, i] = cells[T_BY_THETA, i, j]
            matrix[r + j, r + j] += cells[T_BY_PHI, i, j]
            if box.with_z:
                matrix[i, last] += cells[F_BY_KAPPA, i, j]
                matrix[r + j, last] += cells[T_BY_KAPPA, i, j]
                matrix[last, i] += u * cells[F_BY_THETA, i, j] + w * cells[T_BY_THETA, i, j]
                matrix[last, r + j] += u * cells[F_BY_PHI, i, j] + w * cells[T_BY_PHI, i, j]
                matrix[last, last] += u * cells[F_BY_KAPPA, i, j] + w * cells[T_BY_KAPPA, i, j] + cells[Z, i, j]


@inlined
def solve_cells(box: Box) -> bool:
    """Fill the cells for the tilts, starting from the f and t that they have; False if none were found."""
    sums, unknown, found = box.lines[SUMS], box.lines[UNKNOWN], box.lines[FOUND]
    step, before, way = box.lines[STEP], box.lines[BEFORE], box.lines[WAY]
    size = sums.size if box.with_z else sums.size - 1
    for _ in range(_MAX_ROUNDS):
        _sweep(box)
        _sweep(box)
        if not box.with_z:
            _move_inside(box)
        error = _error(box, size)
        for _ in range(_MAX_NEWTON_STEPS):
            if error <= _MAX_ERROR:
                return True
            if error == math.inf:
                break
            _fill_matrix(box, size)
            for k in range(size):
                if sums[k] > 0.0 and found[k] > 0.0:
                    for m in range(size):
                        box.matrix[k, m] /= found[k]
                else:
                    box.matrix[k, k] = 1.0
            _solve_equations(box.matrix, step, size)
            largest = 0.0
            for k in range(size):
                largest = max(largest, abs(step[k]))
            if not largest < 1e9:
                break
            length = min(1.0, _MAX_STEP / largest) if largest > 0.0 else 1.0
            for k in range(size):
                before[k], way[k] = unknown[k], step[k]
            improved = math.inf
            for _ in range(_MAX_HALVINGS):
                for k in range(size):
                    unknown[k] = before[k] * math.exp(length * way[k])
                improved = _error(box, size)
                if improved < error or improved <= _MAX_ERROR:
                    break
                length *= 0.4
            if not (improved < error or improved <= _MAX_ERROR):
                break
            error = improved
        if error <= _MAX_GOOD_ERROR:
            return True
    return False


@inlined
def _move_inside(box: Box) -> None:
    """Make lambda smaller where theta phi is not below 1."""
    cells, unknown = box.cells, box.lines[UNKNOWN]
    r = cells.shape[1]
    for i in range(r):
        largest = 0.0
        for j in range(cells.shape[2]):
            largest = max(largest, unknown[i] * cells[RHO, i, j] * unknown[r + j] * cells[SIGMA, i, j])
        if largest >= _INSIDE:
            unknown[i] *= _INSIDE / largest


@inlined
def _error(box: Box, size: int) -> float:
    """The largest error of the logarithms of the sums, which are filled in; infinite if theta phi is not below 1."""
    if not _fill_cells(box):
        return math.inf
    sums, found, logs = box.lines[SUMS], box.lines[FOUND], box.lines[STEP]
    error = 0.0
    for k in range(size):
        logs[k] = math.log(sums[k] / found[k]) if sums[k] > 0.0 and found[k] > 0.0 else 0.0
        if not abs(logs[k]) < 1e6:
            return math.inf
        error = max(error, abs(logs[k]))
    return error


@inlined
def information_of_cells(box: Box) -> float:
    """I of the cells; also fills p and the slopes of I by p."""
    cells, margins = box.cells, box.margins
    r, s = cells.shape[1], cells.shape[2]
    margins[:] = 0.0
    for i in range(r):
        for j in range(s):
            p = (cells[SEEN, i, j] + cells[F, i, j] + cells[T, i, j] + cells[Z, i, j]) / box.total
            cells[P, i, j] = p
            margins[i] += p
            margins[r + j] += p
    value = 0.0
    for i in range(r):
        for j in range(s):
            p = cells[P, i, j]
            slope = math.log(p / (margins[i] * margins[r + j])) if p > 0.0 else 0.0
            cells[SLOPE, i, j] = slope / box.total
            value += p * slope
    return max(value, 0.0)


@inlined
def fill_slopes(box: Box, slopes: FloatArray) -> None:
    """Fill the slopes of I by the logarithms of the tilts, (3, r, s)."""
    cells, matrix, sums, multiplier = box.cells, box.matrix, box.lines[SUMS], box.lines[STEP]
    r, s = cells.shape[1], cells.shape[2]
    size = r + s + 1 if box.with_z else r + s
    _fill_matrix(box, size)
    for k in range(size):  # transposed
        for m in range(k):
            matrix[k, m], matrix[m, k] = matrix[m, k], matrix[k, m]
    multiplier[:] = 0.0
    for i in range(r):
        for j in range(s):
            slope, of_f, of_t = cells[SLOPE, i, j], 1.0 + cells[U, i, j], 1.0 + cells[W, i, j]
            multiplier[i] += slope * (of_f * cells[F_BY_THETA, i, j] + of_t * cells[T_BY_THETA, i, j])
            multiplier[r + j] += slope * (of_f * cells[F_BY_PHI, i, j] + of_t * cells[T_BY_PHI, i, j])
            by_kappa = of_f * cells[F_BY_KAPPA, i, j] + of_t * cells[T_BY_KAPPA, i, j] + cells[Z, i, j]
            multiplier[r + s] += slope * by_kappa
    for k in range(size):
        if sums[k] <= 0.0 or matrix[k, k] <= 0.0:
            matrix[k, k], multiplier[k] = 1.0, 0.0
    _solve_equations(matrix, multiplier, size)
    for i in range(r):
        for j in range(s):
            slope = cells[SLOPE, i, j]
            of_z = slope - multiplier[r + s] if box.with_z else 0.0
            of_f = slope - multiplier[i] + of_z * cells[U, i, j]
            of_t = slope - multiplier[r + j] + of_z * cells[W, i, j]
            slopes[0, i, j] = of_f * cells[F_BY_THETA, i, j] + of_t * cells[T_BY_THETA, i, j]
            slopes[1, i, j] = of_f * cells[F_BY_PHI, i, j] + of_t * cells[T_BY_PHI, i, j]
            slopes[2, i, j] = of_f * cells[F_BY_KAPPA, i, j] + of_t * cells[T_BY_KAPPA, i, j] + of_z * cells[Z, i, j]

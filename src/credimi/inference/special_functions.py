"""Logarithm, digamma, trigamma and log Gamma, in the combinations that posterior moments and evidences are made of.

With psi the digamma function, the moments of a Dirichlet with parameters c need only

    log_excess(c) = psi(c + 1) - log c                      falls from infinity to 1/(2c),
    log_spread(c) = c (c + 1) psi'(c + 1) - c               rises from 0 to 1/2 - 1/(3c).

Both are small where psi and c psi' are large, so that moments made of them do not suffer from cancellation: with counts
of 10^12 the posterior variance of mutual information is of order 10^-24, and would be lost in a difference of digammas.

For c >= 12 the asymptotic series in 1/c are used, below it the recurrences psi(x) = psi(x + 8) - sum 1/(x + k) and
likewise for psi', with the eight reciprocals folded into one division: t = x (x + 7) gives
(x+1)(x+6) = t + 6, (x+2)(x+5) = t + 10, (x+3)(x+4) = t + 12. Errors against 50-digit arithmetic stay below 4e-15
relative to the larger of 1 and the value (tests/inference/test_special.py).

The evidence of a Dirichlet-multinomial is made of rising factorials, Gamma(a + n)/Gamma(a), of which

    log_rise(a, n) = log [Gamma(a + n)/Gamma(a)] - n log a           = log prod_{k < n} (1 + k/a) for whole n

is small where a is large beside n; the omitted terms cancel between a table and its margins. With Stirling's series
log Gamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + s(1/x), it is for x >= 8

    (x + n - 1/2) log(1 + n/x) - n + s(1/(x + n)) - s(1/x),

and for smaller a the same of x = a + 8, plus n log(1 + 8/a) and the logarithm of the eight factors
a (a + 1) ... (a + 7) over those of a + n, folded as above. Errors stay below 2e-15 n + 1e-14 (the same tests).

An evidence is needed at many strengths K, with a = K times a share. Loops run over `LANES` strengths side by side: so
they vectorise even if the table is small, and the count, which decides on the formula, is the same for all lanes. Small
whole counts are multiplied out, prod (1 + k/a), so that one logarithm serves many of them.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, inlined

_MANTISSA_OF_ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)
_LOG_TWO_HIGH = 6.93147180369123816490e-01  # trailing zeros: times an exponent it is exact
_LOG_TWO_LOW = 1.90821492927058770002e-10
_SERIES_FROM = 12.0
LANES = 8
_MAX_MULTIPLIED_OUT = 48.0  # the largest count whose product is faster than the series
_LARGE_FROM = 8.0  # from here on the series is accurate without a shift
_MAX_FACTOR = 1e24  # a product of four larger factors might overflow
MAX_PRODUCT = 1e100  # a product above this is turned into its logarithm


@inlined
def logarithm(x: float) -> float:
    """Natural logarithm of a positive normal number, by a polynomial that vectorises (a call into libm does not).

    x = 2^e m with m in [sqrt(1/2), sqrt(2)), and with f = m - 1, s = f/(2 + f) the odd series of log((1 + s)/(1 - s)).
    Error below one unit in the last place.
    """
    bits = np.float64(x).view(np.int64)
    exponent = (bits - _MANTISSA_OF_ROOT_HALF) >> 52
    mantissa = np.int64(bits - (exponent << 52)).view(np.float64)
    return _logarithm_of_parts(np.float64(exponent), mantissa - 1.0)


@inlined
def logarithm_of_one_plus(f: float) -> float:
    """log(1 + f) for f >= 0, with the digits of f where it is small; vectorises."""
    bits = np.float64(1.0 + f).view(np.int64)
    exponent = (bits - _MANTISSA_OF_ROOT_HALF) >> 52
    mantissa = np.int64(bits - (exponent << 52)).view(np.float64)
    return _logarithm_of_parts(np.float64(exponent), f if exponent == 0 else mantissa - 1.0)


@inlined
def _logarithm_of_parts(power: float, f: float) -> float:
    """log(2^power (1 + f)), 1 + f in [sqrt(1/2), sqrt(2))."""
    s = f / (2.0 + f)
    z = s * s
    tail = z * (
        6.666666666666735130e-01
        + z
        * (
            3.999999999940941908e-01
            + z
            * (
                2.857142874366239149e-01
                + z
                * (
                    2.222219843214978396e-01
                    + z * (1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))
                )
            )
        )
    )
    half_square = 0.5 * f * f
    return power * _LOG_TWO_HIGH - ((half_square - (s * (half_square + tail) + power * _LOG_TWO_LOW)) - f)


@inlined
def log_excess(c: float) -> float:
    """psi(c + 1) - log c for c > 0."""
    if c >= _SERIES_FROM:
        inverse = 1.0 / c
        return 0.5 * inverse + _digamma_tail(inverse * inverse)
    x = c + 1.0
    t = x * (x + 7.0)
    low, high = t * (t + 6.0), (t + 10.0) * (t + 12.0)
    reciprocals = (2.0 * x + 7.0) * ((2.0 * t + 6.0) * high + (2.0 * t + 22.0) * low) / (low * high)
    inverse = 1.0 / (x + 8.0)
    return logarithm((x + 8.0) / c) - 0.5 * inverse + _digamma_tail(inverse * inverse) - reciprocals


@inlined
def log_spread(c: float) -> float:
    """c (c + 1) psi'(c + 1) - c for c >= 0."""
    if c >= _SERIES_FROM:
        z = 1.0 / c
        zz = z * z
        tail = zz * (
            1.0 / 30.0
            - zz * (1.0 / 42.0 - zz * (1.0 / 30.0 - zz * (5.0 / 66.0 - zz * (691.0 / 2730.0 - zz * (7.0 / 6.0)))))
        )
        return 0.5 - z * (1.0 / 3.0) + zz * (1.0 / 6.0) - (z + zz) * tail
    x = c + 1.0
    t = x * (x + 7.0)
    squares = (
        (2.0 * t + 49.0) / (t * t)
        + (2.0 * t + 37.0) / ((t + 6.0) * (t + 6.0))
        + (2.0 * t + 29.0) / ((t + 10.0) * (t + 10.0))
        + (2.0 * t + 25.0) / ((t + 12.0) * (t + 12.0))
    )
    z = 1.0 / (x + 8.0)
    zz = z * z
    tail = zz * (
        1.0 / 6.0
        - zz
        * (
            1.0 / 30.0
            - zz * (1.0 / 42.0 - zz * (1.0 / 30.0 - zz * (5.0 / 66.0 - zz * (691.0 / 2730.0 - zz * (7.0 / 6.0)))))
        )
    )
    return c * (x * (squares + z * (1.0 + 0.5 * z + tail)) - 1.0)


@inlined
def _digamma_tail(zz: float) -> float:
    """The even terms of psi(x) = log x - 1/(2x) + tail(1/x^2), Bernoulli numbers over 2k."""
    return -zz * (
        1.0 / 12.0
        - zz
        * (
            1.0 / 120.0
            - zz * (1.0 / 252.0 - zz * (1.0 / 240.0 - zz * (1.0 / 132.0 - zz * (691.0 / 32760.0 - zz * (1.0 / 12.0)))))
        )
    )


@inlined
def log_rise(a: float, n: float) -> float:
    """log [Gamma(a + n)/Gamma(a)] - n log a for a > 0, n >= 0; vectorises over a."""
    x = a + 8.0
    t, u = a * (a + 7.0), (a + n) * (a + n + 7.0)
    fewer = t * (t + 6.0) * ((t + 10.0) * (t + 12.0))
    more = u * (u + 6.0) * ((u + 10.0) * (u + 12.0))
    return log_rise_of_large(x, n) + n * logarithm_of_one_plus(8.0 / a) + logarithm(fewer / more)


@inlined
def log_rise_of_large(a: float, n: float) -> float:
    """log_rise for a >= 8, with one logarithm instead of three."""
    inverse, after = 1.0 / a, 1.0 / (a + n)
    series = stirling_tail(after) - stirling_tail(inverse)
    return (a + n - 0.5) * logarithm_of_one_plus(n * inverse) - n + series


@inlined
def stirling_tail(z: float) -> float:
    """s(1/x) of the module's docstring; 7 terms reach 1e-15 from x = 8 on."""
    zz = z * z
    return z * (
        1.0 / 12.0
        - zz
        * (
            1.0 / 360.0
            - zz
            * (1.0 / 1260.0 - zz * (1.0 / 1680.0 - zz * (1.0 / 1188.0 - zz * (691.0 / 360360.0 - zz * (1.0 / 156.0)))))
        )
    )


@inlined
def is_multiplied_out(n: float, inverse: float, part: float) -> bool:
    """Whether log_rise(K part, n) is taken from the product of its factors; `inverse` is 1/K for the smallest K."""
    return n <= _MAX_MULTIPLIED_OUT and n == np.floor(n) and n * inverse < _MAX_FACTOR * part


@inlined
def take_logarithms(product: FloatArray, score: FloatArray, sign: float) -> None:
    """Add or subtract the logarithms of the products, and reset these to 1."""
    for point in range(product.size):
        score[point] += sign * logarithm(product[point])
        product[point] = 1.0


@inlined
def multiply(product: FloatArray, inverse: FloatArray, score: FloatArray, part: float, n: float, sign: float) -> None:
    """Multiply by (1 + k/(K part)) for all whole k below n; what gets too large goes to the scores, with this sign."""
    scale = 1.0 / part
    for first in range(1, np.int64(n), 4):
        one, two = first * scale, (first + 1) * scale if first + 1 < n else 0.0
        three = (first + 2) * scale if first + 2 < n else 0.0
        four = (first + 3) * scale if first + 3 < n else 0.0
        for point in range(inverse.size):
            inverse_k = inverse[point]
            low = (1.0 + one * inverse_k) * (1.0 + two * inverse_k)
            product[point] *= low * ((1.0 + three * inverse_k) * (1.0 + four * inverse_k))
        if product[0] > MAX_PRODUCT:
            take_logarithms(product, score, sign)


@inlined
def add_rise(score: FloatArray, strength: FloatArray, part: float, n: float, sign: float) -> None:
    """Add or subtract log_rise(K part, n).

    The choice between the formula for large parameters and the general one is made for `LANES` points at a time.
    """
    for first in range(0, strength.size, LANES):
        lane_strengths, lane_scores = strength[first : first + LANES], score[first : first + LANES]
        if lane_strengths[0] * part >= _LARGE_FROM:
            for lane in range(lane_strengths.size):
                lane_scores[lane] += sign * log_rise_of_large(lane_strengths[lane] * part, n)
        else:
            for lane in range(lane_strengths.size):
                lane_scores[lane] += sign * log_rise(lane_strengths[lane] * part, n)

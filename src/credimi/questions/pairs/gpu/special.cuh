// Digamma, trigamma and log Gamma in the combinations of `inference.special_functions`, which derives them.
#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
#define METHOD __device__ __forceinline__
#define CALLED __device__ __noinline__
#define MEMBER __device__ __noinline__
#define ONCE _Pragma("unroll 1")  // the body is long, and compiled once is enough
#if defined(TABLE_ROWS) && !TABLE_MAY_MISS_BOTH  // the shape is known: all of a table fits into registers
#define EACH _Pragma("unroll")
#else  // with all of a mode as well it would not: measured, loops are faster then
#define EACH ONCE
#endif
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#else  // compiled for the CPU, by the tests
#include <algorithm>
#include <cmath>
using namespace std;
#define DEVICE static inline
#define METHOD inline
#define CALLED static
#define MEMBER inline
#define ONCE
#define EACH
#endif

DEVICE double digamma_tail(double zz) {
  return -zz * (1.0 / 12.0 - zz * (1.0 / 120.0 - zz * (1.0 / 252.0 - zz * (1.0 / 240.0 - zz * (1.0 / 132.0
         - zz * (691.0 / 32760.0 - zz * (1.0 / 12.0)))))));
}

DEVICE double stirling_tail(double z) {
  double zz = z * z;
  return z * (1.0 / 12.0 - zz * (1.0 / 360.0 - zz * (1.0 / 1260.0 - zz * (1.0 / 1680.0 - zz * (1.0 / 1188.0
         - zz * (691.0 / 360360.0 - zz * (1.0 / 156.0)))))));
}

// psi(c + 1) - log c for c > 0
CALLED double log_excess(double c) {
  if (c >= 12.0) {
    double inverse = 1.0 / c;
    return 0.5 * inverse + digamma_tail(inverse * inverse);
  }
  double x = c + 1.0, t = x * (x + 7.0);
  double low = t * (t + 6.0), high = (t + 10.0) * (t + 12.0);
  double reciprocals = (2.0 * x + 7.0) * ((2.0 * t + 6.0) * high + (2.0 * t + 22.0) * low) / (low * high);
  double inverse = 1.0 / (x + 8.0);
  return log((x + 8.0) / c) - 0.5 * inverse + digamma_tail(inverse * inverse) - reciprocals;
}

DEVICE double spread_tail(double zz) {
  return zz * (1.0 / 30.0 - zz * (1.0 / 42.0 - zz * (1.0 / 30.0 - zz * (5.0 / 66.0 - zz * (691.0 / 2730.0
         - zz * (7.0 / 6.0))))));
}

// c (c + 1) psi'(c + 1) - c for c >= 0
CALLED double log_spread(double c) {
  if (c >= 12.0) {
    double z = 1.0 / c, zz = z * z;
    return 0.5 - z * (1.0 / 3.0) + zz * (1.0 / 6.0) - (z + zz) * spread_tail(zz);
  }
  double x = c + 1.0, t = x * (x + 7.0);
  double squares = (2.0 * t + 49.0) / (t * t) + (2.0 * t + 37.0) / ((t + 6.0) * (t + 6.0))
                   + (2.0 * t + 29.0) / ((t + 10.0) * (t + 10.0)) + (2.0 * t + 25.0) / ((t + 12.0) * (t + 12.0));
  double z = 1.0 / (x + 8.0), zz = z * z;
  double tail = zz * (1.0 / 6.0 - spread_tail(zz));
  return c * (x * (squares + z * (1.0 + 0.5 * z + tail)) - 1.0);
}

// log [Gamma(a + n)/Gamma(a)] - n log a for a >= 8, n >= 0
DEVICE double log_rise_of_large(double a, double n) {
  double inverse = 1.0 / a, after = 1.0 / (a + n);
  return (a + n - 0.5) * log1p(n * inverse) - n + (stirling_tail(after) - stirling_tail(inverse));
}

// the same for a > 0
CALLED double log_rise(double a, double n) {
  if (a >= 8.0) return log_rise_of_large(a, n);
  double t = a * (a + 7.0), u = (a + n) * (a + n + 7.0);
  double fewer = t * (t + 6.0) * ((t + 10.0) * (t + 12.0));
  double more = u * (u + 6.0) * ((u + 10.0) * (u + 12.0));
  return log_rise_of_large(a + 8.0, n) + n * log1p(8.0 / a) + log(fewer / more);
}

// log Gamma(x) less Stirling's formula
CALLED double stirling_error(double x) {
  double error = 0.0;
  ONCE while (x < 16.0) {
    error += (x + 0.5) * log1p(1.0 / x) - 1.0;
    x += 1.0;
  }
  return error + stirling_tail(1.0 / x);
}

"""How kernels come to be compiled: by Numba in a checkout, as a library in a wheel."""

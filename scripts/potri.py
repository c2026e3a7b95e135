"""What OpenBLAS reaches in potrf and potri, in GF/s of n³ flops, beside BenchmarkDense of pkg/gppl:

    OPENBLAS_NUM_THREADS=1 python3 scripts/potri.py

It needs numpy and scipy, whose wheels contain OpenBLAS. Rates are by processor time, and by the clock, each the best of three.
"""

import time

import numpy as np
from scipy.linalg import lapack


def covariance(n):
    """SE of length 1 and noise 0.1 at n random points of a square of side 10."""
    x = np.random.default_rng(1).uniform(0, 10, (n, 2))
    squares = ((x[:, None] - x[None]) ** 2).sum(-1)
    return np.asfortranarray(np.exp(-0.5 * squares) + 0.1 * np.eye(n))


def seconds(a, clock):
    factor = a.copy(order="F")
    start = clock()
    factor, failed = lapack.dpotrf(factor, lower=1, overwrite_a=1)
    assert not failed
    _, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    assert not failed
    return clock() - start


for n in (1000, 2000, 4000):
    a = covariance(n)
    processor, wall = (min(seconds(a, clock) for _ in range(3)) for clock in (time.process_time, time.perf_counter))
    print(f"n = {n}: {n**3 / processor / 1e9:.1f} GF/s by processor time, {n**3 / wall / 1e9:.1f} by the clock")

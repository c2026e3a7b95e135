"""Factorises and inverts a covariance of n points of a plane by OpenBLAS's potrf and potri, for measure/dense:

    python3 scripts/potri.py 2000

It answers each line of its input with the seconds that this took. It needs numpy and scipy, whose wheels contain OpenBLAS.
"""

import sys
import time

import numpy as np
from scipy.linalg import lapack


def covariance(n):
    """SE of length 1 and noise 0.1 at n random points of a square of side 10."""
    x = np.random.default_rng(1).uniform(0, 10, (n, 2))
    squares = ((x[:, None] - x[None]) ** 2).sum(-1)
    return np.asfortranarray(np.exp(-0.5 * squares) + 0.1 * np.eye(n))


def seconds(a):
    factor = a.copy(order="F")
    start = time.perf_counter()
    factor, failed = lapack.dpotrf(factor, lower=1, overwrite_a=1)
    assert not failed
    _, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    assert not failed
    return time.perf_counter() - start


a = covariance(int(sys.argv[1]))
for _ in sys.stdin:
    print(seconds(a), flush=True)

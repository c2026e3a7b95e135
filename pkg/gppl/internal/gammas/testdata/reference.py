"""Prints reference values of package gammas, by mpmath in 30 digits: python3 reference.py CASES SEED > reference.txt"""
import random
import sys

import mpmath as mp

mp.mp.dps = 30
cases, seed = int(sys.argv[1]), int(sys.argv[2])
random.seed(seed)


def between(lo, hi):
    return lo * (hi / lo) ** random.random()


def shape():
    return between(0.05, 1e7) if random.random() < 0.8 else between(1e7, 1e15)


def tail(density, start, step):
    """The integral of a density from start on, by panels."""
    total, at, step = mp.mpf(0), start, mp.mpf(step)
    for k in range(400):
        part = abs(mp.quad(density, [at, at + step], maxdegree=4, method="gauss-legendre"))
        total, at = total + part, at + step
        if k > 3 and (part < 1e-20 * total or part < mp.mpf(10) ** -25 and at * step > 0):
            break
        if k > 25:
            step *= 1.15
    return total


for _ in range(cases):
    a, b, kind = shape(), shape(), random.choice(["gamma", "beta", "functions"])
    A, B = mp.mpf(a), mp.mpf(b)
    if kind == "functions":  # Rest, ψ(a) − log a, HalfStep
        rest = mp.loggamma(A) - (A - 0.5) * mp.log(A) + A - mp.log(2 * mp.pi) / 2
        half = mp.loggamma(A + mp.mpf(1) / 2) - mp.loggamma(A) - mp.log(A) / 2
        print(kind, repr(a), 0, 0, *[mp.nstr(v, 17) for v in (rest, mp.digamma(A) - mp.log(A), half)])
        continue
    width = (1 / a if kind == "gamma" else 1 / a + 1 / b) ** 0.5
    d = random.uniform(-7, 7) * width if random.random() < 0.8 else random.uniform(-3, 3)
    d = max(-30.0, min(30.0, d))
    D = mp.mpf(d)
    if kind == "gamma":
        log = lambda t: A * t - A * mp.exp(t) + A * mp.log(A) - mp.loggamma(A)
        right = min(width, 0.7)
    else:
        norm = mp.loggamma(A + B) - mp.loggamma(A) - mp.loggamma(B) + A * mp.log(A / B)
        log = lambda t: A * t - (A + B) * mp.log1p(A / B * mp.exp(t)) + norm
        right = width
    density = lambda t: mp.exp(log(t))
    below, above = tail(density, D, -1.5 * width), tail(density, D, 1.5 * right)
    if abs(below + above - 1) < 1e-17:
        print(kind, repr(a), repr(b), repr(d), *[mp.nstr(v, 17) for v in (below, above, log(D))], flush=True)

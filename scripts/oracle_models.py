"""Writes pkg/gppl/testdata/oracle-models.json: three series under models with a mean, with
error bars, and left out one at a time, as scikit-learn and celerite2 compute them.

    python -m venv VENV && VENV/bin/pip install scikit-learn celerite2
    VENV/bin/python scripts/oracle_models.py pkg/gppl/testdata/oracle-models.json

A mean with Gaussian coefficients is a degenerate kernel, which scikit-learn has as
ConstantKernel and DotProduct; error bars are its alpha and celerite2's yerr. What is left out
is predicted by fitting the others, n times.
"""

import json
import sys

import celerite2
import numpy as np
import sklearn
from celerite2 import terms
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern


def series():
    rng = np.random.default_rng(14)
    irregular = np.sort(rng.uniform(0, 10, 45))
    regular = np.arange(48) / 12.0
    clustered = np.sort(np.concatenate([rng.uniform(0, 1, 15), rng.uniform(4, 4.5, 15), rng.uniform(9, 12, 10)]))
    for name, x in (("irregular", irregular), ("monthly", regular), ("clustered", clustered)):
        s = rng.uniform(0.05, 0.6, len(x))
        y = 1.5 + 0.7 * x + np.sin(2 * x) + s * rng.standard_normal(len(x))
        yield name, np.round(x, 6), np.round(y, 6), np.round(s, 6)


MODELS = [  # kernel, variance, lengthscale, noise, variances of the intercept and of the slope
    ("SE", 1.1, 0.8, 0.04, None, None),
    ("SE", 0.9, 0.6, 0.09, 4.0, 2.0),
    ("Matern32", 1.3, 1.2, 0.05, 9.0, 0.5),
]


def kernel_of(name, variance, lengthscale, intercept, slope):
    shape = RBF(lengthscale) if name == "SE" else Matern(lengthscale, nu=1.5)
    k = ConstantKernel(variance) * shape
    if intercept is not None:  # slope·(intercept/slope + xx') = intercept + slope·xx'
        k = k + ConstantKernel(slope) * DotProduct(sigma_0=np.sqrt(intercept / slope))
    return k


def scikit(x, y, s, at, model):
    name, variance, lengthscale, noise, intercept, slope = model
    kernel = kernel_of(name, variance, lengthscale, intercept, slope)

    def fitted(keep):
        gp = GaussianProcessRegressor(kernel, alpha=noise + s[keep] ** 2, optimizer=None)
        return gp.fit(x[keep, None], y[keep])

    every = np.arange(len(x))
    gp = fitted(every)
    mean, sd = gp.predict(at[:, None], return_std=True)
    left = []
    for i in every:
        m, v = fitted(np.delete(every, i)).predict(x[i : i + 1, None], return_std=True)
        left.append((float(m[0]), float(v[0] ** 2 + noise + s[i] ** 2)))
    return {
        "source": f"scikit-learn {sklearn.__version__}",
        "kernel": name, "variance": variance, "lengthscale": lengthscale, "noise": noise,
        "intercept_variance": intercept, "slope_variance": slope,
        "nll": -float(gp.log_marginal_likelihood()),
        "mean": mean.tolist(), "latent_variance": (sd**2).tolist(),
        "left_out_mean": [m for m, _ in left], "left_out_variance": [v for _, v in left],
    }


def celerite(x, y, s, at, variance=1.2, lengthscale=0.9, noise=0.03):
    def fitted(keep):
        gp = celerite2.GaussianProcess(terms.RealTerm(a=variance, c=1 / lengthscale))
        gp.compute(x[keep], diag=noise + s[keep] ** 2)
        return gp

    every = np.arange(len(x))
    gp = fitted(every)
    mean, var = gp.predict(y, at, return_var=True)
    left = []
    for i in every:
        keep = np.delete(every, i)
        m, v = fitted(keep).predict(y[keep], x[i : i + 1], return_var=True)
        left.append((float(m[0]), float(v[0] + noise + s[i] ** 2)))
    return {
        "source": f"celerite2 {celerite2.__version__}",
        "kernel": "Laplace", "variance": variance, "lengthscale": lengthscale, "noise": noise,
        "intercept_variance": None, "slope_variance": None,
        "nll": -float(gp.log_likelihood(y)),
        "mean": mean.tolist(), "latent_variance": var.tolist(),
        "left_out_mean": [m for m, _ in left], "left_out_variance": [v for _, v in left],
    }


def main(path):
    out = []
    for name, x, y, s in series():
        at = np.array([x[0] - 0.7, 0.5 * (x[3] + x[4]), x[10] + 0.01, x[-1] + 0.4, x[-1] + 5])
        out.append({
            "name": name, "x": x.tolist(), "y": y.tolist(), "errors": s.tolist(), "at": at.tolist(),
            "cases": [scikit(x, y, s, at, m) for m in MODELS] + [celerite(x, y, s, at)],
        })
    with open(path, "w") as f:
        json.dump(out, f)
        f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])

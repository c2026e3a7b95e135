"""Writes pkg/gppl/testdata/oracle-axes.json: likelihoods, their gradients and predictions of kernels of several axes, each with its
lengthscale, as scikit-learn and GPyTorch compute them.

    python -m venv VENV && VENV/bin/pip install scikit-learn gpytorch
    VENV/bin/python scripts/oracle_axes.py pkg/gppl/testdata/oracle-axes.json
    VENV/bin/python scripts/oracle_axes.py --time     # their processor time beside gppl's (BenchmarkARD), one thread each

Gradients are of the negative log likelihood, in the logs of the variance, of each lengthscale, and of the noise variance.
scikit-learn has no kernels on some of the axes; GPyTorch has, and products of them.
"""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import gpytorch
import numpy as np
import sklearn
import torch
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

ROOT = pathlib.Path(__file__).resolve().parent.parent
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

SMOOTHNESS = {"Laplace": 0.5, "Matern32": 1.5, "Matern52": 2.5}


def data(n, d, seed):
    rng = np.random.default_rng(seed)
    x = np.round(4 * rng.random((n, d)), 6)
    return x, np.round(np.sin(x.sum(axis=1)) + 0.3 * rng.standard_normal(n), 6), np.round(4 * rng.random((5, d)), 6)


def scikit(x, y, at, name, variance, lengthscales, noise):
    shape = RBF(lengthscales) if name == "SE" else Matern(lengthscales, nu=SMOOTHNESS[name])
    gp = GaussianProcessRegressor(ConstantKernel(variance) * shape + WhiteKernel(noise), alpha=0, optimizer=None).fit(x, y)
    value, grad = gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True)
    mean, sd = gp.predict(at, return_std=True)
    return -value, -grad, mean, sd**2 - noise


def torch_kernel(name, axes=None, lengthscales=()):
    if name == "SE":
        k = gpytorch.kernels.RBFKernel(ard_num_dims=len(lengthscales), active_dims=axes)
    else:
        k = gpytorch.kernels.MaternKernel(nu=SMOOTHNESS[name], ard_num_dims=len(lengthscales), active_dims=axes)
    k.lengthscale = torch.tensor(lengthscales)
    return k


class Model(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood, kernel):
        super().__init__(x, y, likelihood)
        self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), kernel

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def torch_model(x, y, shape, variance, noise):
    x, y = torch.tensor(x), torch.tensor(y)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    likelihood.noise = noise
    kernel = gpytorch.kernels.ScaleKernel(shape)
    kernel.outputscale = variance
    model = Model(x, y, likelihood, kernel)
    return model, gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model), x, y


def torch_value(model, mll, x, y):
    model.train(), model.likelihood.train(), model.zero_grad()
    loss = -mll(model(x), y) * len(y)
    loss.backward()
    return loss


def gpy(x, y, at, shape, lengthscales_of, variance, noise):
    model, mll, x, y = torch_model(x, y, shape, variance, noise)
    with gpytorch.settings.fast_computations(False, False, False), gpytorch.settings.max_cholesky_size(10**6):
        value = torch_value(model, mll, x, y)

        def in_log(raw, constraint, natural):
            by_raw = torch.autograd.functional.jacobian(constraint.transform, raw.detach().flatten()).diagonal()
            return (raw.grad.flatten() / by_raw * natural.detach().flatten()).tolist()

        k, noise_model = model.covar_module, model.likelihood.noise_covar
        grad = in_log(k.raw_outputscale, k.raw_outputscale_constraint, k.outputscale)
        for part in lengthscales_of(shape):
            grad += in_log(part.raw_lengthscale, part.raw_lengthscale_constraint, part.lengthscale)
        grad += in_log(noise_model.raw_noise, noise_model.raw_noise_constraint, noise_model.noise)
        model.eval(), model.likelihood.eval()
        with torch.no_grad():
            p = model(torch.tensor(at))
            return float(value.detach()), np.array(grad), p.mean.numpy(), p.variance.numpy()


def cases():
    for name, lengthscales, variance, noise in [
        ("SE", [0.7, 2.5], 1.3, 0.1), ("SE", [1.0, 2.0, 3.0, 9.0], 0.8, 0.05), ("Laplace", [0.5, 4.0], 1.1, 0.2),
        ("Matern32", [0.9, 3.0, 1.7], 2.0, 0.1), ("Matern52", [1.5, 0.6], 0.7, 0.15), ("Matern52", [1.2, 2.2, 8.0], 1.4, 0.08),
    ]:
        x, y, at = data(60, len(lengthscales), len(lengthscales))
        base = {"x": x.tolist(), "y": y.tolist(), "at": at.tolist(), "variance": variance, "noise": noise,
                "factors": [{"kernel": name, "axes": list(range(len(lengthscales))), "lengthscales": lengthscales}]}
        for source, answer in (
            (f"scikit-learn {sklearn.__version__}", scikit(x, y, at, name, variance, lengthscales, noise)),
            (f"GPyTorch {gpytorch.__version__}",
             gpy(x, y, at, torch_kernel(name, None, lengthscales), lambda k: [k], variance, noise)),
        ):
            yield base, source, answer
    x, y, at = data(60, 3, 8)
    factors = [{"kernel": "Matern52", "axes": [0, 1], "lengthscales": [0.8, 2.0]}, {"kernel": "SE", "axes": [2], "lengthscales": [1.1]}]
    shape = torch_kernel("Matern52", (0, 1), [0.8, 2.0]) * torch_kernel("SE", (2,), [1.1])
    base = {"x": x.tolist(), "y": y.tolist(), "at": at.tolist(), "variance": 1.2, "noise": 0.1, "factors": factors}
    yield base, f"GPyTorch {gpytorch.__version__}", gpy(x, y, at, shape, lambda k: list(k.kernels), 1.2, 0.1)


def write(path):
    out = []
    for base, source, (value, grad, mean, variance) in cases():
        out.append(base | {"source": source, "nll": float(value), "grad": list(map(float, grad)), "mean": list(map(float, mean)),
                           "latent_variance": list(map(float, variance))})
    with open(path, "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in out) + "\n]\n")


def seconds(evaluate):
    """Median processor time of evaluate(), after a first call."""
    evaluate()
    times = []
    while len(times) < 3 or sum(times) < 3:
        start = time.process_time()
        evaluate()
        times.append(time.process_time() - start)
    return statistics.median(times)


def compare_times():
    ours = {}
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "gppl.test"
        subprocess.run(["go", "test", "-c", "-o", program, "./pkg/gppl"], cwd=ROOT, check=True)
        for name in ("SE", "Matern52"):
            for n in (200, 1000, 2000):
                def processor(count):
                    before = resource.getrusage(resource.RUSAGE_CHILDREN)
                    subprocess.run([program, "-test.run", "none", "-test.bench", f"^BenchmarkARD$/^n={n}$/^ARD_{name}$", "-test.benchtime",
                                    f"{count}x"], cwd=ROOT / "pkg" / "gppl", env=os.environ | {"GOMAXPROCS": "1"}, check=True,
                                   capture_output=True)
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

                few, many = 2, 2 + max(4, 4 * 10**8 // n**3)
                ours[n, name] = min(processor(many) - processor(few) for _ in range(3)) / (many - few)
    print("value and gradient, 4 axes, a lengthscale for each: processor time of one thread\n")
    print("| kernel | n | gppl | scikit-learn | ÷ | GPyTorch, Cholesky | ÷ |")
    for (n, name), own in sorted(ours.items(), key=lambda c: (c[0][1], c[0][0])):
        x, y, _ = data(n, 4, n)
        shape = RBF([1.0, 2.0, 3.0, 4.0]) if name == "SE" else Matern([1.0, 2.0, 3.0, 4.0], nu=2.5)
        gp = GaussianProcessRegressor(ConstantKernel(1.0) * shape + WhiteKernel(0.1), alpha=0, optimizer=None).fit(x, y)
        theirs = seconds(lambda: gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True))
        model, mll, tx, ty = torch_model(x, y, torch_kernel(name, None, [1.0, 2.0, 3.0, 4.0]), 1.0, 0.1)
        with gpytorch.settings.fast_computations(False, False, False), gpytorch.settings.max_cholesky_size(10**6):
            torch_time = seconds(lambda: torch_value(model, mll, tx, ty))
        print(f"| {name} | {n} | {own * 1e3:.3g} ms | {theirs * 1e3:.3g} ms | {theirs / own:.2f} |"
              f" {torch_time * 1e3:.3g} ms | {torch_time / own:.2f} |", flush=True)


if sys.argv[1:] == ["--time"]:
    compare_times()
else:
    write(sys.argv[1])

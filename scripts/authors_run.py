"""Runs the authors' code on the sunspots, and compares what it gives, row by row, with pkg/experiment/published.json and our results.

    git clone https://github.com/felipe-tobar/projected-likelihood
    python3 scripts/authors_run.py projected-likelihood SN_m_tot_V2.0.csv

with the packages of scripts/requirements-authors.txt, trains PL and VFE as Experiment 3 does, some ten minutes; names of kernels at the
end run these alone. It ends with 1 if PL, whose numbers are all known, differs. VFE depends on the version of k-means and is printed
beside ours.

    python3 scripts/authors_run.py projected-likelihood --fixture pkg/experiment/testdata/torch.json

writes losses and parameters of a small training, step by step, by PyTorch's optimisers, with which TestTorchFixture compares ours.

    python3 scripts/authors_run.py projected-likelihood --single pkg/experiment/testdata/torch_single.json

trains VFE in single precision, as Experiments 1 and 2 do, on the data of that file, from the same inducing inputs, six times each
with observations that differ by their rounding: some twenty minutes. It writes the loss and gradient along the way in single and in
double precision, and where each training ends, with which TestTorchSingle compares ours.
The clone must be at commit a448942; the hash of gp.py is checked. The authors' files are not part of this project.
"""

import contextlib
import csv
import hashlib
import io
import json
import sys
from pathlib import Path

import numpy as np

from authors_log import HASHES, KERNELS, PUBLISHED

RESULTS = PUBLISHED.parent.parent.parent / "notebooks/results/sunspots.jsonl"
SEED, ORDER, RATE, STEPS, TOLERANCE = 55, 100, 0.25, 2001, 1e-3


def authors(clone):
    """Their module, if it is the one that was read."""
    if hashlib.sha256((clone / "gp.py").read_bytes()).hexdigest() != HASHES["gp.py"]:
        sys.exit("authors_run: gp.py is not that of commit a448942")
    sys.path.insert(0, str(clone))
    import gp

    return gp


def sunspots(path):
    """The first 3319 months, standardised as in Experiment 3, cell 4."""
    import torch

    with open(path) as f:
        rows = [r for r in csv.reader(f, delimiter=";")][:3319]
    x, y = (torch.tensor([float(r[i]) for r in rows], dtype=torch.float64).unsqueeze(1) for i in (2, 3))
    y = y - torch.mean(y)
    return x, y / torch.std(y)


def parameters(model):
    """The raw hyperparameters, and the inducing inputs if there are any."""
    return [float(v) for name in ("hypers_", "Z_") if hasattr(model, name) for v in getattr(model, name).detach().flatten()]


def train(gp, x, y, kernel, method, order, **settings):
    """Trains as train_step does. Returns the losses of all steps, the raw parameters after each, and what they learnt."""
    import torch

    np.random.seed(SEED)
    model = gp.GP(x, y, kernel=kernel, M=order, method=method)
    losses, raw = [], []
    objective = {"NLL": "nll", "VFE": "elbo", "proj-sphere": "proj"}[method]
    name = {"nll": "nll", "elbo": "elbo", "proj": "projected_nll"}[objective]
    compute = getattr(model, name)

    def watched(*args, **kwargs):
        value = compute(*args, **kwargs)
        losses.append(float(-value if objective == "elbo" else value))
        raw.append(parameters(model))
        return value

    setattr(model, name, watched)
    end = model.train_step(obj=objective, **settings)
    setattr(model, name, compute)
    with torch.no_grad():
        hypers = [float(v) for v in model.hypers]
    evaluations = len(losses) - (objective == "nll")  # train_step ends with one of the NLL
    raw.append(parameters(model))
    return {"loss": losses[:evaluations], "raw": raw[:evaluations] + raw[-1:], "theta": hypers, "nll": end["nll"]}


def ours():
    """Our stored outcomes on the sunspots by the authors' optimiser, by kernel and loss."""
    found = {}
    for line in RESULTS.read_text().splitlines():
        o = json.loads(line)
        t = o["trial"]
        if t.get("optimiser", {}).get("method") == "torch Adam":
            found.setdefault((t["kernel"], t["loss"]), []).append(o)
    return found


def compare(gp, data, kernels):
    x, y = sunspots(data)
    stored = ours()
    noted_of = json.loads(PUBLISHED.read_text())["authors_code_run_by_itself"]
    known = noted_of["PL"]
    settings = dict(opt_name="Adam", lr=RATE, n_steps=STEPS, tol=TOLERANCE)
    wrong = 0
    for kernel in kernels:
        with contextlib.redirect_stdout(io.StringIO()):
            pl = train(gp, x, y, kernel, "proj-sphere", ORDER, **settings)
        mine = stored[kernel, "PL"][0]
        rows = [("PL at the start", pl["loss"][0], known[kernel]["start"], mine["start"], 5e-5 / pl["loss"][0]),
                ("exact NLL", pl["nll"], known[kernel]["nll"], mine["nll"], 1e-6),
                ("stop", len(pl["loss"]) - 1, known[kernel]["stop"], mine["evaluations"] - 1, 0)]
        rows += [(f"parameter {i}", a, b, c, 1e-4) for i, (a, b, c) in enumerate(zip(pl["theta"], known[kernel]["theta"], mine["theta"]))]
        for name, theirs, noted, own, near in rows:
            same = all(abs(v / theirs - 1) <= near for v in (noted, own))
            wrong += not same
            print(f"{kernel:8} PL   {name:16} theirs {theirs:.10g}, published.json {noted:.10g}, ours {own:.10g}{'' if same else '   DIFFERS'}", flush=True)
        with contextlib.redirect_stdout(io.StringIO()):
            vfe = train(gp, x, y, kernel, "VFE", ORDER, **settings)
        print(f"{kernel:8} VFE  exact NLL        theirs {vfe['nll']:.10g} at step {len(vfe['loss']) - 1}, published.json {noted_of['VFE'].get(kernel)}, ours", *(f"{o['nll']:.10g} at {o['evaluations'] - 1}" for o in stored[kernel, "VFE"]), flush=True)
    return wrong


def fixture(gp, path):
    """Small trainings by both optimisers, on data that the file has, in double precision."""
    import torch

    n, order = 40, 8
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0, 20, n))
    y = np.sin(x) + 0.3 * rng.standard_normal(n)
    tx, ty = (torch.from_numpy(v).unsqueeze(1) for v in (x, y))
    runs = []
    for method, loss in (("NLL", "ML"), ("VFE", "VFE"), ("proj-sphere", "PL")):
        for name, optimiser, rate, steps in (("Adam", "torch Adam", 0.1, 30), ("BFGS", "torch L-BFGS", 5e-3, 6)):
            with contextlib.redirect_stdout(io.StringIO()):
                r = train(gp, tx, ty, "SE", method, order, opt_name=name, lr=rate, n_steps=steps, tol=0)
            runs.append({"loss": loss, "optimiser": optimiser, "rate": rate, "steps": steps, "values": r["loss"], "last": r["raw"][-1], "first": r["raw"][0], "nll": r["nll"], "theta": r["theta"]})
    about = f"A GP of gp.py (commit a448942) on these data, trained by PyTorch {torch.__version__}, NumPy {np.__version__}: the loss at each evaluation, the raw parameters before the first step and after the last. By scripts/authors_run.py."
    Path(path).write_text(json.dumps({"about": about, "order": order, "x": x.tolist(), "y": y.tolist(), "runs": runs}, indent=1) + "\n")


def inducing(gp, case, y, dtype):
    """A sparse GP on the data of a case, from its inducing inputs."""
    import torch

    if not case["repel"]:
        gp.repulsive_loss = lambda *_, **__: torch.zeros(())
    tx, ty = (torch.tensor(v, dtype=dtype).unsqueeze(1) for v in (case["x"], y))
    model = gp.GP(tx, ty, kernel="SE", M=len(case["z"]), method="VFE")
    with torch.no_grad():
        model.Z_.copy_(torch.tensor(case["z"], dtype=dtype).unsqueeze(1))
    return model


def single(gp, path):
    """Whole trainings of VFE in single precision, and points along the first of each case."""
    import torch

    torch.set_num_threads(1)
    file = json.loads(Path(path).read_text())
    repulsion = gp.repulsive_loss
    for case in file["cases"]:
        case["points"], case["ends"] = [], []
        rng = np.random.default_rng(1)
        for run in range(6):
            gp.repulsive_loss = repulsion
            y = np.array(case["y"]) * (1 + 1e-6 * (run > 0) * rng.standard_normal(len(case["y"])))
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                model = inducing(gp, case, y, torch.float32)
                raw, compute = [], model.elbo

                def watched():
                    raw.append((model.hypers_.detach().tolist(), model.Z_.detach().flatten().tolist()))
                    return compute()

                model.elbo = watched
                try:
                    model.train_step(obj="elbo", opt_name="Adam", lr=case["rate"], n_steps=case["steps"], tol=case["tolerance"])
                    broken = ""
                except torch.linalg.LinAlgError as e:
                    broken = str(e)
            with torch.no_grad():
                hypers = [float(v) for v in model.hypers]
            case["ends"].append({"theta": hypers, "steps": len(raw), "failed": printed.getvalue().count("Failed"), "broken": broken})
            print(len(case["x"]), len(case["z"]), case["ends"][-1], flush=True)
            if run > 0:
                continue
            for at in [0, 20, 50, 100, 200, 300, 400, 500]:
                if at >= len(raw):
                    break
                point = {"step": at, "raw": raw[at][0], "z": raw[at][1]}
                for name, dtype in (("single", torch.float32), ("double", torch.float64)):
                    with contextlib.redirect_stdout(io.StringIO()):
                        model = inducing(gp, case | {"repel": False}, y, dtype)
                        with torch.no_grad():
                            model.hypers_.copy_(torch.tensor(raw[at][0]))
                            model.Z_.copy_(torch.tensor(raw[at][1], dtype=dtype).unsqueeze(1))
                        loss = -model.elbo()
                        loss.backward()
                    point[name] = {"loss": float(loss), "raw": model.hypers_.grad.tolist(), "z": model.Z_.grad.flatten().tolist()}
                case["points"].append(point)
    file["about"] = f"VFE of gp.py (commit a448942) in single precision by PyTorch {torch.__version__}: the loss without repulsion and its gradient along a training, and where trainings on y (1 + 1e-6 of noise) end. By scripts/authors_run.py."
    Path(path).write_text(json.dumps(file, indent=1) + "\n")


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    gp = authors(Path(arguments[0]))
    if arguments[1] == "--fixture":
        return fixture(gp, arguments[2])
    if arguments[1] == "--single":
        return single(gp, arguments[2])
    wrong = compare(gp, arguments[1], arguments[2:] or KERNELS)
    print(f"{wrong} numbers of PL differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

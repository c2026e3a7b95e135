"""Reads the outputs of the authors' notebooks and compares them, number by number, with pkg/experiment/published.json.

    git clone https://github.com/felipe-tobar/projected-likelihood
    python3 scripts/authors_log.py projected-likelihood

The clone must be at commit a448942; the hashes of the files that are read are checked. It needs Python alone. It ends with 1 if a number
differs, and names it. The authors' files are not part of this project.
"""

import hashlib
import json
import re
import sys
from pathlib import Path

HASHES = {
    "gp.py": "e3731dbfb88becf0859b324aebdf3fd005c11e06a9f3625ac458e776d846d336",
    "Experiment 1.ipynb": "126cec7a881064e3d72e55de847bd93133a79711e38f64ec4cb5318934a48889",
    "Experiment 2.ipynb": "ef726018220cb26215392df660dc86097c1d53b2ca373b46981a1801917b51e8",
    "Experiment 3.ipynb": "c094d6ea00f862119c2eb752c87d0e281ecdd5e0936c0f7f0578fdfb2eaede60",
}
PUBLISHED = Path(__file__).parent.parent / "pkg/experiment/published.json"
KERNELS = ("SE", "Laplace", "RQ", "LocPer")
END = re.compile(r"Elapsed time: ([\d.]+)\[s\] with NLL = ([\d.]+)")
METHODS = {"nll": "ML", "elbo": "VFE", "proj": "PL"}


def outputs(path):
    """The text that each cell of a notebook printed."""
    cells = json.loads(path.read_text())["cells"]
    return ["".join("".join(o.get("text", [])) for o in c.get("outputs", [])) for c in cells]


def trainings(text):
    """Each training in a text: its method, what it printed from its start to its end, its seconds and its NLL."""
    for part in re.split(r"Optimising (?=nll|elbo|proj)", text)[1:]:
        method = METHODS[part.split()[0]]
        if end := END.search(part):
            body = part[: end.start()]
            start = re.search(r"Epoch 0: loss = ([\d.]+)", body)
            stop = re.search(r"Early stop at iteration (\d+)", body)
            yield {"method": method, "start": float(start[1]), "stop": int(stop[1]) if stop else 0, "s": float(end[1]), "nll": float(end[2]),
                   "failed": body.count("Failed, retrying")}


def numbers(text):
    return [float(v) for v in re.findall(r"\d+\.\d+", text)]


def e1(cells):
    found = {}
    theta = dict(re.findall(r"(NLL|ELBO|Proj): \[([\d. ]+)\]", cells[8].split("Hypers:")[1]))
    names = {"ML": "NLL", "VFE": "ELBO", "PL": "Proj"}
    for t in (t for cell in cells[5:8] for t in trainings(cell)):
        m = t["method"]
        found[f"E1_BFGS {m} start"], found[f"E1_BFGS {m} stop"] = t["start"], t["stop"]
        found[f"E1_BFGS_NLL_and_seconds {m} nll"], found[f"E1_BFGS_NLL_and_seconds {m} s"] = t["nll"], t["s"]
        for i, v in enumerate(numbers(theta[names[m]])):
            found[f"E1_BFGS {m} theta {i}"] = v
    return found


def e2(text):
    found = {}
    for part in re.split(r"---observations = ", text)[1:]:
        n, runs = part.split()[0], list(trainings(part))
        kmeans, repulsion = re.findall(r"KMeans finished in ([\d.]+)", part), re.findall(r"Repulsion running time: ([\d.]+)", part)
        found[f"E2_start_NLL {n}"] = runs[0]["start"]
        found[f"E2_setup_seconds {n} VFE"], found[f"E2_setup_seconds {n} PL"] = float(kmeans[-1]), float(repulsion[-1])
        order = {"VFE": iter((50, 100, 150)), "PL": iter((50, 100, 150))}
        for t in runs:
            k = next(order[t["method"]]) if t["method"] in order else None
            found[f"E2 {n} {t['method']} {k} nll"], found[f"E2 {n} {t['method']} {k} s"] = t["nll"], t["s"]
            if t["method"] == "VFE" and k == 150:
                found[f"E2_VFE_150_failed_factorisations {n}"] = t["failed"]
            elif t["failed"]:
                found[f"E2 {n} {t['method']} {k} failed"] = t["failed"]  # there should be none
    return found


def e3(cells):
    found, seen = {}, {}
    for t in trainings(cells[9]):
        i = seen[t["method"]] = seen.get(t["method"], -1) + 1
        if i < len(KERNELS):
            found[f"E3_sunspots_stop {KERNELS[i]} {t['method']}"] = t["stop"]
    for kernel, nll in zip(KERNELS, numbers(cells[10].strip().splitlines()[-1])):
        found[f"PL_digits {kernel}"] = nll
    seen = {}
    for t in trainings(cells[17]):
        i = seen[t["method"]] = seen.get(t["method"], -1) + 1
        found[f"E3_eeg_NLL {KERNELS[i]} {t['method']}"] = t["nll"]
    for method, line in zip(("VFE", "PL"), cells[18].strip().splitlines()):
        for kernel, v in zip(KERNELS, numbers(line)):
            found[f"E3_eeg_residual_norm {kernel} {method}"] = v
    return found


def flat(value, prefix=""):
    """The numbers of published.json by the names that are used here."""
    if isinstance(value, dict):
        return {k: v for key, child in value.items() for k, v in flat(child, f"{prefix} {key}".strip()).items()}
    if isinstance(value, list):
        return {k: v for i, child in enumerate(value) for k, v in flat(child, f"{prefix} {i}").items()}
    return {prefix: value} if isinstance(value, (int, float)) else {}


def published():
    p = json.loads(PUBLISHED.read_text())
    have = flat(p["authors_notebook_logs"])
    have |= flat(p["E3_sunspots_authors_notebook_PL_digits"], "PL_digits")
    for f in p["E2_authors_notebook"]:
        have[f"E2 {f['n']} {f['method']} {f['order']} nll"], have[f"E2 {f['n']} {f['method']} {f['order']} s"] = f["nll"], f["s"]
    return have


def main(clone):
    for name, want in HASHES.items():
        have = hashlib.sha256((clone / name).read_bytes()).hexdigest()
        if have != want:
            sys.exit(f"authors_log: {name} is not that of commit a448942: its hash is {have}")
    found = e1(outputs(clone / "Experiment 1.ipynb")) | e2("".join(outputs(clone / "Experiment 2.ipynb"))) | e3(outputs(clone / "Experiment 3.ipynb"))
    have = published()
    wrong = [f"{k}: their notebooks have {found.get(k)}, published.json {have.get(k)}" for k in sorted(found.keys() | have.keys()) if found.get(k) != have.get(k)]
    print(*wrong, f"{len(found)} numbers of their notebooks, of which {len(wrong)} differ", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))

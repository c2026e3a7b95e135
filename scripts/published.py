#!/usr/bin/env python3
"""Writes measure/forecasting/published.json: what others publish of their models on the series that gppl forecasts.

    git clone https://github.com/amazon-science/chronos-forecasting
    git clone https://github.com/SalesforceAIResearch/gift-eval
    python3 scripts/published.py chronos-forecasting gift-eval

Chronos: scripts/evaluation/results, M3 and the tourism competition (zero-shot: "not seen by Chronos models during training").
GIFT-Eval: results/*/all_results.csv with config.json, M4 Weekly and Hourly, of the types statistical, zero-shot and pretrained: models
that are not trained for each data set. Zero-shot models saw no split of GIFT-Eval; pretrained ones may have seen the training parts;
"testdata_leakage" says whether the test parts were seen. All that as their publishers state it, at the commits named in the file.
"""

import csv
import io
import json
import pathlib
import subprocess
import sys

GROUPS = {f"monash_{c}_{f}": f"{c}-{f}" for c in ("m3", "tourism") for f in ("yearly", "quarterly", "monthly")}
GROUPS |= {"m4_weekly/W/short": "m4-weekly", "m4_hourly/H/short": "m4-hourly"}
OUT = pathlib.Path(__file__).resolve().parent.parent / "measure" / "forecasting" / "published.json"


class Clone:
    """The files of the latest commit of a clone."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.commit = self.git("rev-parse", "HEAD").strip()

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.folder, *arguments], check=True, capture_output=True, text=True).stdout

    def files(self, under):
        return self.git("ls-tree", "-r", "-z", "--name-only", "HEAD", under).split("\0")

    def read(self, path):
        return self.git("show", f"HEAD:{path}")

    def source(self, path):
        return f"{self.name}@{self.commit[:12]}:{path}"


def rows(text, mase, wql):
    """Yields the groups of a table that gppl forecasts, with their scores."""
    for row in csv.DictReader(io.StringIO(text)):
        if group := GROUPS.get(row["dataset"]):
            yield {"group": group, "mase": float(row[mase]), "wql": float(row[wql])}


def chronos(clone):
    under, end = "scripts/evaluation/results/", "-zero-shot.csv"
    for path in clone.files(under):
        if path.endswith(end):
            model = path.removeprefix(under).removesuffix(end)
            kind = "statistical" if model == "seasonal-naive" else "zero-shot"
            for row in rows(clone.read(path), "MASE", "WQL"):
                yield row | {"model": model, "kind": kind, "leaked": False, "source": clone.source(path)}


def gift_eval(clone):
    for path in clone.files("results/"):
        if not path.endswith("/config.json"):
            continue
        config = json.loads(clone.read(path))
        if config["model_type"] not in ("statistical", "zero-shot", "pretrained"):
            continue
        table = path.replace("config.json", "all_results.csv")
        for row in rows(clone.read(table), "eval_metrics/MASE[0.5]", "eval_metrics/mean_weighted_sum_quantile_loss"):
            yield row | {"model": config["model"], "kind": config["model_type"], "leaked": config["testdata_leakage"] == "Yes",
                         "source": clone.source(table)}


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    order = list(GROUPS.values())
    found = [*chronos(Clone(sys.argv[1], "amazon-science/chronos-forecasting")), *gift_eval(Clone(sys.argv[2], "SalesforceAIResearch/gift-eval"))]
    found.sort(key=lambda row: (order.index(row["group"]), row["mase"], row["model"]))
    missing = set(order) - {row["group"] for row in found}
    if missing:
        sys.exit(f"published: no results on {', '.join(sorted(missing))}: have the data sets new names?")
    partial = OUT.with_suffix(".partial")
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in found)
    partial.write_text(f"[\n{lines}\n]\n")
    partial.replace(OUT)
    print(f"{len(found)} results of {len({row['model'] for row in found})} models in {OUT.name}")


if __name__ == "__main__":
    main()

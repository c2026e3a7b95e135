#!/usr/bin/env python3
"""Forecasts series of M3, M4 and the tourism competition by statsforecast's AutoETS, AutoARIMA, AutoTheta and AutoCES, and scores
them as gppl's forecasts are.

    GPPL_DATA=... python3 scripts/rivals.py                                  # the series that docs/forecasts.md tells of
    GPPL_DATA=... python3 scripts/rivals.py --group m3-yearly --limit 20     # printed and not written
    GPPL_DATA=... python3 scripts/rivals.py --group m3-other --half dev --limit 87    # printed too: the half for development

measure/forecasting chooses the series (the same as for gppl: same half, seed and limit) and computes the scores from
quantiles, so that nothing differs but the forecasts. The libraries come from PyPI in the versions of
scripts/requirements-rivals.txt, into .env/rivals, apart from all else. Series are forecast one at a time; compilation is
not timed. All have the season of the competition: 4, 12, 24, and 1 for yearly, other and weekly series.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from separate import environment

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENV = pathlib.Path(os.environ.get("GPPL_RIVALS_ENV", ROOT / ".env" / "rivals"))
REQUIREMENTS = ROOT / "scripts" / "requirements-rivals.txt"
STORED = ROOT / "measure" / "forecasting" / "rivals.json"
GROUPS = "m3-yearly,m3-quarterly,m3-monthly,m3-other,m4-weekly,m4-hourly,tourism-yearly,tourism-quarterly,tourism-monthly"
# The intervals whose ends are the quantiles at 0.005, 0.015, ..., 0.995, and those at 80 and 95 %.
LEVELS = sorted({*range(1, 100, 2), 80, 95})


def forecast(model, y, horizon):
    """Median forecast and the ends of central intervals, by their level."""
    out = model.forecast(y=y, h=horizon, level=LEVELS)
    ends = {str(level): [out[f"lo-{level}"].tolist(), out[f"hi-{level}"].tolist()] for level in LEVELS}
    return {"mean": out["mean"].tolist(), "ends": ends}


def main():
    import numpy as np
    from statsforecast.models import AutoARIMA, AutoCES, AutoETS, AutoTheta

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--group", default=GROUPS, help="groups, separated by commas")
    parser.add_argument("--limit", type=int, help="series of each group; the result is then not stored")
    parser.add_argument("--half", default="test", choices=["test", "dev"], help="series that are reported, or those for development; the result is then not stored")
    parser.add_argument("--models", default="AutoETS,AutoTheta,AutoCES,AutoARIMA")
    options = parser.parse_args()
    kinds = {"AutoETS": AutoETS, "AutoARIMA": AutoARIMA, "AutoTheta": AutoTheta, "AutoCES": AutoCES}
    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(folder, "forecasting")
        subprocess.run(["go", "build", "-o", tool, "./measure/forecasting"], cwd=ROOT, check=True)
        for group in options.group.split(","):
            which = ["-half", options.half, *(["-limit", str(options.limit)] if options.limit else ["-sample"])]
            chosen = pathlib.Path(folder, "series.json")
            subprocess.run([tool, "-group", group, *which, "-export", chosen], check=True)
            series = json.loads(chosen.read_text())
            for name in options.models.split(","):
                kinds[name](season_length=series["season"]).forecast(y=np.array(series["series"][0]["train"]), h=2)
                found = []
                for s in series["series"]:
                    began = time.perf_counter()
                    try:
                        f = forecast(kinds[name](season_length=series["season"]), np.array(s["train"]), len(s["test"]))
                    except Exception as error:  # a rival's failure is a result
                        f = {"error": f"{type(error).__name__}: {error}"}
                    found.append({"id": s["id"], "seconds": time.perf_counter() - began, **f})
                result = pathlib.Path(folder, "forecasts.json")
                result.write_text(json.dumps({"group": group, "model": name, "forecasts": found}))
                stored = [] if options.limit or options.half != "test" else ["-out", STORED]
                subprocess.run([tool, *which, "-score", result, *stored], check=True)


if __name__ == "__main__":
    environment(ENV, REQUIREMENTS, __file__)
    main()

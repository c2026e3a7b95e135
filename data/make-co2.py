#!/usr/bin/env python3
"""Makes co2-weekly.csv from the copy of the series that statsmodels ships.

    pip install --no-deps statsmodels
    python3 data/make-co2.py

Only the file inside the package is read: statsmodels is not imported, so none of what it needs has to be installed.
"""

import csv
import datetime
import hashlib
import importlib.util
import pathlib
import sys

SOURCE_SHA256 = "16695fa2786e53414e5a6b54767a3fdf5de99cfbc68617f69d1362d92776a92f"


def decimal_year(day: datetime.date) -> float:
    """The year plus the part of it that has passed when the day begins."""
    start = datetime.date(day.year, 1, 1)
    end = datetime.date(day.year + 1, 1, 1)
    return day.year + (day - start).days / (end - start).days


def main() -> None:
    spec = importlib.util.find_spec("statsmodels")
    if spec is None or spec.origin is None:
        sys.exit("statsmodels is not installed: pip install --no-deps statsmodels")
    source = pathlib.Path(spec.origin).parent / "datasets" / "co2" / "co2.csv"
    raw = source.read_bytes()
    found = hashlib.sha256(raw).hexdigest()
    if found != SOURCE_SHA256:
        sys.exit(f"{source} is not the file this script knows: sha256 {found}, expected {SOURCE_SHA256}")

    target = pathlib.Path(__file__).with_name("co2-weekly.csv")
    with target.open("w", encoding="ascii", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["date", "decimal_year", "co2_ppm"])
        for row in csv.DictReader(raw.decode("ascii").splitlines()):
            day = datetime.datetime.strptime(row["date"], "%Y%m%d").date()
            # The concentration is copied as text, so no digit of it can change; a missing week stays an empty field.
            writer.writerow([day.isoformat(), f"{decimal_year(day):.6f}", row["co2"]])
    print(target, hashlib.sha256(target.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()

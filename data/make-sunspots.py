#!/usr/bin/env python3
"""Makes sunspots-zurich.csv from the copy of the series that the package pmdarima of PyPI ships.

    python3 data/make-sunspots.py

The package is downloaded, not installed, and only the file inside it is read.
"""

import csv
import gzip
import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "scripts"))
import pypi

PACKAGE = "pmdarima==2.1.1"
FILE = "pmdarima/datasets/data/sunspots.txt.gz"
CHECKSUM = "da008320ca46c8fb7d4c08a6dc5ba1282be9209c8b943a7ca5ea5d5409d0b36a"
FIRST = 1749  # the year of the first January


def main() -> None:
    numbers = gzip.decompress(pypi.files([PACKAGE], {FILE: CHECKSUM})[FILE]).decode("ascii").split()
    target = pathlib.Path(__file__).with_name("sunspots-zurich.csv")
    with target.open("w", encoding="ascii", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["month", "decimal_year", "sunspot_number"])
        for i, number in enumerate(numbers):
            year, month = FIRST + i // 12, i % 12 + 1
            # The number is copied as text, so no digit of it can change. The decimal year is the middle of the month, as SILSO has it.
            writer.writerow([f"{year}-{month:02}", f"{year + (month - 0.5) / 12:.3f}", number])
    print(target, hashlib.sha256(target.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()

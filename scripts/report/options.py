"""The options of scripts/reproduce.sh. It needs Python alone, so that --help prints before the environment exists."""

import argparse
import os
from pathlib import Path

HELP = """environment:
  GPPL_SCALE=smoke   makes every notebook small and quick; the default is full, the scale of the paper
  GPPL_DATA=DIR      a folder with recordings, looked into before data/ and before a download
  GPPL_OFFLINE=1     nothing is downloaded: what recordings would be needed for is shown as it is stored
  GPPL_FRESH=1       --fresh: notebooks do not use the results in notebooks/results/ but compute and store them anew.
                     An interrupted run goes on with GPPL_FRESH=TIME: what was stored since that time (in Unix seconds,
                     as date +%s prints it) counts as new
  GPPL_SLOW=1        --slow: compute also what takes hours, the EEG by VFE and by the dense likelihood; without it
                     those results stay as they are stored, even with --fresh"""


def parse(root, scale):
    """Returns the parser, for errors that are found later, and the options of this call."""
    cli = argparse.ArgumentParser(prog="scripts/reproduce.sh", description="Executes every notebook and writes reports/*.html.",
                                  epilog=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("--only", metavar="NAME", help="only the notebooks whose names begin so, e.g. 02, or 02,07 for several")
    cli.add_argument("--out", metavar="DIR", type=Path, default=root / "reports", help="where the pages go (reports/)")
    cli.add_argument("--pictures", action="store_true", help="write the first figure of each notebook to notebooks/figures/, which its first cell shows")
    cli.add_argument("--timeout", metavar="MINUTES", type=float, help="the most that one notebook may take (180; 1440 with --slow)")
    cli.add_argument("--fresh", action="store_true", help="compute all stored results anew, as GPPL_FRESH does")
    cli.add_argument("--slow", action="store_true", help="compute also what takes hours, as GPPL_SLOW=1 does")
    cli.add_argument("--strict", action="store_true", help="fail if a recording cannot be had, in place of showing stored results")
    cli.add_argument("--jobs", metavar="N", type=int, default=1, help="notebooks at a time (1, so that they do not slow one another in what they time)")
    cli.add_argument("--numbers", choices=("check", "accept"), help="at smoke scale: compare the numbers of the pages with the stored ones, or store them")
    args = cli.parse_args()
    if args.numbers and scale != "smoke":
        cli.error("--numbers needs GPPL_SCALE=smoke")
    if args.pictures and scale != "full":
        cli.error("--pictures needs the full scale")
    if scale not in ("full", "smoke"):
        cli.error(f"GPPL_SCALE={scale}: it is full or smoke")
    return cli, args


if __name__ == "__main__":
    parse(Path(__file__).resolve().parents[2], os.environ.get("GPPL_SCALE") or "full")

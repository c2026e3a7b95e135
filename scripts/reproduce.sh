#!/usr/bin/env bash
# Runs every notebook and writes reports/*.html and their index, which open without a network.
#   scripts/reproduce.sh [--only 02] [--help]      GPPL_SCALE=smoke scripts/reproduce.sh for the quick, small run
#   scripts/reproduce.sh --fresh                   computes all stored results anew (--slow: even what takes hours)
set -euo pipefail

for word in "$@"; do
	case $word in
	-h | --help) exec "${PYTHON:-python3}" -B "$(dirname "${BASH_SOURCE[0]}")/report/options.py" --help ;; # before the environment is made
	esac
done
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
exec "$GPPL_ROOT/.env/venv/bin/python" -B "$GPPL_ROOT/scripts/report/report.py" "$@"

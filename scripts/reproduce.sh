#!/usr/bin/env bash
# Executes every notebook and writes reports/*.html and their index, which open with no network.
#   scripts/reproduce.sh [--only 02] [--help]      GPPL_SCALE=smoke scripts/reproduce.sh for the quick, small run
set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
exec "$GPPL_ROOT/.env/venv/bin/python" -B "$GPPL_ROOT/scripts/report/report.py" "$@"

#!/usr/bin/env bash
# Opens every notebook in a real JupyterLab in headless Chromium, runs all its cells at smoke scale and checks what it shows.
#   scripts/e2e/run.sh [--only 05] [--some] [--help]      GPPL_CHROMIUM=/path/to/chromium names the browser
#   scripts/e2e/run.sh --pages [--only 05] [--some]       checks the pages in reports/ instead, which scripts/reproduce.sh makes
#   scripts/e2e/run.sh --pages --times           measures how long live figures take to answer, on a quiet machine
# Screenshots go to reports/e2e/.
set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

GPPL_CHROMIUM=${GPPL_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$GPPL_CHROMIUM" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "e2e: installing Debian's chromium"
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
	GPPL_CHROMIUM=$(command -v chromium)
fi
[ -x "$GPPL_CHROMIUM" ] || die "no Chromium${GPPL_CHROMIUM:+ at $GPPL_CHROMIUM}: install it (Debian: apt install chromium), or name it in GPPL_CHROMIUM"
export GPPL_CHROMIUM

wanted=$("$GPPL_ROOT/.env/venv/bin/python" --version; cat "$GPPL_ROOT/scripts/requirements-e2e.txt")
if [ "$(cat "$GPPL_ROOT/.env/e2e/key" 2>/dev/null)" != "$wanted" ]; then
	echo "e2e: Playwright into .env/e2e"
	"$GPPL_ROOT/.env/venv/bin/python" -m venv --clear "$GPPL_ROOT/.env/e2e"
	"$GPPL_ROOT/.env/e2e/bin/python" -m pip install --quiet --no-input --disable-pip-version-check --require-hashes \
		--requirement "$GPPL_ROOT/scripts/requirements-e2e.txt"
	printf '%s\n' "$wanted" >"$GPPL_ROOT/.env/e2e/key"
fi
what=e2e.py
if [ "${1-}" = "--pages" ]; then what=pages.py; shift; fi
exec "$GPPL_ROOT/.env/e2e/bin/python" -B "$GPPL_ROOT/scripts/e2e/$what" "$@"

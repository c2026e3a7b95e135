#!/usr/bin/env bash
# Makes the site of docs/ in site/, which opens from disk: site/index.html. It has a search and loads nothing from elsewhere.
#   scripts/site.sh          some seconds, once the packages are in .env/site
set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

wanted=$("$env/venv/bin/python" --version; cat "$GPPL_ROOT/scripts/requirements-site.txt")
if [ "$(cat "$env/site/key" 2>/dev/null)" != "$wanted" ]; then
	echo "site: Zensical into .env/site"
	"$env/venv/bin/python" -m venv --clear "$env/site"
	"$env/site/bin/python" -m pip install --quiet --no-input --disable-pip-version-check --require-hashes \
		--requirement "$GPPL_ROOT/scripts/requirements-site.txt"
	printf '%s\n' "$wanted" >"$env/site/key"
fi
"$env/site/bin/python" -B "$GPPL_ROOT/scripts/site/site_pages.py" stage "$GPPL_ROOT/docs" "$env/site-pages"
"$env/site/bin/zensical" build --clean --strict --config-file "$env/site-pages/mkdocs.yml" # a link that leads nowhere is an error
"$env/site/bin/python" -B "$GPPL_ROOT/scripts/site/site_pages.py" finish "$env/site-pages/site"
rm -rf "$GPPL_ROOT/site"
mv "$env/site-pages/site" "$GPPL_ROOT/site"
echo "site: $GPPL_ROOT/site/index.html"

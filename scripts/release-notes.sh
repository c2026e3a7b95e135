#!/usr/bin/env bash
# Prints the notes of a version from CHANGELOG.md, for the page of its release.
#   scripts/release-notes.sh v0.9.0
set -euo pipefail

[ $# = 1 ] || { echo "usage: scripts/release-notes.sh VERSION" >&2; exit 2; }
file=$(dirname "${BASH_SOURCE[0]}")/../CHANGELOG.md
notes=$(awk -v version="${1#v}" '
	/^## / { inside = index($2, version) && (length($2) == length(version) || $2 == "[" version "]"); next }
	inside' "$file")
[ -n "$notes" ] || { echo "release-notes: CHANGELOG.md has no section \"## ${1#v}\"" >&2; exit 1; }
printf '%s\n' "$notes"

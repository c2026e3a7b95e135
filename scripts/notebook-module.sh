#!/usr/bin/env bash
# Called by GoNB when a notebook starts (setup.sh). GoNB compiles cells in a module of its own ($GONB_TMP_DIR); this gives that module the
# requirements of this checkout, and the checkout itself as the gppl that cells import.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "${GONB_TMP_DIR:?set by GoNB: this script makes the module of a notebook}"
module=$(awk '$1 == "module" { print $2 }' "$root/go.mod")

rm -f go.mod
cp "$root/go.sum" go.sum
cp "$root/go.mod" new.mod
go mod edit -module="$(basename "$PWD")" -require="$module@v0.0.0" -replace="$module@v0.0.0=$root" new.mod
mv new.mod go.mod

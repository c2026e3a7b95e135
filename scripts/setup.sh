#!/usr/bin/env bash
# Makes the project's environment (JupyterLab, nbconvert, GoNB) in .env/ and nowhere else. If it exists, this only checks it.
# The other scripts source it, for the variables that it sets.
#   scripts/setup.sh          PYTHON=python3.12 scripts/setup.sh to choose the interpreter
set -euo pipefail

GPPL_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
env=$GPPL_ROOT/.env
python=$(command -v "${PYTHON:-python3}" || true) # looked up before our own comes into PATH

die() {
	printf 'setup: %s\n' "$*" >&2
	exit 1
}
at_least() { # at_least WANTED HAVE
	[ "$(printf '%s\n' "$1" "$2" | sort -V | head -n1)" = "$1" ]
}

# No file of the project may end up in the user's home, and no setting of the user may change what runs here.
export GPPL_ROOT PYTHONNOUSERSITE=1
export JUPYTER_CONFIG_DIR=$env/jupyter/config JUPYTER_DATA_DIR=$env/jupyter/data
export JUPYTER_RUNTIME_DIR=$env/jupyter/runtime IPYTHONDIR=$env/jupyter/ipython
export PATH=$env/bin:$env/venv/bin:$PATH
unset JUPYTER_PATH JUPYTER_CONFIG_PATH PYTHONPATH PYTHONHOME
case ${GOFLAGS-} in
*-ldflags*) ;;
*) export GOFLAGS="${GOFLAGS:+$GOFLAGS }-ldflags=-w" ;; # cells are linked in half the time without what debuggers read
esac

go_wanted=$(awk '$1 == "go" { print $2 }' "$GPPL_ROOT/go.mod")
command -v go >/dev/null || die "Go is missing: install Go $go_wanted or later (https://go.dev/dl)"
# Asked inside the module, so that a Go that can download a newer toolchain does so now.
go_have=$(cd "$GPPL_ROOT" && go env GOVERSION) || die "this Go cannot build a module that asks for Go $go_wanted"
at_least "$go_wanted" "${go_have#go}" || die "$go_have is too old: Go $go_wanted or later is needed (https://go.dev/dl)"

# One line with everything that the environment was made from, including the path of the checkout: a venv does not survive a move.
key=$(cat "$GPPL_ROOT"/scripts/{setup.sh,requirements.txt} "$GPPL_ROOT"/tools/go.{mod,sum} | cksum)
key="$key $go_have $GPPL_ROOT"

# GoNB 0.11 looks only every twelve seconds whether gopls listens, and drops an answer that takes more than eight, as the first one does while
# gopls reads the packages: the first Tab of a notebook took twenty seconds, or said nothing. A copy of it looks every fifth of a second, and
# waits almost as long as JupyterLab does (lab.sh). It also makes the module of a notebook by notebook-module.sh, so that every notebook can
# import gppl, in any folder and without a network; go get, which took half of each cell's time, runs where a reader calls it (!*go get …).
patched_gonb() {
	local module=github.com/janpfeifer/gonb client=$env/gonb/internal/goexec/goplsclient from
	export GOWORK=off
	go mod download "$module"
	from=$(go list -m -f '{{.Dir}}' "$module")
	rm -rf "$env/gonb"
	cp -R "$from" "$env/gonb"
	chmod -R u+w "$env/gonb"
	[ "$(grep -c 'time.After(ConnectTimeout)' "$client/exec.go")" = 2 ] && grep -q 'CommunicationTimeout = 8000 ' "$client/conn.go" ||
		die "GoNB no longer waits as it did: look at patched_gonb"
	sed 's/time.After(ConnectTimeout)/time.After(200 * time.Millisecond)/' "$client/exec.go" >"$client/exec.part" && mv "$client/exec.part" "$client/exec.go"
	sed 's/CommunicationTimeout = 8000 /CommunicationTimeout = 25000 /' "$client/conn.go" >"$client/conn.part" && mv "$client/conn.part" "$client/conn.go"
	local state=$env/gonb/internal/goexec/goexec.go init='exec.Command("go", "mod", "init", s.Package)'
	[ "$(grep -cF "$init" "$state")" = 1 ] && [ "$(grep -cE 'AutoGet: +true,' "$state")" = 1 ] || die "GoNB no longer makes its module as it did: look at patched_gonb"
	awk -v old="$init" -v new="exec.Command(\"bash\", \"$GPPL_ROOT/scripts/notebook-module.sh\")" \
		'/AutoGet: +true,/ { sub("true", "false") } at = index($0, old) { $0 = substr($0, 1, at - 1) new substr($0, at + length(old)) } { print }' "$state" >"$state.part" && mv "$state.part" "$state"
	cp go.mod "$env/tools.mod"
	cp go.sum "$env/tools.sum"
	go mod edit -replace="$module=$env/gonb" "$env/tools.mod"
}

install() {
	[ -n "$python" ] || die "${PYTHON:-python3} is missing: install Python 3.11 or later"
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
		die "$("$python" --version) is too old: Python 3.11 or later is needed (PYTHON=/path/to/python3 chooses another)"
	"$python" -c 'import venv, ensurepip' 2>/dev/null ||
		die "$python cannot make virtual environments: install its venv module (Debian, Ubuntu: apt install python3-venv)"

	echo "setup: making the environment in .env/, once, in three parts; it takes some minutes, most of them compiling"
	echo "setup: 1 of 3, JupyterLab and nbconvert, with what they need, from PyPI into .env/venv"
	rm -f "$env/key"
	"$python" -m venv --clear "$env/venv"
	"$env/venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check --require-hashes \
		--requirement "$GPPL_ROOT/scripts/requirements.txt"

	echo "setup: 2 of 3, GoNB, the Go kernel, and the Go tools that it and CI need: downloaded and compiled into .env/bin (the longest part)"
	(cd "$GPPL_ROOT/tools" && patched_gonb && GOWORK=off GOBIN=$env/bin go install -modfile="$env/tools.mod" tool)

	echo "setup: 3 of 3, GoNB registered as a kernel in .env/jupyter, not in your home"
	mkdir -p "$JUPYTER_CONFIG_DIR" "$JUPYTER_DATA_DIR" "$JUPYTER_RUNTIME_DIR" "$IPYTHONDIR"
	gonb --install 2>"$env/install.log" || die "GoNB could not be registered: $(cat "$env/install.log")"

	# JupyterLab asks at its first start whether to show news from the internet: answer no in advance.
	mkdir -p "$JUPYTER_CONFIG_DIR/labconfig"
	printf '%s\n' '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}' \
		>"$JUPYTER_CONFIG_DIR/labconfig/default_setting_overrides.json"
	printf '%s\n' "$key" >"$env/key"
	echo "setup: done after $((SECONDS / 60)) min $((SECONDS % 60)) s"
}

if [ ! -x "$env/venv/bin/python" ] || [ ! -x "$env/bin/gonb" ] || [ "$(cat "$env/key" 2>/dev/null)" != "$key" ]; then
	install
fi

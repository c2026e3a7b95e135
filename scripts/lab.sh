#!/usr/bin/env bash
# Opens JupyterLab with the project's environment, in notebooks/; further arguments go to JupyterLab (e.g. --no-browser).
set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# A reader is present: cells may wait until a control is moved.
export GPPL_INTERACTIVE=${GPPL_INTERACTIVE-1}
# Switched off: news and update checks, which contact servers on the internet, and the search for language servers (gopls serves
# GoNB without it), which leaves files in the home folder.
# JupyterLab drops completions that take more than a second. GoNB's first one takes some, in which gopls reads the packages.
mkdir -p "$GPPL_ROOT/.env/venv/share/jupyter/lab/settings"
printf '%s\n' '{"@jupyterlab/completer-extension:manager": {"providerTimeout": 30000}}' >"$GPPL_ROOT/.env/venv/share/jupyter/lab/settings/overrides.json"
# The notebooks of the project are saved without outputs, which are kept in .env/: running a notebook leaves the clone clean.
export PYTHONPATH=$GPPL_ROOT/scripts/lab PYTHONDONTWRITEBYTECODE=1
exec jupyter lab --ServerApp.contents_manager_class=gppl_contents.Contents --ServerApp.ip=127.0.0.1 --ServerApp.root_dir="$GPPL_ROOT/notebooks" \
	--MultiKernelManager.default_kernel_name=gonb \
	--LabApp.news_url=None --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate \
	--LanguageServerManager.autodetect=False "$@"

#!/usr/bin/env bash
# Opens JupyterLab with the project's environment, in notebooks/; further arguments go to it (e.g. --no-browser).
set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# Someone looks: cells may wait for a control to be moved.
export GPPL_INTERACTIVE=${GPPL_INTERACTIVE-1}
# Off: news and update checks, which ask servers on the internet, and the search for other languages' servers (gopls
# serves GoNB without it), which leaves files in the home.
# The notebooks of the project are saved without outputs, which are kept in .env/: running one leaves the clone clean.
export PYTHONPATH=$GPPL_ROOT/scripts/lab PYTHONDONTWRITEBYTECODE=1
exec jupyter lab --ServerApp.contents_manager_class=gppl_contents.Contents --ServerApp.ip=127.0.0.1 --ServerApp.root_dir="$GPPL_ROOT/notebooks" \
	--MultiKernelManager.default_kernel_name=gonb \
	--LabApp.news_url=None --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate \
	--LanguageServerManager.autodetect=False "$@"

"""A venv of its own for what other libraries need, so that they do not meet."""

import os
import pathlib
import subprocess
import sys
import venv


def environment(folder, requirements, script):
    """Continues the script in the venv in a folder, which is made if it is not there or of other versions."""
    wanted = requirements.read_text() + sys.version
    key = folder / "key"
    if pathlib.Path(sys.prefix).resolve() == folder.resolve():
        return
    if not key.exists() or key.read_text() != wanted:
        print(f"{pathlib.Path(script).stem}: Python packages into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-input",
                        "--disable-pip-version-check", "--require-hashes", "--requirement", requirements], check=True)
        key.write_text(wanted)
    os.execv(folder / "bin" / "python", [str(folder / "bin" / "python"), script, *sys.argv[1:]])

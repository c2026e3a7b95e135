"""How JupyterLab keeps the notebooks of this project: those that git knows are saved without outputs, so that running them leaves the
clone as it was, and their outputs go to a folder of the environment, from where an opened notebook gets them back. Others, such as a
copy of one, are saved as usual. lab.sh names this class to the server."""

import json
import os
import subprocess
from pathlib import Path

import nbformat
from jupyter_server.services.contents.largefilemanager import LargeFileManager

ORDER = {  # as committed; JupyterLab sorts by name, and so is the rest
    "metadata": ("kernelspec", "language_info", "gppl"),
    "language_info": ("name", "file_extension", "mimetype"),
    "gppl": ("figures", "tables", "needs", "seeds"),
}
SEEN = ("execution", "collapsed", "scrolled", "jupyter", "trusted")  # what is noted of a cell when it runs or is looked at


def arranged(d, name, rest=True):
    return {k: d[k] for k in ORDER[name] if k in d} | {k: d[k] for k in sorted(d) if rest and k not in ORDER[name]}


def committed(notebook):
    """The text of a notebook as git has it."""
    notebook = json.loads(nbformat.writes(notebook))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        for key in SEEN:
            cell["metadata"].pop(key, None)
        if "plumbing" in cell["metadata"].get("tags", []):  # folded, whatever a reader unfolded
            cell["metadata"] = {"jupyter": {"source_hidden": True}} | cell["metadata"]
    about = notebook["metadata"] = arranged(notebook["metadata"], "metadata")
    if "language_info" in about:  # the kernel adds its version
        about["language_info"] = arranged(about["language_info"], "language_info", rest=False)
    if "gppl" in about:
        about["gppl"] = arranged(about["gppl"], "gppl")
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def known_to_git(folder):
    """The notebooks of a folder that git keeps; none where there is no git."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z", "--", "*.ipynb"], cwd=folder, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return set()
    return {os.path.realpath(Path(folder) / name) for name in listed.split("\0") if name}


class Contents(LargeFileManager):
    outputs = Path(os.environ.get("JUPYTER_DATA_DIR", ".")) / "outputs"

    def _kept(self, os_path):
        """The file of a notebook's outputs; None for a notebook that is saved with them."""
        if not hasattr(self, "_known"):
            self._known = known_to_git(self.root_dir)
        return self.outputs / (Path(os_path).name + ".json") if os.path.realpath(os_path) in self._known else None

    def check_and_sign(self, nb, path=""):
        # It takes the marks of trust off the cells, and the outputs of what is kept elsewhere have no signature.
        self._trusted = {c.get("id") for c in nb.cells if c.metadata.get("trusted")}
        super().check_and_sign(nb, path)

    def _save_notebook(self, os_path, nb, capture_validation_error=None):
        kept = self._kept(os_path)
        if not kept:
            return super()._save_notebook(os_path, nb, capture_validation_error)
        cells = {c.get("id", ""): {"source": c.source, "outputs": c.outputs, "count": c.execution_count, "trusted": c.get("id") in self._trusted}
                 for c in nb.cells if c.cell_type == "code" and c.outputs}
        kept.parent.mkdir(parents=True, exist_ok=True)
        with self.atomic_writing(str(kept), encoding="utf-8") as f:
            json.dump(cells, f)
        with self.atomic_writing(os_path, encoding="utf-8") as f:
            f.write(committed(nb))

    def _notebook_model(self, path, content=True, require_hash=False):
        model = super()._notebook_model(path, content, require_hash)
        kept = self._kept(self._get_os_path(path)) if content else None
        if kept and kept.is_file():
            try:
                cells = json.loads(kept.read_text("utf-8"))
            except ValueError:
                return model
            for c in model["content"].cells:
                had = cells.get(c.get("id", ""))
                if had and c.cell_type == "code" and not c.outputs and had["source"] == c.source:
                    c.outputs, c.execution_count = nbformat.from_dict(had["outputs"]), had["count"]
                    c.metadata["trusted"] = had["trusted"]
        return model

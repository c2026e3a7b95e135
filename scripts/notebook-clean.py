"""A notebook as it is committed, from stdin: git's clean filter (see setup.sh and .gitattributes). Outputs, and what JupyterLab notes
of a run, are left out, so that running a notebook and saving it does not change what git sees."""

import json
import sys

ORDER = {  # JupyterLab sorts these by name; the rest is sorted here too
    "metadata": ("kernelspec", "language_info", "gppl"),
    "language_info": ("name", "file_extension", "mimetype"),
    "gppl": ("figures", "tables", "needs", "seeds"),
}


def arranged(d, name, only=False):
    return {k: d[k] for k in ORDER[name] if k in d} | ({} if only else {k: d[k] for k in sorted(d) if k not in ORDER[name]})


def clean(raw):
    notebook = json.loads(raw)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        for key in ("execution", "collapsed", "scrolled", "jupyter"):  # when it ran, how it was looked at
            cell["metadata"].pop(key, None)
    about = notebook["metadata"] = arranged(notebook["metadata"], "metadata")
    if "language_info" in about:  # the kernel adds its version
        about["language_info"] = arranged(about["language_info"], "language_info", only=True)
    if "gppl" in about:
        about["gppl"] = arranged(about["gppl"], "gppl")
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


if __name__ == "__main__":
    raw = sys.stdin.buffer.read()
    try:
        raw = clean(raw)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # no notebook yet, such as one with a conflict: as it is
    sys.stdout.buffer.write(raw)

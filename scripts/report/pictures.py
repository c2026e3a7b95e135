"""The picture in the first cell of each notebook: its first figure as an SVG, which JupyterLab and GitHub show before anything is run.

scripts/reproduce.sh --pictures writes notebooks/figures/NAME.svg, with a checksum of the code that made it, and puts it into the first
cell. Pages leave the picture out: the figure itself follows."""

import hashlib
import html
import json
import re

import nbformat

LARGEST = 100_000  # bytes
IMAGE = re.compile(r"\n*^!\[[^\]]*\]\(figures/[\w-]+\.svg\)$", re.M)
MADE = re.compile(r"<!-- cell (\S+), code (\w+) -->")
SVG = re.compile(r'<svg [^>]*class="gppl-wide".*?</svg>', re.S)
SPOKEN = re.compile(r'aria-label="(.*?)\.(?: |")')


class PictureError(Exception):
    """A notebook shows no figure, or too large a one."""


def folder(root):
    return root / "notebooks" / "figures"


def code(nb, last):
    """A checksum of the code cells of a notebook up to the one with the id last."""
    parts = []
    for cell in nb.cells:
        if cell.cell_type == "code":
            parts.append(cell.source)
            if cell.id == last:
                return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    return ""


def plain(svg):
    """An SVG of a page for elsewhere: with the colours of the light theme, to a tenth of a point, without what scripts read."""
    svg = re.sub(r' (?:class|data-part|data-panels)="[^"]*"', "", svg)
    svg = re.sub(r' d="[^"]*"', lambda d: re.sub(r"(\.\d)\d+", r"\1", d[0]), svg)
    return re.sub(r"var\(--gppl-[0-9a-f]{6},\s*(#[0-9a-fA-F]{6})\)", r"\1", svg)


def make(root, path, nb):
    """Writes the picture of an executed notebook, and puts it into the first cell of its file."""
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            if found := SVG.search(output.get("data", {}).get("text/html", "")):
                svg = plain(found[0]).replace("</svg>", f"<!-- cell {cell.id}, code {code(nb, cell.id)} --></svg>\n")
                if len(svg.encode()) > LARGEST:
                    raise PictureError(f"the picture has {len(svg.encode())} bytes, more than {LARGEST}")
                folder(root).mkdir(exist_ok=True)
                (folder(root) / f"{path.stem}.svg").write_text(svg, "utf-8")
                return place(path, html.unescape(SPOKEN.search(svg)[1]))
    raise PictureError("no cell shows a figure")


def place(path, spoken):
    """Ends the first cell of a notebook with its picture."""
    nb = json.loads(path.read_text("utf-8"))
    first = nb["cells"][0]
    text = f"{without(''.join(first['source']))}\n\n![{re.sub(r'[][]', '', spoken)}](figures/{path.stem}.svg)"
    first["source"] = text.splitlines(keepends=True)
    path.write_text(json.dumps(nb, indent=1, ensure_ascii=False) + "\n", "utf-8")  # as JupyterLab writes it


def without(source):
    """Markdown without the picture."""
    return IMAGE.sub("", source)


def stale(root, path):
    """Why the picture of a notebook is not that of its code, "" if it is."""
    nb = nbformat.read(path, as_version=4)
    file = folder(root) / f"{path.stem}.svg"
    if not file.is_file():
        return "there is no picture"
    if not nb.cells[0].source.endswith(f"](figures/{path.stem}.svg)"):
        return "the first cell does not end with its picture"
    made = MADE.search(file.read_text("utf-8"))
    return "" if made and code(nb, made[1]) == made[2] else "the code of the picture has changed since (scripts/reproduce.sh --pictures)"

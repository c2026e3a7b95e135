"""Reads curves and markers out of the vector figures (PDF, by matplotlib) of the paper's authors, as CSV, with Python alone.

Usage: read_figures.py FOLDER OUT      FOLDER: img/ of the repository felipe-tobar/projected-likelihood, commit a448942

A curve is a path in one of the three colours of their figures; its points come from the axes' ticks and their labels, which fix
both scales. matplotlib leaves out points that change a line by less than a ninth of a pixel, so that a curve has fewer points than data.
"""

import csv
import math
import re
import sys
import zlib
from pathlib import Path

COLOURS = {(1.0, 0.8431372549, 0.0): "gold", (1.0, 0.3882352941, 0.2784313725): "tomato", (0.1176470588, 0.5647058824, 1.0): "dodgerblue"}
TOKEN = re.compile(rb"\((?:\\.|[^()\\])*\)|\[|\]|/[^\s/\[\]()<>]+|[^\s/\[\]()<>]+")


def content(path):
    """The drawing operators of the page: of all compressed streams, the one with a clipping rectangle."""
    data = path.read_bytes()
    for start in re.finditer(rb"stream\r?\n", data):
        try:
            text = zlib.decompressobj().decompress(data[start.end():])
        except zlib.error:
            continue
        if b" re W n" in text:
            return text
    raise SystemExit(f"{path}: no drawing in it")


def operations(text):
    """Pairs of operands and operator."""
    operands = []
    for token in TOKEN.findall(text):
        if re.fullmatch(rb"[A-Za-z*]+", token):
            yield operands, token.decode()
            operands = []
        else:
            operands.append(token)


def number(token):
    try:
        return float(token)
    except ValueError:
        return None


def read(path):
    """The strokes (colour, clip, points) and the ticks (axis, position, edge, value; None where there is no label) of a figure."""
    strokes, ticks, points, colour, clip, last, label, size = [], [], [], None, None, None, "", 0.0
    for operands, op in operations(content(path)):
        values = [v for v in map(number, operands) if v is not None]
        if op == "re":
            clip = tuple(values[-4:])
        elif op == "RG":
            colour = tuple(values[-3:])
        elif op == "G":
            colour = None
        elif op == "m":
            if points and len(points[-1]) > 1 or not points:
                points.append([])
            points[-1] = [tuple(values[-2:])]
        elif op == "l":
            points[-1].append(tuple(values[-2:]))
        elif op in ("S", "B", "f", "n"):
            for line in points:
                if op == "S" and colour in COLOURS:
                    strokes.append((COLOURS[colour], clip, line))
                if len(line) == 2:  # a tick, if it is short; a label may follow
                    (x0, y0), (x1, y1) = line
                    last = ("x", x0, y0) if x0 == x1 and 0 < y0 - y1 < 4 else ("y", y0, x0) if y0 == y1 and 0 < x0 - x1 < 4 else None
                    if last:
                        ticks.append((*last, None))
            points = []
        elif op == "BT":
            label = ""
        elif op == "Tf":
            size = values[-1]
        elif op in ("Tj", "TJ"):
            shown = "".join(o[1:-1].decode("latin1") for o in operands if o.startswith(b"("))
            label += "^" + shown if size < 8 and "^" not in label else shown
        elif op == "ET" and last:
            ticks[-1] = (*last, tick_value(label))
            last = None
    return strokes, ticks


def tick_value(label):
    """12, 0.4, 10^2 or 3×10^1, as numbers; the minus and the times are whatever the font's encoding makes of them."""
    if match := re.fullmatch(r"(?:(\d+)[^\d.^]+)?10\^[^\d]*(\d+)", label):
        return float(match[1] or 1) * 10 ** int(match[2])
    return float(label) if re.fullmatch(r"\d+(\.\d+)?", label) else None


def scale(ticks, log):
    """The map from positions to values through the first and the last labelled tick; or, where one power of ten alone has a label,
    through it and the tick before it, which is that of nine tenths."""
    f, inverse = (math.log, math.exp) if log else (float, float)
    labelled = [t for t in ticks if t[1] is not None]
    (p0, v0), (p1, v1) = min(labelled), max(labelled)
    if len(labelled) == 1:
        p0, v0 = max(p for p, v in ticks if p < p1), 0.9 * v1
    return lambda p: inverse(f(v0) + (p - p0) / (p1 - p0) * (f(v1) - f(v0)))


def axes(ticks, clip, log_x, log_y):
    left, bottom, width, height = clip
    of = lambda axis, edge, lo, hi: [(p, v) for a, p, e, v in ticks if a == axis and abs(e - edge) < 0.1 and lo - 0.1 <= p <= hi + 0.1]
    return scale(of("x", bottom, left, left + width), log_x), scale(of("y", left, bottom, bottom + height), log_y)


def write(path, header, rows, about):
    with open(path, "w", newline="") as file:
        for line in about:
            file.write(f"# {line}\n")
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows([[f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows])


HOW = "of felipe-tobar/projected-likelihood, commit a448942, read by scripts/read_figures.py from the paths and the labelled ticks"


def main(folder, out):
    rows = []
    for design in ("Sphere", "Repulsive", "Localised", "One-hot"):
        strokes, ticks = read(folder / f"directions-{design}.pdf")
        curves = strokes[:4]  # what follows is the legend
        for name, (colour, clip, line) in zip(("K", 50, 100, 200), curves, strict=True):
            x, y = axes(ticks, clip, True, False)
            rows += [(design, name, round(x(p)), y(q)) for p, q in line]
    write(out / "figure1.csv", ("design", "k", "number", "eigenvalue"), rows, [f"Figure 1: img/directions-*.pdf {HOW}.", "k = K is the spectrum of K; the others are spectra of Σ."])
    rows = []
    for optimiser in ("Adam", "BFGS"):
        strokes, ticks = read(folder / f"exp0-{optimiser}.pdf")
        for colour, clip, line in (s for s in strokes if len(s[2]) > 20):
            x, y = axes(ticks, clip, False, True)
            rows += [(optimiser, {"gold": "ML", "tomato": "VFE", "dodgerblue": "PL"}[colour], x(p), y(q)) for p, q in line]
    write(out / "figure2.csv", ("optimiser", "method", "x", "variance"), rows, [f"Figure 2: img/exp0-*.pdf {HOW}.", "The variance is of a noisy observation."])
    rows = []
    strokes, ticks = read(folder / "exp1.pdf")
    sizes = iter((500, 1000, 1500, 2000, 3000, 4000))
    panels = {}
    for colour, clip, line in strokes:
        if len(line) == 1:
            if clip not in panels:
                panels[clip] = (next(sizes), *axes(ticks, clip, True, False), {})
            n, x, y, seen = panels[clip]
            order = {"gold": 0}.get(colour, (50, 100, 150)[min(seen.get(colour, 0), 2)])
            seen[colour] = seen.get(colour, 0) + 1
            rows.append((n, {"gold": "ML", "tomato": "VFE", "dodgerblue": "PL"}[colour], order, x(line[0][0]), 1000 * y(line[0][1])))
    write(out / "figure3.csv", ("n", "method", "order", "seconds", "nll"), rows, [f"Figure 3: img/exp1.pdf {HOW}."])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

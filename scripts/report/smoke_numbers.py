"""Compares the numbers of the reports of a smoke run with stored ones, so that a change that moves results is seen.

Compared are the numbers in tables, their notes, captions of figures, and notes between them. Not compared: times, speeds and what
names a machine (TIMED, DURATION, MACHINE), outputs of a cell that has the tag "varies", and the line that says what was not recomputed
(STORED_SHOWN). A page that was made without the recordings that it wants has numbers of its own if these differ.

    scripts/reproduce.sh --numbers check     after a run at GPPL_SCALE=smoke; --numbers accept stores what it shows

The stored file is smoke-numbers.json. Accept new numbers only if you know why they moved.
"""

import json
import re
from pathlib import Path

from bs4 import BeautifulSoup

STORED_SHOWN = "Not recomputed:"  # how a line begins that a page has only where a recording could not be had
WITHOUT = ", without recordings"  # after the name of a page that has other numbers then
VARIES = "varies"  # the tag of a cell whose numbers differ from run to run or from machine to machine
STORED = Path(__file__).parent / "smoke-numbers.json"

# A column, or a row, is a time if its head says so.
TIMED = re.compile(r"\btimes?\b|\bspeed|\((?:s|ms|µs|ns|min|h)\)|\bseconds\b|dense / |per second|\bmemory\b|\bengine\b", re.I)
DURATION = re.compile(r"(?:~\s*)?[\d.,]+(?:e[+-]?\d+)?\s*(?:ns|µs|ms|s|min|h|MB|GB|GiB|kB)(?![\w²³])|[×x]\s?[\d.]+ faster")
ENDING = re.compile(r"^(?:reason|warnings)$", re.I)  # a last gradient, and how often an engine failed, are rounding
MACHINE = re.compile(r"measured on|at once|GHz|processor|\bcores?\b", re.I)
COUNTED = re.compile(r"\bevaluations?\b|\bsteps?\b|\biterations?\b", re.I)  # an optimiser may take one more on another machine

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])", re.I)

TOLERANCE = 5e-3  # relative; and always one and a half units of the last digit that is shown
FEW_MORE = 0.1  # relative, of what is COUNTED
FEW_NATS = 1e-3  # absolute: training stops within so much of an optimum
WHOLE = 'span[style="white-space:nowrap"]'  # what no line breaks is no element of its own (internal/text)
ROUNDING = 1e-9  # numbers below this are errors of rounding, which differ between machines


def numbers(text):
    """The numbers of a text as they are written, without durations."""
    text = DURATION.sub(" ", text.replace("\u2212", "-").replace("\u00a0", " ").replace("\u202f", ""))
    return NUMBER.findall(text)


def text_of(element):
    return re.sub(r"\s+", " ", element.get_text(" ")).strip()


def of_page(html):
    """What a page shows: for each place, a list of numbers as written. Places are named by table, row and column."""
    soup = BeautifulSoup(html, "html.parser")
    for whole in soup.select(WHOLE):
        whole.unwrap()
    soup.smooth()
    shown = {}

    def note(place, text):
        sentences = [s for s in re.split(r"(?<=[.;])\s+", text) if not MACHINE.search(s)]
        if found := [n for s in sentences for n in numbers(s)]:
            while place in shown:
                place += "'"
            shown[place] = found

    for output in soup.select(".output"):
        if output.has_attr("data-varies"):
            continue
        for kind in ("p", "ul > li"):
            for i, e in enumerate(output.select(f":scope > {kind}"), 1):
                if not text_of(e).startswith(STORED_SHOWN):
                    note(f"note {text_of(e)[:40]!r}", text_of(e))
        for caption in output.select("figcaption"):
            note(text_of(caption).split(".")[0], text_of(caption).partition(".")[2])
        for table in output.select("table"):
            name = text_of(table.caption).split(".")[0]
            heads = [text_of(h) for h in table.select("thead th, thead td")]  # without a name it is a td
            note(f"{name}, caption", text_of(table.caption).partition(".")[2])
            for i, tr in enumerate(table.select("tbody tr"), 1):
                cells = [text_of(c) for c in tr.find_all(["td", "th"], recursive=False)]
                if cells and TIMED.search(cells[0]):
                    continue
                for head, cell in zip(heads, cells):
                    if not TIMED.search(head) and not ENDING.search(head):
                        note(f"{name}, row {i} ({cells[0][:24]}), {head}", cell)
            for e in table.select("tfoot .gppl-stay"):
                note(f"{name}, notes", text_of(e))
    return shown


def last_digit(written):
    """The value of one unit in the last digit of a number as written."""
    mantissa, _, exponent = written.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)


def same(place, a, b):
    x, y = float(a), float(b)
    if abs(x) < ROUNDING and abs(y) < ROUNDING:
        return True
    if "(nats)" in place and abs(x - y) <= FEW_NATS:
        return True
    relative = FEW_MORE if COUNTED.search(place) else TOLERANCE
    return abs(x - y) <= max(relative * max(abs(x), abs(y)), 1.5 * max(last_digit(a), last_digit(b)))


def differences(stored, shown):
    """What differs between two pages, as lines."""
    found = []
    for place in list(stored) + [p for p in shown if p not in stored]:
        a, b = stored.get(place, []), shown.get(place, [])
        if len(a) != len(b):
            found.append(f"{place}: stored {' '.join(a) or 'nothing'}, now {' '.join(b) or 'nothing'}")
        else:
            moved = [f"{x} → {y}" for x, y in zip(a, b) if not same(place, x, y)]
            if moved:
                found.append(f"{place}: {', '.join(moved)}")
    return found


def of_folder(folder, names):
    return {name: of_page((folder / f"{name}.html").read_text("utf-8")) for name in names}


def without(folder, name):
    """Whether a page was made without a recording that it wants."""
    found = re.search(r'id="gppl">(.*?)</script>', (folder / f"{name}.html").read_text("utf-8"))
    return bool(found and json.loads(found[1]).get("without"))


def load():
    return json.loads(STORED.read_text("utf-8")) if STORED.is_file() else {}


def accept(folder, names):
    """Stores what the pages show, beside what is stored of others."""
    stored, shown = load(), of_folder(folder, names)
    for name in names:
        if not without(folder, name):
            stored[name] = shown[name]
        elif name in stored and not differences(stored[name], shown[name]):
            stored.pop(name + WITHOUT, None)  # it shows the same either way
        else:
            stored[name + WITHOUT] = shown[name]
    text = ",\n".join(f' {json.dumps(name)}: {json.dumps(stored[name], ensure_ascii=False)}' for name in sorted(stored))
    STORED.write_text("{\n" + text + "\n}\n", "utf-8")
    return sum(len(v) for page in shown.values() for v in page.values())


MOST = 20  # lines of one page that are printed


def check(folder, names):
    """Lines that say what moved; none if all is as stored."""
    stored, lines = load(), []
    for name, shown in of_folder(folder, names).items():
        if name not in stored:
            lines.append(f"{name}: no numbers are stored of it; scripts/reproduce.sh --only {name[:2]} --numbers accept stores them")
            continue
        own = name + WITHOUT if name + WITHOUT in stored and without(folder, name) else name
        moved = differences(stored[own], shown)
        lines += [f"{name}: {line}" for line in moved[:MOST]]
        if len(moved) > MOST:
            lines.append(f"{name}: and {len(moved) - MOST} more")
    return lines

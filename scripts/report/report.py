"""Executes the notebooks with GoNB and turns each into a page; scripts/reproduce.sh is the way in."""

import base64
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

import jinja2
import nbformat
from markupsafe import Markup, escape
from math_core import LatexError, LatexToMathML
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert.filters.ansi import ansi2html
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import GoLexer
from pygments.styles.friendly import FriendlyStyle
from pygments.token import Token

import live
import options
import pictures
import recordings
import smoke_numbers
from check import check
from ledger import Ledger, LedgerError
from page import PAGER, Numbering, PageError, References, contents, figure_script, pager, plain
from whole import whole

ROOT = Path(os.environ["GPPL_ROOT"])
SCALE = os.environ.get("GPPL_SCALE") or "full"
BOOTSTRAP = "bootstrap"  # the tag of the cell that readers need not see
PLUMBING = "plumbing"  # the tag of cells that are no part of the method: their code is folded


class Failure(Exception):
    """A notebook did not give its report; the text says where and why."""


class Renderer(IPythonRenderer):
    """Markdown with its formulas as MathML, which browsers draw themselves."""

    latex = LatexToMathML(fancy_error=False)

    def mathml(self, body, block):
        try:
            return self.latex.convert_with_local_state(body, displaystyle=block)
        except LatexError as error:
            raise Failure(f"formula {body!r}: {error}") from None

    def inline_math(self, body):
        return self.mathml(body, False)

    def block_math(self, body):
        parts = [self.mathml(part, True) for part in body.split(r"\qquad")]  # which may stand below one another on a phone
        return parts[0] if len(parts) == 1 else f'<div class="formulas">{"".join(parts)}</div>'

    def latex_environment(self, name, body):
        return self.mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", True)


def markdown(source):
    return Markup(MarkdownWithMath(renderer=Renderer(escape=False, anchor_link_text="#")).render(source))


class Light(FriendlyStyle):
    """Comments and numbers are too pale there to be read."""

    styles = FriendlyStyle.styles | {Token.Comment: "italic #356a79", Token.Literal.Number: "#27734f"}


PAGES = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True)
PAGES.filters["markdown"] = markdown
PAGES.filters["ansi"] = lambda text: Markup(ansi2html(text))
PAGES.filters["gocode"] = lambda text: Markup(highlight(text, GoLexer(), HtmlFormatter()))
MINUS = re.compile(r"(?<![\w)])-(?=\d)")  # of -2.2, but not of 1e-4 or E1-3
POWER = re.compile(r"\^([\d.]*\d)")
SUBSCRIPT = re.compile(r"(?<![A-Za-z0-9_])(\w)_(?:\{([^}]*)\}|([A-Za-z]+)(?![A-Za-z_]))")  # I_Y and K_uu, but not train_step


def policy(script, computes=False):
    """A Content-Security-Policy for a page whose only script is this one, on lines of its own: nothing else runs or is loaded. A page
    that computes starts a worker that it holds, which compiles the program that it holds."""
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    compute = " 'wasm-unsafe-eval'; worker-src blob:" if computes else ""
    return f"default-src 'none'; script-src 'sha256-{digest}'{compute}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def keep(text):
    """Text of the ledger for a page: "k = 100" stays on one line, a minus is one, I_Y gets its subscript and n^2 its power."""
    text = str(escape(text)).replace(" = ", "\u00a0=\u00a0").replace(" %", "\u00a0%")
    text = POWER.sub(r"<sup>\1</sup>", MINUS.sub("\u2212", text))
    return Markup(SUBSCRIPT.sub(lambda m: f"{m[1]}<sub>{m[2] or m[3]}</sub>", text))


PAGES.filters["keep"] = keep
NOTEBOOK = re.compile(r'href="([\w-]+)\.ipynb(#[^"]*)?"')  # a link to another notebook leads to its page
PAGES.filters["plain"] = plain
PAGES.filters["policy"] = policy
PAGES.filters["base64"] = lambda text: base64.b64encode(text.encode()).decode()


def run(*command):
    """The output of a command, or "" where there is no such command or it fails."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def commit():
    return run("git", "describe", "--always", "--dirty=+", "--exclude=*") or "unknown"


def environment():
    """What computed a report: versions and the machine."""
    cpu = run("sh", "-c", "sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n1") or run("sysctl", "-n", "machdep.cpu.brand_string")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    pinned = lambda file, module: re.search(rf"{module} (v\S+)", (ROOT / file).read_text())[1]
    tags = re.search(r"-tags=(\S+)", run("go", "env", "GOFLAGS"))  # openblas replaces the linear algebra
    return {
        "gppl": run("git", "describe", "--tags", "--abbrev=0") or "not yet released",
        "Commit": commit().replace("+", " with uncommitted changes"),
        "Go": f"{run('go', 'env', 'GOVERSION')} {run('go', 'env', 'GOOS')}/{run('go', 'env', 'GOARCH')}{f', with {tags[1]}' if tags else ''}",
        "gonum": pinned("go.mod", "gonum.org/v1/gonum"),
        "GoNB": pinned("tools/go.mod", "github.com/janpfeifer/gonb"),
        "Processor": f"{cpu or platform.machine()}, {os.cpu_count()} cores",
        "Memory": f"{memory:.0f} GiB",
    }


def duration(seconds):
    m, s = divmod(round(seconds), 60)
    return f"{m} min {s:02} s" if m else f"{seconds:.1f} s"


def facts(path):
    """What the first cell and the metadata of a notebook say of it."""
    nb = nbformat.read(path, as_version=4)
    text = next((c.source for c in nb.cells if c.cell_type == "markdown"), "")
    title = re.search(r"^# +(.+)", text, re.M)
    about = re.sub(r"^#.*", "", text, flags=re.M).strip().split("\n\n")[0].replace("\n", " ")
    about = re.split(r"(?<=[.!?])\s+(?=[A-Z])", about)[0]
    about = re.sub(r"\s*\(\*[^*]*\*<!--[^>]*-->[^()]*\)", "", about)  # the index has no such place: "(the forecast, …)" goes,
    about = re.sub(r"\*([^*]*)\*<!--[^>]*-->", r"\1", about)  # and a word loses its reference
    return {"name": path.stem, "title": title[1] if title else path.stem, "about": about, "figures": 0, "tables": 0, "needs": [], "seeds": "not stated", **nb.metadata.get("gppl", {})}


def execute(path, nb, seconds):
    """Executes the notebook in place (a copy in memory: the file is not touched)."""
    deadline = time.monotonic() + seconds

    def started(cell, cell_index):
        client.at = cell_index + 1
        if sys.stdout.isatty():
            print(f"  cell {client.at} of {len(nb.cells)} ", end="\r", flush=True)

    client = NotebookClient(
        nb, kernel_name="gonb", resources={"metadata": {"path": str(path.parent)}},
        timeout_func=lambda cell: max(1, int(deadline - time.monotonic())),
        on_cell_start=started,
    )
    client.at = 0
    log = ROOT / ".env" / f"{path.stem}.log"
    try:
        with log.open("w") as stderr:  # the kernel's own log; what cells write to stderr comes as output
            client.execute(stderr=stderr)
    except CellExecutionError as error:
        raise Failure(f"cell {client.at} failed:\n{re.sub(chr(27) + r'.[0-9;]*m', '', str(error))}") from None
    except CellTimeoutError:
        raise Failure(f"cell {client.at} was still running when the {seconds:.0f} s of the notebook were over") from None
    except DeadKernelError as error:
        raise Failure(f"the kernel died in cell {client.at} ({error}); its log is {log}") from None
    # A failing !command and a recovered panic leave the cell's status "ok".
    for number, cell in enumerate(nb.cells, 1):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr" and re.search(r"panic:|fatal error:|^exit status \d", output.text, re.M):
                raise Failure(f"cell {number} wrote to stderr:\n{output.text}")


def write(target, text):
    part = target.with_suffix(".part")
    try:
        part.write_text(text, "utf-8")
        part.replace(target)  # whole or not at all
    finally:
        part.unlink(missing_ok=True)


BODY = re.compile(r"<body>.*</body>", re.S)


def finished(page):
    """A page whose numbers and flags are not broken where a line ends."""
    return BODY.sub(lambda body: whole(body[0]), page)


def render(nb, about, code_css):
    """The page of an executed notebook."""
    numbering, references, cells = Numbering(), References(), []
    for cell in nb.cells:  # outputs first: the text may refer to what comes after it
        if cell.cell_type != "code":
            continue
        numbering.cell(cell.metadata.get("tags", []))
        for output in cell.outputs:
            output["varies"] = smoke_numbers.VARIES in cell.metadata.get("tags", [])
            data = output.get("data", {})
            if "text/html" in data and not {"image/svg+xml", "image/png"} & data.keys():
                output["html"] = Markup(numbering.output(data["text/html"]))
            elif "text/markdown" in data:
                output["html"] = Markup('<div class="prose">') + markdown(data["text/markdown"]) + Markup("</div>")
    silent = {"plumbing": [], "method": []}  # of code cells that show nothing: it stands below the outputs of the cell after them
    take = lambda outputs: {name: "\n\n".join(parts) for name, parts in silent.items()} | {"outputs": outputs}
    for cell in nb.cells:
        if cell.cell_type == "code":
            silent["plumbing" if PLUMBING in cell.metadata.get("tags", []) else "method"].append(cell.source)
            if not cell.outputs:
                continue
        if any(silent.values()):
            cells.append(take(cell.get("outputs", [])))
            silent = {"plumbing": [], "method": []}
        if cell.cell_type == "markdown":
            cells.append({"prose": Markup(NOTEBOOK.sub(r'href="\1.html\2"', references.cite(numbering.link(markdown(pictures.without(cell.source))))))})
    if any(silent.values()):
        cells.append(take([]))
    headings = contents("".join(c["prose"] for c in cells if "prose" in c))
    if references.cited:
        headings.append((2, "references", "References"))
    headings.append((2, "environment", "Made with"))
    script = (Path(__file__).parent / "page.js").read_text("utf-8") + (figure_script() if numbering.count["figure"] else "")
    worker, program, live_css = live.parts(ROOT) if numbering.live else ("", "", "")
    return finished(PAGES.get_template("page.html.j2").render(
        cells=cells, facts=about, code_css=code_css, figure_css=numbering.css + live_css, contents=headings, references=references.cited,
        script=script + (live.script() if program else ""), worker=worker, program=program))


def report(path, out, seconds):
    nb = nbformat.read(path, as_version=4)
    about = facts(path)
    about["without"] = recordings.missing(ROOT, about["needs"])
    if not about.get("seeds"):
        raise Failure("its metadata (gppl.seeds) do not say which seeds it draws with")
    start = time.monotonic()
    execute(path, nb, seconds)
    if os.environ.get("GPPL_PICTURES"):
        try:
            pictures.make(ROOT, path, nb)
        except pictures.PictureError as error:
            raise Failure(str(error)) from None
    nb.cells = [c for c in nb.cells if BOOTSTRAP not in c.metadata.get("tags", [])]
    stored = "computed anew where stored before this run" if os.environ.get("GPPL_FRESH") else "used where there are any"
    about |= {"duration": duration(time.monotonic() - start), "scale": SCALE, "date": f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC", "commit": commit()}
    about["environment"] = environment() | {
        "Scale": SCALE, "Stored results": stored, "Seeds": about["seeds"], "Executed": about["date"], "Duration": about["duration"],
    }
    code_css = HtmlFormatter(style=Light, nobackground=True).get_style_defs(".highlight")
    dark_code = HtmlFormatter(style="github-dark", nobackground=True).get_style_defs(".highlight")
    code_css += f"\n@media screen and (prefers-color-scheme: dark) {{\n{dark_code}\n}}"
    try:
        page = render(nb, about, code_css)
    except (PageError, live.ProgramError) as error:
        raise Failure(str(error)) from None
    if problems := check(page):
        raise Failure("the report is not fit to be shown: " + "; ".join(problems))
    write(out / f"{path.stem}.html", page)
    return about


def index(out, notebooks, why, ledger):
    """The contents page, from the ledger and from what every report in the folder says of itself."""
    rows = []
    for path in notebooks:
        page = out / f"{path.stem}.html"
        found = page.is_file() and re.search(r'id="gppl">(.*?)</script>', page.read_text("utf-8"))
        rows.append(json.loads(found[1]) if found else facts(path) | {"figures": ""})
        rows[-1]["why"] = why.get(path, "" if found else "not executed")
    pages = {r["name"] for r in rows if r.get("date")}
    for name in pages:  # which neighbours there are is known now
        text = (out / f"{name}.html").read_text("utf-8")
        linked = PAGER.sub(lambda _: pager(rows, name), text)
        if linked != text:
            write(out / f"{name}.html", linked)
    script = (Path(__file__).parent / "page.js").read_text("utf-8")
    idea = {name: (Path(__file__).parent / f"idea{end}.svg").read_text("utf-8") for name, end in (("wide", ""), ("narrow", "-narrow"))}
    page = finished(PAGES.get_template("index.html.j2").render(script=script, idea=idea, reports=rows, pages=pages, ledger=ledger, environment=environment()))
    if problems := check(page):
        raise Failure("index.html: " + "; ".join(problems))
    write(out / "index.html", page)


def attempt(path, out, seconds):
    """What report took and said of recordings, and "", or why there is none."""
    print(f"{path.name}: executing at {SCALE} scale\n", end="", flush=True)  # in one write: another job prints as well
    try:
        about = report(path, out, seconds)
        return about["duration"] + (f", stored results shown where {', '.join(about['without'])} is needed" if about["without"] else ""), ""
    except Failure as failure:
        return "", str(failure)


def main():
    cli, args = options.parse(ROOT, SCALE)
    if args.pictures:
        os.environ["GPPL_PICTURES"] = "1"
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    chosen = [n for n in notebooks if n.name.startswith(tuple((args.only or "").split(",")))]
    if not chosen:
        cli.error(f"no notebook begins with {args.only!r}" if args.only else "there are no notebooks")
    # Notebooks inherit the environment. A time and not a mere yes: what one cell has computed anew, the next may use.
    if args.fresh or os.environ.get("GPPL_FRESH") == "1":
        os.environ["GPPL_FRESH"] = str(int(time.time()))
    if args.slow:
        os.environ["GPPL_SLOW"] = "1"
    minutes = args.timeout or (1440 if os.environ.get("GPPL_SLOW") else 180)
    args.out.mkdir(parents=True, exist_ok=True)
    why, failed, present = {}, [], []
    needs = {path: facts(path)["needs"] for path in chosen}
    lost = recordings.fetch(ROOT, [n for path in chosen for n in needs[path]], args.strict, lambda text: print(text, flush=True))
    for need, reason in lost.items():
        print(f"recordings: {recordings.either(need)} cannot be had: {reason}", flush=True)
    os.environ["GPPL_OFFLINE"] = "1"  # the notebooks need not ask again
    for path in chosen:
        if args.strict and (absent := [recordings.either(n) for n in needs[path] if n in lost]):
            why[path] = f"failed: {', '.join(absent)} cannot be had, and --strict is set"
            failed.append(path.name)
            print(f"{path.name}: {why[path]}", file=sys.stderr, flush=True)
        else:
            present.append(path)
    with ProcessPoolExecutor(args.jobs) as pool:
        each = pool.map if args.jobs > 1 else map
        made = each(attempt, present, [args.out] * len(present), [minutes * 60] * len(present))
        for path, (took, failure) in zip(present, made):
            if failure:
                why[path] = "failed in the last run"
                failed.append(path.name)
                print(f"{path.name}: FAILED: {failure}", file=sys.stderr, flush=True)
            else:
                print(f"{path.name}: {took}", flush=True)
    ledger = None
    try:
        ledger = Ledger.of_project(ROOT)
    except LedgerError as error:
        failed.append("the ledger")
        print(f"ledger: FAILED: {error}", file=sys.stderr, flush=True)
    index(args.out, notebooks, why, ledger)
    if args.numbers:
        made = [path.stem for path in chosen if path not in why]
        if args.numbers == "accept":
            print(f"numbers: {smoke_numbers.accept(args.out, made)} of {len(made)} pages stored")
            for path in chosen:
                if path not in why and not recordings.missing(ROOT, needs[path]):
                    recordings.keep_smoke(ROOT, path.stem)
        elif moved := smoke_numbers.check(args.out, made):
            print("numbers: moved\n  " + "\n  ".join(moved), file=sys.stderr, flush=True)
            failed.append("the numbers, which are not those that are stored (if they should be: --numbers accept)")
        else:
            print(f"numbers: those of {len(made)} pages are as stored")
    print(f"{len(chosen) - len(why)} passed, {len(why)} failed")
    if failed:
        sys.exit(f"FAILED: {', '.join(failed)}")
    print(f"reports: {args.out / 'index.html'}")


if __name__ == "__main__":
    main()

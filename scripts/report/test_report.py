"""Tests of what turns notebooks into reports:

    source scripts/setup.sh && python -B -m unittest discover -s scripts/report
"""

import base64
import hashlib
import html
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

os.environ.setdefault("GPPL_ROOT", str(Path(__file__).resolve().parents[2]))

import nbformat

sys.path.insert(0, str(Path(os.environ["GPPL_ROOT"]) / "scripts" / "lab"))

import pictures
import recordings
import report
from whole import whole
import smoke_numbers
from check import HEAVIEST, check
from gppl_contents import Contents as Manager
from ledger import OFTEN, STATUSES, Ledger, LedgerError
from page import Numbering, PageError, References, contents, pager, plain

ROOT = Path(os.environ["GPPL_ROOT"])
ENVIRONMENT = '<section id="environment"></section>'
FIGURE = "<figure><svg></svg><figcaption>what it shows</figcaption></figure>"
TABLE = "<table><caption>what it lists</caption><tr><td>1</td></tr></table>"


def row(**fields):
    return {"id": "r", "group": "Claims", "claim": "c", "published": "p", "ours": "o", "rule": "", "status": "reproduced", "why": "", "overturn": "", "notebook": ""} | fields


def ledger(*rows):
    return Ledger.parse(json.dumps({"summary": "all of it", "rows": rows}))


def index(book):
    with tempfile.TemporaryDirectory() as out:
        report.index(Path(out), [], {}, book)
        return (Path(out) / "index.html").read_text("utf-8")


class Help(unittest.TestCase):
    def test_needs_no_environment(self):
        with tempfile.TemporaryDirectory() as root:
            for file in ("reproduce.sh", "report/options.py"):  # without setup.sh, which makes the environment
                to = Path(root) / "scripts" / file
                to.parent.mkdir(exist_ok=True)
                shutil.copy(ROOT / "scripts" / file, to)
            made = subprocess.run([Path(root) / "scripts/reproduce.sh", "--only", "02", "--help"], capture_output=True, text=True)
            self.assertEqual((made.returncode, made.stderr), (0, ""))
            self.assertIn("--only NAME", made.stdout)


class Keep(unittest.TestCase):
    def test_whole(self):
        for text, want in (
            ("<td>1e-05 of --y-error</td>", '<td><span class="whole">1e-05</span> of <span class="whole">--y-error</span></td>'),
            ("ran 35.9 s, 95 % in E1-3", 'ran <span class="whole">35.9 s</span>, <span class="whole">95 %</span> in E1-3'),
            ("(<math>k</math>, <math>m</math> <math>n</math>.", '<span class="whole">(<math>k</math>,</span> <math>m</math> <span class="whole"><math>n</math>.</span>'),
            ("<svg><text>1e-05</text></svg><script>1e-05</script>", "<svg><text>1e-05</text></svg><script>1e-05</script>"),
        ):
            self.assertEqual(whole(text), want)

    def test_subscripts(self):
        self.assertEqual(report.keep("ΔI = I_Y − I_Z"), "ΔI\u00a0=\u00a0I<sub>Y</sub> − I<sub>Z</sub>")
        self.assertEqual(report.keep("Σ_{i≠j} K_uu, l_p², p < 5 %"), "Σ<sub>i≠j</sub> K<sub>uu</sub>, l<sub>p</sub>², p &lt; 5\u00a0%")
        self.assertEqual(report.keep("train_step, forward_VFE"), "train_step, forward_VFE")

    def test_numbers(self):
        self.assertEqual(report.keep("-2.2 [-4, 1e-4], PL n^1.78."), "\u22122.2 [\u22124, 1e-4], PL n<sup>1.78</sup>.")


class Formulas(unittest.TestCase):
    def test_parts(self):
        """Formulas side by side may stand below one another on a phone; a single one stays as it is."""
        two = str(report.markdown("Text\n\n$$a = b, \\qquad c = \\tfrac12 d$$\n"))
        self.assertEqual((two.count("<math"), two.count('class="formulas"')), (2, 1), two)
        one = str(report.markdown("$$a = b$$"))
        self.assertEqual((one.count("<math"), one.count('class="formulas"')), (1, 0), one)


class Check(unittest.TestCase):
    def test_passes(self):
        self.assertEqual(check(FIGURE + TABLE + ENVIRONMENT), [])
        narrow = FIGURE.replace("</svg>", '</svg><svg class="gppl-narrow"></svg>')
        self.assertEqual(check('<script type="application/json" id="gppl">{"figures": 2}</script>' + narrow + ENVIRONMENT), ["1 figures instead of 2"])
        self.assertEqual(check(f"<table><caption>panels</caption><tr><td>{FIGURE}</td></tr></table>{ENVIRONMENT}"), [])

    def test_finds(self):
        facts = '<script type="application/json" id="gppl">{"figures": 2, "tables": 0}</script>'
        for page, problem in {
            FIGURE + TABLE: "nothing says what computed it",
            "<figure><svg></svg></figure>" + ENVIRONMENT: "figure 1 has no caption",
            "<figure><svg></svg><figcaption> </figcaption></figure>" + ENVIRONMENT: "figure 1 has no caption",
            FIGURE + '<img src="data:,">' + ENVIRONMENT: "figure 2 is not in a <figure>",
            TABLE + "<table><tr><td>1</td></tr></table>" + ENVIRONMENT: "table 2 has no caption",
            "<table><caption><b></b></caption></table>" + ENVIRONMENT: "table 1 has no caption",
            "<table><caption>c</caption>" + ENVIRONMENT: "table 1 does not end",
            FIGURE + facts + ENVIRONMENT: "1 figures instead of 2",
            '<img src="https://example.org/a.png">' + ENVIRONMENT: "loads something from outside",
            '<pre class="error">x</pre>' + ENVIRONMENT: "a cell ended in an error",
            "file:///x" + ENVIRONMENT: "a path of this machine",
            '<p id="a"><b id="a">' + ENVIRONMENT: "two elements have the id 'a'",
            '<a href="#b">' + ENVIRONMENT: "a link leads to #b",
            '<html lang="en">' + ENVIRONMENT: "no description",
            "x" * (HEAVIEST + 1) + ENVIRONMENT: "bytes, more than",
        }.items():
            with self.subTest(problem):
                self.assertIn(problem, "; ".join(check(page)))


class Pages(unittest.TestCase):
    HEAD = "<style>@media screen{body[data-jp-theme-light=false]{--x:1}}</style><script>window.gpplFigures||1</script>"

    def test_numbers(self):
        n = Numbering()
        n.cell(["figure:forecast", "bootstrap"])
        out = n.output(self.HEAD + '<figure class="f"><svg></svg><figcaption s>one</figcaption></figure><figure><figcaption>two</figcaption></figure>')
        self.assertIn('<figure id="figure-1" class="f">', out)
        self.assertIn('<figcaption s><span class="number">Figure 1.</span> one', out)
        self.assertIn('<figcaption><span class="number">Figure 2.</span> two', out)
        self.assertNotIn("<style>", out)
        self.assertNotIn("<script>", out)
        self.assertEqual(n.css, "@media screen{body[data-jp-theme-light=false]{--x:1}}")
        n.cell(["table:results", "table:more"])
        out = n.output('<table style="s"><caption c><div class="gppl-stay">what</div></caption></table>')
        self.assertIn('<div class="scroll" id="table-1">', out)
        self.assertIn('<caption id="table-1-caption" c><div class="gppl-stay"><span class="number">Table 1.</span> what', out)
        self.assertTrue(out.endswith("</table></div></div>"))
        link = lambda text: n.link(str(report.markdown(text)))
        self.assertIn('<a href="#figure-1">Figure\u00a01</a>', link("*Figure*<!--figure:forecast-->"))
        self.assertIn('<a href="#table-1">the results (Table\u00a01)</a>', link("*the results*<!--table:results-->"))
        with self.assertRaises(PageError):
            link("*Figure*<!--figure:nothing-->")
        n.output("<table><caption>more</caption></table>")  # another output of the same cell
        self.assertIn('<a href="#table-2">Table\u00a02</a>', link("*Table*<!--table:more-->"))
        n.cell(["figure:forecast"])
        with self.assertRaises(PageError):
            n.output("<figure></figure>")

    def test_references(self):
        r = References([{"words": "VFE", "text": "T", "link": ""}, {"words": "the paper", "text": "C", "link": ""}, {"words": "EEG", "text": "E", "link": ""}])
        out = r.cite("<h2>VFE</h2><p><code>VFE</code> in the paper. VFE, VFE</p>")
        self.assertEqual(out, '<h2>VFE</h2><p><code>VFE</code> in the paper<a class="cite" href="#reference-1" aria-label="reference 1">[1]</a>. '
                              'VFE<a class="cite" href="#reference-2" aria-label="reference 2">[2]</a>, VFE</p>')
        self.assertEqual([x["text"] for x in r.cited], ["C", "T"])
        self.assertEqual(r.cite("<p>the paper</p>"), "<p>the paper</p>")
        for entry in References().known:
            self.assertTrue(entry["text"] and entry["words"])

    def test_contents(self):
        text = str(report.markdown("# Title\n\n## One $k$\n\ntext\n\n### Two"))
        self.assertEqual([(level, place) for level, place, _ in contents(text)], [(2, "One-k"), (3, "Two")])
        self.assertIn("<math>", contents(text)[0][2])
        self.assertNotIn("<a", contents(text)[0][2])

    def test_pager(self):
        rows = [{"name": "a", "title": "A & a", "date": "1"}, {"name": "skipped", "title": "S"}, {"name": "b", "title": "B", "date": "1"}]
        self.assertIn('rel="next" href="b.html"', pager(rows, "a"))
        self.assertNotIn('rel="prev"', pager(rows, "a"))
        self.assertIn("A &amp; a", pager(rows, "b"))
        self.assertEqual(pager(rows, "skipped"), "<!--pager--><!--/pager-->")

    def test_live(self):
        """A page whose figure computes carries the program, and its policy allows that and no more; others do not."""
        nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("live", outputs=[
            nbformat.v4.new_output("display_data", data={"text/html": FIGURE.replace("<figure", '<figure data-live="H4sI"', 1)})])])
        about = report.facts(Path(os.environ["GPPL_ROOT"]) / "notebooks" / "01-quickstart.ipynb") | {"environment": {}}
        with unittest.mock.patch.object(report.live, "parts", return_value=("the worker", "UHJvZ3JhbQ", ".style {}")):
            page = report.render(nb, about, "")
        self.only_script(page)
        self.assertIn("'wasm-unsafe-eval'; worker-src blob:; style-src", html.unescape(page))
        self.assertIn('<figure id="figure-1" data-live="H4sI">', page)
        self.assertEqual((page.count("the worker</script>"), page.count("UHJvZ3JhbQ</script>"), page.count(".style {}")), (1, 1, 1))
        heavy = page.replace("UHJvZ3JhbQ", "U" * HEAVIEST)
        self.assertNotIn("bytes, more than", "; ".join(check(heavy)))

    def test_program(self):
        """What is compressed says how long it is, and is what a decoder of LZMA returns."""
        content = bytes(range(256)) * 40
        packed = report.live.compressed(content)
        self.assertEqual(int.from_bytes(packed[5:13], "little"), len(content))
        self.assertEqual(lzma.LZMADecompressor(lzma.FORMAT_ALONE).decompress(packed), content)

    def test_text(self):
        """The program as text is in letters of one byte that end no element, and comes back whole."""
        for content in (b"", b"a", bytes(range(256)) * 5, bytes(26)):
            text = report.live.text_of(content)
            self.assertEqual(len(text), -(-len(content) // 13) * 16)
            self.assertFalse(set(text) & set("<\"'& ") - {"&"})
            bits = "".join(f"{report.live.LETTERS.index(a) * 91 + report.live.LETTERS.index(b):013b}" for a, b in zip(text[::2], text[1::2]))
            self.assertEqual(bytes(int(bits[i:i + 8], 2) for i in range(0, 8 * len(content), 8)), content)

    def only_script(self, page):
        """A page has one script, and its policy allows that one."""
        scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
        self.assertEqual(len(scripts), 1)
        policy = html.unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1])
        digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
        self.assertIn(f"default-src 'none'; script-src 'sha256-{digest}'", policy)

    def test_cells(self):
        code = lambda source, *outputs: nbformat.v4.new_code_cell(source, outputs=[nbformat.v4.new_output("display_data", data={"text/html": o}) for o in outputs])
        nb = nbformat.v4.new_notebook(cells=[
            nbformat.v4.new_markdown_cell("# T\n\nSee [02](02-sunspots.ipynb) and [there](https://example.org/02-sunspots.ipynb)."),
            code("silent"), code("pipes"), code("loud", FIGURE), code("trailing")])
        nb.cells[2].metadata["tags"] = [report.PLUMBING]
        about = report.facts(Path(os.environ["GPPL_ROOT"]) / "notebooks" / "01-quickstart.ipynb") | {"environment": {}}
        page = report.render(nb, about, "")
        self.only_script(page)
        self.assertEqual(page.count("<details open><summary>Code</summary>"), 2)  # what shows nothing stands with the cell after it
        self.assertEqual(page.count("<details><summary>Helpers</summary>"), 1)
        places = [page.index(text) for text in ("what it shows", "pipes", "silent", "loud")]  # the figure, what is folded, the method
        self.assertEqual(places, sorted(places))
        self.assertIn("trailing", page)
        self.assertIn('href="02-sunspots.html"', page)
        self.assertIn('href="https://example.org/02-sunspots.ipynb"', page)
        for needless in ("gppl-program", "wasm", "worker-src"):
            self.assertNotIn(needless, page)

    def test_about(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.ipynb"
            nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# T\n\nSee *the forecast*<!--figure:forecast-->, as it is (*the scores*<!--table:x-->, say). More.")]), path)
            self.assertEqual(report.facts(path)["about"], "See the forecast, as it is.")

    def test_pictures(self):
        for path in (ROOT / "notebooks").glob("*.ipynb"):
            self.assertEqual(pictures.stale(ROOT, path), "", path.name)
        cell = nbformat.v4.new_code_cell("draw()", id="a")
        cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": '<figure><svg aria-label="All [is] well. More." class="gppl-wide" data-panels="0 1"><path data-part="1" d="M1.234,5L6.05,7.8" style="fill:var(--gppl-0072b2,#0072B2)"/></svg></figure>'})]
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "notebooks").mkdir()
            path = root / "notebooks" / "01-x.ipynb"
            nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# T\n\nFound."), cell])
            nbformat.write(nb, path)
            self.assertEqual(pictures.stale(root, path), "there is no picture")
            for _ in range(2):  # once more changes nothing
                pictures.make(root, path, nb)
                self.assertEqual(nbformat.read(path, as_version=4).cells[0].source, "# T\n\nFound.\n\n![All is well](figures/01-x.svg)")
            self.assertEqual(pictures.without("# T\n\nFound.\n\n![All is well](figures/01-x.svg)"), "# T\n\nFound.")
            svg = (pictures.folder(root) / "01-x.svg").read_text("utf-8")
            self.assertTrue(svg.startswith('<svg aria-label="All [is] well. More."><path d="M1.2,5L6.0,7.8" style="fill:#0072B2"/>'), svg)
            self.assertEqual(pictures.stale(root, path), "")
            nb.cells[1].source = "draw(2)"
            nbformat.write(nb, path)
            self.assertIn("does not end", pictures.stale(root, path))
            pictures.place(path, "All")
            self.assertIn("has changed since", pictures.stale(root, path))
            with self.assertRaises(pictures.PictureError):
                pictures.make(root, path, nbformat.v4.new_notebook())

    def test_no_dead_links(self):
        for path in (ROOT / "notebooks").glob("*.ipynb"):  # JupyterLab and GitHub know no numbers of figures
            self.assertNotRegex(path.read_text("utf-8"), r"\]\(#(figure|table):", path.name)

    def test_plain(self):
        self.assertEqual(plain(r"See [it](#x), *so* `a`, with $\ell = 5$."), "See it, so a, with ell = 5.")


class LedgerTest(unittest.TestCase):
    def test_refuses(self):
        for rows in ([row(status="fine")], [row(id="")], [row(id="a b")], [row(), row()], [row(ours=3)], [{"id": "r"}]):
            with self.subTest(rows), self.assertRaises(LedgerError):
                ledger(*rows)
        for text in ("", "[]", '{"rows": []}', '{"summary": "", "rows": [1]}'):
            with self.subTest(text), self.assertRaises(LedgerError):
                Ledger.parse(text)

    def test_no_command(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertIsNone(Ledger.of_project(Path(root)))
            (Path(root) / "measure/ledger").mkdir(parents=True)
            (Path(root) / "measure/ledger/main.go").write_text("package main\n\nfunc main() { panic(\"broken\") }\n")
            with self.assertRaises(LedgerError):
                Ledger.of_project(Path(root))

    def test_digest(self):
        book = ledger(*(row(id=s.replace(" ", "-"), status=s) for s in STATUSES), row(id="n", group="Table 1 (E1)", status="not reproduced"))
        self.assertEqual({t: [r["id"] for r in rows] for t, rows in book.digest.items()},
                         {"What holds": ["reproduced"], "What does not hold as printed": ["not-reproduced", "corrected"], "What is undecided": ["undecided", "not-comparable", "not-run"]})
        self.assertEqual(book.counts["not reproduced"], 2)

    def test_notes(self):
        rows = [row(id=str(i), rule="1 nat") for i in range(OFTEN)] + [row(id="other", why="once")]
        self.assertEqual(ledger(*rows).groups[0].notes, {"rule: 1 nat": "a"})
        self.assertEqual(ledger(*rows[1:]).groups[0].notes, {})


class Recordings(unittest.TestCase):
    def test_missing(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, {"GPPL_DATA": ""}):
            root = Path(folder)
            self.assertEqual(recordings.missing(root, ["a|b", "forecast/c"]), ["a or b", "forecast/c"])
            (root / "data" / "forecast").mkdir(parents=True)
            (root / "data" / "b").touch()
            (root / "data" / "forecast" / "c").touch()
            self.assertEqual(recordings.missing(root, ["a|b", "forecast/c"]), [])
            os.environ["GPPL_DATA"] = str(root / "mine")
            self.assertEqual(recordings.missing(root, ["d", "a|b"]), ["d"])
            (root / "mine").mkdir()
            (root / "mine" / "d").touch()
            self.assertEqual(recordings.missing(root, ["d", "a|b"]), [])

    def fetched(self, root, needs, answers, strict=False, **environment):
        """What fetch says of the needs where commands end as in answers, and which of these ran."""
        ran = []

        def attempt(command, *_):
            name = Path(command[0]).name
            key = command[-1] if name == "gppl" else "build" if name == "go" else Path(command[-1]).name
            ran.append(key)
            return answers.get(key, "")

        with unittest.mock.patch.object(recordings, "attempt", attempt), unittest.mock.patch.dict(os.environ, {"GPPL_DATA": "", "GPPL_OFFLINE": ""} | environment):
            return recordings.fetch(root, needs, strict, lambda text: None), sorted(ran)

    def test_fetch(self):
        """Each recording is asked for once, the second of two only if the first cannot be had; a failure is said and is no error."""
        needs = ["SN_m_tot_V2.0.csv", "eeg27.edf|eeg_burst_eg.edf", "forecast/m3.csv", "SN_m_tot_V2.0.csv"]
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            self.assertEqual(self.fetched(root, needs, {}), ({}, ["build", "eeg", "m3.csv", "sunspots"]))
            lost, ran = self.fetched(root, needs, {"sunspots": "503", "eeg": "cut", "eeg-burst": "slow", "m3.csv": "no PyPI"})
            self.assertEqual(lost, {needs[0]: "503", needs[1]: "slow", needs[2]: "no PyPI"})
            self.assertEqual(ran, ["build", "eeg", "eeg-burst", "m3.csv", "sunspots"])
            self.assertEqual(self.fetched(root, needs, {"eeg": "cut"})[0], {})
            self.assertEqual(self.fetched(root, needs, {"build": "broken"})[0], {needs[0]: "broken", needs[1]: "broken"})
            self.assertEqual(self.fetched(root, [], {}), ({}, []))
            for strict in (False, True):
                lost, ran = self.fetched(root, needs[2:3], {}, strict, GPPL_OFFLINE="1")
                self.assertEqual((lost, ran), ({needs[2]: "GPPL_OFFLINE is set"}, []))
            (root / "data").mkdir()
            (root / "data" / needs[0]).write_text("not a recording")
            self.assertEqual(self.fetched(root, needs[:1], {"sunspots": "no rows"}), ({}, []))  # the notebook says so
            self.assertEqual(self.fetched(root, needs[:1], {"sunspots": "no rows"}, strict=True)[0], {needs[0]: "no rows"})

    def test_attempt(self):
        """The last line of what a command wrote says why it failed, except for advice."""
        run = lambda text, seconds=60: recordings.attempt([sys.executable, "-c", text], ROOT, None, seconds)
        self.assertEqual(run(""), "")
        self.assertEqual(run("import sys; sys.exit('tried, in order:\\n  4. download: 503\\nPut the file in a folder')"), "download: 503")
        self.assertIn("without a word", run("import sys; sys.exit(1)"))
        self.assertIn("was not done after 1 s", run("import time; time.sleep(60)", 1))
        self.assertIn("No such file", recordings.attempt(["/no/such/program"], ROOT, None, 60))

    def test_needs(self):
        """All that a notebook wants can be asked for, and results at smoke scale are stored of what is computed from it."""
        for path in (ROOT / "notebooks").glob("*.ipynb"):
            for need in report.facts(path)["needs"]:
                for name in need.split("|"):
                    self.assertTrue(name in recordings.PUBLISHED or name in recordings.MADE, name)
        for stem, files in recordings.SMOKE.items():
            self.assertTrue((ROOT / "notebooks" / f"{stem}.ipynb").is_file(), stem)
            for name in files:
                self.assertTrue((ROOT / "notebooks" / "results" / "smoke" / name).is_file(), name)


class Index(unittest.TestCase):
    def test_rows(self):
        rows = [row(id=f"{s}-{i}".replace(" ", "-"), status=s, claim=f"claim {s} {i}", group=f"group {i}") for s in STATUSES for i in range(2)]
        page = index(ledger(*rows))
        for r in rows:
            self.assertIn(f'id="row-{r["id"]}"', page)
            self.assertIn(r["claim"], page)
        for status, (sign, _) in STATUSES.items():
            self.assertIn(f"{sign} {status}</span>", page)
            slug = status.replace(" ", "-")
            self.assertIn(f'id="show-{slug}"', page)
            self.assertIn(f"main:has(#show-{slug}:checked) .ledger tbody tr:not(.{slug})", page)  # the filter's rule
        self.assertLess(page.index('id="ledger"'), page.index('id="reports"'))

    def test_escapes(self):
        evil = "<script>alert(1)</script>"
        for field in ("group", "claim", "published", "ours", "rule", "why", "overturn", "notebook"):
            page = index(ledger(*(row(id=str(i), **{field: evil}) for i in range(OFTEN))))
            self.assertNotIn(evil, page, field)
            self.assertIn("&lt;script&gt;", page, field)

    def test_without_ledger(self):
        page = index(None)
        Pages.only_script(self, page)
        self.assertNotIn('id="ledger"', page)
        self.assertIn('id="reports"', page)


class Numbers(unittest.TestCase):
    PAGE = (f'<div class="output"><table><caption><div class="gppl-stay"><span class="number">Table 1.</span> of n = 100</div></caption><thead><tr><td></td>'
            '<th>NLL <span>(nats)</span></th><th>evaluations</th><th>time <span>(s)</span></th></tr></thead><tbody><tr><td>ML</td><td>\u2212NLL</td><td>EVALS</td><td>TIME</td></tr></tbody>'
            '<tfoot><tr><td colspan="4"><div class="gppl-stay">Over 3 draws. Measured on a processor of 2.1 GHz, 2 trials at once.</div></td></tr></tfoot></table></div>'
            '<div class="output"><p>It took 0.31 s, and 95 % are inside.</p></div><div class="output" data-varies><p>VARIES</p></div>')

    def page(self, nll="12.345", evals="40", time="0.5", varies="7"):
        return smoke_numbers.of_page(self.PAGE.replace("NLL</td>", nll + "</td>").replace("EVALS", evals).replace("TIME", time).replace("VARIES", varies))

    def test_finds(self):
        shown = self.page()
        self.assertEqual(sorted(n for v in shown.values() for n in v), ["-12.345", "100", "3", "40", "95"])

    def test_moves(self):
        stored = self.page()
        for same in (self.page(), self.page(time="9.5"), self.page(varies="8"), self.page(nll="12.346"), self.page(evals="42")):
            self.assertEqual(smoke_numbers.differences(stored, same), [])
        for moved, said in ((self.page(nll="12.445"), "-12.345 → -12.445"), (self.page(evals="50"), "40 → 50"), (self.page(nll="–"), "now nothing")):
            found = smoke_numbers.differences(stored, moved)
            self.assertEqual(len(found), 1)
            self.assertIn(said, found[0])
        self.assertTrue(smoke_numbers.differences({}, stored))  # what is new is seen, too

    def test_same(self):
        for a, b in (("3.1e-16", "8e-17"), ("1.00", "1.01"), ("1e-6", "2e-6"), ("1234567", "1234568")):
            self.assertTrue(smoke_numbers.same("nats", a, b), (a, b))
        for a, b in (("1.00", "1.03"), ("0.95", "-0.95"), ("1e-6", "4e-6")):
            self.assertFalse(smoke_numbers.same("nats", a, b), (a, b))

        self.assertTrue(smoke_numbers.same("above (nats)", "-0.00064", "-8.1e-5"))
        self.assertFalse(smoke_numbers.same("above (nats)", "0.0064", "0.0081"))

    def test_accept(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(smoke_numbers, "STORED", Path(folder) / "stored.json"):
            (Path(folder) / "01-x.html").write_text(self.PAGE.replace("NLL</td>", "1.5</td>"), "utf-8")
            self.assertIn("no numbers are stored", smoke_numbers.check(Path(folder), ["01-x"])[0])
            smoke_numbers.accept(Path(folder), ["01-x"])
            self.assertEqual(smoke_numbers.check(Path(folder), ["01-x"]), [])
            (Path(folder) / "01-x.html").write_text(self.PAGE.replace("NLL</td>", "1.7</td>"), "utf-8")
            self.assertIn("-1.5 → -1.7", smoke_numbers.check(Path(folder), ["01-x"])[0])

    def test_without_recordings(self):
        """A page has numbers of its own where it was made without recordings only if they differ, and the line that says so is not compared."""
        made = lambda nll, lost=(): f'<script id="gppl">{json.dumps({"without": lost})}</script>' + self.PAGE.replace("NLL</td>", nll + "</td>")
        line = '<div class="output"><p>Not recomputed: 3 of 12 results</p></div>'
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(smoke_numbers, "STORED", Path(folder) / "stored.json"):
            page = Path(folder) / "01-x.html"
            step = lambda text, what: (page.write_text(text), what(Path(folder), ["01-x"]))[1]
            step(made("-1.5"), smoke_numbers.accept)
            self.assertEqual(step(made("-1.5", ["a.csv"]) + line, smoke_numbers.check), [])
            self.assertIn("-1.5 → -1.7", step(made("-1.7", ["a.csv"]), smoke_numbers.check)[0])
            step(made("-1.7", ["a.csv"]), smoke_numbers.accept)
            self.assertEqual(step(made("-1.7", ["a.csv"]), smoke_numbers.check), [])
            self.assertEqual(step(made("-1.5"), smoke_numbers.check), [])
            self.assertIn("-1.5 → -1.7", step(made("-1.7"), smoke_numbers.check)[0])
            self.assertIn("-1.7 → -1.5", step(made("-1.5", ["a.csv"]), smoke_numbers.check)[0])
            step(made("-1.5", ["a.csv"]), smoke_numbers.accept)  # as with the recording again
            self.assertEqual(list(smoke_numbers.load()), ["01-x"])


class Questions(unittest.TestCase):
    """The reading test asks of notebooks that exist; scripts/e2e/run.sh --pages looks for the answers on the first screen.

    A notebook that was reworded shows here, long before the browser starts. An answer with a computed number (…) stands in outputs only."""

    def test_asked(self):
        plain = lambda text: re.sub(r"[`*\s]+", " ", text)
        asked = json.loads((Path(report.__file__).parent / "questions.json").read_text("utf-8"))
        notebooks = {p.stem: plain("".join(line for cell in json.loads(p.read_text("utf-8"))["cells"] for line in cell["source"]))
                     for p in (Path(os.environ["GPPL_ROOT"]) / "notebooks").glob("*.ipynb")}
        self.assertEqual(set(asked), set(notebooks))
        for name, questions in asked.items():
            self.assertEqual(len(questions), 3, name)
            for q in questions:
                self.assertTrue(q["question"].endswith("?") and len(q["answer"]) > 20, q)
                with self.subTest(name):
                    self.assertTrue("…" in q["answer"] or plain(q["answer"]) in notebooks[name], f"{name} no longer says: {q['answer']}")


class NewNotebook(unittest.TestCase):
    """A new notebook in any folder imports gppl, and what gppl needs, without a line of its own and without a network."""

    def test_imports(self):
        cells = ['import "github.com/projected-likelihood/gppl/pkg/gppl"\n\n%%\nfmt.Println(gppl.SE{Variance: 1, Lengthscale: 2})',
                 'import (\n"github.com/janpfeifer/gonb/cache"\n"gonum.org/v1/gonum/mat"\n)\n\n%%\n'
                 'fmt.Println(cache.Cache("k", func() int { return 1 }), mat.NewDense(1, 1, nil).At(0, 0))']
        nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, {"GOPROXY": "off"}):
            report.execute(Path(folder) / "new.ipynb", nb, 600)
        self.assertEqual(["".join(o.get("text", "") for o in c.outputs) for c in nb.cells], ["SE(variance=1, lengthscale=2)\n", "1 0\n"])


class Contents(unittest.TestCase):
    """Running a notebook in JupyterLab and saving it leaves the clone clean, and its outputs are not lost."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.clone = Path(folder.name)
        source = sorted((Path(os.environ["GPPL_ROOT"]) / "notebooks").glob("*.ipynb"))
        for path in source:
            shutil.copy(path, self.clone)
        self.names = [path.name for path in source]
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "x")
        self.contents = Manager(root_dir=str(self.clone))
        self.contents.outputs = self.clone / ".git" / "outputs"

    def git(self, *command):
        return subprocess.run(["git", "-C", self.clone, "-c", "user.name=t", "-c", "user.email=t@localhost", *command], capture_output=True, text=True, check=True).stdout

    def run_through(self, name):
        """What JupyterLab saves after a run."""
        model = self.contents.get(name)
        nb = model["content"]
        nb.metadata["language_info"] |= {"version": "go1.26", "nbconvert_exporter": "", "pygments_lexer": ""}
        for i, cell in enumerate(nb.cells):
            if cell.cell_type == "code":
                cell.execution_count, cell.outputs = i, [nbformat.v4.new_output("stream", text="x")]
                cell.metadata |= {"execution": {"iopub.execute_input": "2026"}, "trusted": True}
        return {"type": "notebook", "format": "json", "content": nb}

    def test_clean(self):
        self.assertTrue(self.names)
        for name in self.names:
            self.contents.save(self.run_through(name), name)
            self.assertEqual(self.git("status", "--porcelain", "--untracked-files=no"), "", name)
            again = [c for c in self.contents.get(name)["content"].cells if c.cell_type == "code"]
            self.assertTrue(all(c.outputs[0].text == "x" and c.metadata.trusted for c in again))

    def test_changes(self):
        model = self.run_through(self.names[0])
        code = [c for c in model["content"].cells if c.cell_type == "code"]
        self.contents.save(model, self.names[0])
        text = (self.clone / self.names[0]).read_text("utf-8")
        nb = nbformat.reads(text, as_version=4)
        next(c for c in nb.cells if c.id == code[0].id).source += "\n// another"
        nbformat.write(nb, self.clone / self.names[0])
        again = [c for c in self.contents.get(self.names[0])["content"].cells if c.cell_type == "code"]
        self.assertEqual((again[0].outputs, again[1].outputs[0].text), ([], "x"))  # of a cell that has changed, nothing
        self.assertIn(self.names[0], self.git("status", "--porcelain", "--untracked-files=no"))

    def test_own(self):
        model = self.run_through(self.names[0])
        self.contents.save(model, "mine.ipynb")
        self.assertIn('"text": [', (self.clone / "mine.ipynb").read_text("utf-8"))


class Write(unittest.TestCase):
    def test_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "page.html"
            report.write(target, "before")
            with unittest.mock.patch.object(Path, "write_text", side_effect=OSError(28, "No space left on device")), self.assertRaises(OSError):
                report.write(target, "after")
            self.assertEqual([f.name for f in Path(folder).iterdir()], ["page.html"])
            self.assertEqual(target.read_text("utf-8"), "before")


if __name__ == "__main__":
    unittest.main()

"""Tests of what turns notebooks into reports:

    source scripts/setup.sh && python -B -m unittest discover -s scripts/report
"""

import json
import os
import tempfile
import unittest
import unittest.mock
from pathlib import Path

os.environ.setdefault("GPPL_ROOT", str(Path(__file__).resolve().parents[2]))

import report
from check import check
from ledger import OFTEN, STATUSES, Ledger, LedgerError

ENVIRONMENT = '<section id="environment"></section>'
FIGURE = "<figure><svg></svg><figcaption>what it shows</figcaption></figure>"
TABLE = "<table><caption>what it lists</caption><tr><td>1</td></tr></table>"


def row(**fields):
    return {"id": "r", "group": "claims", "claim": "c", "published": "p", "ours": "o", "tolerance": "", "status": "reproduced", "why": "", "notebook": ""} | fields


def ledger(*rows):
    return Ledger.parse(json.dumps({"summary": "all of it", "rows": rows}))


def index(book):
    with tempfile.TemporaryDirectory() as out:
        report.index(Path(out), [], {}, book)
        return (Path(out) / "index.html").read_text("utf-8")


class Keep(unittest.TestCase):
    def test_subscripts(self):
        self.assertEqual(report.keep("ΔI = I_Y − I_Z"), "ΔI\u00a0=\u00a0I<sub>Y</sub> − I<sub>Z</sub>")
        self.assertEqual(report.keep("Σ_{i≠j} K_uu, l_p², p < 5 %"), "Σ<sub>i≠j</sub> K<sub>uu</sub>, l<sub>p</sub>², p &lt; 5\u00a0%")
        self.assertEqual(report.keep("train_step, forward_VFE"), "train_step, forward_VFE")

    def test_numbers(self):
        self.assertEqual(report.keep("-2.2 [-4, 1e-4], PL n^1.78."), "\u22122.2 [\u22124, 1e-4], PL n<sup>1.78</sup>.")


class Check(unittest.TestCase):
    def test_passes(self):
        self.assertEqual(check(FIGURE + TABLE + ENVIRONMENT), [])
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
        }.items():
            with self.subTest(problem):
                self.assertIn(problem, "; ".join(check(page)))


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
            (Path(root) / "internal/ledger").mkdir(parents=True)
            (Path(root) / "internal/ledger/main.go").write_text("package main\n\nfunc main() { panic(\"broken\") }\n")
            with self.assertRaises(LedgerError):
                Ledger.of_project(Path(root))

    def test_digest(self):
        book = ledger(*(row(id=s.replace(" ", "-"), status=s) for s in STATUSES), row(id="n", group="Table 1, number by number", status="contradicted"))
        self.assertEqual({t: [r["id"] for r in rows] for t, rows in book.digest.items()},
                         {"What holds": ["reproduced-exactly", "reproduced", "order-reproduced", "within-the-spread"], "What does not hold as printed": ["contradicted", "corrected"], "What is better here": ["better"]})
        self.assertEqual(book.counts["contradicted"], 2)

    def test_notes(self):
        rows = [row(id=str(i), tolerance="1 nat") for i in range(OFTEN)] + [row(id="other", why="once")]
        self.assertEqual(ledger(*rows).groups[0].notes, {"criterion: 1 nat": "a"})
        self.assertEqual(ledger(*rows[1:]).groups[0].notes, {})


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
        for field in ("group", "claim", "published", "ours", "tolerance", "why", "notebook"):
            page = index(ledger(*(row(id=str(i), **{field: evil}) for i in range(OFTEN))))
            self.assertNotIn("<script>", page, field)
            self.assertIn("&lt;script&gt;", page, field)

    def test_without_ledger(self):
        page = index(None)
        self.assertNotIn('id="ledger"', page)
        self.assertIn('id="reports"', page)


class Recordings(unittest.TestCase):
    def test_missing(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ):
            os.environ.pop("GPPL_DATA", None)
            self.assertEqual(report.missing([]), [])
            self.assertEqual(report.missing(["none.csv"]), ["none.csv"])
            os.environ["GPPL_DATA"] = folder
            (Path(folder) / "some.csv").touch()
            self.assertEqual(report.missing(["none.csv", "some.csv", "none.csv|some.csv"]), ["none.csv"])


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

"""Tests of site_pages.py; no site is made."""

import tempfile
import unittest
from pathlib import Path

import site_pages as site


class Site(unittest.TestCase):
    def test_outward(self):
        there = site.REPOSITORY
        for text, page, want in (
            ("[a](../notebooks/01.ipynb) [b](models.md)", "x.md", f"[a]({there}notebooks/01.ipynb) [b](models.md)"),
            ("[a](../CONTRIBUTING.md#a-kernel)", "x.md", f"[a]({there}CONTRIBUTING.md#a-kernel)"),
            ("[a](../data.md#csv) [b](../../notebooks/01.ipynb)", "gallery/x.md", f"[a](../data.md#csv) [b]({there}notebooks/01.ipynb)"),
        ):
            self.assertEqual(site.outward(text, page), want)

    def test_titled(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = Path(folder)
            (docs / "data.md").write_text("# Data\n\ntext\n# More\n")
            (docs / "gallery").mkdir()
            for text, page, want in (
                ("see [data.md](data.md#csv), [here](data.md)", "x.md", "see [Data](data.md#csv), [here](data.md)"),
                ("[data.md](../data.md)", "gallery/x.md", "[Data](../data.md)"),
                ("[gone.md](gone.md) [data.md](https://a.example/data.md)", "x.md", "[gone.md](gone.md) [data.md](https://a.example/data.md)"),
            ):
                self.assertEqual(site.titled(text, page, docs), want)

    def test_legible(self):
        for text, want in (
            ("say --y-error or -q, 1e-05", 'say <span class="whole">--y-error</span> or <span class="whole">-q</span>, <span class="whole">1e-05</span>'),
            ("95 % in 2.5 ms, 3 sets", '<span class="whole">95 %</span> in <span class="whole">2.5 ms</span>, 3 sets'),
            ("<em>x_g</em> and Σ_<em>m</em> K_uu of co2_ppm <code>x_g</code>", "<em>x<sub>g</sub></em> and Σ<sub><em>m</em></sub> K<sub>uu</sub> of co2_ppm <code>x_g</code>"),
            ("<em>K</em>_uu, <em>l</em>_p², <em>K</em>_uuu", "<em>K</em><sub>uu</sub>, <em>l</em><sub>p</sub>², <em>K</em>_uuu"),
            ('<code title="--y 1e-05">x</code> a-b 1-2', '<code title="--y 1e-05">x</code> a-b 1-2'),
        ):
            self.assertEqual(site.legible(f"--y<article>{text}</article>"), f"--y<article>{want}</article>")

    def test_headers(self):
        table = "<table><thead><tr><th>n</th>{}</tr></thead></table>"
        self.assertEqual(site.legible(f"<article>{table.format('<th> </th>')}</article>"), f"<article>{table.format('<td></td>')}</article>")

    def test_finish(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "404.html").write_text("")
            page = Path(folder) / "index.html"
            script = Path(folder) / "assets" / "javascripts" / "bundle.1.min.js"
            script.parent.mkdir(parents=True)
            script.write_text(f'a(){{return C({site.COPY})}}')
            page.write_text('<script src="https://unpkg.com/iframe-worker/shim" type="text/javascript"></script><a href="https://go.dev">Go</a>')
            site.finish(Path(folder))
            self.assertNotIn("unpkg", page.read_text())
            self.assertFalse((Path(folder) / "404.html").exists())
            self.assertEqual(script.read_text(), 'a(){return C("div",{class:"md-code__nav"})}')
            with self.assertRaises(SystemExit):  # a theme that makes them otherwise
                site.finish(Path(folder))
            for loading in ('<img alt="" src="https://a.example/b.png">', '<link rel="stylesheet" href="//a.example/b.css">'):
                page.write_text(loading)
                script.write_text(site.COPY)
                with self.assertRaises(SystemExit):
                    site.finish(Path(folder))


if __name__ == "__main__":
    unittest.main()

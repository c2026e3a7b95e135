"""What a report must keep: it opens with no network, is no heavier than a reader on a phone can bear, names no path of the machine,
holds its figures and tables, each with a caption, links to what is there, says what computed it, and has no error.

Usage: check.py report.html …
"""

import json
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

# Attributes that make a browser fetch something. A plain <a href> only does when the reader clicks.
FETCHING = {"src", "srcset", "poster", "data", "background", "href", "xlink:href", "action"}


HEAVIEST = 1_500_000  # bytes, without the program that a page carries to compute its figures again
PROGRAM = re.compile(r'<script type="text/plain" id="gppl-(?:worker|program)">.*?</script>', re.S)

RAW_INDEX = re.compile(r"(?<![A-Za-z0-9_])(?:\w_\{[^}<]*\}|[A-Z]_[a-z]{1,2}\b)")  # d_{ij} or K_uu
SILENT = re.compile(r"<(script|style|pre|code|math)\b.*?</\1>|<[^>]*>", re.S)  # where it may stand


class Page(HTMLParser):
    """Collects what is wrong with one page, and counts its figures and tables."""

    def __init__(self):
        super().__init__()
        self.problems, self.facts, self.inside = [], {}, ""
        self.figures = self.tables = self.svg = 0
        self.ids, self.targets, self.language, self.description = [], set(), "", ""
        self.open = []  # the <figure> and <table> elements that we are in, and what their captions say
        self.in_caption = self.environment = False

    def handle_starttag(self, tag, attrs):
        attrs = {k: v or "" for k, v in attrs}
        for key, value in attrs.items():
            value = value.strip()
            if key in FETCHING and tag != "a" and not value.startswith(("data:", "#")):
                self.problems.append(f"<{tag} {key}={value[:80]!r}> loads something from outside the page")
            if re.search(r"url\(\s*['\"]?(?!['\"]?(data:|#))", value):
                self.problems.append(f"<{tag} {key}=…url(…)> loads something from outside the page")
        self.ids += [attrs["id"]] if "id" in attrs else []
        if tag == "a" and attrs.get("href", "").startswith("#"):
            self.targets.add(attrs["href"][1:])
        if tag == "html":
            self.language = attrs.get("lang", "")
        if tag == "meta" and attrs.get("name") == "description":
            self.description = attrs.get("content", "")
        narrow = "gppl-narrow" in attrs.get("class", "").split()  # the same figure, for a phone
        if tag in ("svg", "img") and not self.svg and not narrow:
            self.figures += 1
            if not any(holder["tag"] == "figure" for holder in self.open):
                self.problems.append(f"figure {self.figures} is not in a <figure>, with a caption")
        self.svg += tag == "svg"
        self.tables += tag == "table"
        if tag in ("figure", "table"):
            self.open.append({"tag": tag, "caption": "", "number": self.tables if tag == "table" else self.figures + 1})
        self.in_caption |= tag in ("figcaption", "caption")
        self.environment |= attrs.get("id") == "environment"
        self.inside = "facts" if attrs.get("id") == "gppl" else attrs.get("class", "") if tag == "pre" else tag
        if self.inside == "error":
            self.problems.append("a cell ended in an error")

    def handle_endtag(self, tag):
        self.svg -= tag == "svg" and self.svg > 0
        if tag in ("pre", "script", "style"):
            self.inside = ""
        if tag in ("figcaption", "caption"):
            self.in_caption = False
        if tag in ("figure", "table") and self.open:
            holder = self.open.pop()
            if not holder["caption"].strip():
                self.problems.append(f"{tag} {holder['number']} has no caption: set Caption in its viz.Frame or viz.Table")

    def handle_data(self, text):
        if self.in_caption and self.open:
            self.open[-1]["caption"] += text
        if self.inside == "facts":
            self.facts = json.loads(text)
        if self.inside == "style" and re.search(r"@import|url\(\s*['\"]?(?!['\"]?(data:|#))", text):
            self.problems.append("a style sheet loads something from outside the page")


def check(text):
    """Returns the list of what is wrong with the page, empty when it may be published."""
    page = Page()
    page.feed(text)
    page.close()
    page.problems += [f"{holder['tag']} {holder['number']} does not end" for holder in page.open]
    if (size := len(PROGRAM.sub("", text).encode())) > HEAVIEST:
        page.problems.append(f"the page has {size} bytes, more than {HEAVIEST}")
    page.problems += [f"two elements have the id {i!r}" for i in sorted({i for i in page.ids if page.ids.count(i) > 1})]
    page.problems += [f"a link leads to #{t}, which is not there" for t in sorted(page.targets) if not {t, unquote(t)} & set(page.ids)]  # a browser tries both
    if "<html" in text and not (page.language and page.description.strip()):
        page.problems.append("the page has no language or no description: a notebook begins with a cell of a heading and a sentence")
    if not page.environment:
        page.problems.append("nothing says what computed it")
    for what, found in (("figures", page.figures), ("tables", page.tables)):
        if found < page.facts.get(what, 0):
            page.problems.append(f"{found} {what} instead of {page.facts[what]}")
    for name, path in (("the checkout", os.environ.get("GPPL_ROOT", "")), ("the home", str(Path.home()))):
        if len(path) > 1 and re.search(r"(?<!\w)" + re.escape(path) + r"(?![\w-])", text):
            page.problems.append(f"the path of {name} ({path}) is in the page")
    if found := RAW_INDEX.search(SILENT.sub(" ", text)):
        page.problems.append(f"{found[0]!r} has its index as typed, not as a subscript")
    for pattern in (r"file://\S{0,60}", r"/tmp/gonb_\w+"):
        page.problems += [f"a path of this machine is in the page: {m}" for m in set(re.findall(pattern, text))]
    return page.problems


if __name__ == "__main__":
    bad = [f"{name}: {problem}" for name in sys.argv[1:] for problem in check(Path(name).read_text("utf-8"))]
    sys.exit("\n".join(bad) or 0)

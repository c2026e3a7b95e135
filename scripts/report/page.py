"""What a page has beside the text and outputs of its notebook: numbers and links of figures and tables, contents, references, neighbours.

The tags "figure:NAME" and "table:NAME" of a code cell name the figures and tables that it shows, in their order. In Markdown
*Figure*<!--figure:NAME--> becomes "Figure 3", linked, and *the forecast*<!--figure:NAME--> becomes "the forecast (Figure 3)". JupyterLab and
GitHub, which number no figures, show the words.
"""

import html
import json
import re
from pathlib import Path

HERE = Path(__file__).parent
VIZ = HERE.parents[1] / "pkg" / "viz"

# What every cell of a notebook brings with the first thing that it shows (notebookHead of pkg/viz); a page has it once.
HEAD = re.compile(r"<style>(@media screen\{body\[data-jp-theme-light=false\].*?)</style><script>window\.gpplFigures.*?</script>", re.S)
BEGINNING = re.compile(r"<figure\b|<table\b")


class PageError(Exception):
    """A notebook refers to what is not there; the text says to what."""


def figure_script():
    return (VIZ / "page.js").read_text("utf-8")


class Numbering:
    """Gives the figures and tables of a page numbers, places and names, in the order in which they are met."""

    def __init__(self):
        self.count = {"figure": 0, "table": 0}
        self.named, self.waiting = {}, {}
        self.css = ""  # of pkg/viz, from the first cell that shows something
        self.live = 0  # figures that the page can compute again

    def cell(self, tags):
        """Begins a cell with its tags."""
        self.waiting = {kind: [t.partition(":")[2] for t in tags if t.startswith(kind + ":")] for kind in self.count}

    def output(self, text):
        """The HTML of an output of the cell, its figures and tables numbered."""
        if found := HEAD.search(text):
            self.css = self.css or found[1]
            text = HEAD.sub("", text)
        self.live += text.count("<figure data-live=")

        def begin(match):
            kind = match[0][1:]
            self.count[kind] += 1
            number = self.count[kind]
            if self.waiting[kind]:
                name = self.waiting[kind].pop(0)
                if (kind, name) in self.named:
                    raise PageError(f"two cells have the tag {kind}:{name}")
                self.named[kind, name] = number
            if kind == "figure":
                return f'<figure id="figure-{number}"'
            return (f'<div class="scroll" id="table-{number}"><div class="sideways" role="region" aria-labelledby="table-{number}-caption" '
                    f'tabindex="0"><table data-number="{number}"')

        text = BEGINNING.sub(begin, text).replace("</table>", "</table></div></div>")
        # The caption that follows each beginning.
        text = re.sub(r'(<figure id="figure-(\d+)"(?:(?!</figure>).)*?<figcaption\b[^>]*>)', r'\1<span class="number">Figure \2.</span> ', text, flags=re.S)
        return re.sub(r'<table data-number="(\d+)"((?:(?!</table>).)*?)<caption\b([^>]*>)(<div class="gppl-stay">)?',
                      r'<table\2<caption id="table-\1-caption"\3\4<span class="number">Table \1.</span> ', text, flags=re.S)

    def link(self, text):
        """Markdown as HTML, its references to figures and tables by name as links with their numbers."""

        def replace(match):
            said, kind, name = match[1], match[2], match[3]
            if (kind, name) not in self.named:
                raise PageError(f"no cell has the tag {kind}:{name}, to which {said!r} refers")
            number = self.named[kind, name]
            word = f"{kind.capitalize()}\u00a0{number}"
            return f'<a href="#{kind}-{number}">{word if said.lower() == kind else f"{said} ({word})"}</a>'

        return re.sub(r"<em>((?:(?!<em>).)*?)</em><!--(figure|table):([\w-]+)-->", replace, text, flags=re.S)


TEXT = re.compile(r"<[^>]*>|[^<]+")
SILENT = {"a", "code", "pre", "math", "h1", "h2", "h3", "h4", "script", "style"}  # where no reference is set


class References:
    """The list of what a page cites. references.json says by which words a page cites each."""

    def __init__(self, known=None):
        self.known = known if known is not None else json.loads((HERE / "references.json").read_text("utf-8"))
        self.cited = []

    def cite(self, text):
        """HTML with a link to the list behind the first mention of each."""
        waiting = [r for r in self.known if r not in self.cited]
        depth, out = 0, []
        for part in TEXT.findall(text):
            if part.startswith("<"):
                tag = re.match(r"</?([\w-]+)", part)
                if tag and tag[1] in SILENT and not part.endswith("/>"):
                    depth += -1 if part.startswith("</") else 1
                out.append(part)
                continue
            found = [] if depth else [(m.end(), r) for r in waiting if (m := re.search(r["words"], part))]
            for end, r in sorted(found, key=lambda f: f[0]):
                self.cited.append(r)
                waiting.remove(r)
            for end, r in sorted(found, key=lambda f: -f[0]):
                number = self.cited.index(r) + 1
                part = f'{part[:end]}<a class="cite" href="#reference-{number}" aria-label="reference {number}">[{number}]</a>{part[end:]}'
            out.append(part)
        return "".join(out)


HEADING = re.compile(r'<h([23]) id="([^"]*)">(.*?)<a class="anchor-link".*?</a></h\1>', re.S)


def contents(text):
    """The headings of a page: level, place, and text with its formulas."""
    return [(int(level), place, re.sub(r"</?a\b[^>]*>", "", title)) for level, place, title in HEADING.findall(text)]


def plain(text):
    """Markdown as one line of plain text, for the description of a page."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"[*_`]|\$", "", text)
    return re.sub(r"\\([a-z]+)", r"\1", text)


PAGER = re.compile(r"<!--pager-->.*?<!--/pager-->", re.S)


def pager(rows, name):
    """Links to the pages before and after one, of those that exist."""
    there = [r for r in rows if r.get("date")]
    at = next((i for i, r in enumerate(there) if r["name"] == name), None)
    if at is None:
        return "<!--pager--><!--/pager-->"
    link = lambda r, rel, arrow: f'<a rel="{rel}" href="{html.escape(r["name"])}.html"><span>{arrow}</span> {html.escape(r["title"])}</a>'
    before = link(there[at - 1], "prev", "← Previous") if at > 0 else ""
    after = link(there[at + 1], "next", "Next →") if at + 1 < len(there) else ""
    return f'<!--pager--><nav class="pager" aria-label="Neighbouring reports">{before}{after}</nav><!--/pager-->'

"""What is done to docs/ before Zensical makes a site of it, and to the site after.

Usage: site_pages.py stage DOCS STAGE     copies docs/; links that lead out of it, to notebooks and sources, lead to the repository there, and
                                          those whose text is the name of a file have the title of its page
       site_pages.py finish SITE          pages load nothing from elsewhere: a script of theirs for pages from disk is replaced by worker.js;
                                          flags and numbers are not broken at a hyphen, indices are subscripts, header cells that say nothing are
                                          none; buttons that copy code are no landmarks; no page of its own for what is not found, whose style would be looked for in the root of the disk
"""

import html
import posixpath
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from whole import whole  # noqa: E402

REPOSITORY = "https://github.com/projected-likelihood/gppl/blob/main/"
OUTSIDE = re.compile(r"\]\(((?:\.\./)+[^)\s]*)\)")


def outward(text, page):
    """The Markdown of a page, its path from docs/, with absolute links where they lead out of docs/."""

    def absolute(match):
        path, mark, fragment = match[1].partition("#")
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
        return match[0] if target.startswith("docs/") else f"]({REPOSITORY}{target}{mark}{fragment})"

    return OUTSIDE.sub(absolute, text)


NAMED = re.compile(r"\[([\w-]+\.md)\]\(([^)\s#]*)(#[^)\s]*)?\)")
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def titled(text, page, docs):
    """The Markdown of a page, its path from the folder docs, with the titles of pages in place of the names of their files."""

    def title(match):
        target = docs / posixpath.dirname(page) / match[2]
        found = target.is_file() and TITLE.search(target.read_text("utf-8"))
        return f"[{found[1]}]({match[2]}{match[3] or ''})" if found else match[0]

    return NAMED.sub(title, text)


def stage(docs, to):
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(docs, to / "docs", ignore=shutil.ignore_patterns("*.go"))
    for page in (to / "docs").rglob("*.md"):
        name = page.relative_to(to / "docs").as_posix()
        page.write_text(outward(titled(page.read_text("utf-8"), name, docs), name), "utf-8")
    shutil.copy(Path(__file__).with_name("mkdocs.yml"), to)
    shutil.copy(Path(__file__).with_name("site.css"), to / "docs")


SHIM = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"[^>]*></script>')
LOADED = re.compile(r"<(?:script|img|iframe|source)\b[^>]*?\ssrc=\"?(?:https?:)?//|<link\b(?=[^>]*rel=\"?(?:stylesheet|preconnect|preload))[^>]*href=\"?(?:https?:)?//")

COPY = '"nav",{class:"md-code__nav"}'  # the button that copies code, in the script of the theme: as many landmarks without a name as a page has code

ARTICLE = re.compile(r"<article\b.*?</article>", re.DOTALL)
SLANTED = re.compile(r"_<em>(\w+)</em>|<em>_(\w+)</em>|(?<=</em>)_([A-Za-z]{1,2})(?![A-Za-z0-9_])")
SUBSCRIPT = re.compile(r"(?<![^\W_]|_)([^\W\d_])_(?:\{([^{}]*)\}|([^\W\d_]{1,2})(?![^\W_]|_))")  # x_g and K_uu, but not co2_ppm


TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
EMPTY = re.compile(r"<th([^>]*)>\s*</th>")


def legible(page):
    """A page whose flags and numbers stay on one line, and whose indices are subscripts: x_g, except in code."""
    indices = lambda part, code: part if code else SUBSCRIPT.sub(lambda m: f"{m[1]}<sub>{m[2] or m[3]}</sub>", part)
    slanted = lambda m: f"<sub>{m[3]}</sub>" if m[3] else f"<sub><em>{m[1] or m[2]}</em></sub>"
    return ARTICLE.sub(lambda article: TABLE.sub(lambda table: EMPTY.sub(r"<td\1></td>", table[0]), whole(SLANTED.sub(slanted, article[0]), indices)), page)


def finish(site):
    (site / "404.html").unlink(missing_ok=True)
    script, = site.glob("assets/javascripts/bundle.*.js")
    text = script.read_text("utf-8")
    if text.count(COPY) != 1:
        sys.exit(f"site: {script} makes the buttons that copy code in another way than by {COPY}")
    script.write_text(text.replace(COPY, COPY.replace("nav", "div", 1)), "utf-8")
    worker = f"<script>\n{Path(__file__).with_name('worker.js').read_text('utf-8')}</script>"
    for page in site.rglob("*.html"):
        text = SHIM.sub(lambda _: worker, page.read_text("utf-8"))
        if found := LOADED.search(text):
            sys.exit(f"site: {page} loads something from elsewhere: {text[found.start():found.end() + 80]}")
        page.write_text(legible(text), "utf-8")


if __name__ == "__main__":
    {"stage": stage, "finish": finish}[sys.argv[1]](*map(Path, sys.argv[2:]))

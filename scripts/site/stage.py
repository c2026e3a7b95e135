"""Copies docs/ to where the site is made from. Links that lead out of docs/, to notebooks and sources, lead to the repository there.

Usage: stage.py DOCS STAGE
"""

import posixpath
import re
import shutil
import sys
from pathlib import Path

REPOSITORY = "https://github.com/projected-likelihood/gppl/blob/main/"
OUTSIDE = re.compile(r"\]\(((?:\.\./)+[^)\s]*)\)")


def outward(text, page):
    """The Markdown of a page, its path from docs/, with absolute links where they lead out of docs/."""

    def absolute(match):
        path, mark, fragment = match[1].partition("#")
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
        return match[0] if target.startswith("docs/") else f"]({REPOSITORY}{target}{mark}{fragment})"

    return OUTSIDE.sub(absolute, text)


def stage(docs, to):
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(docs, to / "docs", ignore=shutil.ignore_patterns("*.go"))
    for page in (to / "docs").rglob("*.md"):
        name = page.relative_to(to / "docs").as_posix()
        page.write_text(outward(page.read_text("utf-8"), name), "utf-8")
    shutil.copy(Path(__file__).with_name("mkdocs.yml"), to)


if __name__ == "__main__":
    stage(Path(sys.argv[1]), Path(sys.argv[2]))

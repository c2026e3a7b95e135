"""Opens the reports in a browser, on a laptop and on a phone, and tries what a reader can do with them; run.sh --pages is the way in.

On every page: no request to the network, no error, nothing wider than the screen, texts of figures large enough, and no violation that
axe finds, light and dark. On one page each: contents, keyboard, values and zoom of figures, downloads, copying, tables that scroll. On a
report of gppl fit whose columns, regressor and file are called as programs: nothing of them runs, and all that works on the others does.
"""

import argparse
import csv
import importlib.util
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import sync_playwright

from e2e import part

ROOT = Path(os.environ["GPPL_ROOT"])
LAPTOP, PHONE = {"width": 1280, "height": 900}, {"width": 400, "height": 860}
TABLET = {"width": 600, "height": 860}  # narrow, but no phone to page.css
SMALLEST = 11  # CSS pixels of a text in a figure on a phone
HEAVIEST = 1_500_000  # bytes of a page
ADDED = 2_200_000  # and as many more of one whose figures compute
TALLEST = 16000  # of a screenshot, pixels
QUESTIONS = json.loads((ROOT / "scripts" / "report" / "questions.json").read_text("utf-8"))

# The texts of the figures that are shown, with their size on the screen in CSS pixels.
TEXTS = """() => [...document.querySelectorAll('figure svg')].filter((s) => s.getClientRects().length).flatMap((svg) => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return [...svg.querySelectorAll('text')].map((t) => [t.textContent, parseFloat(getComputedStyle(t).fontSize) * scale]);
})"""


class Failure(Exception):
    """What a reader would not be content with."""


def need(condition, text):
    if not condition:
        raise Failure(text)


def axe_source():
    """axe-core, as its package on PyPI brings it; GPPL_AXE names another copy."""
    if own := os.environ.get("GPPL_AXE"):
        return Path(own).read_text("utf-8")
    return (Path(importlib.util.find_spec("axe_playwright_python").origin).parent / "axe.min.js").read_text("utf-8")


def axe(page, source, of="html"):
    page.evaluate(source)
    found = page.evaluate("async (of) => (await axe.run(of, {resultTypes: ['violations']})).violations.map((v) => [v.id, v.help, v.nodes.map((n) => n.target.join(' ')).slice(0, 3), v.nodes.length])", of)
    return [f"axe {rule}: {what}: {n} times, as {', '.join(where)}" for rule, what, where, n in found]


class Visit:
    """A page as a reader opens it, in a context of its own."""

    def __init__(self, browser, path, size, **options):
        self.context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.problems = []
        own = path.resolve().as_uri()
        self.page.on("request", lambda r: r.url.split("#")[0] == own or r.url.startswith(("data:", "blob:")) or r.is_navigation_request() or self.problems.append(f"it asks for {r.url[:100]}"))
        self.page.on("pageerror", lambda e: self.problems.append(f"its script fails: {e}"))
        self.page.goto(own)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


def look(browser, path, out, source):
    """What every page must keep; of one with questions, that its first screen answers them (see first_screen). axe is asked,
    and a picture made, if source is the text of axe."""
    problems, answers = [], ""
    size = path.stat().st_size
    most = HEAVIEST + ADDED * ('id="gppl-program"' in path.read_text("utf-8"))
    if size > most:
        problems.append(f"{size} bytes, want at most {most}")
    for name, view in (("1280", LAPTOP), ("400", PHONE)):
        with Visit(browser, path, view, color_scheme="light") as v:
            page = v.page
            if view is LAPTOP and path.stem in QUESTIONS:  # before anything has scrolled
                unanswered, answers = first_screen(page, QUESTIONS[path.stem])
                problems += unanswered
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > view["width"]:
                problems.append(f"{name}: the page is {wide} pixels wide")
            if bars := page.locator("[role=progressbar]:visible").count():
                problems.append(f"{name}: {bars} progress bars are left")
            texts = page.evaluate(TEXTS)
            if view is PHONE and (small := [(t, s) for t, s in texts if s < SMALLEST]):
                problems.append(f"{name}: {len(small)} texts of figures are too small, as {small[0][0]!r} of {small[0][1]:.1f} pixels")
            if source:
                height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
                page.screenshot(path=out / f"{path.stem}-{name}.png", clip={"x": 0, "y": 0, "width": view["width"], "height": height}, full_page=True)
            if view is PHONE:  # the laptop is light, the phone dark: between them every rule is asked, without asking twice
                page.emulate_media(color_scheme="dark")
            problems += [f"{name}: {p}" for p in (axe(page, source) if source else []) + v.problems]
    if problems:
        raise Failure("\n  ".join(problems))
    return f"{size // 1000} kB, {len(texts)} texts in figures, axe {'finds nothing' if source else 'was not asked'}{answers}"


# Of a zoomed figure: the length of its paths, how many have a look that the figure itself has not, and the labels of its axes.
ZOOMED = """(figure) => {
  const all = [...figure.querySelectorAll('.gppl-zoom path')], looks = new Set([...figure.querySelectorAll('path[data-part]')].map((e) => e.style.cssText.replace(/ ?visibility: hidden;/, '')));
  return [all.map((e) => e.getAttribute('d')).join('').length, all.filter((e) => !looks.has(e.style.cssText)).length, figure.querySelectorAll('.gppl-zoom text').length];
}"""
VIEW = "(figure) => figure.gppl.panels && figure.gppl.panels.map((p) => p && [p.view.x0, p.view.x1, p.view.y0, p.view.y1])"


def try_figure(browser, path, out, _):
    """Values under the cursor, zoom by button, pointer, wheel and key, and back."""
    with Visit(browser, path, LAPTOP) as v:
        page, figure = v.page, v.page.locator("figure.gppl-live").first
        stage, tip = figure.locator(".gppl-stage"), figure.locator(".gppl-tip")
        figure.scroll_into_view_if_needed()
        box = figure.locator("svg:visible").bounding_box()
        at = lambda x, y: (box["x"] + x * box["width"], box["y"] + y * box["height"])
        views = lambda: figure.evaluate(VIEW)
        hidden = lambda: figure.evaluate("(f) => [...f.querySelectorAll('.gppl-wide [class^=gppl-t]')].filter((t) => t.style.visibility === 'hidden').length")

        page.mouse.move(*at(0.5, 0.6))
        tip.wait_for(state="visible")
        first = tip.inner_text()
        need(re.search(r": [−\d]", first), f"no value under the cursor: {first!r}")
        page.mouse.move(*at(0.8, 0.6))
        need(tip.inner_text() != first, "the value does not follow the cursor")
        home = views()
        page.mouse.move(5, 5)
        tip.wait_for(state="hidden")

        reset = figure.get_by_role("button", name="Reset: show all of it")
        need(reset.is_disabled(), "there is something to reset before a zoom")
        figure.get_by_role("button", name="Zoom in").click()
        page.wait_for_function("(f) => f.querySelector('.gppl-zoomed')", arg=figure.element_handle())
        closer = views()
        need(closer[0][1] - closer[0][0] < 0.7 * (home[0][1] - home[0][0]), f"the button does not zoom: {home} to {closer}")
        need(hidden() > 0, "the labels of the axes do not describe the visible part")
        drawn, strange, labels = figure.evaluate(ZOOMED)
        need(drawn > 1000 and labels > 3, f"nothing is drawn of what was zoomed: paths of {drawn} letters, {labels} labels")
        need(strange == 0, f"{strange} paths have not the look of the figure")
        figure.screenshot(path=out / f"{path.stem}-zoomed.png")
        page.mouse.move(*at(0.5, 0.6))
        page.mouse.down()
        page.mouse.move(*at(0.3, 0.6), steps=3)
        page.mouse.up()
        need(views()[0][0] > closer[0][0], "dragging does not move what is seen")
        reset.click()
        need(views() == home and hidden() == 0, "not all of it is shown again")

        page.mouse.move(*at(0.4, 0.5))
        page.mouse.down()
        page.mouse.move(*at(0.6, 0.7), steps=3)
        page.mouse.up()
        chosen = views()[0]
        need(home[0][0] < chosen[0] < chosen[1] < home[0][1], f"a box does not zoom: {chosen}")
        page.mouse.dblclick(*at(0.5, 0.5))
        need(views() == home, "a double click does not show all of it")

        page.evaluate("() => document.activeElement.blur()")
        scrolled = page.evaluate("scrollY")
        page.mouse.wheel(0, 120)
        page.wait_for_function("(y) => scrollY !== y", arg=scrolled)
        need(views() == home, "the wheel zooms a figure that the reader scrolls past")
        page.mouse.wheel(0, -120)
        page.wait_for_function("(y) => scrollY === y", arg=scrolled)
        stage.focus()
        page.mouse.wheel(0, -120)
        page.wait_for_timeout(100)
        need(views() != home and page.evaluate("scrollY") == scrolled, "the wheel does not zoom the figure that the reader is in")
        page.keyboard.press("0")
        page.wait_for_timeout(50)
        need(views() == home, "0 does not show all of it")

        # By keys alone.
        says = figure.locator(".gppl-plot [role=status]")
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(50)
        one = says.inner_text()
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(50)
        need(one and says.inner_text() not in ("", one), f"arrows do not read values: {one!r}")
        page.keyboard.press("+")
        page.wait_for_timeout(50)
        near = views()
        need(near != home, "+ does not zoom")
        page.keyboard.press("Shift+ArrowRight")
        page.wait_for_timeout(50)
        need(views()[0][0] > near[0][0], "shift and an arrow do not move what is seen")
        page.keyboard.press("0")
        page.keyboard.press("Escape")
        page.wait_for_timeout(50)
        need(views() == home and tip.is_hidden(), "0 and escape do not end it")
        need(not v.problems, "; ".join(v.problems))
        return f"read off {first.splitlines()[0]!r}, zoomed by button, box, drag, wheel and keys"


def try_scatter(browser, path, out, _):
    """Points of a scatter are read off one by one, with their label."""
    with Visit(browser, path, LAPTOP) as v:
        live = v.page.locator("figure.gppl-live")
        for i in range(live.count()):
            figure = live.nth(i)
            figure.locator(".gppl-stage").focus()
            v.page.keyboard.press("ArrowRight")
            v.page.wait_for_function("(f) => f.gppl.panels", arg=figure.element_handle())
            if figure.evaluate("(f) => f.gppl.panels.some((p) => p && p.cloud)"):
                v.page.keyboard.press("ArrowRight")
                v.page.wait_for_timeout(50)
                said = figure.locator(".gppl-plot [role=status]").inner_text()
                need(": " in said, f"a point is not read off: {said!r}")
                v.page.keyboard.press("+")
                v.page.wait_for_timeout(50)
                need(figure.locator(".gppl-zoomed").count() == 1, "a scatter does not zoom")
                figure.screenshot(path=out / f"{path.stem}-scatter.png")
                need(not v.problems, "; ".join(v.problems))
                return f"read off {said[:60]!r}"
        raise Failure("there is no scatter")


def try_downloads(browser, path, out, _):
    """A figure as SVG, and its data as csv."""
    with Visit(browser, path, LAPTOP, accept_downloads=True) as v:
        figure = v.page.locator("figure.gppl-figure").first
        got = {}
        for name in ("SVG", "CSV"):
            with v.page.expect_download() as download:
                figure.get_by_role("button", name=name).click()
            got[name] = (download.value.suggested_filename, download.value.path().read_text("utf-8"))
        need(re.fullmatch(re.escape(path.stem) + r"-figure(-1)?\.svg", got["SVG"][0]), f"the SVG is called {got['SVG'][0]}")
        svg = ElementTree.fromstring(got["SVG"][1])
        need(svg.tag.endswith("svg") and len(list(svg.iter("{http://www.w3.org/2000/svg}path"))) > 5, "the SVG is hardly one")
        need("var(" not in got["SVG"][1], "the SVG has colours that only a page knows")
        rows = list(csv.reader(io.StringIO(got["CSV"][1])))
        shown = figure.evaluate("(f) => f.gppl.panels.flatMap((p) => p.layers.filter((l) => !l.again).map((l) => Math.max(l.x?.length ?? 0, l.y?.length ?? 0, l.lo?.length ?? 0))).reduce((a, b) => a + b)")
        need(len(rows) == shown + 1 and all(len(r) == len(rows[0]) for r in rows), f"the csv has {len(rows)} rows for {shown} values")
        x = next(i for i, name in enumerate(rows[0]) if name.startswith("x: "))
        places = [r[x] for r in rows[1:] if r[x]]
        need(len(places) > 10 and all(re.fullmatch(r"[-+.e\d]+|\d{4}-\d\d-\d\d(T[\d:]{8})?", p) for p in places), f"the csv has {len(places)} abscissae, such as {places[:1]}")
        need(not v.problems, "; ".join(v.problems))
        return f"{got['SVG'][0]}, and {len(rows) - 1} rows of {', '.join(rows[0])}"


def try_reading(browser, path, out, _):
    """Skip link, contents, copying, references, neighbours, and the page on a phone."""
    with Visit(browser, path, LAPTOP, permissions=["clipboard-read", "clipboard-write"]) as v:
        page = v.page
        page.keyboard.press("Tab")
        need(page.evaluate("document.activeElement.className") == "skip", "the first key does not lead past the contents")
        page.keyboard.press("Enter")
        need(page.evaluate("document.activeElement.id") == "text", "the way past the contents leads elsewhere")
        links = page.locator(".toc a")
        need(links.count() >= 3 and links.first.is_visible(), "no contents beside the text")
        entry = links.nth(2)
        entry.click()
        page.wait_for_timeout(300)
        place = page.evaluate("(a) => document.getElementById(a.hash.slice(1))?.getBoundingClientRect().top ?? document.getElementById(decodeURIComponent(a.hash.slice(1))).getBoundingClientRect().top", entry.element_handle())
        need(-5 < place < 200, f"an entry of the contents leads to {place:.0f} pixels from its heading")
        need(entry.get_attribute("aria-current") == "true", "the contents do not say where the reader is")
        code = page.locator(".cell details", has=page.locator(".highlight")).first
        if code.get_attribute("open") is None:
            code.locator("summary").click()
        code.locator(".copy").click()
        code.get_by_text("Copied").wait_for()
        copied, shown = page.evaluate("navigator.clipboard.readText()"), code.locator("pre").inner_text()
        need(copied.strip() == shown.strip() and len(copied) > 20, "what is copied is not the code")
        cite = page.locator("a.cite").first
        cite.click()
        need(page.locator(cite.get_attribute("href")).is_visible(), "a reference leads nowhere")
        links = [a.get_attribute("href") for a in page.locator(".pager a").all()]
        need(links and all((path.parent / l).is_file() for l in links), f"neighbours that are not there: {links}")
        need(not v.problems, "; ".join(v.problems))
    with Visit(browser, path, PHONE) as v:
        need(not v.page.locator(".toc a").first.is_visible(), "the contents are not folded on a phone")
        v.page.locator(".toc summary").click()
        need(v.page.locator(".toc a").first.is_visible(), "the contents do not open on a phone")
        need(v.page.locator("figure .gppl-narrow").first.is_visible() and not v.page.locator("figure .gppl-wide").first.is_visible(), "a phone shows the wide figure")
    with Visit(browser, path, LAPTOP, java_script_enabled=False) as v:
        need(v.page.locator("figure .gppl-wide").first.is_visible() and v.page.locator("figure button").count() == 0, "without scripts the figure is not there, or has dead buttons")
    return "skip link, contents, copying, references, neighbours, phone, no script"


def try_table(browser, path, out, _):
    """A wide table says that it scrolls: on a phone beside its first column, which stays; on a tablet by keys."""
    with Visit(browser, path, PHONE) as v:
        v.page.wait_for_timeout(200)
        box = v.page.locator(".scroll.scrolls .sideways").first
        need(box.count() == 1, "no table scrolls on a phone")
        first = box.locator("tbody td").first
        before = first.bounding_box()["x"]
        box.evaluate("(e) => { e.scrollLeft = 60; }")
        need(abs(first.bounding_box()["x"] - before) <= 8, "the first column of a table does not stay")
    with Visit(browser, path, TABLET) as v:
        v.page.wait_for_timeout(200)
        table = v.page.locator(".scroll.scrolls").first
        need(table.count() == 1 and "more-right" in table.get_attribute("class"), "no table says that it scrolls")
        box = table.locator(".sideways")
        caption = table.locator("caption .gppl-stay").bounding_box()
        need(caption["x"] >= 0 and caption["x"] + caption["width"] <= TABLET["width"], "the caption leaves the screen")
        box.focus()
        for _ in range(30):
            v.page.keyboard.press("ArrowRight")
        v.page.wait_for_function("(e) => e.classList.contains('more-left')", arg=table.element_handle())
        return f"the first column stays on a phone; {v.page.locator('.scroll.scrolls').count()} tables scroll on a tablet, and say so"


COMPUTED = "(f) => !('computing' in f.dataset) && /Computed|Not computed/.test(f.querySelector('.gppl-state').textContent)"


# The paths of a figure that a reader sees.
DRAWN = "(f) => [...f.querySelectorAll('.gppl-plot path')].filter((e) => e.getClientRects().length && getComputedStyle(e).visibility !== 'hidden').map((e) => e.getAttribute('d')).join(' ')"


# The texts of the title that a reader sees: of the published one, or of what the controls say.
TITLES = "(texts) => texts.filter((e) => (e.dataset.part === 'title' || e.classList.contains('gppl-now')) && getComputedStyle(e).visibility !== 'hidden').map((e) => e.textContent)"
# Whether a line is drawn as it was published, beside the one that was computed.
GREY = "(f) => [...f.querySelectorAll('.gppl-zoom svg path')].some((e) => e.style.stroke.includes('8c959f'))"


# What a live figure is computed from, where its controls stand, and all that it read there.
ASKED = """async (f) => { const c = f.gppl.compute; return [JSON.stringify((await c.unpacked).figure), c.values(), c.now]; }"""


def native(figure):
    """What the program of a page says of a figure, compiled for this machine, where the page's controls stand: the digits of the page are
    compared with its."""
    sent, values, shown = figure.evaluate(ASKED)
    messages = f"{sent}\n{json.dumps({'values': values})}\n"
    done = subprocess.run(["go", "run", "./cmd/gppl-live"], cwd=ROOT, input=messages, capture_output=True, text=True, check=True)
    wanted = json.loads(done.stdout.splitlines()[1])["shown"]["readings"]
    need([r["name"] for r in wanted] == [r["name"] for r in shown], f"natively it reads {wanted}")
    size = lambda w: max([1e-3] + [abs(r["value"]) for r in wanted if r.get("unit") == w.get("unit")])  # a difference is as exact as what it is of
    worst = max(abs(w["value"] - s["value"]) / size(w) for w, s in zip(wanted, shown))
    need(worst < 1e-9, f"the numbers differ from the native ones by {worst:.1g} of their size: {wanted}, {shown}")


def try_live(browser, path, out, source):
    """A figure that the page computes again: by keys and by touch, narrow and dark as well, back as published, its numbers verified, and
    equal to those of the same program on this machine."""
    spoken = []
    for name, size, options in (("1280", LAPTOP, {}), ("390", {"width": 390, "height": 844}, {"color_scheme": "dark", "has_touch": True})):
        with Visit(browser, path, size, **options) as v:
            page, figure = v.page, v.page.locator("figure[data-live]").first
            sliders, state = figure.locator(".gppl-compute input"), figure.locator(".gppl-state")
            sliders.first.wait_for()
            readings = lambda: dict(zip(figure.locator(".gppl-readings dt").all_inner_texts(), figure.locator(".gppl-readings dd:nth-of-type(odd)").all_inner_texts()))
            drawn = lambda: figure.evaluate(DRAWN)
            settled = lambda: page.wait_for_function(COMPUTED, arg=figure.element_handle(), timeout=60_000)
            published, named, said = drawn(), " ".join(figure.locator(".gppl-plot > svg:visible text").evaluate_all(TITLES)), figure.locator("figcaption").inner_text()
            need(figure.locator(".gppl-compute").inner_text().startswith("Look for "), "nothing says what to look for")
            near = figure.evaluate("(f) => f.getBoundingClientRect().top < 2 * innerHeight")
            need(near or not page.workers, "the program starts before a reader comes near")
            step = lambda slider: "ArrowLeft" if slider.evaluate("(s) => s.value > s.min") else "ArrowRight"
            start = time.monotonic()
            if options:
                sliders.nth(0).scroll_into_view_if_needed()
                box = sliders.nth(0).bounding_box()
                page.touchscreen.tap(box["x"] + 0.4 * box["width"], box["y"] + box["height"] / 2)
            else:
                sliders.nth(0).focus()
                page.keyboard.press(step(sliders.nth(0)))
            settled()
            first, one = time.monotonic() - start, readings()
            need(len(page.workers) == 1 and len(one) >= 4, f"nothing is computed: {state.inner_text()}")
            need(drawn() != published, "the figure does not follow the first control")
            sliders.nth(1).focus()
            later = []
            for _ in range(4):
                page.keyboard.press(step(sliders.nth(1)))
                settled()
                took = re.search(r"in (\d+) ms", state.inner_text())
                need(took, f"nothing is computed: {state.inner_text()}")
                later.append(int(took[1]))
            need(readings() != one, "the numbers do not follow the second control")
            native(figure)
            title = lambda: " ".join(figure.locator(".gppl-plot > svg:visible text").evaluate_all(TITLES))
            caption = lambda: figure.locator("figcaption").inner_text()
            moved = title(), caption()
            need(moved[0] and moved != (named, said), f"title and caption do not follow the controls: {moved}")
            need(figure.evaluate(GREY), "the line as it was published is not drawn in grey")
            for choice in figure.locator(".gppl-compute select").all():
                choice.select_option(index=1)
                settled()
                need((title(), caption()) != moved, f"title and caption do not follow the choice {choice.evaluate('(c) => c.selectedOptions[0].text')!r}: {moved}")
                moved = title(), caption()
            reset = figure.get_by_role("button", name="As published")
            figure.get_by_role("button", name="Verify").click()
            verdict = figure.locator(".gppl-compute [role=status]").last
            verdict.locator("li").first.wait_for(timeout=60_000)
            need("are confirmed" in verdict.inner_text() and "in different ways" in verdict.inner_text() and "✗" not in verdict.inner_text(), f"the published numbers are not verified: {verdict.inner_text()}")
            wide = page.evaluate("document.documentElement.scrollWidth")
            need(wide <= size["width"], f"the page is {wide} pixels wide")
            figure.screenshot(path=out / f"{path.stem}-live-{name}.png")
            found = axe(page, source, "figure[data-live]")
            need(not found, "; ".join(found))
            reset.click()
            need(drawn() == published and (title(), caption()) == (named, said) and reset.is_disabled() and not readings(), "the figure is not as it was published")
            need(not v.problems, "; ".join(v.problems))
            spoken.append(f"at {name} pixels the first answer took {first:.1f} s from the moment the figure came into view, later ones {min(later)} ms and more")
    return f"{', '.join(spoken)}; {len(one)} numbers and the figure follow, equal to native ones, what was published is confirmed in different ways, axe finds nothing"


def live_page(out):
    """A report of gppl fit whose figure computes."""
    page = out / "live" / "live-report.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["go", "generate", "./cmd/gppl"], cwd=ROOT, check=True)
    subprocess.run(["go", "run", "./cmd/gppl", "fit", "data/co2-weekly.csv", "--x", "date", "--y", "co2_ppm", "--y-unit", "ppm", "--last", "300", "--forecast", "52", "--kernel", "Matern32 + Periodic",
                    "-q", "--live", "--report", page], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return page


# Milliseconds on the page's clock from a reader's touch of a control, by key or finger, until the answer is on the screen.
CLOCK = """(f) => {
  const state = f.querySelector('.gppl-state'), clock = f.clock = {took: []};
  let touched = 0;
  for (const e of ['pointerdown', 'keydown']) f.addEventListener(e, () => touched ||= performance.now(), true);
  new MutationObserver(() => {
    if (!touched || !/^(Computed|Not computed)/.test(state.textContent)) return;
    const began = touched;
    touched = 0;
    requestAnimationFrame(() => setTimeout(() => clock.took.push(performance.now() - began)));
  }).observe(state, {childList: true, characterData: true, subtree: true});
}"""
FIRST, LATER = 1000, {"Matern32": 100, "SE": 300, "": 500}  # the most that answers may take, in ms: later ones of 3319 observations by kernel, and of notebooks


def time_live(browser, path, touched):
    """How long the live figures of a page take, in a browser that has not seen them: the first answer to a reader who jumps to a control and
    touches it as soon as the page is open, and to one who looks at it for a second first; then later answers, one for each press of a key.
    The first control that is touched is the one of this number; later ones are the second of the figure."""
    with Visit(browser, path, LAPTOP) as v:
        figures = v.page.locator("figure[data-live]").count()
        added = v.page.evaluate("() => ['gppl-worker', 'gppl-program'].reduce((n, id) => n + document.getElementById(id).textContent.length, 0)")
    for i in range(figures):
        first, later = [], []
        for look in (0, 1000):
            with Visit(browser, path, LAPTOP) as v:
                page, figure = v.page, v.page.locator("figure[data-live]").nth(i)
                sliders = figure.locator(".gppl-compute input")
                sliders.first.wait_for()
                figure.evaluate(CLOCK)

                def press(slider):
                    n = figure.evaluate("(f) => f.clock.took.length")
                    page.keyboard.press("ArrowLeft" if slider.evaluate("(s) => Number(s.value) > Number(s.min)") else "ArrowRight")
                    page.wait_for_function("([f, n]) => f.clock.took.length > n", arg=[figure.element_handle(), n], timeout=60_000)
                    return figure.evaluate("(f) => f.clock.took.at(-1)")

                own = figure.evaluate("(f) => f.dataset.live.length")
                sliders.nth(touched).focus()  # which scrolls to it
                page.wait_for_timeout(look)
                first.append(press(sliders.nth(touched)))
                page.wait_for_timeout(1000)
                sliders.nth(1).focus()
                later += [press(sliders.nth(1)) for _ in range(8)]
                said = figure.locator(".gppl-state").inner_text()
                need(said.startswith("Computed"), f"figure {i + 1}: {said}")
                need(not v.problems, "; ".join(v.problems))
        later.sort()
        yield added + own, first, later[len(later) // 2], later[-1]


def monthly(out, name, kernel):
    """A report of gppl fit of 3319 months, as many as the sunspots have, whose figure computes by a kernel."""
    folder = out / "live"
    folder.mkdir(parents=True, exist_ok=True)
    data, page = folder / f"{name}.csv", folder / f"{name}.html"
    noise = random.Random(1)
    with data.open("w", newline="", encoding="utf-8") as f:
        rows, wave = csv.writer(f), 0.0
        rows.writerow(("month", "spots"))
        for i in range(3319):
            wave = 0.95 * wave + noise.gauss(0, 0.3)
            rows.writerow((f"{1749 + i // 12}-{i % 12 + 1:02}", round(80 + 60 * math.sin(2 * math.pi * i / 131) + 20 * wave + noise.gauss(0, 8), 1)))
    subprocess.run(["go", "run", "./cmd/gppl", "fit", data, "--kernel", kernel, "--forecast", "24", "--origins", "0", "-q", "--live", "--report", page], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return page


def times(browser, pages, out):
    """Prints how long every live figure takes, and returns what is slower than it may be."""
    subprocess.run(["go", "generate", "./cmd/gppl"], cwd=ROOT, check=True)
    pages = [(p, "") for p in pages if 'id="gppl-program"' in p.read_text("utf-8")]
    pages += [(monthly(out, f"3319 {kernel}", kernel), kernel) for kernel in ("Matern32", "SE")]
    slow = []
    print("ms from touching a control until the answer is on the screen   load of the machine " + open("/proc/loadavg").read().split()[0])
    print(f"{'figure':28}{'kB added':>10}{'at once':>10}{'after 1 s':>12}{'later':>8}{'slowest':>9}{'requests':>10}")
    for path, kernel in pages:
        for i, (size, first, later, most) in enumerate(time_live(browser, path, 1 if kernel else 0)):  # the first control of gppl fit is the choice of other kernels
            name = f"{path.stem}, {i + 1}"
            print(f"{name:28}{size / 1000:10.0f}{first[0]:10.0f}{first[1]:12.0f}{later:8.0f}{most:9.0f}{0:10}", flush=True)
            limit = LATER[kernel]
            if first[1] > FIRST or later > limit or size > ADDED:
                slow.append(f"{name}: want {FIRST} ms, then {limit} ms, {ADDED} bytes")
    return slow


FOLDED = 12000  # pixels: what the index may be high on a phone before a reader opens anything


def try_index(browser, path, out, _):
    """The ledger is folded; a link to a row and a choice of verdict open it."""
    with Visit(browser, path, PHONE) as v:
        height = v.page.evaluate("document.documentElement.scrollHeight")
        need(height < FOLDED, f"on a phone the index is {height} pixels high, want less than {FOLDED}")
    with Visit(browser, path, LAPTOP) as v:
        page = v.page
        wide = page.evaluate("document.documentElement.scrollHeight")
        link = page.locator(".digest a").first
        row = page.locator(link.get_attribute("href"))
        need(not row.is_visible(), "the ledger is not folded")
        link.click()
        row.wait_for(state="visible")
        page.wait_for_timeout(100)
        need(0 <= row.bounding_box()["y"] < LAPTOP["height"], "a link to a row does not lead to it")
        page.locator("#show-not-reproduced").check()
        page.locator("tr.not-reproduced").last.wait_for(state="visible")
        need(page.locator(".ledger tbody tr.reproduced:visible").count() == 0, "the choice of a verdict shows others")
        need(not v.problems, "; ".join(v.problems))
    return f"{height} pixels high on a phone, {wide} on a laptop; rows open by link and by verdict"


# The text that a reader sees without scrolling: of elements that begin on the first screen, without the marks of references.
FIRST_SCREEN = """() => {
  const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT), range = document.createRange();
  let text = '';
  for (let node; (node = walk.nextNode());) {
    if (node.parentElement.closest('a.cite, annotation, svg')) continue;
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width > 0 && box.top < innerHeight) text += node.textContent;
  }
  return text;
}"""


def answered(answer, text):
    """Whether a text has the sentence; … stands for a number."""
    parts = [re.sub(r"\\?\s+", r"\\s+", re.escape(p)) for p in answer.split("…")]
    return re.search(r"[-\u2212]?[\d.]+(?:e-?\d+)?".join(parts), text)


def first_screen(page, asked):
    """The reading test: the first screen of a page that was just opened answers the questions of scripts/report/questions.json. Returns
    what is wrong, and what is right in words."""
    problems = []
    text = re.sub(r"\s+", " ", page.evaluate(FIRST_SCREEN))
    if open_ones := [q["question"] for q in asked if not answered(q["answer"], text)]:
        problems.append(f"the first screen does not answer {open_ones}: it says {text[:1500]!r}")
    figure = page.locator("main figure svg:visible").first.bounding_box()
    if not (figure and figure["y"] < LAPTOP["height"] - 100):
        problems.append("no figure begins on the first screen")
    return problems, f", {len(asked)} questions answered, and a figure, on the first screen"


# A name that ends what it could stand in, and begins what runs: an element, an attribute, a script, a style, a comment, a link.
PROGRAM = "window.ran=1"
HOSTILE = f"=1+1 </title></style></script>--><script>{PROGRAM}</script><img src=x onerror={PROGRAM}><svg onload={PROGRAM}>\" onfocus={PROGRAM} autofocus x='' onclick={PROGRAM} <a href=javascript:{PROGRAM}>{{{{.}}}}"
# What the browser was kept from running, as the page's policy has it.
WATCH = "addEventListener('securitypolicyviolation', (e) => (window.kept ??= []).push(`${e.violatedDirective} ${e.blockedURI}`))"
ELEMENTS = """() => [document.scripts.length, document.querySelectorAll('main img, body > img, svg img, a[href^=javascript], [onerror], [onload], [onfocus], [onclick], [autofocus]').length]"""


def hostile_page(out):
    """A report of gppl fit in which all that a file can name is called HOSTILE."""
    folder = out / "hostile"
    folder.mkdir(parents=True, exist_ok=True)
    data, future, page = folder / f"<img src=x onerror={PROGRAM}>.csv", folder / "future.csv", folder / "hostile.html"
    names = [f"{c} {HOSTILE}" for c in "ty"] + [f"p {HOSTILE}"]
    for path, rows in ((data, range(60)), (future, range(60, 90))):
        with path.open("w", newline="", encoding="utf-8") as f:
            table = csv.writer(f)
            table.writerow(names)
            table.writerows([i, round(math.sin(i / 4) + 0.1 * math.sin(77 * i * i), 3), i % 7] for i in rows)
    x, y, p = names
    subprocess.run(["go", "run", "./cmd/gppl", "fit", data, "--x", x, "--y", y, "--regressor", p, "--future", future, "--kernel", "SE", "-q", "--report", page], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return page


def try_hostile(browser, path, out, _):
    """No name runs, with the page's policy and without it; with it, nothing had to be kept from running."""
    for bypass in (False, True):
        with Visit(browser, path, LAPTOP, bypass_csp=bypass) as v:
            page = v.page
            page.on("dialog", lambda d: (v.problems.append(f"it asks {d.message!r}"), d.dismiss()))
            page.add_init_script(WATCH)
            page.reload()
            for figure in page.locator("figure.gppl-live .gppl-stage").all():
                figure.focus()
                page.keyboard.press("ArrowRight")
            page.wait_for_timeout(200)
            need(page.evaluate("window.ran") is None, f"a name runs, {'without' if bypass else 'with'} the policy")
            kept = page.evaluate("window.kept ?? []")
            need(not kept, f"only the policy keeps a name from running: {kept[:3]}")
            scripts, others = page.evaluate(ELEMENTS)
            need(scripts == 1 and others == 0, f"{scripts} scripts, and {others} elements from names")
            shown = page.evaluate("document.title + document.body.innerText").count(f"<script>{PROGRAM}</script>")
            need(shown > 3, f"the name is shown {shown} times")
            need(not v.problems, "; ".join(v.problems))
    with Visit(browser, path, LAPTOP, accept_downloads=True) as v:
        figure, svg, table = v.page.locator("figure.gppl-figure").first, out / "hostile" / "figure.svg", out / "hostile" / "figure.csv"
        for name, file in (("SVG", svg), ("CSV", table)):
            with v.page.expect_download() as download:
                figure.get_by_role("button", name=name).click()
            download.value.save_as(file)
        v.page.goto(svg.resolve().as_uri())
        v.page.wait_for_timeout(200)
        need(v.page.evaluate("window.ran") is None and v.page.evaluate("document.scripts?.length ?? 0") == 0, "a name runs in the figure that was saved")
        bad = [c for row in csv.reader(table.open(encoding="utf-8", newline="")) for c in row if c[:1] in "=+-@\t\r" and not re.fullmatch(r"[-+\d.e]*", c)]
        need(not bad, f"a table that was saved has formulas: {bad[:2]}")
    return f"names are shown {shown} times, and none runs"


def opened(playwright):
    return playwright.chromium.launch(executable_path=os.environ["GPPL_CHROMIUM"], args=["--no-sandbox"] * (os.getuid() == 0))


def main():
    cli = argparse.ArgumentParser(prog="scripts/e2e/run.sh --pages", description="Looks at the reports in headless Chromium and tries what a reader can do with them.")
    cli.add_argument("--only", metavar="NAME", default="", help="only the pages whose names begin so, e.g. 05")
    cli.add_argument("--part", metavar="I/N", type=part, default=(0, 1), help="only a part of the pages: 1/2 and 2/2, run at once, take less time")
    cli.add_argument("--some", action="store_true", help="axe and pictures, which take most of the time, are of the pages alone that a reader acts in")
    cli.add_argument("--reports", metavar="DIR", type=Path, default=ROOT / "reports", help="where the pages are (reports/)")
    cli.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "reports" / "e2e", help="where the screenshots go (reports/e2e/)")
    cli.add_argument("--times", action="store_true", help="only measures how long live figures take to answer; a busy machine takes longer")
    args = cli.parse_args()
    first, parts = args.part
    pages = sorted(p for p in args.reports.glob("*.html") if p.name.startswith(args.only))[first::parts]
    hostile = first == 0 and "hostile".startswith(args.only)
    live = first == parts - 1 and "live-report".startswith(args.only)
    if not pages and not (args.only and (hostile or live)):
        cli.error(f"no page in {args.reports}: scripts/reproduce.sh makes them")
    args.out.mkdir(parents=True, exist_ok=True)
    if args.times:
        with sync_playwright() as playwright:
            slow = times(opened(playwright), pages, args.out)
        sys.exit("FAILED: " + "; ".join(slow) if slow else 0)
    if hostile:
        pages.append(hostile_page(args.out))
    if live:
        pages.append(live_page(args.out))
    trials = {
        "01-quickstart": (try_figure, try_downloads, try_live),
        "02-sunspots": (try_figure, try_table, try_reading),
        "03-theorem": (try_scatter, try_live),
        "04-spectrum": (try_live,),
        "09-accurate": (try_live,),
        "10-your-data": (try_downloads,),
        "index": (try_index,),
        "live-report": (try_figure, try_live),
        "hostile": (try_hostile, try_figure, try_downloads),
    }
    source = axe_source()
    passed, failed = 0, []
    with sync_playwright() as playwright:
        browser = opened(playwright)
        for path in pages:
            for what in (look, *trials.get(path.stem, ())):
                start = time.monotonic()
                try:
                    asked = source if path.stem in trials or not args.some else None
                    print(f"{path.name}: {what.__name__}: {what(browser, path, args.out, asked)} ({time.monotonic() - start:.1f} s)", flush=True)
                    passed += 1
                except (Failure, BrowserError) as failure:
                    print(f"{path.name}: {what.__name__}: FAILED:\n  {failure}", file=sys.stderr, flush=True)
                    failed.append(f"{path.name} {what.__name__}")
        browser.close()
    print(f"screenshots: {args.out}")
    print(f"{passed} passed, {len(failed)} failed")
    if failed:
        sys.exit(f"FAILED: {', '.join(failed)}")


if __name__ == "__main__":
    main()

"""Runs the notebooks in a real JupyterLab, by a real browser, and looks at what a reader would see; run.sh is the way in."""

import argparse
import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import TimeoutError as BrowserTimeout
from playwright.sync_api import sync_playwright

ROOT = Path(os.environ["GPPL_ROOT"])
NOTEBOOKS = ROOT / "notebooks"
BY_HAND = ("01-quickstart", "02-sunspots", "05-E1", "10-your-data")  # a reader acts in them (see main)
WIDTH, HEIGHT, TALLEST = 1280, 900, 16000  # of the window and of a screenshot, pixels

# What differs from JupyterLab as lab.sh opens it: nothing is saved (the notebooks are committed without outputs), and cells out
# of sight are in the document as well, so that it can be asked about them.
SETTINGS = {
    "docmanager-extension/plugin": {"autosave": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}

# The progress bars of a cell, as pkg/viz draws them: their titles, how far they are ("3/20 …", or "3 steps …" where the total is
# not known), and what the bar itself says of it, if there is one.
BARS = """(cell) => [...cell.querySelectorAll('.jp-OutputArea-output div > strong:first-child')].flatMap((strong) => {
  const bar = strong.parentElement.querySelector('[role=progressbar]');
  const text = strong.parentElement.lastElementChild.textContent;
  const match = /^(\\d+)(?:\\/(\\d+)| steps) · /.exec(text);
  if (!match) return [];
  const number = (x) => x === undefined || x === null ? null : Number(x);
  return [{
    title: strong.textContent, text, now: number(match[1]), max: number(match[2]),
    drawn: bar && {now: number(bar.getAttribute('aria-valuenow')), max: number(bar.getAttribute('aria-valuemax')),
                   share: bar.firstElementChild.getBoundingClientRect().width / bar.getBoundingClientRect().width},
  }];
})"""

# Notes what each bar shows as it comes, by cell and title.
WATCH_BARS = f"""() => {{
  const bars = {BARS};
  window.gpplBars = {{}};
  new MutationObserver(() => document.querySelectorAll('.jp-Notebook-cell').forEach((cell, i) => {{
    for (const bar of bars(cell)) {{
      const seen = window.gpplBars[`${{i + 1}}: ${{bar.title}}`] ??= [];
      if (seen.at(-1) !== bar.now) seen.push(bar.now);
    }}
  }})).observe(document.body, {{childList: true, subtree: true, characterData: true}});
}}"""

# Where the run stands: the numbers of the cells that wait or run, of those that ran, and what the kernel does.
STATE = """() => {
  const prompts = [...document.querySelectorAll('.jp-Notebook-cell')].map((c, i) => [i + 1, c.querySelector('.jp-InputPrompt')?.textContent.trim() ?? '']);
  return {
    waiting: prompts.filter(([, p]) => p === '[*]:').map(([i]) => i),
    ran: prompts.filter(([, p]) => /^\\[\\d+\\]:$/.test(p)).map(([i]) => i),
    kernel: document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status ?? 'missing',
  };
}"""

# What each cell shows. A figure is the outermost svg or img, as in scripts/report/check.py; it is drawn if it takes up room and
# holds marks or pixels.
CELLS = """() => [...document.querySelectorAll('.jp-Notebook-cell')].map((cell, i) => {
  const bars = BARS;
  const shown = cell.querySelectorAll('.jp-OutputArea-output, .jp-MarkdownOutput');
  const all = (what) => [...shown].flatMap((o) => [...o.querySelectorAll(what)]);
  const figures = all('svg, img').filter((f) => !f.closest('.jp-MarkdownCell') && !f.parentElement.closest('svg') && (f.getClientRects().length || !f.closest('.gppl-plot')));
  const empty = (f) => {
    const box = f.getBoundingClientRect();
    if (box.width < 50 || box.height < 50) return `is ${Math.round(box.width)}×${Math.round(box.height)} pixels small`;
    if (f.tagName === 'IMG') return f.complete && f.naturalWidth > 0 ? '' : 'is an image that did not load';
    return f.querySelectorAll('path, circle, rect, line, polyline, polygon, use').length < 5 ? 'has hardly a mark' : '';
  };
  return {
    number: i + 1,
    code: cell.classList.contains('jp-CodeCell'),
    prompt: cell.querySelector('.jp-InputPrompt')?.textContent.trim() ?? '',
    folded: !!cell.querySelector('.jp-Placeholder'), // its input is, and with it its prompt
    figures: figures.map(empty),
    tables: all('table').map((t) => t.rows.length),
    bars: bars(cell),
    errors: [...cell.querySelectorAll('[data-mime-type="application/vnd.jupyter.error"]')].map((e) => e.innerText),
    stderr: [...cell.querySelectorAll('[data-mime-type="application/vnd.jupyter.stderr"]')].map((e) => e.innerText).join('\\n'),
  };
})""".replace("BARS", BARS)


class Failure(Exception):
    """What a reader would not be content with; the text says where."""


def part(text):
    """2/3 as (1, 3): the second, fifth, … of what there is."""
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if not match or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form 1/2")
    return int(match[1]) - 1, int(match[2])


class Lab:
    """JupyterLab as scripts/lab.sh starts it, on a free port."""

    def __init__(self, folder, environment, log):
        settings = folder / "settings"
        for plugin, values in SETTINGS.items():
            file = settings / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values))
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.log = log
        with self.log.open("w") as log:
            # A group of its own, so that kernels end with it.
            self.process = subprocess.Popen(
                [ROOT / "scripts/lab.sh", "--no-browser", f"--ServerApp.port={port}"] + ["--allow-root"] * (os.getuid() == 0),
                env=os.environ | environment | {"JUPYTERLAB_SETTINGS_DIR": str(settings), "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces")},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def started(self, seconds):
        """Waits for the file in which a Jupyter server tells its address and token."""
        told = Path(os.environ["JUPYTER_RUNTIME_DIR"]) / f"jpserver-{self.process.pid}.json"
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise Failure(f"JupyterLab ended with status {self.process.returncode}:\n{self.log.read_text()[-2000:]}")
            try:
                facts = json.loads(told.read_text())
                self.url, self.token, self.port = facts["url"], facts["token"], facts["port"]
                self.ask("api/status")
                return
            except (OSError, ValueError):  # not there yet, half written, not listening yet
                time.sleep(0.1)
        raise Failure(f"JupyterLab did not start within {seconds} s; its log is {self.log}")

    def ask(self, path, method="GET", token=True):
        request = urllib.request.Request(self.url + path, method=method, headers={"Authorization": f"token {self.token}"} if token else {})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read()

    def check_guarded(self):
        """It listens on localhost alone, and lets nobody in without the token."""
        if not re.fullmatch(r"[0-9a-f]{32,}", self.token or ""):
            raise Failure(f"JupyterLab has no token worth the name: {self.token!r}")
        for path in ("api/contents", "api/kernels", "api/terminals"):
            try:
                self.ask(path, token=False)
            except urllib.error.HTTPError as error:
                if error.code in (401, 403):
                    continue
                raise
            raise Failure(f"JupyterLab answers {path} without its token")
        tables = [Path(f"/proc/net/{name}") for name in ("tcp", "tcp6")]
        if not tables[0].is_file():
            print("JupyterLab: that it listens on localhost alone is not checked: there is no /proc/net/tcp", flush=True)
            return
        listening = []
        for table in tables:
            for row in table.read_text().splitlines()[1:] if table.is_file() else []:
                address, port = row.split()[1].split(":")
                if int(port, 16) == self.port and row.split()[3] == "0A":  # 0A: listens
                    listening.append(address)
        if listening != ["0100007F"]:  # 127.0.0.1, as the kernel of Linux writes it
            raise Failure(f"JupyterLab listens on {listening}, want 127.0.0.1 (0100007F) alone")

    def check_patient(self):
        """It waits for GoNB's first completion, which may take longer than the second that JupyterLab gives."""
        manager = json.loads(self.ask("lab/api/settings/@jupyterlab/completer-extension:manager"))
        if (wait := manager["schema"]["properties"]["providerTimeout"]["default"]) < 20_000:
            raise Failure(f"JupyterLab drops completions after {wait} ms")

    def end_kernels(self):
        for session in json.loads(self.ask("api/sessions")):
            self.ask(f"api/sessions/{session['id']}", method="DELETE")

    def stop(self):
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, sign)
            except ProcessLookupError:
                break
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                pass


def bytes_of(frame):
    return frame if isinstance(frame, bytes) else frame.encode()


def wait_kernel(page, answered):
    """Waits until the kernel has answered: JupyterLab calls one idle that it has not asked yet, and forgets what is run before then.
    GoNB's stays "unknown" until the first cell, because it does not answer JupyterLab's second question, for its history."""
    end = time.monotonic() + 60
    while not answered or page.evaluate(STATE)["kernel"] not in ("idle", "unknown"):
        if time.monotonic() > end:
            raise Failure(f"the kernel {'is ' + page.evaluate(STATE)['kernel'] if answered else 'has not answered'} after 60 s")
        page.wait_for_timeout(50)


def wait_run(page, cells, seconds):
    """Waits until the kernel has done with every cell, and tells a cell that does not end."""
    end = time.monotonic() + seconds
    last = cells[-1]["number"]
    while True:
        state = page.evaluate(STATE)
        if state["kernel"] == "idle" and not state["waiting"] and state["ran"] and (last in state["ran"] or page.locator('[data-mime-type="application/vnd.jupyter.error"]').count()):
            return
        if time.monotonic() > end:
            at = state["waiting"][0] if state["waiting"] else last
            raise Failure(f"cell {at} had not ended after {seconds:.0f} s (the kernel is {state['kernel']})")
        page.wait_for_timeout(100)


def bar_problems(bar, seen):
    """What is wrong with a progress bar, of which seen are the counts that it showed."""
    if "failed: " in bar["text"]:
        yield f"ends with {bar['text']!r}"
    if bar["max"] is None and bar["now"] == 0 or bar["max"] is not None and bar["now"] != bar["max"]:
        yield f"is not complete: {bar['text']!r}"
    if bar["max"] is not None and (not bar["drawn"] or (bar["drawn"]["now"], bar["drawn"]["max"]) != (bar["now"], bar["max"]) or bar["drawn"]["share"] < 0.99):
        yield f"is not drawn as far as its text says: {bar['drawn']} for {bar['text']!r}"
    if len(seen) < 2:
        yield f"did not move: it only showed {seen}"


def judge(cells, bars, facts, source):
    """What a reader would miss or stumble over."""
    problems = []
    for cell in cells:
        where = f"cell {cell['number']}"
        problems += [f"{where} ends in an error: {text.strip()}" for text in cell["errors"]]
        if re.search(r"panic:|fatal error:|^exit status \d", cell["stderr"], re.M):
            problems.append(f"{where} wrote to stderr: {cell['stderr'].strip()}")
        if cell["code"] and not cell["folded"] and not re.fullmatch(r"\[\d+\]:", cell["prompt"]):
            problems.append(f"{where} did not run (its prompt is {cell['prompt']!r})")
        problems += [f"{where}: figure {i} {why}" for i, why in enumerate(cell["figures"], 1) if why]
        problems += [f"{where}: table {i} has {rows} rows" for i, rows in enumerate(cell["tables"], 1) if rows < 2]
        problems += [f"{where}: the progress bar {bar['title']!r} {why}" for bar in cell["bars"] for why in bar_problems(bar, bars.get(f"{cell['number']}: {bar['title']}", []))]
        if re.search(r"viz\.NewProgress\(|show\.Train\(|exhibit\.Compute\(", source[cell["number"] - 1]) and not cell["bars"]:
            problems.append(f"{where} shows no progress bar")
    for what in ("figures", "tables"):
        found = sum(len(cell[what]) for cell in cells)
        if found != facts.get(what, 0):
            by_cell = ", ".join(f"{len(c[what])} in cell {c['number']}" for c in cells if c[what]) or "none"
            problems.append(f"{found} {what}, want {facts.get(what, 0)} as its metadata say ({by_cell})")
    return problems


def screenshot(page, path):
    """The whole notebook in one picture: the window is made as tall as it."""
    tall = page.evaluate("() => { const p = document.querySelector('.jp-NotebookPanel .jp-WindowedPanel-outer'); return p ? p.scrollHeight - p.clientHeight : 0; }")
    page.set_viewport_size({"width": WIDTH, "height": min(HEIGHT + tall, TALLEST)})
    page.evaluate("() => document.querySelector('.jp-NotebookPanel .jp-WindowedPanel-outer')?.scrollTo(0, 0)")
    page.screenshot(path=path)


@contextlib.contextmanager
def opened(lab, browser, path, picture):
    """The page of a notebook in JupyterLab, its kernel ready; a screenshot is taken at the end."""
    strangers, crashes, answered = set(), [], []
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.on("request", lambda r: r.url.startswith((lab.url, "data:", "blob:")) or strangers.add(r.url[:100]))
    page.on("pageerror", lambda e: crashes.append(str(e)))
    page.on("websocket", lambda w: w.on("framereceived", lambda frame: b"kernel_info_reply" in bytes_of(frame) and answered.append(True)))
    try:
        page.goto(f"{lab.url}lab/tree/{path.name}?reset&token={lab.token}")
        cells = len(json.loads(path.read_text("utf-8"))["cells"])
        page.locator(".jp-NotebookPanel .jp-Notebook-cell").nth(cells - 1).wait_for(state="attached")
        wait_kernel(page, answered)
        yield page
        problems = [f"something is loaded from outside: {url}" for url in sorted(strangers)]
        problems += [f"the page threw an error: {text}" for text in crashes]
        problems += [f"JupyterLab pops up: {text!r}" for text in page.locator(".Toastify__toast").all_inner_texts()]
        if hashlib.sha256(path.read_bytes()).hexdigest() != before:
            problems.append("the notebook's file is no longer what it was")
        if problems:
            raise Failure("\n  ".join(problems))
    except BrowserTimeout as error:
        raise Failure(f"JupyterLab did not get there: {error.message}") from None
    except BrowserError as error:
        raise Failure(f"the browser: {error.message}") from None
    finally:
        try:
            screenshot(page, picture)
        except BrowserError as error:
            print(f"{path.name}: no screenshot: {error.message}", file=sys.stderr)
        context.close()
        lab.end_kernels()


def choose(page, *menus):
    """Clicks through the menus."""
    page.locator("#jp-MainMenu").get_by_text(menus[0], exact=True).click()
    for name in menus[1:-1]:
        page.locator(".lm-Menu").get_by_text(name, exact=True).hover()
    page.locator(".lm-Menu").get_by_text(menus[-1], exact=True).last.click()


def run_notebook(lab, browser, path, out, seconds):
    """Opens a notebook, runs all of its cells, and returns a line about what was seen."""
    notebook = json.loads(path.read_text("utf-8"))
    source = ["".join(cell["source"]) for cell in notebook["cells"]]
    with opened(lab, browser, path, out / f"{path.stem}.png") as page:
        page.evaluate(WATCH_BARS)
        start = time.monotonic()
        choose(page, "Run", "Run All Cells")
        wait_run(page, [c for c in page.evaluate(CELLS) if c["code"]], seconds)
        took = time.monotonic() - start
        cells, bars = page.evaluate(CELLS), page.evaluate("() => window.gpplBars")
        if problems := judge(cells, bars, notebook["metadata"].get("gppl", {}), source):
            raise Failure("\n  ".join(problems))
        count = lambda what: sum(len(cell[what]) for cell in cells)
        moved = "".join(f", bar {key.split(': ', 1)[1]!r} {len(seen)} pictures" for key, seen in bars.items())
        return f"{took:.1f} s, {count('figures')} figures, {count('tables')} tables{moved}"


# Contrast (WCAG's, from 1 to 21) of the texts and of the thickest lines of the figures and tables with what is behind them.
CONTRAST = """() => {
  const rgb = (css) => css.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort(); return (y + 0.05) / (x + 0.05); };
  const worst = {text: 21, table: 21, brightest: 0};
  for (const svg of document.querySelectorAll('.jp-OutputArea-output svg')) {
    const back = rgb(getComputedStyle(svg.querySelector('path, rect')).fill);
    worst.brightest = Math.max(worst.brightest, luminance(back));
    for (const t of svg.querySelectorAll('text')) worst.text = Math.min(worst.text, contrast(rgb(getComputedStyle(t).fill), back));
  }
  for (const cell of document.querySelectorAll('.jp-OutputArea-output td')) {
    const style = getComputedStyle(cell);
    worst.table = Math.min(worst.table, contrast(rgb(style.color), rgb(style.backgroundColor)));
    worst.brightest = Math.max(worst.brightest, luminance(rgb(style.backgroundColor)));
  }
  return worst;
}"""


def try_figure(page):
    """Reads values off the first figure by keys and zooms, as in a report; the keys are not JupyterLab's then."""
    figure = page.locator("figure.gppl-live").first
    stage = figure.locator(".gppl-stage")
    stage.wait_for(state="attached")
    stage.scroll_into_view_if_needed()
    stage.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(f) => f.querySelector('[role=status]').textContent", arg=figure.element_handle())
    said = figure.locator("[role=status]").inner_text()
    page.keyboard.press("+")
    page.wait_for_function("(f) => f.querySelector('.gppl-zoomed')", arg=figure.element_handle())
    page.keyboard.press("0")
    page.wait_for_function("(f) => !f.querySelector('.gppl-zoomed')", arg=figure.element_handle())
    if not figure.evaluate("(f) => f.contains(document.activeElement)"):
        raise Failure("the keys of a figure are taken by JupyterLab")
    return said.splitlines()[0]


def try_tab(lab, browser, path, out):
    """Runs the first cell of a notebook that was just opened and presses Tab behind a package in another: the names that it has come at the first
    press, while gopls still starts."""
    with opened(lab, browser, path, out / f"{path.stem}-tab.png") as page:
        page.locator(".jp-CodeCell .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        page.locator(".jp-CodeCell", has_text="%%").first.locator(".cm-content").click()
        page.keyboard.press("Control+End")
        page.keyboard.press("Enter")
        page.keyboard.type("dataset.ReadC")
        start = time.monotonic()
        page.keyboard.press("Tab")
        try:
            page.locator(".jp-Completer-item", has_text="ReadCSV").first.wait_for(timeout=30_000)
        except BrowserTimeout:
            raise Failure("the first Tab does not answer within 30 s") from None
        return f"the first Tab answered after {time.monotonic() - start:.1f} s"


def try_save(page):
    """Saves a notebook that was run, and opens it anew: its outputs are there, though its file is as it was (see opened)."""
    choose(page, "File", "Save Notebook")
    page.wait_for_timeout(1000)
    page.reload()
    page.locator(".jp-Notebook-cell figure svg").first.wait_for()


def try_dark(lab, browser, path, out, seconds):
    """Runs a notebook, tries a figure, and turns JupyterLab dark: figures and tables must follow and stay legible."""
    with opened(lab, browser, path, out / f"{path.stem}-dark.png") as page:
        choose(page, "Run", "Run All Cells")
        wait_run(page, [c for c in page.evaluate(CELLS) if c["code"]], seconds)
        said = try_figure(page)
        bright = page.evaluate(CONTRAST)
        choose(page, "Settings", "Theme", "JupyterLab Dark")
        page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
        page.wait_for_timeout(500)
        dark = page.evaluate(CONTRAST)
        if bright["brightest"] < 0.9 or dark["brightest"] > 0.1:
            raise Failure(f"figures and tables do not follow the theme: luminance behind them {bright['brightest']:.2f} and, dark, {dark['brightest']:.2f}")
        for name, seen in (("light", bright), ("dark", dark)):
            if min(seen["text"], seen["table"]) < 4.5:
                raise Failure(f"{name}: texts of figures have contrast {seen['text']:.1f}, tables {seen['table']:.1f}; want 4.5")
        try_save(page)
        return f"read off {said!r} by keys; dark: contrast of texts at least {dark['text']:.1f} in figures, {dark['table']:.1f} in tables; saved, with a clean clone"


def interrupt(page, seconds=30):
    """Presses the stop button, and waits until the cell has ended, and then those that were waiting for it."""
    running = page.evaluate(STATE)["waiting"][:1]
    choose(page, "Kernel", "Interrupt Kernel")
    end = time.monotonic() + seconds
    while set(running) & set(page.evaluate(STATE)["waiting"]):
        if time.monotonic() > end:
            raise Failure(f"the cell still runs {seconds} s after it was interrupted")
        page.wait_for_timeout(50)
    end = time.monotonic() + 4 * seconds
    while page.evaluate(STATE)["waiting"] or page.evaluate(STATE)["kernel"] != "idle":
        if time.monotonic() > end:
            raise Failure(f"the cells after the one that was interrupted still run after {4 * seconds} s")
        page.wait_for_timeout(50)


def try_control(lab, browser, path, out, seconds, control, move):
    """Runs a notebook whose last cell waits for a reader, moves its control twice, and stops it; then runs it again and leaves the control
    alone, which must give the kernel back. The page is opened once, and each move is made once."""
    with opened(lab, browser, path, out / f"{path.stem}-control.png") as page:
        choose(page, "Run", "Run All Cells")
        found = page.locator(f".jp-OutputArea-output {control}")
        found.wait_for(timeout=1000 * seconds)
        cell = page.locator(".jp-Notebook-cell").filter(has=found)
        drawn = cell.locator(".jp-OutputArea-output svg:visible").last
        figure = drawn.inner_html
        drawn.wait_for()
        seen = [figure()]
        for where in (0.8, 0.2):
            move(found, where)  # which waits until it can be moved
            end = time.monotonic() + 20
            while figure() == seen[-1]:
                if time.monotonic() > end:
                    raise Failure(f"the figure does not follow the {control}, moved to {where:.0%}")
                page.wait_for_timeout(50)
            seen.append(figure())
        if not page.evaluate(STATE)["waiting"]:
            raise Failure("the cell has ended while it should wait for the reader")
        interrupt(page)
        if "signal" in (said := cell.locator(".jp-OutputArea").inner_text()) or "exit status" in said:
            raise Failure(f"the cell does not end well when it is stopped: {said[-200:]}")
        ended = lambda: found.is_disabled() and "This control has ended" in cell.locator(".jp-OutputArea").inner_text()
        page.wait_for_timeout(300)
        if not ended():
            raise Failure(f"the control of a program that has ended does not say so: {said[-300:]}")
        start = time.monotonic()
        choose(page, "Run", "Run All Cells")
        page.wait_for_timeout(1000)
        wait_run(page, [c for c in page.evaluate(CELLS) if c["code"]], seconds)
        page.wait_for_timeout(300)
        if not ended():
            raise Failure("the control of a cell that nobody touched does not say that it has ended")
        return f"the figure followed {control} twice, the stop button ended the cell, and run again and left alone it gave the kernel back after {time.monotonic() - start:.0f} s"


def waiting(path, trial):
    """What a trial says of a copy of a notebook whose knob "move" is true, so that its last cell waits for a reader."""
    text = path.read_text("utf-8")
    if text.count("const move = false") != 1:
        raise Failure("the notebook has no knob that lets its control wait")
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix="moved-", suffix=".ipynb") as copy:
        copy.write(text.replace("const move = false", "const move = true"))
        copy.flush()
        return trial(Path(copy.name))


def try_stop(lab, browser, path, store, out, seconds):
    """Stops a run of trials, looks at what it has stored, and lets it go on."""
    with opened(lab, browser, path, out / f"{path.stem}-stopped.png") as page:
        page.evaluate(WATCH_BARS)
        choose(page, "Run", "Run All Cells")
        end = time.monotonic() + seconds
        while not any(bar[-1] >= 3 for bar in page.evaluate("() => Object.values(window.gpplBars)")):
            if time.monotonic() > end:
                raise Failure(f"no trial has ended after {seconds} s")
            page.wait_for_timeout(20)
        interrupt(page)
        stored = [json.loads(line) for line in store.read_text("utf-8").splitlines()]  # each line whole, or this fails
        kept = [o for o in stored if o["when"] >= int(os.environ["GPPL_FRESH"])]
        if not kept:
            raise Failure("what the run had computed is lost")
        left = [f.name for f in store.parent.iterdir() if f.name.startswith("." + store.name) or f.suffix == ".part"]
        if left:
            raise Failure(f"the interrupted cell left {left}")
        choose(page, "Run", "Run All Cells")
        wait_run(page, [c for c in page.evaluate(CELLS) if c["code"]], seconds)
        cells = page.evaluate(CELLS)
        if errors := [text for cell in cells for text in cell["errors"]]:
            raise Failure("the run does not go on after it was stopped: " + "; ".join(errors))
        done = [json.loads(line) for line in store.read_text("utf-8").splitlines()]
        if lost := [k for k in kept if k not in done]:
            raise Failure(f"{len(lost)} of {len(kept)} stored trials were not kept")
        return f"stopped after {len(kept)} trials, none lost, and gone on to {len(done)}"


def main():
    cli = argparse.ArgumentParser(prog="scripts/e2e/run.sh", description="Runs the notebooks in JupyterLab in headless Chromium, at smoke scale.")
    cli.add_argument("--only", metavar="NAME", default="", help="only the notebooks whose names begin so, e.g. 05")
    cli.add_argument("--some", action="store_true", help="only the notebooks that a reader acts in, tried by hand")
    cli.add_argument("--part", metavar="I/N", type=part, default=(0, 1), help="only a part of the notebooks: 1/2 and 2/2, run at once, take less time")
    cli.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "reports" / "e2e", help="where the screenshots go (reports/e2e/)")
    cli.add_argument("--timeout", metavar="MINUTES", type=float, default=10, help="the most that one notebook may take")
    args = cli.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("e2e: stopped"))  # so that JupyterLab ends as well
    first, parts = args.part
    chosen = sorted(p for p in NOTEBOOKS.glob("*.ipynb") if p.name.startswith(args.only) and (p.stem in BY_HAND or not args.some))[first::parts]
    run = [] if args.some else chosen
    if not chosen:
        cli.error(f"no notebook begins with {args.only!r}")
    args.out.mkdir(parents=True, exist_ok=True)
    # Stored results would leave the progress bars nothing to do. Recordings that are not here are not downloaded: notebooks do without.
    os.environ |= {"GPPL_SCALE": "smoke", "GPPL_FRESH": str(int(time.time())), "GPPL_OFFLINE": "1"}
    seconds = args.timeout * 60
    passed, failed = [], []

    def attempt(name, path, what):
        try:
            print(f"{name}: {what(path)}", flush=True)
            passed.append(name)
        except Failure as failure:
            print(f"{name}: FAILED:\n  {failure}", file=sys.stderr, flush=True)
            failed.append(name)

    @contextlib.contextmanager
    def laboratory(playwright, **environment):
        with tempfile.TemporaryDirectory() as folder:
            lab = Lab(Path(folder), environment, ROOT / ".env" / f"e2e-{first + 1}.log")
            try:
                lab.started(60)
                lab.check_guarded()
                lab.check_patient()
                browser = playwright.chromium.launch(executable_path=os.environ["GPPL_CHROMIUM"], args=["--no-sandbox"] * (os.getuid() == 0))
                yield lab, browser
                browser.close()
            except Failure as failure:
                sys.exit(f"e2e: FAILED: {failure}")
            finally:
                lab.stop()

    with sync_playwright() as playwright:
        if run:
            with laboratory(playwright, GPPL_INTERACTIVE="0") as (lab, browser):  # nobody moves a slider
                for path in run:
                    attempt(path.name, path, lambda p: run_notebook(lab, browser, p, args.out, seconds))
        os.environ.pop("GPPL_INTERACTIVE", None)
        drag = lambda slider, where: slider.click(position={"x": where * slider.bounding_box()["width"], "y": slider.bounding_box()["height"] / 2})
        pick = lambda select, where: select.select_option(index=int(where * select.locator("option").count()))
        trials = {  # in JupyterLab as a reader opens it
            "01-quickstart": lambda p: f"{try_tab(lab, browser, p, args.out)}; {try_dark(lab, browser, p, args.out, seconds)}",
            "02-sunspots": lambda p: try_control(lab, browser, p, args.out, seconds, "select", pick),
            "05-E1": lambda p: try_stop(lab, browser, p, NOTEBOOKS / "out" / "smoke-e1.jsonl", args.out, seconds),
            "10-your-data": lambda p: waiting(p, lambda c: try_control(lab, browser, c, args.out, seconds, "input[type=range]", drag)),
        }
        os.environ["GPPL_FRESH"] = str(int(time.time()) + 1)
        with laboratory(playwright) as (lab, browser):
            for path in chosen:
                if path.stem in BY_HAND:
                    attempt(path.name + " by hand", path, trials[path.stem])
    print(f"screenshots: {args.out}")
    print(f"{len(passed)} passed, {len(failed)} failed")
    if failed:
        sys.exit(f"FAILED: {', '.join(failed)}")


if __name__ == "__main__":
    main()

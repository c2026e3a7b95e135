package viz

import (
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/internal/text"
)

const (
	redraw = 100 * time.Millisecond // shortest time between two drawings of a bar
	relog  = 10 * time.Second       // shortest time between two lines in a log
)

// Progress shows how far a long computation has come: in a notebook by a bar that remains when it is done, in a terminal by a
// line that redraws itself, and in a log by an occasional line. The maintained libraries for progress bars draw in terminals
// only.
//
// All methods may be called from several goroutines and as often as desired: a call that draws nothing costs about as much as
// reading the clock. On a nil *Progress they do nothing, so that code can report progress unconditionally.
type Progress struct {
	mu       sync.Mutex
	title    string
	message  string
	current  int
	total    int
	done     bool
	failed   string
	start    time.Time
	next     time.Time // earliest time of the next drawing
	now      func() time.Time
	put      func(final bool) // draws the present state
	out      io.Writer
	lastWide int // length, in runes, of the line on the terminal
}

// NewProgress starts a bar for total steps; a total below one means unknown. It is shown in the notebook, or else on standard
// error.
func NewProgress(title string, total int) *Progress {
	tty := false
	if st, err := os.Stderr.Stat(); err == nil {
		tty = st.Mode()&os.ModeCharDevice != 0
	}
	return newProgress(title, total, os.Stderr, tty, time.Now)
}

// NewProgressTo starts a bar for a log: it writes whole lines to w, at most one in ten seconds, even in a notebook. With
// io.Discard it silences a bar.
func NewProgressTo(w io.Writer, title string, total int) *Progress {
	p := &Progress{title: clean(title), total: max(total, 0), now: time.Now, out: w}
	p.put = p.log
	p.begin()
	return p
}

func newProgress(title string, total int, out io.Writer, tty bool, now func() time.Time) *Progress {
	p := &Progress{title: clean(title), total: max(total, 0), now: now, out: out}
	switch {
	case inNotebook():
		id := "gppl_progress_" + screen.newID()
		p.put = func(bool) {
			p.next = p.now().Add(redraw)
			screen.update(id, p.html())
		}
	case tty:
		p.put = p.terminal
	default:
		p.put = p.log
	}
	p.begin()
	return p
}

func (p *Progress) begin() {
	p.start = p.now()
	p.put(false)
}

// Add counts n more steps.
func (p *Progress) Add(n int) {
	p.change(func() { p.current += n })
}

// Set sets the number of completed steps.
func (p *Progress) Set(current int) {
	p.change(func() { p.current = current })
}

// Message replaces the text beside the bar, formatted as by fmt.Sprintf; line breaks become spaces.
func (p *Progress) Message(format string, args ...any) {
	p.change(func() { p.message = clean(fmt.Sprintf(format, args...)) })
}

// Done draws the final state, as complete if the total is known, and ends the bar. Only the first call of Done or Fail has an
// effect.
func (p *Progress) Done() { p.end("") }

// Fail draws the final state with the error and ends the bar. With a nil error it is Done, so that
//
//	defer func() { bar.Fail(err) }()
//
// shows how a function ended.
func (p *Progress) Fail(err error) {
	if err == nil {
		p.end("")
		return
	}
	p.end("failed: " + clean(err.Error()))
}

func (p *Progress) end(failed string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return
	}
	p.done, p.failed = true, failed
	if failed == "" && p.total > 0 {
		p.current = p.total
	}
	p.put(true)
}

func (p *Progress) change(f func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return
	}
	f()
	if !p.now().Before(p.next) {
		p.put(false)
	}
}

// share returns the part done, from 0 to 1.
func (p *Progress) share() float64 {
	if p.total == 0 {
		return 0
	}
	return min(max(float64(p.current)/float64(p.total), 0), 1)
}

// shown is the running time from which a bar shows it, in seconds.
const shown = 1e-3

// status returns the text of the current state: "120/500 · 24 % · 3.4 s · about 11 s left · message".
func (p *Progress) status() string {
	var parts []string
	if p.total > 0 {
		parts = append(parts, fmt.Sprintf("%d/%d", p.current, p.total), fmt.Sprintf("%.0f %%", 100*p.share()))
	} else {
		parts = append(parts, fmt.Sprintf("%d steps", p.current))
	}
	elapsed := p.now().Sub(p.start).Seconds()
	if p.done || elapsed >= shown {
		parts = append(parts, formatDuration(elapsed))
	}
	if s := p.share(); !p.done && s > 0 && s < 1 {
		parts = append(parts, "about "+formatDuration(elapsed*(1-s)/s)+" left")
	}
	for _, s := range []string{p.message, p.failed} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " · ")
}

// log writes a whole line.
func (p *Progress) log(bool) {
	p.next = p.now().Add(relog)
	_, _ = fmt.Fprintf(p.out, "%s: %s\n", p.title, p.status())
}

// terminal rewrites the line that it wrote before.
func (p *Progress) terminal(final bool) {
	p.next = p.now().Add(redraw)
	const cells = 24
	line := p.title + " "
	if p.total > 0 {
		full := int(p.share()*cells + 0.5)
		line += strings.Repeat("█", full) + strings.Repeat("░", cells-full) + " "
	}
	line += p.status()
	// A line that the terminal wraps cannot be rewritten. Nearly all have 80 columns. The final line is not cut.
	if r := []rune(line); !final && len(r) > 79 {
		line = string(r[:78]) + "…"
	}
	wide := utf8.RuneCountInString(line)
	end := ""
	if final {
		end = "\n"
	}
	_, _ = fmt.Fprintf(p.out, "\r%s%s%s", line, strings.Repeat(" ", max(0, p.lastWide-wide)), end)
	p.lastWide = wide
}

// html returns the bar in a notebook; its look depends on no style sheet or script. A bar that ended well has the class
// gppl-done, by which a published page hides it.
func (p *Progress) html() string {
	colour, class := "#0072b2", ""
	switch {
	case p.failed != "":
		colour = "#d55e00"
	case p.done:
		colour, class = "#009e73", ` class="gppl-done"`
	}
	bar := ""
	if p.total > 0 {
		bar = fmt.Sprintf(`<span role="progressbar" aria-label="%s" aria-valuemin="0" aria-valuemax="%d" aria-valuenow="%d" `+
			`style="display:inline-block;width:200px;max-width:40%%;height:0.7em;border-radius:0.35em;`+
			`background:#e7eaed;overflow:hidden">`+
			`<span style="display:block;height:100%%;width:%.1f%%;background:%s"></span></span>`,
			html.EscapeString(p.title), p.total, p.current, 100*p.share(), colour)
	}
	return inPage(fmt.Sprintf(`<div%s style="display:flex;flex-wrap:wrap;align-items:center;gap:0.3em 0.7em;`+
		`font-size:0.95em;line-height:1.5;font-variant-numeric:tabular-nums">`+
		`<strong>%s</strong>%s<span>%s</span></div>`, class, html.EscapeString(p.title), bar,
		html.EscapeString(text.Minus(p.status()))))
}

package viz

import (
	"fmt"
	"html/template"
	"os"
	"strings"
	"sync"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
)

// screen shows output; tests replace it. Each display waits until GoNB has read it: a cell that ends immediately afterwards would
// otherwise sometimes lose it.
var screen = struct {
	on     func() bool
	html   func(string)
	update func(id, html string)
	newID  func() string
	// listen returns the moves that a page sends to an address; connect makes GoNB check its connection with the page.
	listen  func(address string) (<-chan move, func())
	connect func()
}{
	on:      func() bool { return gonbui.IsNotebook },
	html:    func(s string) { gonbui.DisplayHTML(s); gonbui.Sync() },
	update:  func(id, s string) { gonbui.UpdateHTML(id, s); gonbui.Sync() },
	newID:   gonbui.UniqueId,
	listen:  gonbListen,
	connect: comms.Start,
}

// styled makes each cell, which is a separate program, output style and script with the first thing that it shows.
var styled sync.Once

// inNotebook reports whether GoNB runs the program, so that output appears in a notebook. Elsewhere the Show functions do nothing
// and return false.
func inNotebook() bool { return screen.on() }

// Show displays a figure inline, as SVG with its caption. It reports whether it did, which is false without an error outside a
// notebook. It fails as [Figure.SVG] does.
func Show(f *Figure) (shown bool, err error) {
	return showAs(f.HTML)
}

// ShowTable displays a table inline. It reports whether it did, which is false without an error outside a notebook. It fails as
// [Table.HTML] does.
func ShowTable(t *Table) (shown bool, err error) {
	return showAs(t.HTML)
}

// showAs displays what html returns; outside a notebook it does not call html.
func showAs(html func() (template.HTML, error)) (shown bool, err error) {
	if !inNotebook() {
		return false, nil
	}
	h, err := html()
	if err != nil {
		return false, err
	}
	return showHTML(h), nil
}

// showHTML displays HTML unchanged; its type marks it as trusted. For text from any other source use [Note]. It reports whether
// there was a notebook to show it in.
func showHTML(h template.HTML) (shown bool) {
	if !inNotebook() {
		return false
	}
	styled.Do(func() { h = template.HTML(notebookHead) + h })
	screen.html(string(h))
	return true
}

// Note displays one paragraph of plain text, escaped, each argument on a line of its own. It reports whether there was a
// notebook to show it in.
func Note(lines ...string) (shown bool) { return showHTML(template.HTML(paragraph(lines...))) }

func paragraph(lines ...string) string {
	var escaped []string
	for _, line := range lines {
		escaped = append(escaped, escape(line))
	}
	return "<p>" + strings.Join(escaped, "<br>") + "</p>"
}

// Must returns v, or ends a cell of a notebook with err, as [Check] does:
//
//	viz.Show(viz.Must(viz.Curves(options)))
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check ends a notebook cell by printing err on one line, without the stack trace of a panic. Outside a notebook it panics. It
// does nothing if err is nil.
func Check(err error) {
	switch {
	case err == nil:
	case inNotebook():
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) // the cell is a separate program
	default:
		panic(err)
	}
}

package viz

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
)

//go:embed live.js
var liveScript string

//go:embed live.css
var liveCSS string

// Program is the code with which a page recomputes its figures ([Figure.LiveHTML]): the source of its worker (Go's wasm_exec.js
// and pkg/viz/live_worker.js) and the compressed program (cmd/gppl-live) as text. scripts/report/live.py makes both.
type Program struct{ Worker, Packed string }

// HTML returns the elements that hold the program. They do nothing by themselves, and must precede the script of the page.
func (p *Program) HTML() template.HTML {
	return template.HTML(`<script type="text/plain" id="gppl-worker">` + p.Worker + `</script>` + "\n" +
		`<script type="text/plain" id="gppl-program">` + p.Packed + `</script>` + "\n")
}

// CSS returns [CSS] with the styles of the controls.
func (p *Program) CSS() template.CSS { return CSS() + template.CSS(liveCSS) }

// Script returns [Script] with the code that recomputes figures.
func (p *Program) Script() template.JS { return Script() + template.JS(liveScript) }

// Policy returns [Policy] for a page with the script of Program.Script, which may also start the worker that the page holds.
func (p *Program) Policy() string {
	return policy(string(p.Script()), " 'wasm-unsafe-eval'; worker-src blob:")
}

// LiveHTML returns [Figure.HTML] with what a page needs to recompute the figure, which must be encodable as JSON: its controls,
// and the figure as the program of the page knows it (package live). In a page that carries the program and pkg/viz/live.js, as
// the reports do, readers can move the controls; in any other page the figure is the same as from Figure.HTML.
func (f *Figure) LiveHTML(live any) (template.HTML, error) {
	h, err := f.HTML()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(live)
	if err != nil {
		return "", fmt.Errorf("viz: what the figure %q is computed from: %w", f.Title, err)
	}
	data, err := packed(text)
	if err != nil {
		return "", err
	}
	return template.HTML(strings.Replace(string(h), "<figure ", `<figure data-live="`+data+`" `, 1)), nil
}

// ShowLive displays a figure as [Show] does, with what it is computed from (see [Figure.LiveHTML]).
func ShowLive(f *Figure, live any) (shown bool, err error) {
	return showAs(func() (template.HTML, error) { return f.LiveHTML(live) })
}

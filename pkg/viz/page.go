package viz

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"
)

//go:embed page.css
var figureCSS string

//go:embed page.js
var script string

// CSS returns a style sheet for the figures and tables of a page. It gives them their dark look: in JupyterLab and VS Code if the
// theme is dark, and in a page whose root element has the class "gppl" if its reader prefers dark pages; on paper they stay
// light. It also shows the narrow drawing of a figure if the wide one does not fit. The output in a notebook includes it.
func CSS() template.CSS { return template.CSS(pageCSS) }

// Script returns a script that lets readers of a page zoom into its figures, read values, and download their data. It loads
// nothing. A page needs it once, in a <script> element; the output in a notebook includes it.
func Script() template.JS { return template.JS(script) }

// Policy returns a Content-Security-Policy for a page that has the style sheet of CSS and the script of Script, each as the only
// content of its element: nothing else runs, and nothing is loaded.
func Policy() string { return policy(script, "") }

func policy(script, more string) string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'" + more + "; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
}

var pageCSS = func() string {
	var b strings.Builder
	b.WriteString(darkCSS + "\n" + figureCSS)
	for w := 400; w <= 1200; w += 100 { // these are the breakpoints of figures from 500 to 1500 pixels
		fmt.Fprintf(&b, "@container (max-width:%d.98px){.gppl-below-%d .gppl-wide{display:none!important}.gppl-below-%[2]d "+
			".gppl-narrow{display:block!important}}\n", w-1, w)
	}
	return b.String()
}()

// notebookHead holds style and script for a notebook, with sliders wide enough to be moved by a hundredth. Every cell is a
// separate program that does not know what the page already has. The script is therefore compressed to a third of its length.
var notebookHead = func() string {
	text, err := packed([]byte(script))
	if err != nil {
		panic(err) // writing to a buffer does not fail
	}
	return "<style>" + pageCSS + "input[id^=gppl_control_]{width:min(480px,90%)}</style>" +
		"<script>window.gpplFigures||window.DecompressionStream&&new Response(new Blob([Uint8Array.from(atob('" +
		text +
		"'),c=>c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream('gzip'))).text().then(t=>new Function(t)())</script>"
}()

package viz

import (
	"fmt"
	"image/color"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Figures and tables are made in one look, the light one. In a page, each of its colours is written as a CSS variable with the
// light colour as fallback, var(--gppl-0072b2,#0072b2), and [CSS] defines the variables for dark pages. One output therefore
// serves light pages, dark pages and paper.

// dark is the theme that replaces light on a dark page: the same hues, with the same contrast against the background. Only its
// colours are used.
var dark = theme{
	background: rgb(0x15191E),
	ink:        rgb(0xE6EAEE),
	muted:      rgb(0xA9B3BD),
	axis:       rgb(0x6B7580),
	grid:       rgb(0x2A3036),
	observed:   rgb(0xC9D1D9),
	heldOut:    rgb(0xF06BC8),
	span:       rgb(0x1F252B),

	palette: []color.NRGBA{
		rgb(0x4DA6E8), // blue
		rgb(0xFF8A50), // vermillion
		rgb(0x2FC08F), // green
		rgb(0xE29BC4), // purple
		rgb(0xF0B23A), // orange
		rgb(0x8CCBF2), // sky
		rgb(0xB4BBC2), // grey
	},
}

// darkOf maps each colour of the light look to its dark counterpart.
var darkOf = func() map[color.NRGBA]color.NRGBA {
	m := map[color.NRGBA]color.NRGBA{
		light.background: dark.background,
		light.ink:        dark.ink,
		light.muted:      dark.muted,
		light.axis:       dark.axis,
		light.grid:       dark.grid,
		light.observed:   dark.observed,
		light.heldOut:    dark.heldOut,
		light.span:       dark.span,
		// These are colours of tables and badges.
		rgb(0xE6F4EF): rgb(0x143029),
		rgb(0x1A6334): rgb(0x7FD6A0), rgb(0xE6F4EA): rgb(0x12301D), rgb(0x8CC7A0): rgb(0x3C7A54),
		rgb(0x7A4B00): rgb(0xF0C060), rgb(0xFFF3D6): rgb(0x33270B), rgb(0xB97A10): rgb(0xB98A30),
		rgb(0xA4161A): rgb(0xFF9A9A), rgb(0xFDEAEA): rgb(0x3A1416),
		rgb(0x4B5661): rgb(0xAAB4BE),
		rgb(0x0B5394): rgb(0x8CC4F5), rgb(0xE3F0FB): rgb(0x10283D), rgb(0x7FB2DE): rgb(0x3F74A3),
	}
	for i, l := range light.palette {
		d := dark.palette[i]
		m[l] = d
		m[darker(l)] = d // text in the colour of a line has the contrast that it needs
		m[mix(l, light.background)] = mix(d, dark.background)
	}
	return m
}()

func hex(c color.NRGBA) string { return fmt.Sprintf("%02x%02x%02x", c.R, c.G, c.B) }

// darkVariables declares the dark colours as CSS variables.
var darkVariables = func() string {
	var variables []string
	for l, d := range darkOf {
		variables = append(variables, "--gppl-"+hex(l)+":#"+hex(d)+";")
	}
	slices.Sort(variables)
	return strings.Join(variables, "")
}()

// darkCSS defines the dark colours where a page is dark.
var darkCSS = "@media screen{body[data-jp-theme-light=false],body.vscode-dark{" + darkVariables + "}}\n" +
	"@media screen and (prefers-color-scheme:dark){:root.gppl{" + darkVariables + "}}"

// darkImage defines them inside an SVG file, for dark pages that show it.
var darkImage = "<style>@media screen and (prefers-color-scheme:dark){:root{" + darkVariables + "}}</style>"

var (
	styleAttribute = regexp.MustCompile(`style="[^"]*"`)
	hexColour      = regexp.MustCompile(`#[0-9A-Fa-f]{6}\b`)
)

// inPage writes the colours in the style attributes of HTML or SVG as variables. It cannot mistake text for attributes, because
// quotes in texts are escaped.
func inPage(html string) string {
	return styleAttribute.ReplaceAllStringFunc(html, func(attribute string) string {
		return hexColour.ReplaceAllStringFunc(attribute, func(c string) string {
			if l, ok := meant(parseHex(c)); ok {
				return "var(--gppl-" + hex(l) + "," + c + ")"
			}
			return c
		})
	})
}

// meant returns the colour of the light look from which a drawn colour comes. The two may differ: gonum/plot multiplies a
// translucent colour by its alpha and divides by it again, and the rounding error is larger for a fainter colour.
func meant(c color.NRGBA) (best color.NRGBA, ok bool) {
	if _, ok := darkOf[c]; ok {
		return c, true
	}
	nearest := 7 // levels; a larger difference is not rounding
	for l := range darkOf {
		if d := distance(c, l); d < nearest || d == nearest && hex(l) < hex(best) {
			best, nearest, ok = l, d, true
		}
	}
	return best, ok
}

// distance returns the largest difference between the levels of two colours.
func distance(a, b color.NRGBA) int {
	apart := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
	return max(apart(a.R, b.R), apart(a.G, b.G), apart(a.B, b.B))
}

func parseHex(c string) color.NRGBA {
	v, _ := strconv.ParseUint(strings.TrimPrefix(c, "#"), 16, 24)
	return rgb(uint32(v))
}

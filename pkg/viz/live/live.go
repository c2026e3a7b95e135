// Package live recomputes figures inside the page that shows them when a reader moves their controls. It takes and returns JSON,
// draws nothing, and uses [gppl] alone, which keeps the program small: cmd/gppl-live compiles it to WebAssembly, and the script
// of a page (pkg/viz/live.js) gives the layers of the figure the numbers that it answers with. The same calls are tested
// natively.
package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Control is a slider of a figure. Values are its positions, and Start is the index of the published one.
type Control struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit,omitempty"`
	Values []float64 `json:"values"`
	Labels []string  `json:"labels,omitempty"` // texts shown instead of the values, which are then 0, 1, …
	Start  int       `json:"start"`
}

// choice returns a control over things that have names. The first of them is published.
func choice(name string, labels ...string) Control {
	c := Control{Name: name, Labels: labels}
	for i := range labels {
		c.Values = append(c.Values, float64(i))
	}
	return c
}

// around returns a control over positive values around a published one, from 1/factor to factor times it.
func around(name, unit string, published, factor float64) Control {
	const steps = 40 // number of steps to each side
	c := Control{Name: name, Unit: unit, Start: steps}
	for i := -steps; i <= steps; i++ {
		c.Values = append(c.Values, published*math.Pow(factor, float64(i)/steps))
	}
	return c
}

// among returns a control over the given values, which ascend, with the published one in its place.
func among(name, unit string, published float64, values ...float64) Control {
	c := Control{Name: name, Unit: unit}
	for _, v := range values {
		if v < published {
			c.Start++
		}
	}
	c.Values = append(c.Values, values[:c.Start]...)
	c.Values = append(c.Values, published)
	for _, v := range values[c.Start:] {
		if v > published {
			c.Values = append(c.Values, v)
		}
	}
	return c
}

// Page holds what the script of a page needs to compute a figure again.
type Page struct {
	Controls []Control `json:"controls"`
	Look     string    `json:"look"` // hint for the reader: what to watch while a control moves
	Figure   Figure    `json:"figure"`
}

// Page returns what a page needs to compute the figure again.
func (f Figure) Page() *Page {
	p := &Page{Controls: f.figure().Controls(), Figure: f}
	switch {
	case f.Lost != nil:
		p.Look = "the k up to which the first term is a visible part of the loss, and how the lengthscale and the directions move it."
	case f.Kept != nil:
		p.Look = "which directions need the fewest projections, and that none is quick about the noise."
	case f.Excess != nil:
		p.Look = "the k from which the two lines are one, and how the lengthscale moves it."
	case f.Forecast != nil:
		p.Look = "whether the band holds what came after the split, and what a longer lengthscale makes of it."
	case f.Fitted != nil:
		p.Look = "which control moves the middle of the forecast, and which only its band."
	}
	return p
}

// Expected is the name of the line of a forecast; BandY and BandF are the names of the bands of a figure of viz.Series.
const (
	Expected = "expected"
	BandY    = "95 % of values"
	BandF    = "the curve itself, 95 %"
)

// Layer replaces the numbers in the layer of a figure that has its kind and name (see pkg/viz/layer.go).
type Layer struct {
	Kind string    `json:"kind"`
	Name string    `json:"name"`
	X    []float64 `json:"x,omitempty"`
	Y    []float64 `json:"y,omitempty"`
	Lo   []float64 `json:"lo,omitempty"`
	Hi   []float64 `json:"hi,omitempty"`
}

// band returns the layer from value(mean − width·sd) to value(mean + width·sd) at x.
func band(name string, x, mean, sd []float64, width float64, value func(float64) float64) Layer {
	l := Layer{Kind: "band", Name: name, X: x}
	for i := range x {
		l.Lo, l.Hi = append(l.Lo, value(mean[i]-width*sd[i])), append(l.Hi, value(mean[i]+width*sd[i]))
	}
	return l
}

// Reading is a number beside the figure.
type Reading struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit,omitempty"`
	Value  float64 `json:"value"`
	Digits int     `json:"digits"` // number of digits after the decimal point
}

// Shown holds what a figure shows at one position of its controls.
type Shown struct {
	Title    string    `json:"title"` // replaces the title of the published figure
	Caption  string    `json:"caption"`
	Layers   []Layer   `json:"layers"`
	Readings []Reading `json:"readings"`
	By       string    `json:"by"` // the computation behind it, such as "the dense engine"
}

// Check compares a published number with the one that is computed here.
type Check struct {
	Name      string  `json:"name"`
	Unit      string  `json:"unit,omitempty"`
	Published float64 `json:"published"`
	Found     float64 `json:"found"`
	By        string  `json:"by"`      // the computation behind Found, such as "the dense engine"
	Allowed   float64 `json:"allowed"` // largest difference that rounding and the engines' tolerance explain
	Agrees    bool    `json:"agrees"`
}

func newCheck(name, unit, by string, published, found, allowed float64) Check {
	return Check{name, unit, published, found, by, allowed, math.Abs(found-published) <= allowed}
}

// byEngine says which engine computed a number, or which engines have been used for it so far, as LossReport.Engine lists them.
func byEngine(engine string) string {
	if names := strings.Split(engine, ", "); len(names) > 1 {
		last := len(names) - 1
		return "the " + strings.Join(names[:last], ", ") + " and " + names[last] + " engines"
	}
	return "the " + engine + " engine"
}

// figure is a figure that a page can compute again.
type figure interface {
	// check returns an error if the page has sent values that the figure cannot take.
	check() error
	Controls() []Control
	// at computes what the figure shows where its controls have these values, as many as there are controls.
	at(values []float64) (*Shown, error)
	// verify computes the published numbers again, in two ways that share as little as can be.
	verify() ([]Check, error)
}

// show computes what a figure shows where its controls have these values.
func show(f figure, values []float64) (*Shown, error) {
	if want := len(f.Controls()); len(values) != want {
		return nil, fmt.Errorf("live: %d values for %d controls", len(values), want)
	}
	return f.at(values)
}

// question is a message of a page: first the figure, then either values of its controls or a request to verify its numbers.
type question struct {
	Figure
	Values []float64 `json:"values"`
	Verify bool      `json:"verify"`
}

// Figure holds one figure; the other fields are nil.
type Figure struct {
	Forecast *Forecast `json:"forecast,omitempty"`
	Excess   *Excess   `json:"excess,omitempty"`
	Lost     *Lost     `json:"lost,omitempty"`
	Kept     *Kept     `json:"kept,omitempty"`
	Fitted   *Fitted   `json:"fitted,omitempty"`
}

// figure returns the field that is set; nil if none is.
func (f Figure) figure() figure {
	switch {
	case f.Forecast != nil:
		return f.Forecast
	case f.Excess != nil:
		return f.Excess
	case f.Lost != nil:
		return f.Lost
	case f.Kept != nil:
		return f.Kept
	case f.Fitted != nil:
		return f.Fitted
	}
	return nil
}

// answer is the reply to a page; one of the fields is set.
type answer struct {
	Shown  *Shown  `json:"shown,omitempty"`
	Checks []Check `json:"checks,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// Session answers the questions about one figure. Its zero value waits for the figure.
type Session struct{ figure figure }

// Answer answers a message with another, both JSON. An error, with what it is about, is an answer as well.
func (s *Session) Answer(message []byte) []byte {
	a, err := s.answer(message)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(a); err == nil {
			return text
		}
	}
	text, err := json.Marshal(answer{Error: err.Error()})
	if err != nil {
		panic(err) // a string is always encodable
	}
	return text
}

func (s *Session) answer(message []byte) (a answer, err error) {
	defer func() { // a panic of misuse would end the program of the page
		if r := recover(); r != nil {
			err = fmt.Errorf("live: %v", r)
		}
	}()
	var q question
	if err := json.Unmarshal(message, &q); err != nil {
		return a, fmt.Errorf("live: the message is not as expected: %w", err)
	}
	if f := q.figure(); f != nil {
		if err := f.check(); err != nil {
			return a, err
		}
		s.figure = f
	}
	switch {
	case s.figure == nil:
		return a, errors.New("live: no figure was given")
	case q.Verify:
		a.Checks, err = s.figure.verify()
	case q.Values != nil:
		a.Shown, err = show(s.figure, q.Values)
	}
	return a, err
}

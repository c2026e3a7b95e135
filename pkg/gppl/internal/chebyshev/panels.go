package chebyshev

import (
	"math"
	"sync"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

const (
	// halfWidth is the half-width of a panel in u = log l: the nodes reproduce a function that is analytic for |Im u| < π/4 to
	// 1e-13.
	halfWidth = 0.6
	// Error is the largest error of the entries of S, relative to the largest of them.
	Error = 2e-13
	// closeBy is the largest distance in u at which evaluations count as near.
	closeBy = 0.4
	// spareNoise is the factor by which the noise may fall before a panel is too inexact.
	spareNoise = 30
)

// Panels keeps the panel of one function S(u), and the recent evaluations, which show whether a panel would pay for its Nodes.
// It is safe for concurrent use; its zero value is empty.
type Panels struct {
	mu    sync.Mutex
	near  []sighting // the last evaluations outside the panel
	panel *kept      // nil until one is built

	building sync.Mutex // held while a panel is built
}

// sighting is an earlier evaluation.
type sighting struct {
	u    float64
	size float64 // the largest entry of S, 0 if unknown
}

// kept is a panel around a centre whose nodes are exact for the given noise relative to S.
type kept struct {
	*Panel
	centre, noise float64
}

// Known returns the panel that holds at u with this noise, or nil; the number of recent evaluations near u; and the largest
// entry of S to expect, 0 if unknown.
func (e *Panels) Known(u, noise float64) (p *Panel, count int, size float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.panel; p != nil && math.Abs(u-p.centre) <= halfWidth && noise >= p.noise {
		return p.Panel, 0, p.Size
	}
	for _, s := range e.near {
		if math.Abs(s.u-u) <= closeBy {
			count++
			size = max(size, s.size)
		}
	}
	return nil, count, size
}

// Saw records an evaluation outside the panel, with the largest entry of S, 0 if unknown.
func (e *Panels) Saw(u, noise, size float64) {
	if p, _, _ := e.Known(u, noise); p != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.near) == 2*Nodes {
		e.near = append(e.near[:0], e.near[1:]...)
	}
	e.near = append(e.near, sighting{u, size})
}

// Build returns a panel that holds at u with this much noise, from k×k matrices that set writes, exact for the given noise. It
// verifies the panel.
func (e *Panels) Build(u, noise float64, k int, set func(s []float64, u, noise float64) error) (*Panel, error) {
	e.building.Lock()
	defer e.building.Unlock()
	if p, _, _ := e.Known(u, noise); p != nil { // another goroutine may have built it
		return p, nil
	}
	least := noise / spareNoise
	of := func(s []float64, u float64) error { return set(s, u, least) }
	p, err := NewPanel(u, halfWidth, k, of)
	if err == nil {
		err = p.verify(u, k, of)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.near = e.near[:0]
	if err != nil {
		return nil, err
	}
	e.panel = &kept{p, u, least}
	return p, nil
}

// verify compares the interpolation at the centre, which is not a node, with the matrix that set writes.
func (p *Panel) verify(centre float64, k int, set func(s []float64, u float64) error) error {
	direct, by := make([]float64, k*k), make([]float64, k*k)
	if err := set(direct, centre); err != nil {
		return err
	}
	at := NewInterpolant(k)
	at.Set(p, centre)
	at.Value(by, 1)
	var off float64
	for i, want := range direct {
		off = max(off, math.Abs(want-by[i]))
	}
	return verify.Near("an interpolated covariance", off, 0, 1000*Error*p.Size)
}

// Verify checks the weights at u: constants and straight lines are interpolated exactly, and so are their slopes. Very near a
// node the slopes lose digits.
func (g *Interpolant) Verify(u float64) error {
	one, off, none, slope := g.Lines(u)
	for _, c := range [...]struct{ got, want float64 }{{one, 1}, {off, 0}, {none, 0}, {slope, 1}} {
		if err := verify.Near("weights of an interpolation", c.got, c.want, 1e-9); err != nil {
			return err
		}
	}
	return nil
}

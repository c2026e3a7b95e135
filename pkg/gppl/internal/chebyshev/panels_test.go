package chebyshev

import (
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// TestPanels: evaluations near one another are counted until a panel is built, once for many goroutines; it holds within its
// interval and for as much noise, and a function that is not smooth is rejected.
func TestPanels(t *testing.T) {
	var e Panels
	if p, count, size := e.Known(1, 0.1); p != nil || count != 0 || size != 0 {
		t.Errorf("nothing is known, but %v, %d, %v", p, count, size)
	}
	for i := range 3 * Nodes {
		e.Saw(1+0.3*math.Cos(float64(i)), 0.1, 5)
		e.Saw(9, 0.1, 7)
	}
	if p, count, size := e.Known(1, 0.1); p != nil || count != Nodes || size != 5 {
		t.Errorf("of %d evaluations, every other one near, the last %d are kept: %d, %v", 6*Nodes, 2*Nodes, count, size)
	}
	built := 0
	exponential := func(s []float64, u, noise float64) error {
		built++
		if noise >= 0.1 {
			t.Errorf("a node is to be exact for the noise %v, and there is room for less than 0.1", noise)
		}
		s[0] = math.Exp(u)
		return nil
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := e.Build(1, 0.1, 1, exponential); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if built != Nodes+1 { // one more at the centre, to verify
		t.Errorf("%d values for one panel", built)
	}
	for _, at := range []struct {
		u, noise float64
		holds    bool
	}{{1, 0.1, true}, {1 + 0.99*halfWidth, 0.1, true}, {1 - 1.01*halfWidth, 0.1, false}, {1, 0.1 / spareNoise, true},
		{1, 0.09 / spareNoise, false}} {
		if p, _, size := e.Known(at.u, at.noise); (p != nil) != at.holds || at.holds && size != p.Size {
			t.Errorf("u = %v, noise %v: a panel %v, size %v", at.u, at.noise, p != nil, size)
		}
	}
	e.Saw(1.1, 0.1, 3)
	if _, count, _ := e.Known(1+2*halfWidth, 0.1); count != 0 {
		t.Errorf("%d evaluations are kept after a panel was built, and within it", count)
	}
	rough := func(s []float64, u, _ float64) error { s[0] = math.Abs(u - 4.1); return nil }
	if _, err := e.Build(4, 0.1, 1, rough); !errors.As(err, new(verify.Failed)) {
		t.Errorf("a function with a kink: %v", err)
	}
	if p, _, _ := e.Known(1, 0.1); p == nil {
		t.Error("a failure forgets the panel")
	}
}

// TestVerifyWeights: a spoilt weight or slope is seen.
func TestVerifyWeights(t *testing.T) {
	p, err := NewPanel(0, halfWidth, 1, func(s []float64, u float64) error { s[0] = u; return nil })
	if err != nil {
		t.Fatal(err)
	}
	g := NewInterpolant(1)
	for spoil, of := range map[string]func() *float64{"nothing": func() *float64 { return new(float64) },
		"a weight": func() *float64 { return &g.Weight[3] }, "a slope": func() *float64 { return &g.Slope[20] }} {
		g.Set(p, 0.123)
		*of() += 1e-6
		if err := g.Verify(0.123); (spoil == "nothing") != (err == nil) {
			t.Errorf("%s is spoilt: %v", spoil, err)
		}
	}
}

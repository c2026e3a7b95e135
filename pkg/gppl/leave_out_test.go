package gppl_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestLeaveOut: what a factorisation of all the data says of those left out is what
// as many posteriors without them say, for every engine, with a mean and without.
func TestLeaveOut(t *testing.T) {
	for _, c := range meanCases(40) {
		for _, mean := range []bool{false, true} {
			c := c
			if !mean {
				c.model.Mean = nil
				c.name += ", no mean"
				c.data.Y = make([]float64, c.data.Len())
				for i := range c.data.Y {
					c.data.Y[i] = math.Sin(float64(i)) + 0.1*float64(i%7)
				}
			}
			blocks := [][]int{{0}, {3, 4, 5}, {39, 11}, {}, {20, 21, 22, 23, 24, 25}}
			var ones [][]int
			for i := range c.data.Len() {
				ones = append(ones, []int{i})
			}
			for _, engine := range append(c.engines, gppl.EngineDense, "") {
				t.Run(fmt.Sprintf("%s/%s", c.name, engine), func(t *testing.T) {
					got, variances, err := gppl.LeaveOneOut(c.model, c.data, gppl.WithEngine(engine))
					if err != nil {
						t.Fatal(err)
					}
					comparedWithRefits(t, c, ones, got, variances)
					got, variances, err = gppl.LeaveBlockOut(c.model, c.data, blocks, gppl.WithEngine(engine))
					if err != nil {
						t.Fatal(err)
					}
					comparedWithRefits(t, c, blocks, got, variances)
					if !math.IsNaN(got[1]) || !math.IsNaN(variances[1]) {
						t.Errorf("an observation in no block: %v, %v", got[1], variances[1])
					}
				})
			}
		}
	}
}

func comparedWithRefits(t *testing.T, c meanCase, blocks [][]int, got, variances []float64) {
	t.Helper()
	for _, block := range blocks {
		if len(block) == 0 {
			continue
		}
		out := map[int]bool{}
		for _, i := range block {
			out[i] = true
		}
		var rest []int
		for i := range c.data.Len() {
			if !out[i] {
				rest = append(rest, i)
			}
		}
		p, err := gppl.NewPosterior(c.model, c.data.Pick(rest), gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		mean, v := p.Noisy(c.data.X.Pick(block))
		for j, i := range block {
			if math.Abs(got[i]-mean[j]) > 1e-8*(1+math.Abs(mean[j])) || math.Abs(variances[i]-v[j]) > 1e-8*(1+v[j]) {
				t.Errorf("block %v, y[%d]: %.12g ± √%.12g, without it %.12g ± √%.12g", block, i, got[i], variances[i], mean[j], v[j])
			}
		}
	}
}

func TestLeaveOutErrors(t *testing.T) {
	c := meanCases(40)[0]
	for _, blocks := range [][][]int{{{40}}, {{-1}}, {{1, 2}, {2}}, {{5, 5}}} {
		if _, _, err := gppl.LeaveBlockOut(c.model, c.data, blocks); err == nil {
			t.Errorf("blocks %v: no error", blocks)
		}
	}
}

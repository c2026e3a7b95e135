package gppl_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestRandomVFE holds value and gradient of the VFE, densely, spectrally and by the
// automatic choice, to the double-double reference: the VFE of TestRandomCases, and
// the same data with up to 40 inducing inputs, where K_uu is worse conditioned.
// What is known to be hard is always among them. In full:
//
//	go test ./pkg/gppl -run TestRandomVFE -cases 3000 -from 30000 -v
func TestRandomVFE(t *testing.T) {
	// Inducing inputs that nearly coincide, clusters, y off the model's scale.
	numbers, count := []int{132, 261, 498, 588, 876, 1059, 1326}, 30
	if testkit.Quick() {
		count = 0
	}
	if *randomCases > 0 {
		count = *randomCases
	}
	for i := range count {
		numbers = append(numbers, *randomFrom+i)
	}
	var s summary
	began := time.Now()
	for _, number := range numbers {
		if *randomTime > 0 && time.Since(began) > *randomTime {
			break
		}
		c := newRandomCase(number, 300)
		if c == nil || number%3 != 0 {
			continue
		}
		s.cases++
		for _, z := range [][]float64{c.inducing(), c.manyInducing()} {
			if z == nil {
				continue
			}
			js, err := judgeVFE(c, z)
			if err != nil {
				t.Logf("%v: no reference: %v", c, err)
				continue
			}
			for _, j := range js {
				s.all = append(s.all, judged{j, number, c.String()})
			}
		}
	}
	t.Logf("%d cases\n%s", s.cases, s.tables())
	for _, line := range s.bad() {
		t.Error(line)
	}
}

// judgeVFE sends a case through the engines of the VFE and the choice of them.
func judgeVFE(c *randomCase, z []float64) (all []judgement, err error) {
	x := c.data.X.Coordinate(0)
	bound, err := vfeTruth(c.model, x, c.data.Y, z)
	if err != nil {
		return nil, err
	}
	for _, engine := range []string{"", gppl.EngineDense, gppl.EngineSpectral} {
		e := evaluate(func() (explained, error) {
			return gppl.NewVFE(context.Background(), c.model, c.data, gppl.Scalars(z), gppl.VFEOptions{}, gppl.WithEngine(engine))
		}, c.before)
		j := judge(e, bound, len(x))
		if j.loss, j.engine = "VFE", engine; engine == "" {
			j.engine = "auto"
			j.detail = "by " + e.report.Engine + ": " + j.detail
		}
		all = append(all, j)
	}
	return all, nil
}

// manyInducing is like inducing, with 13 to 40 inducing inputs for cases that are
// small enough for the reference.
func (c *randomCase) manyInducing() []float64 {
	n := c.data.Len()
	lo, hi := c.data.X.Range(0)
	if n < 13 || n > 120 || c.number%9 != 0 || hi == lo || hasWhite(c.model.Kernel) {
		return nil
	}
	d := dice{rand.New(rand.NewPCG(uint64(c.number), 13))}
	z := make([]float64, min(n, 13+d.IntN(28)))
	for i := range z {
		z[i] = c.data.X.At(i * n / len(z))[0] + 0.3*(hi-lo)/float64(n)*d.NormFloat64()
	}
	return slices.Compact(z)
}

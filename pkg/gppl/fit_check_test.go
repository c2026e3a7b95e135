package gppl_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestFitFindsLateFaults trains by gradients that are right at the start and lose
// a sign on the way.
func TestFitFindsLateFaults(t *testing.T) {
	t.Parallel()
	caught, cases := 0, testkit.Size(6, 20, 20)
	for i := range cases {
		d := drawn(t, 80, uint64(i)+1)
		m := gppl.Model{Kernel: gppl.SE{Variance: 3, Lengthscale: 1}, Noise: 0.5}
		loss := exactLoss(t, d)
		wrong := late{testkit.Must(gppl.NewExact(t.Context(), m, d))(t), i % 3}
		right := testkit.Must(gppl.Fit(context.Background(), loss, nil, gppl.Settings{}))(t)
		r, err := gppl.Fit(context.Background(), wrong, nil, gppl.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == gppl.Unconfirmed || r.Value < right.Value+0.02 {
			caught++
		} else {
			t.Logf("case %d: %v", i, r)
		}
	}
	if t.Logf("%d of %d caught or harmless", caught, cases); caught < cases {
		t.Errorf("%d of %d", caught, cases)
	}
}

// late is a loss whose derivative p has the wrong sign at lengthscales above 1.3.
type late struct {
	gppl.Loss
	p int
}

func (l late) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	value, err := l.Loss.ValueGrad(context.Background(), grad, theta)
	if grad != nil && theta[1] > 1.3 {
		grad[l.p] = -grad[l.p]
	}
	return value, err
}

// TestFitAlarms trains by right gradients, over kernels, engines, starts far off
// and data off the model's scale: none is called wrong.
func TestFitAlarms(t *testing.T) {
	t.Parallel()
	cases := testkit.Size(4, 8, 20)
	rnd := rand.New(rand.NewPCG(3, 3))
	for i := range cases {
		d := drawn(t, 20+rnd.IntN(80), uint64(i)+1)
		scale := math.Pow(10, float64(rnd.IntN(7)-3))
		for j := range d.Y {
			d.Y[j] *= scale
		}
		for _, k := range kernels() {
			params := k.Params()
			theta := make([]float64, len(params))
			for j := range params {
				theta[j] = math.Exp(2 * rnd.NormFloat64())
			}
			m := gppl.Model{Kernel: k.WithParams(theta), Noise: math.Exp(2 * rnd.NormFloat64())}
			l := testkit.Must(gppl.NewExact(t.Context(), m, d))(t)
			r, err := gppl.Fit(context.Background(), l, nil, gppl.Settings{MaxEvaluations: 30, NoStandardErrors: i%2 == 0})
			if err != nil {
				continue // the start cannot be evaluated
			}
			if r.Status == gppl.Unconfirmed {
				t.Errorf("case %d, %v, scale %g: %v", i, m, scale, r)
			}
			if all := fmt.Sprint(r.Warnings); strings.Contains(all, "slope") {
				t.Errorf("case %d, %v, scale %g: %s", i, m, scale, all)
			}
		}
	}
}

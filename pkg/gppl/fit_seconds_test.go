package gppl

import (
	"context"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

// recording is a flat prior that records where it is evaluated.
type recording struct{ seen *[]float64 }

func (w recording) LogDensity(theta float64) (value, slope float64) {
	*w.seen = append(*w.seen, theta)
	return 0, 0
}

func (recording) Check() error   { return nil }
func (recording) String() string { return "recording" }

// TestEvaluationSeconds checks that MaxEvaluations bounds the predicted time of a training whose evaluations take longer and
// longer: the start is a long lengthscale, and the data want a short one.
func TestEvaluationSeconds(t *testing.T) {
	d := irregularData(t, 3000)
	span := float64(d.Len())
	for i := range d.Y {
		d.Y[i] = math.Sin(300*d.X.At(i)[0]/span) + 0.01*math.Cos(float64(i*i))
	}
	m := Model{Kernel: SE{Variance: 1, Lengthscale: span / 5}, Noise: 0.1}
	exact, err := NewExact(t.Context(), m, d)
	if err != nil {
		t.Fatal(err)
	}
	unit := capability.Seconds(exact, m.Values()) / 10
	train := func(s Settings) (r *Result, spent float64) {
		var seen []float64
		loss, err := NewMAP(exact, ParamPrior{Name: "lengthscale", Prior: recording{&seen}})
		if err != nil {
			t.Fatal(err)
		}
		if r, err = Fit(context.Background(), loss, nil, s); err != nil {
			t.Fatal(err)
		}
		for _, l := range seen {
			spent += max(1, capability.Seconds(exact, []float64{1, l, 0.1})/unit)
		}
		return r, spent
	}
	const limit = 300
	plain, most := train(Settings{MaxEvaluations: limit, NoStandardErrors: true})
	bounded, spent := train(Settings{MaxEvaluations: limit, EvaluationSeconds: unit, NoStandardErrors: true})
	t.Logf("without estimates %d evaluations count as %.0f, with them %d as %.0f",
		plain.Evaluations, most, bounded.Evaluations, spent)
	if most < 2*limit {
		t.Errorf("%d evaluations of at most %d count as %.0f: these data test nothing", plain.Evaluations, limit, most)
	}
	if spent > 1.2*limit || bounded.Status != Limited { // the checks at the end may exceed it
		t.Errorf("evaluations count as %.0f of %d: %s, %s", spent, limit, bounded.Status, bounded.Reason)
	}
}

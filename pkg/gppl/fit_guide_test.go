package gppl_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// uninformed is a guide without information.
type uninformed struct{ gppl.Loss }

func (uninformed) Information(context.Context, []float64) (*mat.SymDense, error) {
	return nil, errors.New("there is none")
}

// sure is a guide with next to no information, by which the optimum is far from anywhere.
type sure struct{ gppl.Loss }

func (s sure) Information(context.Context, []float64) (*mat.SymDense, error) {
	p := len(s.Params())
	return mat.NewSymDense(p, make([]float64, p*p)), nil
}

// TestFitGuide: projections guide the exact likelihood to the optimum that L-BFGS finds alone, from nearby in fewer evaluations,
// and from afar. A guide without information does no harm.
func TestFitGuide(t *testing.T) {
	t.Parallel()
	d := drawn(t, 400, 1)
	loss := exactLoss(t, d)
	proj := testkit.Must(gppl.SpectralProjection(t.Context(), d.X, 60))(t)
	guide := testkit.Must(gppl.NewResidual(t.Context(), gppl.PaperModel(gppl.SE{}), d, proj))(t)
	for i, start := range []gppl.SE{{Variance: 1.3, Lengthscale: 2.5}, {Variance: 0.2, Lengthscale: 1}} {
		params := gppl.Model{Kernel: start, Noise: 0.2}.Params()
		want := testkit.Must(gppl.Fit(context.Background(), loss, params, gppl.Settings{}))(t)
		got := testkit.Must(gppl.Fit(context.Background(), loss, params, gppl.Settings{Guide: guide}))(t)
		if got.Status != gppl.Converged || math.Abs(got.Value-want.Value) > 1e-6 || i == 0 && got.Evaluations >= want.Evaluations {
			t.Errorf("from %v: %v, alone %v", start, got, want)
		}
		if none := testkit.Must(gppl.Fit(context.Background(), loss, params,
			gppl.Settings{Guide: uninformed{loss}}))(t); none.Status != gppl.Converged ||
			math.Abs(none.Value-want.Value) > 1e-6 {
			t.Errorf("from %v, with a guide that does not know: %v, alone %v", start, none, want)
		}
		rough := gppl.Settings{GradientTolerance: 0.05, NoStandardErrors: true}
		alone := testkit.Must(gppl.Fit(context.Background(), loss, params, rough))(t)
		rough.Guide = guide
		if got := testkit.Must(gppl.Fit(context.Background(), loss, params, rough))(t); got.Status != gppl.Converged ||
			got.Value > want.Value+1e-3 ||
			i == 0 && got.Evaluations >= alone.Evaluations {
			t.Errorf("from %v to a gradient of 0.05: %v, alone %v", start, got, alone)
		}
		if rough.Guide = (sure{loss}); i == 1 { // the guide says that the optimum is far
			if got := testkit.Must(gppl.Fit(context.Background(), loss, params, rough))(t); got.Evaluations != alone.Evaluations ||
				got.Value != alone.Value {
				t.Errorf("from %v, with a guide that is not to be believed: %v, alone %v", start, got, alone)
			}
		}
	}
	other := testkit.Must(gppl.NewExact(t.Context(), gppl.PaperModel(gppl.RQ{}), d))(t)
	defer func() {
		if recover() == nil {
			t.Error("a guide with other parameters guides")
		}
	}()
	_, _ = gppl.Fit(context.Background(), loss, nil, gppl.Settings{Guide: uninformed{other}})
}

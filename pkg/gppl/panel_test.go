package gppl_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

func panelLosses(t *testing.T, m gppl.Model, sizes ...int) (all []gppl.Loss) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for i, n := range sizes {
		var opts []gppl.Option
		if i == 1 {
			opts = append(opts, gppl.WithEngine(gppl.EngineDense))
		}
		all = append(all, testkit.Must(gppl.NewExact(t.Context(), m, gppltest.Series(t, rnd, n, 1, 4, 0.2), opts...))(t))
	}
	return all
}

var panelModel = gppl.Model{Kernel: gppl.Laplace{Variance: 1.2, Lengthscale: 3}, Noise: 0.3, Mean: gppl.Intercept{}}

// TestPanel: the panel is a loss, the sum of its series' losses, whatever the number of processors.
func TestPanel(t *testing.T) {
	losses := panelLosses(t, panelModel, 12, 25, 7, 40)
	p := testkit.Must(gppl.NewPanel(losses...))(t)
	gppltest.CheckLoss(t, p)
	theta := gppl.Values(p.Params())
	var want float64
	wanted, own := make([]float64, len(theta)), make([]float64, len(theta))
	for _, l := range losses {
		v, err := l.ValueGrad(t.Context(), own, theta)
		if err != nil {
			t.Fatal(err)
		}
		want += v
		for i, g := range own {
			wanted[i] += g
		}
	}
	for _, procs := range []int{1, 4} {
		before := runtime.GOMAXPROCS(procs)
		grad := make([]float64, len(theta))
		v, err := p.ValueGrad(t.Context(), grad, theta)
		runtime.GOMAXPROCS(before)
		if err != nil || v != want || !slices.Equal(grad, wanted) {
			t.Errorf("on %d processors %v %v, %v; the sum is %v %v", procs, v, grad, err, want, wanted)
		}
	}
	if r := p.Report(); !r.Likelihood || !strings.Contains(r.Engine, gppl.EngineDense) ||
		!strings.Contains(r.Engine, gppl.EngineStateSpace) {
		t.Errorf("report %+v", r)
	}
	if got, want := capability.Seconds(p, theta), capability.Seconds(losses[0], theta); !(got > 3*want) {
		t.Errorf("%v s for the panel, %v s for its first series", got, want)
	}
}

func TestPanelErrors(t *testing.T) {
	losses := panelLosses(t, panelModel, 12, 25)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := testkit.Must(gppl.NewPanel(losses...))(t)
	if _, err := p.ValueGrad(ctx, nil, gppl.Values(p.Params())); err == nil ||
		!strings.Contains(err.Error(), "series 0 of the panel") {
		t.Errorf("an ended context: %v", err)
	}
	other := panelModel
	other.Kernel = gppl.Matern32{Variance: 1, Lengthscale: 1}
	more := gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: 1}, Noise: 1}
	moved := panelModel
	moved.Noise = 0.5
	for want, c := range map[string][2]gppl.Model{
		"the parameters":     {panelModel, more},
		"is fixed otherwise": {panelModel.Fix(gppl.NoiseName), moved.Fix(gppl.NoiseName)},
	} {
		pair := []gppl.Loss{panelLosses(t, c[0], 12)[0], panelLosses(t, c[1], 12)[0]}
		if _, err := gppl.NewPanel(pair...); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "series 1") {
			t.Errorf("%v: %v", want, err)
		}
	}
	if _, err := gppl.NewPanel(); err == nil {
		t.Error("no error for no series")
	}
	if _, err := gppl.NewPanel(panelLosses(t, other, 12)[0]); err != nil {
		t.Error(err)
	}
}

// TestPanelTraining: forty series of 25 observations determine what one does not; the search of auto takes a panel as any loss.
func TestPanelTraining(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	m := gppl.Model{Kernel: gppl.Laplace{Variance: 0.5, Lengthscale: 1}, Noise: 1}
	var series []gppl.Data
	for range 40 {
		series = append(series, gppltest.Series(t, rnd, 25, 1, 5, 0.2))
	}
	likelihood := func(ctx context.Context, m gppl.Model, _ gppl.Data) (gppl.Loss, error) {
		var all []gppl.Loss
		for _, d := range series {
			l, err := gppl.NewExact(ctx, m, d)
			if err != nil {
				return nil, err
			}
			all = append(all, l)
		}
		return gppl.NewPanel(all...)
	}
	ctx := context.Background()
	loss := testkit.Must(likelihood(ctx, m, series[0]))(t)
	r := testkit.Must(gppl.Fit(ctx, loss, nil, gppl.Settings{}))(t)
	starts := testkit.Must(auto.FindStarts(ctx, m, series[0], auto.Settings{}))(t)
	searched := testkit.Must(starts.Train(ctx, likelihood, gppl.Settings{}))(t)
	if r.Status != gppl.Converged || math.Abs(r.Value-searched.Value) > 1e-4 {
		t.Errorf("%v, %v by gppl.Fit and %v, %v by the search", r.Value, r.Status, searched.Value, searched.Status)
	}
	for i, drawn := range []float64{1, 5, 0.2} {
		if p := r.Params[i]; !(math.Abs(math.Log(p.Value/drawn)) < 3*p.StdErrLog && p.StdErrLog < 0.4) {
			t.Errorf("%s = %v, in logs ± %v; it is %v", p.Name, p.Value, p.StdErrLog, drawn)
		}
	}
}

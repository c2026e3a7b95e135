package gppl_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// TestPrinted prints what a notebook has at hand: a few lines that can be read, with neither addresses nor all the numbers.
func TestPrinted(t *testing.T) {
	ctx := context.Background()
	x, y := make([]float64, 500), make([]float64, 500)
	for i := range x {
		x[i], y[i] = float64(i), float64(i*i%17-8)
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	m := gppl.Model{Kernel: gppl.SE{Variance: 20, Lengthscale: 3}, Noise: 5}
	p := testkit.Must(gppl.NewProjection(ctx, gppl.Sphere{}, d.X, 30, 7))(t)
	exact := testkit.Must(gppl.NewExact(ctx, m, d))(t)
	vfe := testkit.Must(gppl.NewVFE(ctx, m, d, testkit.Must(d.X.KMeans(ctx, 20, 1))(t), gppl.VFEOptions{}))(t)
	spectral := testkit.Must(gppl.SpectralProjection(ctx, d.X, 30))(t)
	r := testkit.Must(gppl.Fit(ctx, exact, nil, gppl.Settings{}))(t)
	info := testkit.Must(fisher.New(ctx, m, d.X))(t)
	for _, c := range []struct {
		value any
		says  string
	}{
		{d.X, "500 inputs from 0 to 499"}, {gppl.Vectors(x, 2), "250 inputs of dimension 2"}, {gppl.Inputs{}, "no inputs"},
		{d, "500 observations"}, {&d, "500 observations"}, {testkit.Must(d.WithErrors(x))(t), "with known errors"}, {gppl.Data{}, "no observations"},
		{p, "30 projections of 500 observations, Sphere, seed 7"}, {spectral, "Spectral"},
		{exact, "n=500"}, {vfe, "m=20"},
		{testkit.Must(gppl.NewWhittle(ctx, m, d, gppl.WhittleOptions{Taper: 4}))(t), "debiased Whittle NLL (n=500, taper NW=4)"},
		{gppl.WhittleOptions{Taper: 4}, "4"}, {testkit.Must(gppl.NewProjected(ctx, m, d, p))(t), "k=30"}, {testkit.Must(gppl.NewResidual(ctx, m, d, spectral))(t), "residual"},
		{r, "evaluations"}, {r.Params, "lengthscale"}, {r.Params[0], "variance "}, {r.Starts, r.Reason}, {m.Params(), "noise variance = 5 y²"}, {exact.Report(), "engine "},
		{testkit.Must(exact.Posterior(ctx, r.Theta()))(t), "posterior of GP(SE("}, {testkit.Must(m.Periodogram(ctx, d))(t), "frequencies from"},
		{info, "log lengthscale"}, {testkit.Must(info.Loss(ctx, p))(t), "log lengthscale"},
		{gppl.Settings{}, "LBFGS"}, {gppl.Settings{Method: gppl.AdamRate(0.1), Stop: gppl.StopBelow(1e-3), MaxIterations: 50}, "Adam of rate 0.1, at most 50 iterations, until 5 "},
	} {
		text := fmt.Sprint(c.value)
		if !strings.Contains(text, c.says) || strings.Contains(text, "0x") || strings.Count(text, "\n") > 12 || utf8.RuneCountInString(text) > 600 {
			t.Errorf("%T prints, where %q is wanted,\n%.1000s", c.value, c.says, text)
		}
	}
}

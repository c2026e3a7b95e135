package auto_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

var hostileCases = flag.Int("hostile", 0, "TestHostileData: how many `cases`; 0 is a few")

// hostile returns finite data of any magnitude.
func hostile(seed uint64) (what string, x, y []float64) {
	rnd := rand.New(rand.NewPCG(seed, 44))
	scales := []float64{1, 1, 1, 1e-320, 1e-310, 1e-300, 1e-200, 1e-160, 1e-150, 1e-20, 1e20, 1e140, 1e154, 1e160, 1e200, 1e300,
		1.7e308}
	scale := func() float64 { return scales[rnd.IntN(len(scales))] }
	n := []int{1, 2, 3, 4, 5, 8, 9, 20, 40}[rnd.IntN(9)]
	draw := func() []float64 {
		v := make([]float64, n)
		s, kind := scale(), rnd.IntN(7)
		for i := range v {
			switch kind {
			case 0:
				v[i] = s * (2*rnd.Float64() - 1)
			case 1:
				v[i] = s * (float64(i) / float64(n))
			case 2:
				v[i] = s
			case 3: // two values, or few
				v[i] = s * float64(rnd.IntN(2))
			case 4: // all magnitudes
				v[i] = scale() * (2*rnd.Float64() - 1)
			case 5: // far from the origin
				v[i] = s * (0.9 + 1e-15*rnd.Float64())
			case 6: // one that dominates
				v[i] = rnd.NormFloat64()
				if i == n/2 {
					v[i] = s
				}
			}
		}
		return v
	}
	x, y = draw(), draw()
	return fmt.Sprintf("case %d: n = %d, x = %.3g, y = %.3g", seed, n, x[:min(n, 5)], y[:min(n, 5)]), x, y
}

// TestHostileData passes finite data of all magnitudes to what takes data: each answers with numbers or with an error.
func TestHostileData(t *testing.T) {
	t.Parallel()
	count := *hostileCases
	if count == 0 {
		count = testkit.Size(40, 60, 60)
	}
	for seed := range uint64(count) {
		what, x, y := hostile(seed)
		d, err := gppl.NewData(gppl.Scalars(x), y)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		try := func(name string, f func() string) {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: %s panics: %v\n%s", what, name, p, debug.Stack())
				}
			}()
			if fault := f(); fault != "" {
				t.Errorf("%s: %s: %s", what, name, fault)
			}
		}
		all := func(name string, v ...float64) string {
			if !numeric.AllFinite(v...) {
				return fmt.Sprintf("%s: %v, and no error", name, v)
			}
			return ""
		}
		period := gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 3}
		models := []gppl.Kernel{gppl.SE{Variance: 1, Lengthscale: 1}, period, gppl.Matern32{Variance: 1, Lengthscale: 1},
			gppl.Add(gppl.Laplace{Variance: 1, Lengthscale: 1}, period)}
		m := gppl.Model{Kernel: models[seed%4], Noise: 0.1}
		try("LikelyPeriods", func() string { return all("periods", testkit.Must(auto.LikelyPeriods(t.Context(), d, 5))(t)...) })
		try("Detrend", func() string { return all("rest", d.Detrend().Y...) })
		try("StartFrom", func() string {
			for _, p := range testkit.Must(auto.StartFrom(t.Context(), m, d))(t).Params() {
				if !(p.Value > 0) || !numeric.IsFinite(p.Value) {
					return fmt.Sprintf("%s = %v", p.Name, p.Value)
				}
			}
			return ""
		})
		try("Periodogram", func() string {
			p, err := m.Periodogram(t.Context(), d)
			if err != nil {
				return ""
			}
			return all("power", append(append(p.Frequency, p.Data...), p.Expected...)...)
		})
		try("Exact", func() string {
			loss, err := gppl.NewExact(t.Context(), m, d)
			if err != nil {
				return ""
			}
			grad := make([]float64, len(loss.Params()))
			theta := make([]float64, len(grad))
			for i, p := range loss.Params() {
				theta[i] = p.Value
			}
			v, err := loss.ValueGrad(t.Context(), grad, theta)
			if err != nil {
				return ""
			}
			return all("value and gradient", append(grad, v)...)
		})
		try("SpectralProjection", func() string {
			p, err := gppl.SpectralProjection(t.Context(), d.X, 1+len(x)/4)
			if err != nil {
				return ""
			}
			loss, err := gppl.NewResidual(t.Context(), m, d, p)
			if err != nil {
				return ""
			}
			theta := gppl.Values(loss.Params())
			v, err := loss.ValueGrad(t.Context(), nil, theta)
			if err != nil {
				return ""
			}
			return all("value", v)
		})
		try("SpectralColumns", func() string { _, err := m.SpectralColumns(gppl.Data{X: d.X}, 0.1); _ = err; return "" })
		try("Information", func() string {
			info, err := fisher.New(t.Context(), m, d.X)
			if err != nil {
				return ""
			}
			return all("information", info.Data().RawSymmetric().Data[0])
		})
		try("auto.Fit", func() string {
			r, err := auto.Fit(context.Background(), gppl.Model{Kernel: models[seed%4]}, d, auto.Settings{})
			if err != nil {
				return ""
			}
			var values []float64
			for _, p := range r.Params {
				values = append(values, p.Value)
			}
			return all("result", append(values, r.Value)...)
		})
	}
}

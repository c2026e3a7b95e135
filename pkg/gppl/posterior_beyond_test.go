package gppl

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// farCase is a kernel with a mean, perhaps.
type farCase struct {
	kernel Kernel
	mean   Mean
	n      int
}

// beyondCases are kernels of each form, on a range of about 100 and on one of 1.
func beyondCases() (all []farCase) {
	span := 100.
	for _, k := range []Kernel{
		SE{1.2, 0.5 * span}, SE{0.9, 0.02 * span}, Laplace{1, 0.2 * span}, Matern32{1, 0.3 * span}, Matern52{1, 0.1 * span},
		RQ{1, 0.007 * span, 0.1}, RQ{1, 0.7 * span, 0.1}, RQ{1, 0.2 * span, 1}, RQ{1, 0.05 * span, 30},
		Periodic{0.7, 1, 0.2 * span}, LocPer{1, 2 * span, 0.3 * span, 1}, LocPer{1, 0.1 * span, 0.3 * span, 1},
		Cosine{1, 0.37 * span}, SHO{1, 0.2 * span, 8}, SHO{1, 0.3 * span, 0.1}, DampedTrend{1, span, 0.02}, Rotation{1, 0.3 * span, 3, 1, 0.5},
		Add(SE{1, 0.3 * span}, White{0.3}), Add(Matern32{1, 0.1 * span}, Periodic{0.5, 1, 0.11 * span}),
		Add(LocPer{1, 4 * span, 0.3 * span, 1}, Laplace{0.5, 0.02 * span}), Add(RQ{1, 0.05 * span, 0.3}, Matern52{0.5, 0.3 * span}),
		Mul(SE{1, 0.5 * span}, Periodic{1, 1, 0.2 * span}), Mul(Matern32{1, 0.5 * span}, Cosine{1, 0.1 * span}),
		Add(RQ{1, 0.3 * span, 0.5}, SE{0.5, 0.004 * span}), Add(Periodic{1, 0.8, 0.21 * span}, SE{0.5, 0.003 * span}),
	} {
		for i, n := range []int{3, 24} {
			all = append(all, farCase{k, nil, n})
			if i == 1 {
				all = append(all, farCase{k, Intercept{}, n})
			}
		}
	}
	return all
}

// beyondInputs are single points, unsorted ones and repeated ones at distances of 1e-3 to 1e6 ranges on either side.
func beyondInputs(lo, span float64) (all []Inputs) {
	var far []float64
	for r := 1e-3; r <= 2e6; r *= 4.7 {
		far = append(far, lo+span*(1+r), lo-span*r)
	}
	for _, x := range []float64{1.5, 2.0001, 100, 1e6} {
		all = append(all, Scalars([]float64{lo + span*x}), Scalars([]float64{lo - span*x}))
	}
	mixed := append(far, lo+0.3*span, lo+1.5*span, lo+1.5*span, lo, lo+span)
	return append(all, Scalars(far), Scalars(mixed))
}

// TestPredictionsBeyond compares predictions at distances of 1e-3 to 1e6 ranges from the data, by every engine and by the
// automatic choice, with the dense ones: where an engine takes the model there is an answer, and it is correct.
func TestPredictionsBeyond(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	answered := map[string]int{}
	for number, c := range beyondCases() {
		if testkit.Quick() && number%9%4 != 0 && number != 15 { // one of each kernel, and what once panicked
			continue
		}
		d := benchData(t, c.n)
		lo, hi := d.X.Range(0)
		scale := 100 / (hi - lo)
		for i := range d.X.at {
			d.X.at[i] = 5 + (d.X.at[i]-lo)*scale
			d.Y[i] = math.Sin(d.X.at[i]/9) + 0.1*d.Y[i]
		}
		for j, noise := range []float64{0.1, 1e-4} {
			if testkit.Quick() && (number+j)%2 == 0 && number != 15 {
				continue
			}
			m := Model{Kernel: c.kernel, Noise: noise, Mean: c.mean}
			dense, err := NewPosterior(ctx, m, d, WithEngine(EngineDense))
			if err != nil {
				t.Fatal(err)
			}
			for _, engine := range append(Engines(), "") {
				p, err := NewPosterior(ctx, m, d, WithEngine(engine), WithSeconds(0.01*float64(testkit.Size(1, 5, 100))))
				if err != nil {
					continue
				}
				answered[engine]++
				v := variance(c.kernel) + capability.Nugget(c.kernel)
				for _, x := range beyondInputs(5, 100) {
					about := fmt.Sprintf("%q, %v, noise %v, n=%d, mean %v", engine, c.kernel, noise, c.n, c.mean)
					comparedBeyond(ctx, t, about, p, dense, x, v, float64(c.n)/noise)
				}
			}
		}
	}
	t.Log(answered)
	if answered[EngineMixed] < 10 {
		t.Errorf("the mixed engine took %d", answered[EngineMixed])
	}
}

// comparedBeyond compares the predictions by p with the dense ones, both of a prior variance of v. What rounding of the distance
// moves the covariances by counts as often as α = A⁻¹y may add it up.
func comparedBeyond(ctx context.Context, t *testing.T, about string, p, dense *Posterior, x Inputs, v, alpha float64) {
	t.Helper()
	mean, variances, err := p.Latent(ctx, x)
	want, wantVariances, wantErr := dense.Latent(ctx, x)
	if (err == nil) != (wantErr == nil) {
		t.Errorf("%s at %v: %v, dense: %v", about, x.at, err, wantErr)
		return
	}
	for i := range want {
		slack := 1e-7 + 10*(p.inexact+dense.inexact) + alpha*blur(p.model.Kernel, x.at[i])
		if math.IsNaN(want[i]) != math.IsNaN(mean[i]) {
			t.Errorf("%s at x[%d] = %v: mean %v, dense %v (%v)", about, i, x.at[i], mean[i], want[i], err)
			continue
		}
		if math.IsNaN(want[i]) {
			continue
		}
		off, offVariance := math.Abs(mean[i]-want[i]), math.Abs(variances[i]-wantVariances[i])
		if !(off <= slack*max(1, math.Abs(want[i]))) || !(offVariance <= slack*max(v, wantVariances[i])) {
			t.Errorf("%s at x[%d] = %v: mean %v, variance %v; dense %v, %v (%.3g, %.3g of what is allowed)", about, i, x.at[i], mean[i],
				variances[i], want[i], wantVariances[i], off/(slack*max(1, math.Abs(want[i]))), offVariance/(slack*max(v, wantVariances[i])))
		}
	}
	if _, err := p.Sample(ctx, x, 1, 1); err != nil && wantErr == nil {
		if _, err2 := dense.Sample(ctx, x, 1, 1); err2 == nil || strings.Contains(err.Error(), "panic") {
			t.Errorf("%s at %v: Sample: %v", about, x.at, err)
		}
	}
}

// blur is what rounding of a distance of about |x| moves the covariance by.
func blur(k Kernel, x float64) (most float64) {
	for j := range 16 {
		r, slope := []float64{math.Abs(x) * (1 + float64(j)/256)}, []float64{0}
		k.Slope(slope, r)
		most = max(most, 0x1p-52*r[0]*math.Abs(slope[0]))
	}
	return most
}

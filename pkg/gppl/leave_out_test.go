package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
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
					got, variances, err := gppl.LeaveOut(t.Context(), c.model, c.data, nil, gppl.WithEngine(engine))
					if err != nil {
						t.Fatal(err)
					}
					comparedWithRefits(t, c, ones, got, variances)
					got, variances, err = gppl.LeaveOut(t.Context(), c.model, c.data, blocks, gppl.WithEngine(engine))
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
		p, err := gppl.NewPosterior(t.Context(), c.model, c.data.Pick(rest), gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		mean, v := testkit.Must2(p.Noisy(t.Context(), c.data.X.Pick(block)))(t)
		for j, i := range block {
			if math.Abs(got[i]-mean[j]) > 1e-8*(1+math.Abs(mean[j])) || math.Abs(variances[i]-v[j]) > 1e-8*(1+v[j]) {
				t.Errorf("block %v, y[%d]: %.12g ± √%.12g, without it %.12g ± √%.12g", block, i, got[i], variances[i], mean[j], v[j])
			}
		}
	}
}

// TestLeaveOutWhite: of white noise alone the others tell the mean at most.
func TestLeaveOutWhite(t *testing.T) {
	y := []float64{1, -2, 0.5, 4}
	d := testkit.Must(gppl.NewData(gppl.Scalars([]float64{0, 1, 2.5, 3}), y))(t)
	m := gppl.Model{Kernel: gppl.White{Variance: 1.5}, Noise: 0.5}
	for _, engine := range []string{"", gppl.EngineDense, gppl.EngineBanded} {
		for _, mean := range []gppl.Mean{nil, gppl.Intercept{}} {
			m.Mean = mean
			got, variances, err := gppl.LeaveOut(t.Context(), m, d, nil, gppl.WithEngine(engine))
			if err != nil {
				t.Fatal(engine, err)
			}
			for i := range y {
				want, variance := 0., 2.
				if mean != nil {
					want, variance = (3.5-y[i])/3, 2+2./3 // since Σy = 3.5
				}
				if math.Abs(got[i]-want) > 1e-14 || math.Abs(variances[i]-variance) > 1e-14 {
					t.Errorf("%s, mean %v, %d: %v, %v, want %v, %v", engine, mean, i, got[i], variances[i], want, variance)
				}
			}
		}
	}
}

// TestLeaveOutSmallNoise: engines with a factor of A keep their digits where the noise is a part
// in 1e9 and less of the variance, with x in any order.
func TestLeaveOutSmallNoise(t *testing.T) {
	const n = 40
	rnd := rand.New(rand.NewPCG(3, 2))
	x, y := make([]float64, n), make([]float64, n)
	for i, at := range rnd.Perm(n) {
		x[i] = float64(at)
		y[i] = math.Sin(x[i]/8) + 0.1*rnd.NormFloat64()
	}
	d := gppl.Data{X: gppl.Scalars(x), Y: y}
	var ones, blocks [][]int
	for i := range n {
		ones = append(ones, []int{i})
	}
	for i := 0; i+3 <= n; i += 3 {
		blocks = append(blocks, []int{i + 2, i, i + 1})
	}
	for _, kernel := range []gppl.Kernel{gppl.SE{Variance: 1, Lengthscale: 2}, gppl.Matern32{Variance: 1, Lengthscale: 8}} {
		for _, mean := range []gppl.Mean{nil, gppl.Intercept{}} {
			for _, noise := range []float64{1e-7, 1e-9, 1e-12} {
				m := gppl.Model{Kernel: kernel, Noise: noise, Mean: mean}
				for _, engine := range []string{gppl.EngineDense, gppl.EngineBanded, gppl.EngineToeplitz} {
					for _, out := range [][][]int{ones, blocks} {
						got, variances, err := gppl.LeaveOut(t.Context(), m, d, out, gppl.WithEngine(engine))
						if err != nil {
							t.Errorf("%v by %s: %v", m, engine, err)
							continue
						}
						for _, block := range out {
							var rest []int
							for i := range n {
								if !slices.Contains(block, i) {
									rest = append(rest, i)
								}
							}
							p, err := gppl.NewPosterior(t.Context(), m, d.Pick(rest), gppl.WithEngine(gppl.EngineDense))
							if err != nil {
								t.Fatal(err)
							}
							want, v := testkit.Must2(p.Noisy(t.Context(), d.X.Pick(block)))(t)
							for j, i := range block {
								if !(math.Abs(got[i]-want[j]) <= 1e-5*math.Sqrt(v[j])) || !(math.Abs(variances[i]/v[j]-1) <= 1e-5) {
									t.Errorf("%v by %s: y[%d] of %v: %.9g ± √%.9g, without it %.9g ± √%.9g",
										m, engine, i, block, got[i], variances[i], want[j], v[j])
								}
							}
						}
					}
				}
			}
		}
	}
}

func TestLeaveOutErrors(t *testing.T) {
	c := meanCases(40)[0]
	for _, blocks := range [][][]int{{{40}}, {{-1}}, {{1, 2}, {2}}, {{5, 5}}} {
		if _, _, err := gppl.LeaveOut(t.Context(), c.model, c.data, blocks); err == nil {
			t.Errorf("blocks %v: no error", blocks)
		}
	}
}

// TestLeaveOutMean: where the others do not determine the mean there is no prediction, and
// the error names the column; just enough of them are enough.
func TestLeaveOutMean(t *testing.T) {
	x := gppl.Scalars([]float64{0, 1, 2, 3, 4, 5, 6, 7})
	d := testkit.Must(gppl.NewData(x, []float64{1, 2, 3, 2, 1, 0, 1, 2}))(t)
	last := [][]int{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}
	for _, c := range []struct {
		mean   gppl.Mean
		blocks [][]int
		column string // "" if the others determine the mean
	}{
		{gppl.Intercept{}, [][]int{{0, 1, 2, 3, 4, 5, 6, 7}}, "intercept"},
		{gppl.Intercept{}, [][]int{{0, 1, 2, 3, 4, 5, 6}, {7}}, ""},
		{gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, x)), [][]int{{5}, {0, 1, 2, 3, 4, 6, 7}}, "trend 1"},
		{gppl.AddMeans(gppl.Intercept{}, gppl.Step{At: 7}), last, "step at 7"},
		{gppl.AddMeans(gppl.Intercept{}, gppl.GaussianBeta{Of: gppl.Step{At: 7}, Variances: []float64{9}}), last, ""},
		{gppl.GaussianBeta{Of: gppl.Intercept{}, Variances: []float64{9}}, [][]int{{0, 1, 2, 3, 4, 5, 6, 7}}, ""},
		{gppl.AddMeans(gppl.Intercept{}, gppl.Kink{At: 5}), [][]int{{6, 7}}, "kink at 5"},
	} {
		for _, engine := range []string{gppl.EngineDense, gppl.EngineStateSpace} {
			m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 2}, Noise: 1e-3, Mean: c.mean}
			mean, variances, err := gppl.LeaveOut(t.Context(), m, d, c.blocks, gppl.WithEngine(engine))
			if c.column != "" {
				if err == nil || !strings.Contains(err.Error(), strconv.Quote(c.column)) {
					t.Errorf("%v without %v, %s: %v, %v, error %v; want one that names %q",
						c.mean, c.blocks, engine, mean, variances, err, c.column)
				}
			} else if err != nil {
				t.Errorf("%v without %v, %s: %v", c.mean, c.blocks, engine, err)
			}
		}
	}
}

// TestLeaveOutStateSpace: a block left out by the state space is what dense algebra says, at noise that is a small part of the
// variance, even or very uneven, and with an outlier.
func TestLeaveOutStateSpace(t *testing.T) {
	const n = 180
	x, y, relative := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = float64(i), math.Sin(float64(i)/10)
		relative[i] = math.Pow(10, -3+6*float64(i*7%13)/12)
	}
	var blocks [][]int
	for i := 0; i < n; i += 6 {
		blocks = append(blocks, []int{i, i + 1, i + 2, i + 3, i + 4, i + 5})
	}
	even := gppl.Data{X: gppl.Scalars(x), Y: y}
	uneven := testkit.Must(even.WithRelativeErrors(relative))(t)
	spiked := gppl.Data{X: even.X, Y: slices.Clone(y)}
	spiked.Y[100] += 5
	for _, d := range []gppl.Data{even, uneven, spiked} {
		for _, noise := range []float64{1e-5, 1e-8, 1e-13} {
			for _, kernel := range []gppl.Kernel{gppl.Laplace{Variance: 1, Lengthscale: 10}, gppl.Matern32{Variance: 1, Lengthscale: 10},
				gppl.Matern52{Variance: 1, Lengthscale: 10}} {
				m := gppl.Model{Kernel: kernel, Noise: noise}
				got, v, err := gppl.LeaveOut(t.Context(), m, d, blocks, gppl.WithEngine(gppl.EngineStateSpace))
				if err != nil {
					t.Errorf("%v: %v", m, err)
					continue
				}
				want, w, err := gppl.LeaveOut(t.Context(), m, d, blocks, gppl.WithEngine(gppl.EngineDense))
				if err != nil {
					continue // dense algebra says that it lost too much
				}
				for i := range want {
					if !(math.Abs(got[i]-want[i]) <= 1e-2*math.Sqrt(w[i])) || !(math.Abs(v[i]/w[i]-1) <= 1e-2) {
						t.Errorf("%v: y[%d] is %.9g ± √%.9g, dense %.9g ± √%.9g", m, i, got[i], v[i], want[i], w[i])
						break
					}
				}
			}
		}
	}
}

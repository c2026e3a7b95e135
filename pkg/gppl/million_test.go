package gppl_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// The benchmarks of this file train on a million irregular, unsorted points,
// drawn from a model that is known. They take minutes and gigabytes, so that
// they have to be asked for by name:
//
//	go test ./pkg/gppl -run none -bench Million -benchtime 1x
//
// peakMB is the most memory that the process has held, the data included.

const million = 1_000_000

// millionTimes are unsorted times, uniform on [0, 1000].
func millionTimes(seed uint64) []float64 {
	rnd := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, million)
	for i := range x {
		x[i] = 1000 * rnd.Float64()
	}
	return x
}

// drawSE draws from SE plus noise in O(nM). On a circle so long that the kernel
// has died out on its far side, the process is a Fourier series with independent
// coefficients, whose variances are the spectral density: exact to rounding.
func drawSE(k gppl.SE, noise float64, x []float64, seed uint64) []float64 {
	period := 1000 + 9*k.Lengthscale
	rnd := rand.New(rand.NewPCG(seed, 2))
	var weight []complex128
	for m := 0; ; m++ {
		w := 2 * math.Pi * float64(m) / period
		c := 2 * k.Variance * k.Lengthscale * math.Sqrt(2*math.Pi) / period * math.Exp(-0.5*w*w*k.Lengthscale*k.Lengthscale)
		if m == 0 {
			c /= 2
		}
		if c < 1e-18*k.Variance {
			break
		}
		s := math.Sqrt(c)
		weight = append(weight, complex(s*rnd.NormFloat64(), -s*rnd.NormFloat64()))
	}
	sd := math.Sqrt(noise)
	y := make([]float64, len(x))
	for i, xi := range x {
		sin, cos := math.Sincos(2 * math.Pi * xi / period)
		step, sum := complex(cos, sin), complex(0, 0)
		for _, w := range slices.Backward(weight) { // Horner
			sum = sum*step + w
		}
		y[i] = real(sum) + sd*rnd.NormFloat64()
	}
	return y
}

// drawMatern32 draws from Matérn 3/2 plus noise in O(n log n): f and f′ are a
// Markov process, run along the sorted times.
func drawMatern32(k gppl.Matern32, noise float64, x []float64, seed uint64) []float64 {
	rnd := rand.New(rand.NewPCG(seed, 3))
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if x[a] < x[b] {
			return -1
		}
		return 1
	})
	rate, amplitude, sd := math.Sqrt(3)/k.Lengthscale, math.Sqrt(k.Variance), math.Sqrt(noise)
	f, g := rnd.NormFloat64(), rnd.NormFloat64() // f and f′/rate, in units of the amplitude
	y := make([]float64, len(x))
	for i, o := range order {
		if i > 0 {
			// Given f and g at a distance a = rate·Δ before, both are normal with
			// variances 1 − e⁻²ᵃ(1 + 2a + 2a²) and 1 − e⁻²ᵃ(1 − 2a + 2a²) and
			// covariance 2a²e⁻²ᵃ. The first is a tail of the exponential series.
			a := rate * (x[o] - x[order[i-1]])
			e := math.Exp(-a)
			ff := 0.0
			for j, term := 3, 4*a*a*a/3; term > 1e-17*ff; j++ {
				ff += term
				term *= 2 * a / float64(j+1)
			}
			ff *= e * e
			fg := 2 * a * a * e * e
			gg := e * e * (math.Expm1(2*a) + 2*a - 2*a*a)
			f, g = e*((1+a)*f+a*g), e*((1-a)*g-a*f)
			if ff > 0 {
				u := rnd.NormFloat64()
				f += math.Sqrt(ff) * u
				g += fg/math.Sqrt(ff)*u + math.Sqrt(max(0, gg-fg*fg/ff))*rnd.NormFloat64()
			}
		}
		y[o] = amplitude*f + sd*rnd.NormFloat64()
	}
	return y
}

// askedFor skips a benchmark that was not named, and lets memory be counted
// from here on, with the collector tuned to stay well below 2 GB.
func askedFor(b *testing.B) {
	if !strings.Contains(flag.Lookup("test.bench").Value.String(), "Million") {
		b.Skip("takes minutes: -bench Million runs it")
	}
	limit, percent := debug.SetMemoryLimit(1800<<20), debug.SetGCPercent(25)
	b.Cleanup(func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(percent) })
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // VmHWM starts afresh, on Linux
}

// reportPeak reports the most memory that the process has held.
func reportPeak(b *testing.B) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		b.Log(err)
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kB float64
		if n, _ := fmt.Sscanf(lines.Text(), "VmHWM: %f kB", &kB); n == 1 {
			b.ReportMetric(kB/1000, "peakMB")
			if kB*1024 > 2e9 {
				b.Errorf("the process held %.2f GB", kB*1024/1e9)
			}
		}
	}
}

// against logs what was learnt beside the truth, in standard errors.
func against(b *testing.B, r *gppl.Result, truth gppl.Model) {
	b.Logf("%v", r)
	for i, p := range truth.Params() {
		q := r.Params[i]
		b.Logf("%-24s true %-8.6g learnt %-10.6g %+.2f standard errors off",
			p.Name, p.Value, q.Value, math.Log(q.Value/p.Value)/q.StdErrLog)
	}
	if r.Status != gppl.Converged {
		b.Errorf("training ended with %s: %s", r.Status, r.Reason)
	}
}

// BenchmarkMillionPL trains PL with SE, from data to optimum. Ω would take 0.8 GB
// at k = 100, and is never formed. Spectral is the design that tells most: the lowest 50 frequencies hold all of a signal with
// l = 25, and some that hold noise alone, which is how the noise is learnt.
// Sphere, at k = 100, hardly sees noise of this size (spec, section 5).
func BenchmarkMillionPL(b *testing.B) {
	askedFor(b)
	const k = 100
	truth := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 25}, Noise: 0.1}
	start := gppl.Model{Kernel: gppl.SE{Variance: 0.5, Lengthscale: 60}, Noise: 0.5}
	x := millionTimes(1)
	y := drawSE(truth.Kernel.(gppl.SE), truth.Noise, x, 1)
	var r *gppl.Result
	for b.Loop() {
		d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(b)
		p := testkit.Must(gppl.NewProjection(b.Context(), gppl.Spectral{}, d.X, k, 1))(b)
		b.Logf("Ω after %v", b.Elapsed())
		l := testkit.Must(gppl.NewProjected(b.Context(), start, d, p))(b)
		r = testkit.Must(gppl.Fit(context.Background(), l, nil, gppl.Settings{}))(b)
		b.Logf("trained after %v", b.Elapsed())
	}
	against(b, r, truth)
	b.ReportMetric(float64(r.Evaluations), "evaluations")
	b.ReportMetric(r.FitTime.Seconds(), "s/fit")
	reportPeak(b)
}

// BenchmarkMillionNLL is the exact likelihood with Matérn 3/2: one value and
// gradient, and the whole training from data to optimum.
func BenchmarkMillionNLL(b *testing.B) {
	truth := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 5}, Noise: 0.1}
	start := gppl.Model{Kernel: gppl.Matern32{Variance: 0.5, Lengthscale: 20}, Noise: 0.5}
	draw := func() (x, y []float64) {
		x = millionTimes(2)
		return x, drawMatern32(truth.Kernel.(gppl.Matern32), truth.Noise, x, 2)
	}
	b.Run("evaluation", func(b *testing.B) {
		askedFor(b)
		x, y := draw()
		l := testkit.Must(gppl.NewExact(b.Context(), truth, testkit.Must(gppl.NewData(gppl.Scalars(x), y))(b)))(b)
		theta, grad := []float64{1, 5, 0.1}, make([]float64, 3)
		testkit.Must(l.ValueGrad(b.Context(), grad, theta))(b) // working memory is made once
		b.ReportAllocs()
		for b.Loop() {
			testkit.Must(l.ValueGrad(b.Context(), grad, theta))(b)
		}
		b.Logf("%s", l.Explain())
		reportPeak(b)
	})
	b.Run("training", func(b *testing.B) {
		askedFor(b)
		x, y := draw()
		var r *gppl.Result
		for b.Loop() {
			l := testkit.Must(gppl.NewExact(b.Context(), start, testkit.Must(gppl.NewData(gppl.Scalars(x), y))(b)))(b)
			r = testkit.Must(gppl.Fit(context.Background(), l, nil, gppl.Settings{}))(b)
		}
		against(b, r, truth)
		b.ReportMetric(float64(r.Evaluations), "evaluations")
		reportPeak(b)
	})
}

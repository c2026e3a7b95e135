package gppl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testsize"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// chunksOf returns a series in chunks of random lengths, of which some are empty and some
// are the whole rest, in memory that is used again.
func chunksOf(x, y []float64, seed uint64) gppl.Chunks {
	return func() iter.Seq2[gppl.Chunk, error] {
		return func(yield func(gppl.Chunk, error) bool) {
			rnd := rand.New(rand.NewPCG(seed, 31))
			var chunk gppl.Chunk
			for from := 0; from < len(x); {
				n := 0
				switch rnd.IntN(5) {
				case 0: // none
				case 1:
					n = 1
				case 2:
					n = len(x) - from
				default:
					n = 1 + rnd.IntN(50)
				}
				to := min(len(x), from+n)
				for i := range chunk.T {
					chunk.T[i], chunk.Y[i] = math.NaN(), math.NaN()
				}
				chunk.T, chunk.Y = append(chunk.T[:0], x[from:to]...), append(chunk.Y[:0], y[from:to]...)
				if !yield(chunk, nil) {
					return
				}
				from = to
			}
		}
	}
}

// chunkedCase is a random series and a model that the state-space engine takes.
func chunkedCase(rnd *rand.Rand) (m gppl.Model, x, y []float64) {
	n := 1 + rnd.IntN(80)
	if rnd.IntN(4) == 0 {
		n = 1 + rnd.IntN(1000)
	}
	x, y = make([]float64, n), make([]float64, n)
	kind := rnd.IntN(4)
	for i := range x {
		x[i] = 100 * rnd.Float64()
		switch kind {
		case 0:
			x[i] = 100 * float64(i) / float64(n)
		case 1: // many at one time
			x[i] = math.Floor(x[i] / 10)
		case 2:
			x[i] += 1.7e9
		}
	}
	slices.Sort(x)
	scale := math.Pow(10, -3+6*rnd.Float64())
	for i := range y {
		y[i] = scale * (5 + math.Sin(0.3*x[i]) + 0.2*rnd.NormFloat64())
	}
	term := func() gppl.Kernel {
		v, l := scale*scale*math.Pow(10, -1+2*rnd.Float64()), math.Pow(10, -2+5*rnd.Float64())
		return []gppl.Kernel{gppl.Laplace{Variance: v, Lengthscale: l}, gppl.Matern32{Variance: v, Lengthscale: l}, gppl.Matern52{Variance: v, Lengthscale: l}}[rnd.IntN(3)]
	}
	m = gppl.Model{Kernel: term(), Noise: scale * scale * math.Pow(10, -7+7*rnd.Float64())}
	for range rnd.IntN(3) {
		m.Kernel = gppl.Add(m.Kernel, term())
	}
	if rnd.IntN(4) == 0 {
		m.Kernel = gppl.Add(m.Kernel, gppl.White{Variance: 0.1 * scale * scale})
	}
	return m, x, y
}

func newChunked(t testing.TB, open gppl.Chunks, segment int) *gppl.Chunked {
	t.Helper()
	c := must[*gppl.Chunked](t)(gppl.NewChunked(open))
	if segment > 0 {
		c.SetSegment(segment)
	}
	return c
}

// TestChunked compares values, gradients and posteriors with those of the state-space engine on all observations,
// for random chunks and segments.
func TestChunked(t *testing.T) {
	rnd := rand.New(rand.NewPCG(33, 34))
	cases := 400
	if testsize.Quick() {
		cases = 100
	}
	var worst, worstGrad float64
	for number := range cases {
		m, x, y := chunkedCase(rnd)
		what := fmt.Sprintf("case %d, n=%d, %v", number, len(x), m)
		c := newChunked(t, chunksOf(x, y, uint64(number)), 1+rnd.IntN(1+min(len(x), 1+rnd.IntN(200))))
		centre := c.Mean()
		rest := make([]float64, len(y))
		for i := range y {
			rest[i] = y[i] - centre
		}
		data := must[gppl.Data](t)(gppl.NewData(gppl.Scalars(x), rest))
		want := must[*gppl.Exact](t)(gppl.NewExact(m, data, gppl.WithEngine(gppl.EngineStateSpace)))
		got := must[*gppl.Exact](t)(gppl.NewChunkedExact(m, c, centre))
		theta := thetaOf(m)
		g, w := make([]float64, len(theta)), make([]float64, len(theta))
		value, err := got.ValueGrad(g, theta)
		if err != nil {
			t.Fatal(what, err)
		}
		at, err := want.ValueGrad(w, theta)
		if err != nil {
			t.Fatal(what, err)
		}
		if alone, err := got.ValueGrad(nil, theta); err != nil || alone != value {
			t.Errorf("%s: value %v without the gradient, %v with it, %v", what, alone, value, err)
		}
		var diff, norm float64
		for i, p := range theta {
			diff, norm = math.Hypot(diff, (g[i]-w[i])*p), math.Hypot(norm, w[i]*p)
		}
		size := max(math.Abs(at), float64(len(x)))
		worst, worstGrad = max(worst, math.Abs(value-at)/size), max(worstGrad, diff/max(norm, float64(len(x))))
		if math.Abs(value-at) > 1e-9*size {
			t.Errorf("%s: value %.15g, at once %.15g", what, value, at)
		}
		if diff > 1e-9*max(norm, float64(len(x))) {
			t.Errorf("%s: gradient %.12g, at once %.12g", what, g, w)
		}
		if bound := got.Report().LastBound; math.Abs(value-at) > bound+want.Report().LastBound {
			t.Errorf("%s: off by %.2g, promised %.2g", what, value-at, bound)
		}
		if number%4 == 0 {
			compareChunkedPosterior(t, what, m, c, data, rnd)
		}
	}
	t.Logf("%d cases: value within %.2g, gradient within %.2g", cases, worst, worstGrad)
}

func priorVariance(k gppl.Kernel) float64 {
	v := []float64{0}
	k.Cov(v, v)
	return v[0]
}

func compareChunkedPosterior(t *testing.T, what string, m gppl.Model, c *gppl.Chunked, data gppl.Data, rnd *rand.Rand) {
	t.Helper()
	want := must[*gppl.Posterior](t)(gppl.NewPosterior(m, data, gppl.WithEngine(gppl.EngineStateSpace)))
	got := must[*gppl.Posterior](t)(gppl.NewChunkedPosterior(m, c, c.Mean()))
	lo, hi := c.Extent()
	at := []float64{lo - 1, lo, hi, hi + 0.1, hi + 50}
	for range 30 {
		at = append(at, lo+(hi-lo)*rnd.Float64(), data.X.At(rnd.IntN(data.Len()))[0])
	}
	mean, variances, err := want.LatentContext(context.Background(), gppl.Scalars(at))
	if err != nil {
		t.Fatal(what, err)
	}
	chunkedMean, chunkedVariances, err := got.LatentContext(context.Background(), gppl.Scalars(at))
	if err != nil {
		t.Fatal(what, err)
	}
	var size float64
	for _, y := range data.Y {
		size = max(size, math.Abs(y))
	}
	prior := priorVariance(m.Kernel)
	for i := range at {
		if d := math.Abs(chunkedMean[i] - mean[i]); d > 1e-8*size {
			t.Errorf("%s: at %v mean %v, at once %v", what, at[i], chunkedMean[i], mean[i])
		}
		if d := math.Abs(chunkedVariances[i] - variances[i]); d > 1e-10*prior {
			t.Errorf("%s: at %v variance %v, at once %v", what, at[i], chunkedVariances[i], variances[i])
		}
	}
	if _, _, err := got.Sample(gppl.Scalars(at), 1, 1); err == nil {
		t.Error("samples without covariances")
	}
}

// longChunks is a series of n observations that is made as it is read.
func longChunks(n, chunk int) gppl.Chunks {
	return func() iter.Seq2[gppl.Chunk, error] {
		return func(yield func(gppl.Chunk, error) bool) {
			rnd := rand.New(rand.NewPCG(35, 36))
			part := gppl.Chunk{T: make([]float64, chunk), Y: make([]float64, chunk)}
			state := 0.
			for from := 0; from < n; from += chunk {
				rows := min(chunk, n-from)
				for i := range rows {
					state = 0.99*state + 0.14*rnd.NormFloat64()
					part.T[i], part.Y[i] = float64(from+i), 3+state+0.3*rnd.NormFloat64()
				}
				if !yield(gppl.Chunk{T: part.T[:rows], Y: part.Y[:rows]}, nil) {
					return
				}
			}
		}
	}
}

// TestChunkedBits wants the same bits whatever the chunks and the number of processors, and from several goroutines
// at once.
func TestChunkedBits(t *testing.T) {
	const n = 70000
	m := gppl.Model{Kernel: gppl.Add(gppl.Laplace{Variance: 1, Lengthscale: 100}, gppl.Matern32{Variance: 0.5, Lengthscale: 2000}), Noise: 0.1}
	evaluate := func(chunk int) (bits []float64) {
		c := newChunked(t, longChunks(n, chunk), 0)
		l := must[*gppl.Exact](t)(gppl.NewChunkedExact(m, c, 3))
		bits = make([]float64, len(thetaOf(m)))
		v, err := l.ValueGrad(bits, thetaOf(m))
		if err != nil {
			t.Fatal(err)
		}
		return append(bits, v)
	}
	want := evaluate(n)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for i, processors := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(processors)
		for j, chunk := range []int{1, 977, 1 << 15, n - 1} {
			if testsize.Quick() && i != j {
				continue
			}
			if got := evaluate(chunk); !slices.Equal(got, want) {
				t.Errorf("%d processors, chunks of %d: %v, want %v", processors, chunk, got, want)
			}
		}
	}
	l := must[*gppl.Exact](t)(gppl.NewChunkedExact(m, newChunked(t, longChunks(n, 5000), 0), 3))
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			grad := make([]float64, len(want)-1)
			v, err := l.ValueGrad(grad, thetaOf(m))
			if err != nil || !slices.Equal(append(grad, v), want) {
				t.Errorf("at the same time: %v, %v, %v, want %v", v, grad, err, want)
			}
		})
	}
	wait.Wait()
}

// TestChunkedFit trains from a file, and compares with training on all observations.
func TestChunkedFit(t *testing.T) {
	const n = 40000
	path := filepath.Join(t.TempDir(), "series.f64")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := gppl.WriteChunks(out, longChunks(n, 999)()); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	c := newChunked(t, gppl.FileChunks(path), 0)
	var x, y []float64
	for chunk := range gppl.FileChunks(path)() {
		x, y = append(x, chunk.T...), append(y, chunk.Y...)
	}
	if c.Len() != n || len(x) != n {
		t.Fatalf("%d and %d observations, want %d", c.Len(), len(x), n)
	}
	var mean, square float64
	for _, v := range y {
		mean += v / n
	}
	for i := range y {
		y[i] -= c.Mean()
		square += y[i] * y[i] / n
	}
	if math.Abs(c.Mean()-mean) > 1e-12*mean || math.Abs(c.Variance()-square) > 1e-12*square {
		t.Errorf("mean %v, variance %v, want %v and %v", c.Mean(), c.Variance(), mean, square)
	}
	start := gppl.Model{Kernel: gppl.Laplace{Variance: 0.5, Lengthscale: 30}, Noise: 0.3}
	chunked := must[*gppl.Exact](t)(gppl.NewChunkedExact(start, c, c.Mean()))
	whole := must[*gppl.Exact](t)(gppl.NewExact(start, must[gppl.Data](t)(gppl.NewData(gppl.Scalars(x), y)), gppl.WithEngine(gppl.EngineStateSpace)))
	got := must[*gppl.Result](t)(gppl.Fit(context.Background(), chunked, nil, gppl.Settings{}))
	want := must[*gppl.Result](t)(gppl.Fit(context.Background(), whole, nil, gppl.Settings{}))
	if got.Status != gppl.Converged || math.Abs(got.Value-want.Value) > 1e-9*math.Abs(want.Value) {
		t.Errorf("%s at %.12g, at once %s at %.12g", got.Status, got.Value, want.Status, want.Value)
	}
	truth := []float64{0.14 * 0.14 / (1 - 0.99*0.99), -1 / math.Log(0.99), 0.09}
	for i, p := range got.Params {
		q := want.Params[i]
		if math.Abs(p.Value-q.Value) > 1e-4*q.Value*q.StdErrLog || math.Abs(p.StdErrLog-q.StdErrLog) > 1e-4*q.StdErrLog {
			t.Errorf("%s = %v ± %v, at once %v ± %v", p.Name, p.Value, p.StdErrLog, q.Value, q.StdErrLog)
		}
		if d := math.Abs(math.Log(p.Value/truth[i])) / p.StdErrLog; !(d < 4) {
			t.Errorf("%s = %v, %.1f standard errors from %v", p.Name, p.Value, d, truth[i])
		}
	}
}

// TestChunkedErrors wants what is wrong named, with chunk and row.
func TestChunkedErrors(t *testing.T) {
	seq := func(chunks ...gppl.Chunk) gppl.Chunks {
		return func() iter.Seq2[gppl.Chunk, error] {
			return func(yield func(gppl.Chunk, error) bool) {
				for _, c := range chunks {
					if !yield(c, nil) {
						return
					}
				}
			}
		}
	}
	chunk := func(t ...float64) gppl.Chunk { return gppl.Chunk{T: t, Y: make([]float64, len(t))} }
	short := filepath.Join(t.TempDir(), "short.f64")
	if err := os.WriteFile(short, make([]byte, 40), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is gone")
	for _, c := range []struct {
		name string
		open gppl.Chunks
		want string
	}{
		{"order within", seq(chunk(1, 2), chunk(2, 4, 3)), "chunk 1, row 2: t = 3 comes after 4"},
		{"order across", seq(chunk(1, 2), chunk(), chunk(1.5, 4)), "chunk 2, row 0: t = 1.5 comes after 2"},
		{"time", seq(chunk(1, math.NaN())), "chunk 0, row 1: t = NaN is not finite"},
		{"value", seq(chunk(1), gppl.Chunk{T: []float64{2}, Y: []float64{math.Inf(1)}}), "chunk 1, row 0: y = +Inf is not finite"},
		{"lengths", seq(gppl.Chunk{T: []float64{2}}), "chunk 0 has 1 times and 0 observations"},
		{"none", seq(chunk(), chunk()), "no observations"},
		{"no file", gppl.FileChunks(short + ".not"), "short.f64.not"},
		{"truncated file", gppl.FileChunks(short), "ends in the middle of a pair"},
		{"source", func() iter.Seq2[gppl.Chunk, error] {
			return func(yield func(gppl.Chunk, error) bool) { _ = yield(chunk(1), nil) && yield(gppl.Chunk{}, broken) }
		}, "chunk 1: the disk is gone"},
	} {
		if _, err := gppl.NewChunked(c.open); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	m := gppl.Model{Kernel: gppl.Laplace{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	series := newChunked(t, seq(chunk(1, 2), chunk(2, 4)), 0)
	var refusal *gppl.Refusal
	smooth := must[*gppl.Exact](t)(gppl.NewChunkedExact(gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}, series, 0))
	if _, err := smooth.ValueGrad(nil, []float64{1, 1, 0.1}); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "Matérn") {
		t.Errorf("SE: %v", err)
	}
	mean := m
	mean.Mean = gppl.Intercept{}
	if _, err := gppl.NewChunkedExact(mean, series, 0); err == nil || !strings.Contains(err.Error(), "centre") {
		t.Errorf("a mean: %v", err)
	}
	if _, err := gppl.NewChunkedExact(m, series, math.NaN()); err == nil {
		t.Error("a centre of NaN")
	}
	// A source that has other observations later on.
	for _, later := range []gppl.Chunks{seq(chunk(1, 2)), seq(chunk(1, 2), chunk(2, 4, 5)), seq(chunk(1, 2), chunk(1))} {
		open := seq(chunk(1, 2), chunk(2, 4))
		changed := newChunked(t, func() iter.Seq2[gppl.Chunk, error] { return open() }, 3)
		open = later
		l := must[*gppl.Exact](t)(gppl.NewChunkedExact(m, changed, 0))
		if v, err := l.ValueGrad(nil, []float64{1, 1, 0.1}); err == nil {
			t.Errorf("a series that has changed: %v", v)
		} else {
			t.Log(err)
		}
	}
	singular := newChunked(t, seq(chunk(0), chunk(1, 1, 2)), 2)
	l := must[*gppl.Exact](t)(gppl.NewChunkedExact(m, singular, 0))
	if _, err := l.ValueGrad(nil, []float64{1, 1, 1e-200}); err == nil || !strings.Contains(err.Error(), "minor of order 3") {
		t.Errorf("two observations at a time, without noise: %v", err)
	}
}

// TestChunkedMemory reads what the heap holds at most in an evaluation of a series that would take 48 MB.
func TestChunkedMemory(t *testing.T) {
	if testsize.Quick() {
		t.Skip("takes some seconds")
	}
	const n, limit = 3_000_000, 24 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var before, s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l := must[*gppl.Exact](t)(gppl.NewChunkedExact(gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 100}, Noise: 0.1}, newChunked(t, longChunks(n, 10000), 0), 3))
	done := make(chan error)
	go func() {
		_, err := l.ValueGrad(make([]float64, 3), []float64{1, 100, 0.1})
		done <- err
	}()
	var most uint64
	for err, waiting := error(nil), true; waiting; {
		runtime.ReadMemStats(&s)
		most = max(most, s.HeapInuse-min(before.HeapInuse, s.HeapInuse))
		select {
		case err = <-done:
			waiting = false
		case <-time.After(5 * time.Millisecond):
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%.1f MB", float64(most)/(1<<20))
	if most > limit {
		t.Errorf("%d bytes, want at most %d", most, limit)
	}
}

// TestWriteChunks: what is written is what is read.
func TestWriteChunks(t *testing.T) {
	var b bytes.Buffer
	if err := gppl.WriteChunks(&b, longChunks(10000, 1)()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "series.f64")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var x, y, wantX, wantY []float64
	for c := range gppl.FileChunks(path)() {
		x, y = append(x, c.T...), append(y, c.Y...)
	}
	for c := range longChunks(10000, 77)() {
		wantX, wantY = append(wantX, c.T...), append(wantY, c.Y...)
	}
	if !slices.Equal(x, wantX) || !slices.Equal(y, wantY) {
		t.Error("other observations")
	}
	uneven := func(yield func(gppl.Chunk, error) bool) { yield(gppl.Chunk{T: []float64{1}}, nil) }
	if err := gppl.WriteChunks(&b, uneven); err == nil {
		t.Error("chunks of two lengths")
	}
}

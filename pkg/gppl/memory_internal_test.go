package gppl

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
)

// memoryCase is a loss that is evaluated by one engine.
type memoryCase struct {
	name, engine string
	kernel       Kernel
	n, k         int    // observations, and projections; 0 for the exact likelihood
	inputs       string // a name in engineInputs
}

var memoryCases = []memoryCase{
	{"exact", EngineDense, SE{1, 3}, 700, 0, "irregular"},
	{"exact", EngineBanded, SE{1, 0.02}, 20000, 0, "irregular"},
	{"exact", EngineBanded, Matern32{1, 0.02}, 10000, 0, "regular"},
	{"exact", EngineStateSpace, Laplace{1, 3}, 100000, 0, "irregular"},
	{"exact", EngineStateSpace, Matern32{1, 3}, 100000, 0, "irregular"},
	{"exact", EngineStateSpace, Matern52{1, 3}, 60000, 0, "irregular"},
	{"exact", EngineStateSpace, Add(Laplace{1, 3}, Matern52{1, 30}), 20000, 0, "irregular"},
	{"exact", EngineToeplitz, RQ{1, 3, 1.5}, 5000, 0, "regular"},
	{"exact", EngineGridded, SE{1, 0.1}, 5000, 0, "irregular"},
	{"exact", EngineSpectral, SE{1, 0.5}, 5000, 0, "irregular"},
	{"exact", EngineSpectral, Periodic{1, 2, 9}, 2000, 0, "irregular"},
	{"exact", EngineMixed, Periodic{1, 1, 0.1}, 5000, 0, "irregular"},
	{"exact", EngineMixed, LocPer{1, 9, 0.5, 1}, 3000, 0, "irregular"},
	{"projected", EngineSpectral, SE{1, 0.1}, 20000, 101, "irregular"},
	{"projected", EngineSpectral, SE{1, 0.5}, 3000, 300, "irregular"},
	{"projected", EngineStateSpace, Matern32{1, 1}, 2000, 101, "irregular"},
	{"projected", EngineStateSpace, Matern32{1, 1}, 5000, 101, "unsorted"},
	{"projected", EngineBanded, SE{1, 0.05}, 5000, 101, "irregular"},
	{"projected", EngineBanded, SE{1, 0.05}, 5000, 101, "unsorted"},
	{"projected", EngineDense, RQ{1, 1, 1}, 1000, 101, "irregular"},
	{"inducing", EngineDense, SE{1, 3}, 5000, 60, "irregular"},
	{"inducing", EngineSpectral, SE{1, 2}, 5000, 60, "irregular"},
}

// loss makes the loss of a case, within a limit of memory, and its data.
func (c memoryCase) loss(t *testing.T, opts ...Option) (Loss, []float64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	x := engineInputs(c.inputs, c.n, rnd)
	y := make([]float64, c.n)
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	m, d := Model{Kernel: c.kernel, Noise: 0.5}, Data{X: x, Y: y}
	opts = append(opts, WithEngine(c.engine))
	var l Loss
	var err error
	switch c.name {
	case "exact":
		l, err = NewExact(t.Context(), m, d, opts...)
	case "projected":
		var p *Projection
		if p, err = SpectralProjection(t.Context(), x, c.k); err == nil {
			l, err = NewProjected(t.Context(), m, d, p, opts...)
		}
	case "inducing":
		l, err = NewVFE(t.Context(), m, d, Scalars(linspace(1, 99, c.k)), VFEOptions{FixInducing: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	return l, Values(l.Params())
}

func linspace(lo, hi float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lo + (hi-lo)*float64(i)/float64(n-1)
	}
	return x
}

// estimateOf returns the estimate of the engine that made the last evaluation.
func estimateOf(l Loss) choice.Estimate {
	var c *choice.Chooser
	switch l := l.(type) {
	case *Exact:
		c = l.chooser
	case *Projected:
		c = l.terms[0].chooser
	case *VFE:
		c = l.chooser
	}
	return c.Last().Candidates[c.Last().Chosen]
}

// TestEstimateBytes compares the estimate of memory of every engine with what a first evaluation allocates.
func TestEstimateBytes(t *testing.T) {
	for i, c := range memoryCases {
		if testkit.Quick() && i%3 != 1 {
			continue
		}
		l, theta := c.loss(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := l.ValueGrad(t.Context(), make([]float64, len(theta)), theta)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		allocated, estimate := float64(after.TotalAlloc-before.TotalAlloc), estimateOf(l).Bytes
		t.Logf("%v: %s, estimate %s", c, text.Bytes(allocated), text.Bytes(estimate))
		// What is forgotten at once counts as allocated too; a window's frequencies are estimated with a margin of three.
		const most, least = 1.5, 1. / 3.5
		if ratio := allocated / estimate; !(ratio < most && ratio > least) {
			t.Errorf("%v allocates %s, the estimate is %s", c, text.Bytes(allocated), text.Bytes(estimate))
		}
	}
}

// TestOrdinaryModels: where the noise has half of the variance, every engine promises the tolerance.
func TestOrdinaryModels(t *testing.T) {
	for _, c := range memoryCases {
		c.n = min(c.n, 1000)
		l, theta := c.loss(t)
		if _, err := l.ValueGrad(t.Context(), make([]float64, len(theta)), theta); err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		if r := l.(interface{ Report() LossReport }).Report(); r.LastInexact > 0 {
			t.Errorf("%v promises %.2g nats, more than the tolerance", c, r.LastInexact)
		}
	}
}

// TestMemoryLimit gives every engine less memory than it needs: it refuses, before it allocates, with an error that says what it
// needs; with just enough it works.
func TestMemoryLimit(t *testing.T) {
	for i, c := range memoryCases {
		if c.name == "inducing" || testkit.Quick() && i%3 != 2 { // VFE takes no options
			continue
		}
		l, theta := c.loss(t)
		if _, err := l.ValueGrad(t.Context(), nil, theta); err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		needs := estimateOf(l).Bytes
		enough, _ := c.loss(t, WithMemory(1.01*needs))
		if _, err := enough.ValueGrad(t.Context(), nil, theta); err != nil {
			t.Errorf("%v, with enough: %v", c, err)
		}
		short, _ := c.loss(t, WithMemory(0.9*needs))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := short.ValueGrad(t.Context(), nil, theta)
		runtime.ReadMemStats(&after)
		var memory *MemoryError
		if !errors.As(err, &memory) || memory.Limit != 0.9*needs || memory.Needed < memory.Limit || memory.Needed > 1.01*needs {
			t.Errorf("%v, with too little: %v", c, err)
		}
		if refused := (*Refusal)(nil); !errors.As(err, &refused) {
			t.Errorf("%v, with too little: %v is no Refusal", c, err)
		}
		if allocated := float64(after.TotalAlloc - before.TotalAlloc); allocated > 0.2*needs+1e6 {
			t.Errorf("%v allocates %s to refuse %s", c, text.Bytes(allocated), text.Bytes(needs))
		}
		said := l.(interface{ Explain() string }).Explain()
		if !strings.Contains(said, text.Bytes(needs)) {
			t.Errorf("%v: Explain does not say %s: %s", c, text.Bytes(needs), said)
		}
		if said := short.(interface{ Explain() string }).Explain(); !strings.Contains(said, "no: it would take") {
			t.Errorf("%v, with too little: %s", c, said)
		}
	}
}

// The choice goes on to an engine that fits, and its answer is the same within the tolerance.
func TestMemoryLimitChooses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x := engineInputs("regular", testkit.Size(900, 1500, 1500), rnd)
	others := 0
	for _, l := range []float64{0.3, 0.6, 1.2} {
		m := Model{Kernel: SE{1, l}, Noise: 0.5}
		d := drawFrom(t, m, x, rnd)
		free, err := NewExact(t.Context(), m, d)
		if err != nil {
			t.Fatal(err)
		}
		want, err := free.ValueGrad(t.Context(), nil, Values(m.Params()))
		if err != nil {
			t.Fatal(err)
		}
		limit := 0.99 * estimateOf(free).Bytes
		if !slices.ContainsFunc(free.chooser.Last().Candidates, func(f choice.Estimate) bool {
			return !f.Reason.Given() && f.Bytes <= limit && f.Err <= free.chooser.Limit
		}) {
			continue
		}
		others++
		limited, err := NewExact(t.Context(), m, d, WithMemory(limit))
		if err != nil {
			t.Fatal(err)
		}
		got, err := limited.ValueGrad(t.Context(), nil, Values(m.Params()))
		if free.Report().Engine == limited.Report().Engine || err != nil || !(math.Abs(got-want) < 1e-5) {
			t.Errorf("%v by %s within the limit (%v), %v by %s without", got, limited.Report().Engine, err, want, free.Report().Engine)
		}
	}
	if others == 0 {
		t.Error("there was no other engine to choose")
	}
}

// An Ω that does not fit is refused before it is formed, and the waves that replace it need none.
func TestMemoryLimitProjections(t *testing.T) {
	x := Scalars(linspace(0, 1, 100000))
	memory := (*MemoryError)(nil)
	if _, err := SpectralProjection(t.Context(), x, 400, WithMemory(100e6)); !errors.As(err, &memory) {
		t.Errorf("400 projections: %v", err)
	}
	p, err := SpectralProjection(t.Context(), x, commonWaves, WithMemory(100e6))
	if err != nil || p.waves == nil {
		t.Errorf("%d projections: %v", commonWaves, err)
	}
	if _, err := p.Extend(t.Context(), x, 400, WithMemory(100e6)); !errors.As(err, &memory) {
		t.Errorf("400 projections: %v", err)
	}
	if _, err := NewProjection(t.Context(), Sphere{}, x, 50000, 1); !errors.As(err, &memory) {
		t.Errorf("Sphere: %v", err)
	}
	y := make([]float64, x.Len())
	errs := linspace(0.1, 1, x.Len())
	d, err := Data{X: x, Y: y}.WithErrors(errs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewProjected(t.Context(), Model{Kernel: SE{1, 0.1}, Noise: 1}, d, p, WithMemory(100e6)); !errors.As(err, &memory) {
		t.Errorf("known errors: %v", err)
	}
	for _, bad := range []float64{0, -1} {
		if _, err := SpectralProjection(t.Context(), x, 10, WithMemory(bad)); err == nil {
			t.Errorf("a limit of %v bytes is taken", bad)
		}
	}
}

// TestMemoryErrorText: what is needed reads as more than the limit, also where both have the same digits.
func TestMemoryErrorText(t *testing.T) {
	for _, c := range []struct {
		needed, limit float64
		want          string
	}{
		{3.2e9, 1e9, "gppl: it would take 3.2 GB of memory, and the limit is 1 GB"},
		{1.004e8, 1e8, "gppl: it would take more than 100 MB of memory, and the limit is 100 MB"},
		{5e7, 5e7, "gppl: it would take more than 50 MB of memory, and the limit is 50 MB"},
	} {
		if got := (&MemoryError{What: "it", Needed: c.needed, Limit: c.limit}).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

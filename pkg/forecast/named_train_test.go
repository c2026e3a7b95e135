package forecast

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// drawOf returns a draw of a kernel at 150 times from 0 to 100, and the model that drew it.
func drawOf(t testing.TB, k gppl.Kernel, even bool, seed uint64) (*series.Series, gppl.Model) {
	t.Helper()
	const n = 150
	rnd := rand.New(rand.NewPCG(seed, n))
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) * 2 / 3
		if !even {
			x[i] = 100 * rnd.Float64()
		}
	}
	slices.Sort(x)
	m := gppl.Model{Kernel: k, Noise: 0.01}
	_, y, _, err := m.Sample(t.Context(), gppl.Scalars(x), seed)
	if err != nil {
		t.Fatal(err)
	}
	return &series.Series{X: x, Y: y, Step: 100. / n}, m
}

// TestFitFindsDraws: a named kernel finds the parameters of its own draw, or likelier ones. From start values alone all but the
// last ended more than a hundred nats above, and were called converged. The search is that of auto.Fit: what Fit calls converged
// is no worse.
func TestFitFindsDraws(t *testing.T) {
	slow := gppl.SE{Variance: 1, Lengthscale: 30}
	for i, c := range []struct {
		name   string
		kernel gppl.Kernel
		even   bool
		seed   uint64
	}{
		{"LocPer", gppl.LocPer{Variance: 1, Lengthscale: 300, Period: 17, PeriodicLengthscale: 0.3}, true, 4},
		{"Periodic", gppl.Periodic{Variance: 1, Period: 13, Lengthscale: 0.25}, true, 3},
		{"SE + Periodic", gppl.Add(slow, gppl.Periodic{Variance: 1, Period: 5.3, Lengthscale: 0.4}), false, 1},
		{"SE + LocPer", gppl.Add(slow, gppl.LocPer{Variance: 1, Lengthscale: 80, Period: 4.1, PeriodicLengthscale: 0.5}), true, 3},
		{"SE + Periodic", gppl.Add(slow, gppl.Periodic{Variance: 1, Period: 5.3, Lengthscale: 0.4}), true, 2},
	} {
		if testkit.Quick() && i > 1 && i != 4 {
			continue
		}
		s, truth := drawOf(t, c.kernel, c.even, c.seed)
		a, err := Fit(t.Context(), s, Options{Kernels: []string{c.name}, Trend: "none", Log: "never"})
		if err != nil {
			t.Fatal(err)
		}
		v, err := search.NewYScale(s, 0, len(s.X), false)
		if err != nil {
			t.Fatal(err)
		}
		at := rescaled(truth, 1/(v.Scaling.Scale*v.Scaling.Scale))
		exact, err := gppl.NewExact(t.Context(), at, v.Data)
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := exact.ValueGrad(t.Context(), nil, at.Values())
		if err != nil {
			t.Fatal(err)
		}
		drawn += v.Offset // of y
		best := a.Candidates[0]
		if a.NLL() > drawn+0.5 {
			t.Errorf("%s, draw %d: %.2f nats (%s), the model that drew it has %.2f", c.name, c.seed, a.NLL(), best.Status, drawn)
		}
		if !strings.HasPrefix(best.Search, "searched ") {
			t.Errorf("%s: the search is %q", c.name, best.Search)
		}
		if testkit.Quick() {
			continue
		}
		found, err := auto.Fit(t.Context(), gppl.Model{Kernel: c.kernel}, v.Data, auto.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if above := a.NLL() - found.Value - v.Offset; above > 0.5 && best.Doubts == nil {
			t.Errorf("%s, draw %d: %.2f nats above auto.Fit's, and no doubt of it", c.name, c.seed, above)
		}
	}
}

// TestOneSearchForBothScales: log y of a long series is trained from the search on y, and ends where a search of its own leads.
func TestOneSearchForBothScales(t *testing.T) {
	const n = 450
	s := &series.Series{Step: 1}
	for i := range n {
		s.X = append(s.X, float64(i))
	}
	_, draw, _, err := gppl.Model{Kernel: gppl.Periodic{Variance: 1, Period: 13.3, Lengthscale: 0.6},
		Noise: 0.05}.Sample(t.Context(), gppl.Scalars(s.X), 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range draw {
		s.Y = append(s.Y, 40*math.Exp(0.5*f))
	}
	fit := func(log string) search.Candidate {
		t.Helper()
		a, err := Fit(t.Context(), s, Options{Kernels: []string{"Periodic"}, Trend: "none", Log: log})
		if err != nil {
			t.Fatal(err)
		}
		return a.Candidates[0]
	}
	both, alone := fit("auto"), fit("always")
	if !both.Log || both.Search != fit("never").Search {
		t.Errorf("log y is %v, searched: %q", both.Log, both.Search)
	}
	if 5*both.Evaluations > alone.Evaluations {
		t.Errorf("%d evaluations for log y after y, %d alone", both.Evaluations, alone.Evaluations)
	}
	if math.Abs(both.NLL-alone.NLL) > 0.1 {
		t.Errorf("from the search of y training ends at %.2f nats, from its own at %.2f", both.NLL, alone.NLL)
	}
}

// TestFitDoubts: the candidate repeats the doubts of the library: about a period that white noise cannot determine, and a search
// that the budget left no time for.
func TestFitDoubts(t *testing.T) {
	noise := &series.Series{Step: 1}
	rnd := rand.New(rand.NewPCG(3, 0))
	for i := range 80 {
		noise.X, noise.Y = append(noise.X, float64(i)), append(noise.Y, rnd.NormFloat64())
	}
	fit := func(o Options) search.Candidate {
		t.Helper()
		o.Trend, o.Log = "none", "never"
		a, err := Fit(context.Background(), noise, o)
		if err != nil {
			t.Fatal(err)
		}
		c := a.Candidates[0]
		if string(a.Result.Status) != c.Status {
			t.Errorf("the result is %q, the candidate %q", a.Result.Status, c.Status)
		}
		for _, d := range c.Doubts {
			if !slices.Contains(a.Result.Warnings, d) {
				t.Errorf("the doubt %q is no warning: %q", d, a.Result.Warnings)
			}
		}
		return c
	}
	if c := fit(Options{Kernels: []string{"Periodic"}}); c.Status != string(gppl.Doubtful) || len(c.Doubts) == 0 {
		t.Errorf("a period in white noise: %+v", c)
	}
	c := fit(Options{Kernels: []string{"Periodic"}, Budget: time.Second / 5})
	if c.Status != string(gppl.Doubtful) || !strings.Contains(strings.Join(c.Doubts, "; "), "not searched: ") ||
		strings.HasPrefix(c.Search, "searched") {
		t.Errorf("without time to search: %+v", c)
	}
}

// TestFitTrendsAnew: a kernel that a trend left nothing to but the season is searched anew without the trend.
func TestFitTrendsAnew(t *testing.T) {
	s := &series.Series{}
	rnd := rand.New(rand.NewPCG(4, 0))
	for x := 0.0; len(s.X) < 100; x += 0.5 + rnd.Float64() {
		s.X = append(s.X, x)
		s.Y = append(s.Y, 0.02*x+math.Sin(2*math.Pi*x/12.5)+0.3*rnd.NormFloat64())
	}
	s.Step = 1
	values := map[string]float64{}
	for _, trend := range []string{"auto", "none"} {
		a, err := Fit(t.Context(), s, Options{Kernels: []string{"SE + Periodic"}, Log: "never", Trend: trend})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range a.Candidates {
			if c.Trend == "none" {
				values[trend] = c.NLL
			}
		}
	}
	if values["auto"] > values["none"]+0.5 {
		t.Errorf("without a trend SE + Periodic has %.2f nats beside other trends, %.2f alone", values["auto"], values["none"])
	}
}

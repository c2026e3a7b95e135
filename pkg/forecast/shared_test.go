package forecast_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/internal/testsize"
	"github.com/projected-likelihood/gppl/pkg/forecast"
)

// shortSeries returns series of n days with a weekly season of their own and noise, like stores whose weeks are equally strong,
// and the days that follow.
func shortSeries(t *testing.T, count, n, after int) (panel []forecast.Learning, later [][]float64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(7, 1))
	for range count {
		var week [7]float64
		for i := range week {
			week[i] = rnd.NormFloat64()
		}
		level, size := 20*rnd.NormFloat64(), math.Exp(rnd.NormFloat64())
		x, y := make([]float64, n+after), make([]float64, n+after)
		for i := range x {
			x[i], y[i] = float64(i), level+size*(week[i%7]+0.4*rnd.NormFloat64())
		}
		s, err := forecast.NewSeries(forecast.Axis{Name: "day"}, x[:n], y[:n])
		if err != nil {
			t.Fatal(err)
		}
		panel = append(panel, forecast.Learning{Series: s,
			Options: forecast.Options{Log: "never", Periods: []float64{7}, Budget: time.Millisecond}})
		later = append(later, y[n:])
	}
	return panel, later
}

// TestShare: short series are forecast better with shared priors, on average over unseen observations; what is learnt does not
// depend on the number of processors, and is saved with a model.
func TestShare(t *testing.T) {
	const after = 7
	count := testsize.Of(80, 200, 400)
	panel, later := shortSeries(t, count, 16, after)
	ctx := context.Background()
	searches := 0
	shared, err := forecast.Share(ctx, panel, func(n, of int) { searches = max(searches, n) })
	if err != nil || shared.Series != count || searches != 2*count {
		t.Fatalf("%v of %d searches: %v", shared, searches, err)
	}
	log := func(l forecast.Learning, y []float64) (*forecast.Analysis, float64) {
		t.Helper()
		a, err := forecast.Fit(ctx, l.Series, l.Options)
		if err != nil {
			t.Fatal(err)
		}
		f, err := a.Forecast(after)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range f.Predictive().LogDensity(y) {
			sum += v
		}
		return a, sum
	}
	var gain, squares float64
	var last *forecast.Analysis
	for i, l := range panel {
		_, alone := log(l, later[i])
		l.Options.Shared = shared
		var with float64
		last, with = log(l, later[i])
		gain += with - alone
		squares += (with - alone) * (with - alone)
	}
	t.Logf("the shared priors gain %.1f ± %.1f nats over %d series", gain, math.Sqrt(squares), count)
	if !(gain > 3*math.Sqrt(squares)) {
		t.Errorf("the shared priors gain %.1f ± %.1f nats over %d series", gain, math.Sqrt(squares), count)
	}
	before := runtime.GOMAXPROCS(1)
	again, err := forecast.Share(ctx, panel[:10], nil)
	runtime.GOMAXPROCS(3)
	other, _ := forecast.Share(ctx, panel[:10], nil)
	runtime.GOMAXPROCS(before)
	if diff := cmp.Diff(again, other); err != nil || diff != "" {
		t.Errorf("%v, on three processors: %s", err, diff)
	}
	path := filepath.Join(t.TempDir(), "m.json")
	if err := last.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := forecast.Load(path)
	if err != nil || loaded.SharedBy() != count {
		t.Fatalf("%v: %v", loaded, err)
	}
	var one, two bytes.Buffer
	if err := last.Encode(&one); err != nil {
		t.Fatal(err)
	}
	if err := loaded.Encode(&two); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Errorf("a model that was read is written otherwise: %v", err)
	}
}

func TestShareErrors(t *testing.T) {
	panel, _ := shortSeries(t, 3, 18, 0)
	ctx := context.Background()
	if _, err := forecast.Share(ctx, panel[:1], nil); err == nil || !strings.Contains(err.Error(), "1 of 1 series tell") {
		t.Errorf("one series: %v", err)
	}
	for i := range panel {
		panel[i].Options.Kernels = []string{"SE"}
	}
	if _, err := forecast.Share(ctx, panel, nil); err == nil || !strings.Contains(err.Error(), "named kernels share no priors") {
		t.Errorf("named kernels: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := forecast.Share(ended, panel, nil); err != context.Canceled {
		t.Errorf("an ended context: %v", err)
	}
}

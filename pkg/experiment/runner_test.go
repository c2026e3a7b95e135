package experiment

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// numbers ignores what may differ between two runs of one trial.
var numbers = cmpopts.IgnoreFields(Outcome{}, "Setup", "Fit", "When", "Workers")

// running returns the survey of the paper's trials with outcomes in a file.
func running(t *testing.T, path string, trials []Trial, progress func(Progress[Trial])) Survey[Trial, Outcome] {
	t.Helper()
	s := paperSurvey(open(t, path), trials, time.Time{}, func(Trial) bool { return false })
	s.Progress = progress
	if progress == nil {
		s.Progress = quiet
	}
	return s
}

func quiet(Progress[Trial]) {}

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := OpenStore(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRunner runs every kind of trial of E1 at smoke scale: twice with the same numbers, on both processors and on one, and again
// after a run that was cut short.
func TestRunner(t *testing.T) {
	trials := E1(scales.Smoke)
	dir := t.TempDir()
	var last Progress[Trial]
	first, err := running(t, filepath.Join(dir, "a"), trials, func(p Progress[Trial]) { last = p }).Run(context.Background(), trials)
	if err != nil {
		t.Fatal(err)
	}
	if last.Done != len(trials) || last.Stored != 0 || len(last.Running) != 0 {
		t.Errorf("the last progress is %v", last)
	}
	for _, o := range first {
		if o.Error != "" || len(o.Theta) != 3 || math.IsNaN(o.NLL) || o.Evaluations == 0 || o.Seconds() <= 0 {
			t.Errorf("%v: %+v", o.Trial, o)
		}
	}

	// Cut short, then continued.
	path := filepath.Join(dir, "b")
	ctx, cancel := context.WithCancel(context.Background())
	short := running(t, path, trials, func(p Progress[Trial]) {
		if p.Done == 5 {
			cancel()
		}
	})
	short.Workers = 1
	_, err = short.Run(ctx, trials)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	store := open(t, path)
	done := len(store.Outcomes())
	if done < 5 || done == len(trials) {
		t.Fatalf("%d outcomes are stored of a run that was cut short after 5", done)
	}
	again := running(t, path, trials, func(p Progress[Trial]) { last = p })
	again.Workers = 1
	second, err := again.Run(context.Background(), trials)
	if err != nil {
		t.Fatal(err)
	}
	if last.Stored != done {
		t.Errorf("%d outcomes were taken from the store, want %d", last.Stored, done)
	}
	if diff := cmp.Diff(first, second, numbers); diff != "" {
		t.Errorf("two runs differ: %s", diff)
	}

	// Outcomes older than asked for are computed again, except those to keep.
	fresh := paperSurvey(open(t, path), trials, time.Now().Add(time.Hour), func(t Trial) bool { return t.Loss != PL })
	fresh.Progress = func(p Progress[Trial]) { last = p }
	_, err = fresh.Run(context.Background(), trials)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, x := range trials {
		if x.Loss != PL {
			want++
		}
	}
	if last.Stored != want {
		t.Errorf("%d outcomes were kept, want %d", last.Stored, want)
	}
}

// TestRunnerAlone checks that trials whose times are compared run alone, after the others.
func TestRunnerAlone(t *testing.T) {
	base := Trial{Protocol: GPPL, Source: draw(5, 60, 40, 1), Kernel: "SE", Loss: ML, Optimiser: quasiNewton}
	dense, evaluate, other := base, base, base
	dense.Engine = "dense"
	evaluate.Protocol, evaluate.Optimiser = Paper, Optimiser{Method: Evaluate}
	other.Source = draw(5, 60, 40, 2)
	another := other
	another.Source.Seed = 3
	trials := []Trial{dense, base, evaluate, other, another}
	timed := func(x Trial) bool { return x != other && x != another }
	survey := running(t, filepath.Join(t.TempDir(), "a"), trials, func(p Progress[Trial]) {
		for _, x := range p.Running {
			if timed(x) && (len(p.Running) > 1 || p.Done < 2) {
				t.Errorf("%v runs beside or before others: %v", x, p.Running)
			}
		}
	})
	survey.Workers = 2
	outcomes, err := survey.Run(context.Background(), trials)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		want := 2
		if timed(o.Trial) {
			want = 1
		}
		if o.Workers != want {
			t.Errorf("%v: %d at once, want %d", o.Trial, o.Workers, want)
		}
	}
}

func TestRunnerStopsAtErrors(t *testing.T) {
	bad := E1(scales.Smoke)[0]
	bad.Kernel = "none"
	survey := running(t, filepath.Join(t.TempDir(), "a"), []Trial{bad}, nil)
	if _, err := survey.Run(context.Background(), []Trial{bad}); err == nil {
		t.Error("a trial of an unknown kernel ran")
	}
}

// TestKeys checks that different trials are stored apart, and that each trial of an experiment occurs once.
func TestKeys(t *testing.T) {
	for _, name := range []string{"e1", "e1-notebook", "e2"} {
		trials, _ := Named(name, scales.Full)
		seen := map[string]Trial{}
		for _, x := range trials {
			key, err := x.Key()
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := seen[key]; ok {
				t.Errorf("%s: %+v and %+v have one key", name, x, other)
			}
			seen[key] = x
		}
	}
}

// TestSingle compares the losses in single precision with those in double.
func TestSingle(t *testing.T) {
	sample, err := draw(20, 120, 60, 1).Load()
	if err != nil {
		t.Fatal(err)
	}
	model := gppl.Model{Kernel: gppl.SE{Variance: 1.2, Lengthscale: 15}, Noise: 0.3}
	omega, err := gppl.NewProjection(t.Context(), gppl.Sphere{}, sample.Train.X, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := gppl.NewExact(t.Context(), model, sample.Train)
	if err != nil {
		t.Fatal(err)
	}
	pl, err := gppl.NewProjected(t.Context(), model, sample.Train, omega)
	if err != nil {
		t.Fatal(err)
	}
	z, err := sample.Train.X.KMeans(t.Context(), 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	vfe, err := gppl.NewVFE(t.Context(), model, sample.Train, z, gppl.VFEOptions{})
	if err != nil {
		t.Fatal(err)
	}
	must := func(l gppl.Loss, err error) gppl.Loss {
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	gppltest.CheckLoss(t, onDiagonal{exact, 0.1, 2})
	gppltest.CheckLoss(t, repelled{vfe, 3})
	single, err := newSingle(model, sample.Train, nil)
	projected, err2 := newSingle(model, sample.Train, omega)
	inducing, err3 := newSingleVFE(model, sample.Train, z)
	for _, c := range []struct{ got, want gppl.Loss }{{must(single, err), exact},
		{must(projected, err2), pl}, {must(inducing, err3), vfe}} {
		theta := []float64{1.2, 15, 0.3}
		for _, p := range c.want.Params()[3:] {
			theta = append(theta, p.Value+0.5)
		}
		gg, gw := make([]float64, len(theta)), make([]float64, len(theta))
		v, err := c.got.ValueGrad(t.Context(), gg, theta)
		if err != nil {
			t.Fatal(err)
		}
		w, err := c.want.ValueGrad(t.Context(), gw, theta)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(v-w) > 1e-4*math.Abs(w) || v == w { // with distances up to 120, cancellation leaves five digits
			t.Errorf("%v: %v in single precision, %v in double", c.want, v, w)
		}
		if diff := cmp.Diff(gw, gg, cmpopts.EquateApprox(3e-3, 3e-3)); diff != "" {
			t.Errorf("%v: gradient: %s", c.want, diff)
		}
	}
}

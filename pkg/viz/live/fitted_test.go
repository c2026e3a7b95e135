package live

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// learnt is a rhythm with known errors, a model of it and a smoother one, and a model of its logarithm.
func learnt(t *testing.T) *Fitted {
	t.Helper()
	f := &Fitted{Steps: 8, YUnit: "mag", XUnit: "d", Digits: 3, Widen: 1.5}
	linear, log := View{Mean: 10, Scale: 2, Typical: 0.05}, View{Log: true, Mean: 2.3, Scale: 0.2}
	for i := range 120 {
		x := 0.7*float64(i) + 0.2*math.Sin(float64(i*i))
		y := 10 + 2*math.Sin(2*math.Pi*x/12) + 0.2*math.Sin(50*x*x)
		f.X, f.Y = append(f.X, x), append(f.Y, y)
		linear.Z, linear.Errors = append(linear.Z, (y-10)/2), append(linear.Errors, 0.05)
		log.Z = append(log.Z, (math.Log(y)-2.3)/0.2)
		if i >= 40 {
			f.Texts = append(f.Texts, "then")
		}
	}
	for i := range 16 {
		f.Ahead = append(f.Ahead, f.X[119]+0.7*float64(i+1))
	}
	f.Drawn = append(slices.Clone(f.X[40:]), f.Ahead...)
	f.Views = []View{linear, log}
	rhythm := gppl.LocPer{Variance: 1, Lengthscale: 60, Period: 12, PeriodicLengthscale: 1}
	rough := gppl.Model{Kernel: gppl.Add(rhythm, gppl.Matern32{Variance: 0.1, Lengthscale: 3}), Noise: 0.01}.Fix("LocPer.period")
	smooth := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 0.01}
	f.Models = []Learnt{{"LocPer + Matern32", store.Model{Model: rough}, 0}, {"SE",
		store.Model{Model: smooth}, 0}, {"SE, of the logarithm", store.Model{Model: smooth}, 1}}
	return f
}

// TestFitted moves each control of a model that was learnt, and compares what is published with plain calls of package gppl.
func TestFitted(t *testing.T) {
	f := learnt(t)
	if _, err := f.Publish(); err != nil {
		t.Fatal(err)
	}
	d, err := gppl.NewData(gppl.Scalars(f.X), f.Views[0].Z)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = d.WithErrors(f.Views[0].Errors); err != nil {
		t.Fatal(err)
	}
	m := f.Models[0].Model.Model
	exact, err := gppl.NewExact(t.Context(), m, d, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	nll, err := exact.ValueGrad(t.Context(), nil, m.Values())
	if err != nil {
		t.Fatal(err)
	}
	p, err := gppl.NewPosterior(t.Context(), m, d, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	mean, variances := testkit.Must2(p.Latent(t.Context(), gppl.Scalars(f.Ahead[7:8])))(t)
	sd := 2 * 1.5 * math.Sqrt(variances[0]+0.01+0.05*0.05)
	want := Answers{nll, 10 + 2*mean[0], 10 + 2*mean[0] - half*sd, 10 + 2*mean[0] + half*sd}
	got := f.Published
	for i, pair := range [][2]float64{{got.NLL, want.NLL}, {got.Middle, want.Middle}, {got.Lower, want.Lower},
		{got.Upper, want.Upper}} {
		if math.Abs(pair[0]-pair[1]) > 1e-9*math.Abs(pair[1]) {
			t.Errorf("published number %d is %.12g, want %.12g", i, pair[0], pair[1])
		}
	}

	var s Session
	values := starts(f.Controls())
	if want := []float64{0, 1, 1, 8, 0}; !slices.Equal(values, want) {
		t.Fatalf("the controls start at %v, want %v", values, want)
	}
	at := func(control int, value float64) *Shown {
		t.Helper()
		moved := slices.Clone(values)
		moved[control] = value
		a := ask(t, &s, map[string]any{"fitted": f, "values": moved})
		if a.Error != "" {
			t.Fatal(a.Error)
		}
		return a.Shown
	}
	published := at(0, 0)
	if off := reading(t, published, "exact") - nll; math.Abs(off) > 1e-9*math.Abs(nll) {
		t.Errorf("the likelihood differs by %g nats", off)
	}
	for _, c := range []struct {
		control int
		value   float64
	}{{0, 1}, {1, 0.5}, {2, 1.1}} { // another kernel, a shorter lengthscale and a longer season fit worse
		if worse := reading(t, at(c.control, c.value), "exact"); worse <= nll {
			t.Errorf("control %d at %g has a likelihood of %g, not worse than %g", c.control, c.value, worse, nll)
		}
	}
	if was, is := reading(t, published, "LocPer.period"), reading(t, at(2, 1.1), "LocPer.period"); math.Abs(is/was-1.1) > 1e-12 {
		t.Errorf("the season is %g, not 1.1 times %g", is, was)
	}
	if x := at(3, 8).Layers[4].X; !slices.Equal(x, append(slices.Clone(f.X[40:]), f.Ahead[:8]...)) {
		t.Errorf("drawn at %v, not at the instants", x)
	}
	if x := at(3, 16).Layers[4].X; x[len(x)-1] != f.Ahead[15] {
		t.Errorf("a longer forecast ends at %g", x[len(x)-1])
	}
	for _, l := range at(0, 2).Layers[1:3] { // ends of the band of a logarithm are positive
		if slices.Min(l.Lo) <= 0 {
			t.Errorf("the band %q begins at %g", l.Name, slices.Min(l.Lo))
		}
	}
	without := at(4, 50)
	if dots := without.Layers[3]; len(dots.X) != 79 || slices.Contains(dots.X, f.X[89]) {
		t.Errorf("%d of 80 observations are drawn without one", len(dots.X))
	}
	if off := reading(t, without, "predicted from") - f.Y[89]; math.Abs(off) > 1 || math.Abs(off) < 1e-6 {
		t.Errorf("the observation that is left out is predicted with an error of %g", off)
	}

	a := ask(t, &s, map[string]any{"fitted": f, "verify": true})
	if len(a.Checks) != 8 || a.Checks[0].By == a.Checks[4].By {
		t.Fatalf("%+v", a)
	}
	for _, c := range a.Checks {
		if !c.Agrees {
			t.Errorf("%+v", c)
		}
	}
	f.Published.Upper += 0.01
	if c := ask(t, &s, map[string]any{"fitted": f, "verify": true}).Checks; c[3].Agrees || c[7].Agrees || !c[0].Agrees {
		t.Errorf("another band was published: %+v", c)
	}
}

// TestFittedAlone: a control with a single position is left out.
func TestFittedAlone(t *testing.T) {
	f := learnt(t)
	f.Models = f.Models[:1]
	f.Models[0].Model.Model = gppl.Model{Kernel: gppl.SHO{Variance: 1, Period: 12, Quality: 3}, Noise: 0.01}
	if _, err := f.Publish(); err != nil {
		t.Fatal(err)
	}
	if values := starts(f.Controls()); !slices.Equal(values, []float64{1, 8, 0}) {
		t.Errorf("the controls of one model without a lengthscale start at %v", values)
	}
}

func TestFittedErrors(t *testing.T) {
	for want, change := range map[string]func(*Fitted){
		"fit together":        func(f *Fitted) { f.Steps = 17 },
		"view 2 of 2":         func(f *Fitted) { f.Models[1].View = 2 },
		"wider by 0":          func(f *Fitted) { f.Widen = 0 },
		"times do not ascend": func(f *Fitted) { f.X[0] = 100 },
	} {
		f := learnt(t)
		change(f)
		if _, err := f.Publish(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
	f := learnt(t)
	for _, values := range [][]float64{{0}, {3, 1, 1, 8, 0}, {0, 1, 1, 17, 0}, {0, 1, 1, 8, 81}} {
		if _, err := show(f, values); err == nil {
			t.Errorf("%v is no error", values)
		}
	}
}

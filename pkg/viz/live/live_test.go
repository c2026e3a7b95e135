package live

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// seasons is a trend with a yearly cycle, and a model of it that was not trained; what the figure publishes is computed by plain
// calls of package gppl.
func seasons(t *testing.T) *Forecast {
	t.Helper()
	f := &Forecast{XUnit: "year", YUnit: "ppm", Mean: 340, Scale: 10, Split: 16, Every: 2, From: 10}
	for i := range 240 {
		x := float64(i) / 12
		f.X, f.Y = append(f.X, x), append(f.Y, 330+x+3*math.Sin(2*math.Pi*x)+0.3*math.Sin(50*x*x))
	}
	cycle := gppl.LocPer{Variance: 0.05, Lengthscale: 30, Period: 1, PeriodicLengthscale: 1}
	f.Model.Model = gppl.Model{
		Mean:   gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(2, gppl.Scalars(f.X))),
		Kernel: gppl.Add(cycle, gppl.Matern32{Variance: 0.01, Lengthscale: 1}), Noise: 0.001,
	}.Fix("LocPer.period")
	if err := f.train(f.Split, f.Every); err != nil {
		t.Fatal(err)
	}
	d := f.trained.data
	exact, err := gppl.NewExact(t.Context(), f.Model.Model, d)
	if err != nil {
		t.Fatal(err)
	}
	if f.Published.NLL, err = exact.ValueGrad(t.Context(), nil, f.Model.Values()); err != nil {
		t.Fatal(err)
	}
	p, err := gppl.NewPosterior(t.Context(), f.Model.Model, d)
	if err != nil {
		t.Fatal(err)
	}
	held := slices.IndexFunc(f.X, func(x float64) bool { return x >= f.Split })
	mean, variances := testkit.Must2(p.Noisy(t.Context(), gppl.Scalars(f.X[held:])))(t)
	n := float64(len(mean))
	for i, m := range mean {
		off := (f.Y[held+i]-f.Mean)/f.Scale - m
		f.Published.RMSE += f.Scale * f.Scale * off * off / n
		if math.Abs(off) <= half*math.Sqrt(variances[i]) {
			f.Published.Coverage += 1 / n
		}
	}
	f.Published.RMSE = math.Sqrt(f.Published.RMSE)
	return f
}

// ask sends a message as a page does.
func ask(t *testing.T, s *Session, message any) answer {
	t.Helper()
	text, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(s.Answer(text), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func starts(controls []Control) (values []float64) {
	for _, c := range controls {
		values = append(values, c.Values[c.Start])
	}
	return values
}

func reading(t *testing.T, s *Shown, name string) float64 {
	t.Helper()
	i := slices.IndexFunc(s.Readings, func(r Reading) bool { return strings.Contains(r.Name, name) })
	if i < 0 {
		t.Fatalf("no reading of %q", name)
	}
	return s.Readings[i].Value
}

// TestForecast moves the controls of a forecast through messages: at the published values it shows the published numbers, and
// each control has the effect that it names.
func TestForecast(t *testing.T) {
	f := seasons(t)
	var s Session
	if a := ask(t, &s, map[string]any{"forecast": f}); a.Error != "" {
		t.Fatal(a.Error)
	}
	values := starts(f.Controls())
	if want := []float64{16, 2, 30, 1, 32}; !slices.Equal(values, want) {
		t.Fatalf("the controls start at %v, want %v", values, want)
	}
	published := ask(t, &s, question{Values: values}).Shown
	if off := reading(t, published, "exact") - f.Published.NLL; math.Abs(off) > 1e-9*math.Abs(f.Published.NLL) {
		t.Errorf("the likelihood differs by %g nats from the published one", off)
	}
	if off := reading(t, published, "root mean") - f.Published.RMSE; math.Abs(off) > 1e-9*f.Published.RMSE {
		t.Errorf("the error differs by %g from the published one", off)
	}
	if n := reading(t, published, "trained on"); n != 96 {
		t.Errorf("trained on %g observations, want 96", n)
	}
	for _, c := range []struct {
		control int
		value   float64
		reading string
		less    bool
	}{
		{0, 12, "trained on", true},
		{1, 1, "trained on", false},
		{2, 3, "exact", false}, // 30 years were not learnt, but 3 are worse
		{4, 8, "PL of 8", true},
	} {
		moved := slices.Clone(values)
		moved[c.control] = c.value
		a := ask(t, &s, question{Values: moved})
		if a.Error != "" {
			t.Fatal(a.Error)
		}
		if c.control == 4 {
			reading(t, a.Shown, c.reading)
			continue
		}
		if was, is := reading(t, published, c.reading), reading(t, a.Shown, c.reading); (is < was) != c.less {
			t.Errorf("control %d at %g: %s was %g and is %g", c.control, c.value, c.reading, was, is)
		}
	}
	for _, l := range published.Layers {
		for i := range l.Hi {
			if !(l.Lo[i] < l.Hi[i]) {
				t.Fatalf("the layer %q at %d is from %g to %g", l.Name, i, l.Lo[i], l.Hi[i])
			}
		}
	}
}

func TestByEngine(t *testing.T) {
	for engine, want := range map[string]string{"dense": "the dense engine",
		"gridded, spectral": "the gridded and spectral engines"} {
		if got := byEngine(engine); got != want {
			t.Errorf("by %q, want %q", got, want)
		}
	}
}

// TestVerify checks that two engines agree on the published numbers and on others.
func TestVerify(t *testing.T) {
	f := seasons(t)
	var s Session
	a := ask(t, &s, map[string]any{"forecast": f, "verify": true})
	if a.Error != "" || len(a.Checks) != 6 {
		t.Fatalf("%+v", a)
	}
	if a.Checks[0].By == a.Checks[3].By || a.Checks[0].By == "" {
		t.Errorf("computed by %s and %s", a.Checks[0].By, a.Checks[3].By)
	}
	for _, c := range a.Checks {
		if !c.Agrees {
			t.Errorf("%+v", c)
		}
	}
	f.Published.NLL += 1e-4
	for i, c := range ask(t, &s, map[string]any{"forecast": f, "verify": true}).Checks {
		if wrong := i%3 == 0; c.Agrees == wrong {
			t.Errorf("another likelihood was published: %+v", c)
		}
	}
}

func TestSessionErrors(t *testing.T) {
	f := seasons(t)
	descending := *f
	descending.X = slices.Clone(f.X)
	slices.Reverse(descending.X)
	for _, c := range []struct {
		message any
		want    string
	}{
		{"no object", "not as expected"},
		{question{Verify: true}, "no figure"},
		{map[string]any{"forecast": &descending}, "do not ascend"},
		{map[string]any{"forecast": f, "values": []float64{1}}, "1 values for 5 controls"},
		{map[string]any{"forecast": f, "values": []float64{16, 0, 30, 1, 32}}, "one observation of 0"},
		{map[string]any{"forecast": f, "values": []float64{16, 2, -1, 1, 32}}, "-1"},
		{map[string]any{"forecast": f, "values": []float64{-3, 2, 30, 1, 32}}, ""},
	} {
		var s Session
		if a := ask(t, &s, c.message); a.Error == "" || !strings.Contains(a.Error, c.want) {
			t.Errorf("%v: the error is %q, want one with %q", c.want, a.Error, c.want)
		}
	}
}

// waves are observations of an SE kernel, which projections on the lowest frequencies hold.
func waves(t *testing.T) *Excess {
	t.Helper()
	e := &Excess{Projected: Projected{Model: store.Model{Model: gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5},
		Noise: 0.1}}, XUnit: "s", K: []int{4, 16, 64}, At: 64}}
	for i := range 200 {
		e.X = append(e.X, float64(i)/2)
	}
	draw, err := e.Model.Sample(t.Context(), gppl.Scalars(e.X), 3, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	e.Y = y
	return e
}

// TestExcess: the loss of sufficiently many projections with their residual energy equals the exact likelihood, the loss of fewer
// does not, and a shorter lengthscale needs more.
func TestExcess(t *testing.T) {
	e := waves(t)
	shown, err := e.Publish()
	if err != nil {
		t.Fatal(err)
	}
	if off := reading(t, shown, "excess"); math.Abs(off) > 0.1 {
		t.Errorf("64 projections are %g nats from the exact likelihood", off)
	}
	var s Session
	if a := ask(t, &s, Figure{Excess: e}); a.Error != "" {
		t.Fatal(a.Error)
	}
	values := starts(e.Controls())
	if want := []float64{5, 0.1, 64}; !slices.Equal(values, want) {
		t.Fatalf("the controls start at %v, want %v", values, want)
	}
	values[2] = 4
	if off := reading(t, ask(t, &s, question{Values: values}).Shown, "excess"); off < 10 {
		t.Errorf("4 projections are %g nats from the exact likelihood", off)
	}
	values[0] = 1.25
	if few, many := reading(t, shown, "needs"), reading(t, ask(t, &s, question{Values: values}).Shown, "needs"); !(few < many) {
		t.Errorf("a lengthscale of 5 needs %g projections, and one of 1.25 %g", few, many)
	}
	a := ask(t, &s, question{Verify: true})
	if a.Error != "" || len(a.Checks) != 4 {
		t.Fatalf("%+v", a)
	}
	for _, c := range a.Checks {
		if !c.Agrees {
			t.Errorf("%+v", c)
		}
	}
	for _, values := range [][]float64{nil, {5, 0.1}, {5, 0.1, 5}} {
		if _, err := show(e, values); err == nil {
			t.Errorf("values %v are no error", values)
		}
	}
}

// TestLost: k = n projections lose nothing, a small k loses much, the two terms add up to the loss, and other choices have an
// answer too.
func TestLost(t *testing.T) {
	l := &Lost{Directions: Directions{Projected: Projected{Model: store.Model{Model: gppl.Model{Kernel: gppl.SE{Variance: 5,
		Lengthscale: 10}, Noise: 0.1}}, XUnit: "s", K: []int{2, 12, 60}, At: 12}}}
	for i := range 60 {
		l.X = append(l.X, float64(i)/2)
	}
	shown, err := l.Publish()
	if err != nil {
		t.Fatal(err)
	}
	all, first, second := shown.Layers[0].Y, shown.Layers[1].Y, shown.Layers[2].Y
	if all[0] < 50 || math.Abs(all[2]) > 1e-6 {
		t.Errorf("2 of 60 projections lose %g %%, and 60 lose %g %%", all[0], all[2])
	}
	for i, v := range all {
		if off := v - first[i] - second[i]; math.Abs(off) > 1e-9 {
			t.Errorf("at k = %d the terms are off by %g %%", l.K[i], off)
		}
	}
	var s Session
	a := ask(t, &s, map[string]any{"lost": l, "verify": true})
	if a.Error != "" || len(a.Checks) != 2 {
		t.Fatalf("%+v", a)
	}
	for _, c := range a.Checks {
		if !c.Agrees {
			t.Errorf("%+v", c)
		}
	}
	values := starts(l.Controls())
	for control, value := range map[int]float64{0: 5, 1: 0.2, 2: 2, 3: 1, 4: 2} {
		moved := slices.Clone(values)
		moved[control] = value
		a := ask(t, &s, question{Values: moved})
		if a.Error != "" {
			t.Fatal(a.Error)
		}
		if was, is := reading(t, shown, "share"), reading(t, a.Shown, "share"); was == is {
			t.Errorf("control %d at %g changes nothing", control, value)
		}
		if was, is := shown.Title+shown.Caption, a.Shown.Title+a.Shown.Caption; was == is {
			t.Errorf("control %d at %g leaves %q", control, value, was)
		}
	}
	for _, c := range []struct {
		values []float64
		says   []string
	}{
		{[]float64{10, 0.1, 0, 0, 12}, []string{"12 Sphere projections lose", "about the lengthscale"}},
		{[]float64{10, 0.1, 2, 2, 2}, []string{"2 Spectral projections lose", "about the noise variance, nearly all by the first term"}},
		{[]float64{10, 0.1, 2, 0, 60}, []string{"60 Sphere projections lose next to nothing about the noise variance"}},
	} {
		title := ask(t, &s, question{Values: c.values}).Shown.Title
		for _, says := range c.says {
			if !strings.Contains(title, says) {
				t.Errorf("at %v the title is %q, want one with %q", c.values, title, says)
			}
		}
	}
	for _, values := range [][]float64{{1}, {10, 0.1, 7, 0, 12}, {10, 0.1, 0, 9, 12}, {10, 0.1, 0, 0, 5}} {
		if _, err := show(l, values); err == nil {
			t.Errorf("values %v are no error", values)
		}
	}
}

// TestKept: designs keep the information that Lost does not count as lost, the top eigenvectors follow the kernel, and the shares
// are confirmed.
func TestKept(t *testing.T) {
	d := Directions{Projected: Projected{Model: store.Model{Model: gppl.Model{Kernel: gppl.SE{Variance: 5, Lengthscale: 10},
		Noise: 0.1}}, XUnit: "s", K: []int{2, 6, 20}, At: 6}}
	for i := range 60 {
		d.X = append(d.X, float64(i)/2)
	}
	e, l := &Kept{Directions: d}, &Lost{Directions: d}
	shown, ofNoise, err := e.Publish()
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Published) != 5 || len(shown.Layers) != 5 || len(shown.Readings) != 6 {
		t.Fatalf("%+v", shown)
	}
	for i, name := range []string{"Sphere", "OneHot", "", "Spectral"} {
		if name == "" {
			continue
		}
		lost, err := l.at([]float64{10, 0.1, 0, float64(slices.Index([]string{"Sphere", "OneHot", "Spectral"}, name)), 6})
		if err != nil {
			t.Fatal(err)
		}
		if off := e.Published[i] + reading(t, lost, "share lost") - 100; math.Abs(off) > 1e-6 {
			t.Errorf("%s: kept and lost add up to %g %% more than all", name, off)
		}
	}
	// The few directions that hold the signal know its lengthscale, and nothing of the noise.
	if few, random := reading(t, ofNoise, "Eigen"), reading(t, ofNoise, "Sphere"); few > random {
		t.Errorf("of the noise, 6 top eigenvectors keep %g %%, Sphere %g %%", few, random)
	}
	if few, random := reading(t, shown, "Eigen"), reading(t, shown, "Sphere"); few < 50 || random > few {
		t.Errorf("of the lengthscale, 6 top eigenvectors keep %g %%, Sphere %g %%", few, random)
	}
	if !strings.Contains(ofNoise.Title, "noise variance, 6 projections keep") || !strings.Contains(ofNoise.Title, "(Eigen) to") {
		t.Errorf("of the noise the title is %q", ofNoise.Title)
	}
	var s Session
	if a := ask(t, &s, Figure{Kept: e}); a.Error != "" {
		t.Fatal(a.Error)
	}
	if moved := ask(t, &s, question{Values: []float64{5, 0.1, 0, 6}}).Shown; reading(t, moved, "Eigen") == reading(t, shown,
		"Eigen") {
		t.Error("the top eigenvectors do not follow the lengthscale")
	}
	checks := ask(t, &s, question{Verify: true}).Checks
	if len(checks) != 10 {
		t.Fatalf("%+v", checks)
	}
	for _, c := range checks {
		if !c.Agrees {
			t.Errorf("%+v", c)
		}
	}
	for _, values := range [][]float64{{1}, {10, 0.1, 7, 6}, {10, 0.1, 0, 5}} {
		if _, err := show(e, values); err == nil {
			t.Errorf("values %v are no error", values)
		}
	}
}

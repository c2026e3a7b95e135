package gppl_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

func means(x gppl.Inputs) []gppl.Mean {
	return []gppl.Mean{
		gppl.Intercept{},
		gppl.NewTrend(3, x),
		gppl.Linear{Origin: 2},
		gppl.Fourier{Period: 3, Harmonics: 2},
		gppl.Step{At: 4.5},
		gppl.Kink{At: 0.1},
		gppl.Regressor{Name: "wind"},
		gppl.AddMeans(gppl.Regressor{Name: "wind"}, gppl.Regressor{Name: "rain"}),
		gppl.GaussianBeta{Of: gppl.AddMeans(gppl.Intercept{}, gppl.Step{At: 1}), Variances: []float64{4, math.Inf(1)}},
		gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(2, x), gppl.GaussianBeta{Of: gppl.Fourier{Period: 1.5, Harmonics: 3},
			Variances: []float64{2}},
			gppl.Step{At: 2}, gppl.Kink{At: 3}, gppl.Regressor{Name: "rain"}),
	}
}

func regressed() gppl.Inputs {
	var x, wind, rain []float64
	for i := range 40 {
		t := float64(i) / 4
		x, wind, rain = append(x, t), append(wind, math.Sin(7*t*t)), append(rain, float64(i*i%7))
	}
	return gppl.Scalars(x).WithColumn("wind", wind).WithColumn("rain", rain)
}

// TestMeans: what every mean promises.
func TestMeans(t *testing.T) {
	x := regressed()
	for _, m := range means(x) {
		t.Run(m.String(), func(t *testing.T) {
			if err := m.Check(); err != nil {
				t.Fatal(err)
			}
			if err := (gppl.Model{Mean: m}).CheckBasis(t.Context(), x); err != nil {
				t.Error(err)
			}
			h := testkit.Must(m.Basis(x))(t)
			columns := m.Columns()
			if r, c := h.Dims(); r != x.Len() || c != len(columns) {
				t.Fatalf("basis of %d×%d, want %d×%d", r, c, x.Len(), len(columns))
			}
			idx := []int{31, 4, 4, 0} // a basis is a function of x alone
			part := testkit.Must(m.Basis(x.Pick(idx)))(t)
			for k, i := range idx {
				for j := range columns {
					if part.At(k, j) != h.At(i, j) {
						t.Errorf("column %q at x[%d]: %v among others, %v before", columns[j].Name, i, part.At(k, j), h.At(i, j))
					}
				}
			}
			model := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.1, Mean: m}
			if !strings.Contains(model.String(), m.String()) {
				t.Errorf("%v does not name its mean", model)
			}
			var again store.Model
			if err := json.Unmarshal(testkit.JSON(t, store.Model{Model: model}), &again); err != nil {
				t.Fatal(err)
			}
			testkit.SameJSON(t, testkit.JSON(t, store.Model{Model: model}), again)
			if again.String() != model.String() {
				t.Errorf("read %v, want %v", again, model)
			}
			if !mat.Equal(h, testkit.Must(again.Mean.Basis(x))(t)) {
				t.Error("what was read has another basis")
			}
		})
	}
}

func TestMeanValues(t *testing.T) {
	x := gppl.Scalars([]float64{-1, 0, 0.5, 1, 3})
	for _, c := range []struct {
		m      gppl.Mean
		column int
		name   string
		want   []float64
	}{
		{gppl.Intercept{}, 0, "intercept", []float64{1, 1, 1, 1, 1}},
		{gppl.Trend{Degree: 3, Lo: -1, Hi: 1}, 0, "trend 1", []float64{-1, 0, 0.5, 1, 3}},
		{gppl.Trend{Degree: 3, Lo: -1, Hi: 1}, 1, "trend 2", []float64{1, -0.5, -0.125, 1, 13}}, // (3u² − 1)/2
		{gppl.Trend{Degree: 3, Lo: -1, Hi: 1}, 2, "trend 3", []float64{-1, 0, -0.4375, 1, 63}},  // (5u³ − 3u)/2
		{gppl.Trend{Degree: 1, Lo: 0, Hi: 1}, 0, "trend 1", []float64{-3, -1, 0, 1, 5}},
		{gppl.Linear{Origin: 0.5}, 0, "linear", []float64{-1.5, -0.5, 0, 0.5, 2.5}},
		{gppl.Step{At: 0.5}, 0, "step at 0.5", []float64{0, 0, 1, 1, 1}},
		{gppl.Kink{At: 0.5}, 0, "kink at 0.5", []float64{0, 0, 0, 0.5, 2.5}},
		{gppl.Fourier{Period: 2, Harmonics: 2}, 0, "cos 1/2", []float64{-1, 1, 0, -1, -1}},
		{gppl.Fourier{Period: 2, Harmonics: 2}, 1, "sin 1/2", []float64{0, 0, 1, 0, 0}},
		{gppl.Fourier{Period: 2, Harmonics: 2}, 2, "cos 2/2", []float64{1, 1, -1, 1, 1}},
	} {
		h := testkit.Must(c.m.Basis(x))(t)
		if name := c.m.Columns()[c.column].Name; name != c.name {
			t.Errorf("%v: column %q, want %q", c.m, name, c.name)
		}
		for i, want := range c.want {
			if got := h.At(i, c.column); math.Abs(got-want) > 1e-14 {
				t.Errorf("%v, %s at %v: got %v, want %v", c.m, c.name, x.At(i), got, want)
			}
		}
	}
	// A far time keeps its phase to rounding of the time itself.
	far := testkit.Must(gppl.Fourier{Period: 3, Harmonics: 1}.Basis(gppl.Scalars([]float64{3e15 + 1})))(t)
	if got, want := far.At(0, 0), math.Cos(2*math.Pi/3); math.Abs(got-want) > 1e-14 {
		t.Errorf("cos 1/3 at 3e15 + 1: got %v, want %v", got, want)
	}
}

func TestMeanErrors(t *testing.T) {
	x := regressed()
	none := gppl.Scalars([]float64{1, 2, 3, 4})
	for _, c := range []struct {
		m    gppl.Mean
		x    gppl.Inputs
		want string
	}{
		{gppl.Trend{Degree: 0, Lo: 0, Hi: 1}, x, "degree 0"},
		{gppl.Trend{Degree: 1}, x, "range 0 to 0"},
		{gppl.Trend{Degree: 1, Lo: 1, Hi: math.Inf(1)}, x, "range 1 to +Inf"},
		{gppl.Fourier{Period: -1, Harmonics: 1}, x, "period -1"},
		{gppl.Fourier{Period: 1, Harmonics: 1000}, x, "1000 harmonics"},
		{gppl.Step{At: math.NaN()}, x, "NaN"},
		{gppl.Kink{At: math.Inf(1)}, x, "+Inf"},
		{gppl.Linear{Origin: math.NaN()}, x, "NaN"},
		{gppl.Regressor{}, x, "without a name"},
		{gppl.Regressor{Name: "snow"}, x, `needs the column "snow" of x, but it has "wind, rain"`},
		{gppl.Regressor{Name: "snow"}, none, `it has none`},
		{gppl.Linear{}, gppl.Vectors([]float64{1, 2, 3, 4}, 2), "dimension 1, not 2"},
		{gppl.GaussianBeta{Of: gppl.Intercept{}}, x, "0 prior variances for the 1 columns"},
		{gppl.GaussianBeta{Of: gppl.Intercept{}, Variances: []float64{-1}}, x, `column "intercept" is -1`},
		{gppl.GaussianBeta{}, x, "of no mean"},
		{gppl.AddMeans(gppl.Step{At: 1}, gppl.Step{At: 1}), x, `two columns "step at 1"`},
		// What the data cannot tell apart.
		{gppl.Step{At: 100}, x, `"step at 100" of the mean is zero`},
		{gppl.AddMeans(gppl.Intercept{}, gppl.Linear{}, gppl.Step{At: -1}), x,
			`"step at -1" of the mean is a linear combination of "intercept" at`},
		{gppl.AddMeans(gppl.Intercept{}, gppl.Linear{Origin: 3}, gppl.Kink{At: -2}), x,
			`"kink at -2" of the mean is a linear combination of "intercept", "linear"`},
		{gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(3, none)), none, "4 observations for 4 columns"},
		{gppl.Linear{}, gppl.Scalars([]float64{1, math.NaN()}), "NaN"},
		{gppl.Trend{Degree: 20, Lo: 0, Hi: 1}, gppl.Scalars([]float64{1, 2, 1e300}), `"trend 2" of the mean is`},
	} {
		if err := (gppl.Model{Mean: c.m}).CheckBasis(t.Context(), c.x); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want an error that says %s", c.m, err, c.want)
		}
	}
	// A prior makes them harmless.
	if err := (gppl.Model{Mean: gppl.AddMeans(gppl.Intercept{}, gppl.GaussianBeta{Of: gppl.Step{At: 100}, Variances: []float64{1}})}).CheckBasis(t.Context(), x); err != nil {
		t.Error(err)
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.1, Mean: gppl.Trend{Degree: -1}}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "degree -1") {
		t.Errorf("a model of a bad mean: %v", err)
	}
}

func TestMeanJSONErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"Wave"}`:    `unknown mean type "Wave"`,
		`{"type":"MeanSum"}`: "MeanSum without parts",
		`{"type":"Trend","fields":{"Degree":1,"Low":0}}`:                                             "Low",
		`{"type":"Trend","fields":{"Degree":1,"Lo":3,"Hi":2}}`:                                       "range 3 to 2",
		`{"type":"GaussianBeta","parts":[{"type":"Intercept"}],"variances":[0]}`:                     "is 0",
		`{"type":"GaussianBeta","parts":[{"type":"Intercept"},{"type":"Linear"}],"variances":[1,2]}`: "of 2 means",
		`{"type":"Step","variances":[1]}`:                                                            "with parts or variances",
		`{"type":"MeanSum","fields":{},"parts":[{"type":"Intercept"}]}`:                              "with fields",
	} {
		b := `{"kernel":{"type":"SE","parameters":{"variance":1,"lengthscale":1}},"mean":` + text +
			`,"noise_variance":1,"transforms":[{"kind":"log"},{"kind":"log"},{"kind":"log"}]}`
		var m store.Model
		if err := json.Unmarshal([]byte(b), &m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %s", text, err, want)
		}
	}
}

func TestColumns(t *testing.T) {
	x := gppl.Scalars([]float64{1, 2, 3}).WithColumn("a", []float64{10, 20, 30})
	y := x.WithColumn("b", []float64{5, 6, 7}).WithColumn("a", []float64{1, 1, 2})
	if got, _ := x.Column("a"); got[2] != 30 {
		t.Errorf("WithColumn changed its receiver: %v", got)
	}
	for what, part := range map[string]gppl.Inputs{"Slice": y.Slice(1, 3), "Pick": y.Pick([]int{1, 2})} {
		a, _ := part.Column("a")
		b, ok := part.Column("b")
		if !ok || len(a) != 2 || a[0] != 1 || a[1] != 2 || b[0] != 6 || b[1] != 7 {
			t.Errorf("%s: columns %v and %v", what, a, b)
		}
	}
	if _, ok := x.Column("b"); ok {
		t.Error("a column that is not there")
	}
	if _, err := gppl.NewData(x.WithColumn("c", []float64{1, math.Inf(1), 2}), []float64{1, 2, 3}); err == nil ||
		!strings.Contains(err.Error(), `column "c" of x[1] = +Inf`) {
		t.Errorf("an infinite regressor: %v", err)
	}
	for what, f := range map[string]func(){
		"no name": func() { x.WithColumn("", []float64{1, 2, 3}) },
		"length":  func() { x.WithColumn("a", []float64{1, 2}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			f()
		}()
	}
}

// TestMeanStart: start values and default priors come from the residuals of the mean.
func TestMeanStart(t *testing.T) {
	d := randomData(t, 120, 1, 4)
	lo, hi := d.X.Range(0)
	raised := make([]float64, d.Len())
	for i, y := range d.Y {
		u := (d.X.At(i)[0] - lo) / (hi - lo)
		raised[i] = y + 400 - 1000*u
	}
	high := testkit.Must(gppl.NewData(d.X, raised))(t)
	for _, mean := range []gppl.Mean{
		gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, d.X)),
		gppl.GaussianBeta{Of: gppl.AddMeans(gppl.Intercept{}, gppl.Linear{}), Variances: []float64{100}},
	} {
		m := gppl.Model{Kernel: gppl.Add(gppl.SE{}, gppl.Periodic{}), Noise: 1, Mean: mean}
		a, b := testkit.Must(auto.StartFrom(t.Context(), m, d))(t), testkit.Must(auto.StartFrom(t.Context(), m, high))(t)
		if a.Mean == nil {
			t.Fatal("the start has lost its mean")
		}
		for i, p := range a.Params() {
			if got := b.Params()[i].Value; math.Abs(got/p.Value-1) > 1e-6 {
				t.Errorf("%v: %s starts at %v, with a trend in y at %v", mean, p.Name, p.Value, got)
			}
		}
		one, other := testkit.Must(m.DefaultPriors(t.Context(), d))(t), testkit.Must(m.DefaultPriors(t.Context(), high))(t)
		for i, p := range one {
			if a, b := p.Prior.(prior.LogNormal), other[i].Prior.(prior.LogNormal); math.Abs(a.Mu-b.Mu) > 1e-6 {
				t.Errorf("%v: the prior of %s is %v, with a trend in y %v", mean, p.Name, a, b)
			}
		}
	}
	// What cannot be evaluated or determined changes nothing.
	plain := testkit.Must(auto.StartFrom(t.Context(), gppl.Model{Kernel: gppl.SE{}, Noise: 1}, d))(t)
	for _, mean := range []gppl.Mean{gppl.Regressor{Name: "none"}, gppl.Trend{}, gppl.Step{At: hi + 1}} {
		if got, _ := auto.StartFrom(t.Context(), gppl.Model{Kernel: gppl.SE{}, Noise: 1, Mean: mean}, d); got.Noise != plain.Noise {
			t.Errorf("%v: noise %v, want %v", mean, got.Noise, plain.Noise)
		}
	}
}

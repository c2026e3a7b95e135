package forecast

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestStudent: with heavy-tailed noise, the curve of a Student-t fit is nearer to the truth than the curve of a fit with normal
// noise, its bands hold the stated share of new observations, and its degrees of freedom are near the true ones.
func TestStudent(t *testing.T) {
	t.Parallel()
	const n, nu, scale = 120, 2.0, 0.4
	truth := func(i int) float64 { return 10 + 2*math.Sin(float64(i)/12) }
	var off [2]float64
	inside, all := 0, 0
	var learnt, scales []float64
	for k := range testkit.Size(6, 30, 200) {
		noise := distuv.StudentsT{Sigma: scale, Nu: nu, Src: rand.New(rand.NewPCG(uint64(k), 18))}
		var x, y []float64
		for i := range n {
			x, y = append(x, float64(i)), append(y, truth(i)+noise.Rand())
		}
		for j, likelihood := range []*series.Student{{}, nil} {
			s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
			if err != nil {
				t.Fatal(err)
			}
			s.Student = likelihood
			a, err := Fit(t.Context(), s, Options{Kernels: []string{"Matern32"}, Trend: "none"})
			if err != nil {
				t.Fatal(err)
			}
			f, err := a.Predict(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range f.Median {
				off[j] += math.Abs(m - truth(i))
			}
			if likelihood == nil {
				continue
			}
			if s.Student.Nu != 0 || s.Errors != nil {
				t.Error("a fit changed the series that it was given")
			}
			learnt = append(learnt, a.Series.Student.Nu)
			scales = append(scales, math.Sqrt(a.Scaling.Variance(a.Result.Model.Noise))/a.Series.TypicalError(false))
			for i := range x { // the bands are for new observations at the same places
				for range 20 {
					if v := truth(i) + noise.Rand(); v >= f.Lower[i] && v <= f.Upper[i] {
						inside++
					}
					all++
				}
			}
			var b bytes.Buffer
			if err := a.Encode(&b); err != nil {
				t.Fatal(err)
			}
			loaded, err := decode(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if again, err := loaded.Predict(t.Context(), x); err != nil || !slices.Equal(again.Upper, f.Upper) ||
				loaded.Likelihood() != a.Likelihood() {
				t.Errorf("saved and loaded: %v, %v, was %v", err, loaded.Likelihood(), a.Likelihood())
			}
			if _, _, err := a.Extend(t.Context(), []float64{n}, []float64{1}, nil); err == nil {
				t.Error("an update has no error")
			}
		}
	}
	if m, s := numeric.UpperMedian(learnt), numeric.UpperMedian(scales); m < 1.3 || m > 4 || s < 0.8*scale ||
		s > 1.2*scale { // one sample in some has no value far off
		t.Errorf("%v degrees of freedom and a scale of %v in the median, of noise with %v and %v", m, s, nu, scale)
	}
	if !(off[0] < 0.8*off[1]) {
		t.Errorf("the curve is off by %.4g with Student-t noise, by %.4g with normal noise", off[0], off[1])
	}
	if held := float64(inside) / float64(all); math.Abs(held-0.95) > 0.025 {
		t.Errorf("95 %% bands hold %.3g", held)
	} else {
		t.Logf("the curve is off by %.4g, with normal noise by %.4g; 95 %% bands hold %.4f", off[0], off[1], held)
	}
}

// TestStudentAlone: options that do not go with Student-t noise are an error.
func TestStudentAlone(t *testing.T) {
	t.Parallel()
	s, err := series.Read(t.Context(), updateFile(t, 0, 48, 48), series.ReadOptions{X: "date", Y: "sold", Likelihood: "student"})
	if err != nil || s.Student == nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(s *series.Series) error{
		"errors": func(s *series.Series) error { s.Errors = s.Y; return nil },
		"counts": func(s *series.Series) error { return s.Count("poisson", nil) }, "bounds": func(s *series.Series) error { return s.Bound(0, 100) },
	} {
		c := *s
		if err := change(&c); err != nil {
			t.Fatal(err)
		}
		if _, err := Fit(t.Context(), &c, Options{Kernels: []string{"SE"}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

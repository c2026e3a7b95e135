package gppl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/testsums"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// sumsCase is a model and data that sums can stand for.
type sumsCase struct {
	model    gppl.Model
	data     gppl.Data
	plan     sums.Range
	variance float64 // least variance of the signal
}

// newSumsCase makes case number: signal to noise from 1 to 1e3, or to 100 where the
// kernel does not die out.
func newSumsCase(number int) sumsCase {
	d := dice{rand.New(rand.NewPCG(uint64(number), 17))}
	n := int(d.log10(0.5, 2.6))
	x := make([]float64, n)
	clustered := d.chance(0.3)
	for i := range x {
		x[i] = d.Float64()
		if clustered {
			x[i] = (float64(d.IntN(4)) + 1e-3*x[i]) / 4
		}
		if i > 0 && d.chance(0.1) {
			x[i] = x[d.IntN(i)]
		}
	}
	span, offset := d.log10(-3, 3), 0.0
	if d.chance(0.5) {
		offset = 100 * span * d.NormFloat64()
	}
	for i := range x {
		x[i] = offset + span*x[i]
	}
	v := d.log10(-2, 2)
	kind := d.pick(0.4, 0.12, 0.12, 0.12, 0.12, 0.12)
	noise := v * d.log10(-3, 0)
	if kind >= 1 && kind <= 4 { // a window has weights of both signs, which cancel
		noise = v * d.log10(-2, 0)
	}
	l := span * d.log10(-2, -1)
	var k gppl.Kernel
	switch kind {
	case 0:
		k = gppl.SE{Variance: v, Lengthscale: l}
	case 1:
		k = gppl.RQ{Variance: v, Lengthscale: max(l, 0.05*span), Alpha: 2 + 3*d.Float64()}
	case 2:
		k = gppl.Periodic{Variance: v, Lengthscale: 1 + d.Float64(), Period: max(2*l, 0.05*span)}
	case 3:
		k = gppl.LocPer{Variance: v, Lengthscale: max(l, 0.1*span), PeriodicLengthscale: 1 + d.Float64(), Period: max(2*l, 0.1*span)}
	case 4:
		k = gppl.Add(gppl.SE{Variance: v, Lengthscale: l}, gppl.SE{Variance: v, Lengthscale: span})
	default:
		k = gppl.Add(gppl.SE{Variance: v, Lengthscale: l}, gppl.White{Variance: noise})
	}
	model := gppl.Model{Kernel: k, Noise: noise}
	draw, err := model.Sample(context.Background(), gppl.Scalars(x), uint64(number), gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		panic(err)
	}
	f, y := draw.F, draw.Y
	_ = f
	largest := 0.0
	for i := range y {
		y[i] += 3
		largest = max(largest, math.Abs(y[i]-2.5))
	}
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		panic(err)
	}
	return sumsCase{model, data, sums.Range{
		Lo: offset - 0.1*span, Hi: offset + 1.1*span, Shortest: 0.5 * l, Centre: 2.5, Largest: largest * (1 + d.Float64()),
	}, v}
}

// centred returns the data less a constant.
func centred(d gppl.Data, centre float64) gppl.Data {
	y := make([]float64, d.Len())
	for i, v := range d.Y {
		y[i] = v - centre
	}
	return gppl.Data{X: d.X, Y: y}
}

// sumsOf returns the sums of the data.
func sumsOf(t testing.TB, r sums.Range, d gppl.Data) *sums.Sums {
	t.Helper()
	s := testsums.New(t, r)
	x := d.X.Coordinate(0)
	if err := s.Add(x, d.Y); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSumsExact compares the loss and the posterior from sums with those from the data,
// by the dense engine.
func TestSumsExact(t *testing.T) {
	t.Parallel()
	cases := testkit.Size(12, 60, 200)
	const tol = 1e-9
	refused := 0
	engines, kernels := map[string]int{}, map[string]int{}
	var worst [4]float64
	for number := range cases {
		c := newSumsCase(number)
		s := sumsOf(t, c.plan, c.data)
		centre := s.Mean()
		if number%3 == 0 {
			centre = 2.5
		}
		if number%4 == 1 { // the restricted likelihood
			c.model.Mean = gppl.Intercept{}
		}
		name := fmt.Sprintf("case %d: %v, n=%d", number, c.model, c.data.Len())
		d := centred(c.data, centre)
		raw, err := gppl.NewExact(t.Context(), c.model, d, gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		theta := c.model.Values()
		got, want := make([]float64, len(theta)), make([]float64, len(theta))
		post, err := gppl.NewPosterior(t.Context(), c.model, gppl.SumsData(s, centre), gppl.WithTolerance(1e-10))
		var refusal *gppl.Refusal
		for tries := 0; errors.As(err, &refusal) && tries < 6; tries++ { // not resolved
			refused++
			c.plan.Shortest /= 2
			s = sumsOf(t, c.plan, c.data)
			post, err = gppl.NewPosterior(t.Context(), c.model, gppl.SumsData(s, centre), gppl.WithTolerance(1e-10))
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		loss, err := gppl.NewExact(t.Context(), c.model, gppl.SumsData(s, centre), gppl.WithTolerance(1e-10))
		if err != nil {
			t.Fatal(err)
		}
		v, err := loss.ValueGrad(t.Context(), got, theta)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w, err := raw.ValueGrad(t.Context(), want, theta)
		if err != nil {
			t.Fatal(err)
		}
		engines[loss.Report().Engine]++
		kernels[fmt.Sprintf("%T", c.model.Kernel)]++
		scale := max(math.Abs(w), float64(c.data.Len()))
		check := func(i int, what string, got, want, scale float64) {
			off := math.Abs(got-want) / scale
			if worst[i] = max(worst[i], off); !(off <= tol) {
				t.Errorf("%s, %s: %s is %v, want %v: off by %.2g", name, loss.Report().Engine, what, got, want, off)
			}
		}
		check(0, "the value", v, w, scale)
		for p := range theta {
			scale = max(scale, math.Abs(theta[p]*want[p]))
		}
		for p := range theta {
			check(1, fmt.Sprintf("derivative %d", p), theta[p]*got[p], theta[p]*want[p], scale)
		}

		rawPost, err := gppl.NewPosterior(t.Context(), c.model, d, gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		at := make([]float64, 21)
		for i := range at {
			at[i] = c.plan.Lo + (c.plan.Hi-c.plan.Lo)*float64(i)/20
		}
		x := gppl.Scalars(at)
		mean, variances, err := post.Latent(t.Context(), x)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rawMean, rawVariances := testkit.Must2(rawPost.Latent(t.Context(), x))(t)
		prior := c.variance
		for i := range at {
			check(2, "a mean", mean[i], rawMean[i], math.Sqrt(prior)*10)
			check(3, "a variance", variances[i], rawVariances[i], prior)
		}
	}
	t.Logf("%d refusals; engines %v, kernels %v; off at most by %.2g in value, %.2g in gradient, %.2g in mean, %.2g in variance",
		refused, engines, kernels, worst[0], worst[1], worst[2], worst[3])
}

// TestSumsWeights compares a weighted loss with the loss of data in which an observation of
// weight w stands w times with w times the noise variance: the same likelihood of the
// means, up to constants. With all weights 2 and twice the noise it is the plain one.
func TestSumsWeights(t *testing.T) {
	for _, k := range []gppl.Kernel{gppl.SE{Variance: 2, Lengthscale: 4}, gppl.RQ{Variance: 2, Lengthscale: 5, Alpha: 2}} {
		x, y, w := testsums.Series(9, 300)
		m := gppl.Model{Kernel: k, Noise: 0.3}
		s := testsums.New(t, testsums.Weighted)
		if err := s.AddWeighted(x, y, w); err != nil {
			t.Fatal(err)
		}
		loss, err := gppl.NewExact(t.Context(), m, gppl.SumsData(s, 3))
		if err != nil {
			t.Fatal(err)
		}
		theta := m.Values()
		grad := make([]float64, len(theta))
		got, err := loss.ValueGrad(t.Context(), grad, theta)
		if err != nil {
			t.Fatal(err)
		}
		want := func(theta []float64) float64 { return denseWeighted(t, m.WithParams(theta), x, y, w, 3) }
		if v := want(theta); math.Abs(got-v) > 1e-9*math.Abs(v) {
			t.Errorf("%v: %v, want %v", k, got, v)
		}
		for p := range theta {
			up, down := append([]float64{}, theta...), append([]float64{}, theta...)
			const h = 1e-5
			up[p] *= 1 + h
			down[p] *= 1 - h
			slope := (want(up) - want(down)) / (2 * h * theta[p])
			if math.Abs(grad[p]-slope) > 1e-5*(1+math.Abs(slope)) {
				t.Errorf("%v: derivative %d is %v, want %v", k, p, grad[p], slope)
			}
		}
	}
}

// TestSumsRefusals wants an error that names the range of what is resolved.
func TestSumsRefusals(t *testing.T) {
	x, y, _ := testsums.Series(10, 200)
	s := testsums.New(t, sums.Range{Lo: 0, Hi: 100, Shortest: 0.5, Longest: 5, Centre: 3, Largest: 5})
	if _, err := gppl.NewExact(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1}, gppl.SumsData(s, 3)); err == nil {
		t.Error("there is a loss of no observations")
	}
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kernel gppl.Kernel
		want   string
	}{
		{gppl.SE{Variance: 1, Lengthscale: 1}, ""},
		{gppl.SE{Variance: 1, Lengthscale: 0.1}, "SE lengthscales from 0.5 to 5"},
		{gppl.SE{Variance: 1, Lengthscale: 50}, "SE lengthscales from 0.5 to 5"},
		{gppl.Matern32{Variance: 1, Lengthscale: 1}, "these sums"},
		{gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 10}, "these sums resolve frequencies up to"},
		{gppl.White{Variance: 1}, "white noise"},
	} {
		loss, err := gppl.NewExact(t.Context(), gppl.Model{Kernel: c.kernel, Noise: 0.1}, gppl.SumsData(s, 3))
		if err != nil {
			t.Fatal(err)
		}
		_, err = loss.ValueGrad(t.Context(), nil, gppl.Model{Kernel: c.kernel, Noise: 0.1}.Values())
		var refusal *gppl.Refusal
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &refusal) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.kernel, err, c.want)
		}
	}
	m := gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 20, Alpha: 3}, Noise: 0.1}
	wide := testsums.New(t, testsums.Plain)
	if err := wide.Add(x, y); err != nil {
		t.Fatal(err)
	}
	post, err := gppl.NewPosterior(t.Context(), m, gppl.SumsData(wide, 3))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = post.Latent(t.Context(), gppl.Scalars([]float64{50, 101}))
	if err == nil || !strings.Contains(err.Error(), "x = 101") || !strings.Contains(err.Error(), "from 0 to 100") {
		t.Errorf("beyond the range: %v", err)
	}
	if _, err := post.Sample(t.Context(), gppl.Scalars([]float64{50, 101}), 1, 1); err == nil || !strings.Contains(err.Error(), "x = 101") {
		t.Errorf("a sample beyond the range: %v", err)
	}
}

// TestSumsLoss is the conformance of the loss.
func TestSumsLoss(t *testing.T) {
	x, y, _ := testsums.Series(12, 400)
	s := testsums.New(t, sums.Range{Lo: 0, Hi: 100, Shortest: 0.2, Centre: 3, Largest: 5})
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	for _, k := range []gppl.Kernel{gppl.SE{Variance: 1, Lengthscale: 1.5}, gppl.RQ{Variance: 1, Lengthscale: 4, Alpha: 3}} {
		loss, err := gppl.NewExact(t.Context(), gppl.Model{Kernel: k, Noise: 0.2}, gppl.SumsData(s, s.Mean()))
		if err != nil {
			t.Fatal(err)
		}
		gppltest.CheckLoss(t, loss)
	}
}

// TestSumsFit learns from sums what it learns from the data.
func TestSumsFit(t *testing.T) {
	x, y, _ := testsums.Series(13, 1500)
	s := testsums.New(t, sums.Range{Lo: 0, Hi: 100, Shortest: 0.3, Centre: 3, Largest: 5})
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 0.5, Lengthscale: 1}, Noise: 0.1}
	loss, err := gppl.NewExact(t.Context(), m, gppl.SumsData(s, 3))
	if err != nil {
		t.Fatal(err)
	}
	got, err := gppl.Fit(t.Context(), loss, nil, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := gppl.NewExact(t.Context(), m, centred(data, 3))
	if err != nil {
		t.Fatal(err)
	}
	want, err := gppl.Fit(t.Context(), raw, nil, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != gppl.Converged || math.Abs(got.Value-want.Value) > 1e-7*math.Abs(want.Value) {
		t.Errorf("from sums:\n%v\nfrom data:\n%v", got, want)
	}
	for i, p := range got.Params {
		if off := math.Abs(math.Log(p.Value / want.Params[i].Value)); off > 0.01*p.StdErrLog {
			t.Errorf("%s is %v ± %v, want %v", p.Name, p.Value, p.Value*p.StdErrLog, want.Params[i].Value)
		}
	}
}

// TestSumsIntercept wants the restricted likelihood not to depend on the centre, and other
// means to be refused.
func TestSumsIntercept(t *testing.T) {
	x, y, _ := testsums.Series(14, 300)
	s := testsums.New(t, testsums.Plain)
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.2, Mean: gppl.Intercept{}}
	value := func(centre float64) (v, at float64) {
		loss, err := gppl.NewExact(t.Context(), m, gppl.SumsData(s, centre))
		if err != nil {
			t.Fatal(err)
		}
		if v, err = loss.ValueGrad(t.Context(), nil, m.Values()); err != nil {
			t.Fatal(err)
		}
		post, err := gppl.NewPosterior(t.Context(), m, gppl.SumsData(s, centre))
		if err != nil {
			t.Fatal(err)
		}
		mean, _ := testkit.Must2(post.Latent(t.Context(), gppl.Scalars([]float64{40})))(t)
		return v, mean[0] + centre
	}
	v0, at0 := value(3)
	v1, at1 := value(-50)
	if math.Abs(v0-v1) > 1e-8*math.Abs(v0) || math.Abs(at0-at1) > 1e-8 {
		t.Errorf("%v and %v, %v and %v", v0, v1, at0, at1)
	}
	m.Mean = gppl.AddMeans(gppl.Intercept{}, gppl.Linear{})
	if _, err := gppl.NewExact(t.Context(), m, gppl.SumsData(s, 3)); err == nil || !strings.Contains(err.Error(), "only an Intercept") {
		t.Errorf("error %v", err)
	}
	one := testkit.Must(sums.New(s.Header()))(t)
	if err := one.Add(x[:1], y[:1]); err != nil {
		t.Fatal(err)
	}
	m.Mean = gppl.Intercept{}
	if _, err := gppl.NewExact(t.Context(), m, gppl.SumsData(one, 3)); err == nil || !strings.Contains(err.Error(), "1 observations for 1 columns") {
		t.Errorf("error %v", err)
	}
}

// TestSumsWithoutBlock takes a block away: value and estimate agree with the data that
// were never added.
func TestSumsWithoutBlock(t *testing.T) {
	x, y, _ := testsums.Series(15, 600)
	all, block := testsums.New(t, testsums.Plain), testsums.New(t, testsums.Plain)
	var kept [2][]float64
	for i, ti := range x {
		if ti >= 40 && ti < 50 {
			if err := block.Add(x[i:i+1], y[i:i+1]); err != nil {
				t.Fatal(err)
			}
		} else {
			kept[0], kept[1] = append(kept[0], ti), append(kept[1], y[i])
		}
	}
	if err := all.Add(x, y); err != nil {
		t.Fatal(err)
	}
	if err := all.Subtract(block); err != nil {
		t.Fatal(err)
	}
	if all.Len() != len(kept[0]) || block.Len() == 0 {
		t.Fatalf("%d observations and %d", all.Len(), block.Len())
	}
	data, err := gppl.NewData(gppl.Scalars(kept[0]), kept[1])
	if err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 4}, Noise: 0.2}
	got, err := gppl.NewPosterior(t.Context(), m, gppl.SumsData(all, 3))
	if err != nil {
		t.Fatal(err)
	}
	want, err := gppl.NewPosterior(t.Context(), m, centred(data, 3), gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	at := gppl.Scalars([]float64{39, 42, 45, 48, 51, 80})
	mean, variances := testkit.Must2(got.Noisy(t.Context(), at))(t)
	wantMean, wantVariances := testkit.Must2(want.Noisy(t.Context(), at))(t)
	for i := range mean {
		if math.Abs(mean[i]-wantMean[i]) > 1e-8 || math.Abs(variances[i]-wantVariances[i]) > 1e-8 {
			t.Errorf("at %v: %v, %v, want %v, %v", at.At(i)[0], mean[i], variances[i], wantMean[i], wantVariances[i])
		}
	}
}

// TestSumsSetUp: reading sums takes as long for 3e7 observations as for a thousand. The
// engine that is fastest is taken at the first evaluation, and no other before it. (It was
// once predicted to take a pass over the data, so that the spectral engine went first and
// could not keep its promise.)
func TestSumsSetUp(t *testing.T) {
	x, y, _ := testsums.Series(16, 1000)
	r := testsums.Plain
	r.Shortest, r.Longest = 0.05, 0.4
	s := testsums.New(t, r)
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	for range 15 {
		if err := s.Merge(s.Clone()); err != nil {
			t.Fatal(err)
		}
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 3, Lengthscale: 0.16}, Noise: 0.3}
	loss, err := gppl.NewExact(t.Context(), m, gppl.SumsData(s, 3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loss.ValueGrad(t.Context(), nil, m.Values()); err != nil {
		t.Fatal(err)
	}
	if r := loss.Report(); r.Fallbacks != 0 || r.Engine != gppl.EngineGridded {
		t.Errorf("%d fallbacks, engine %s:\n%s", r.Fallbacks, r.Engine, loss.Explain())
	}
}

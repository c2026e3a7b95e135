package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// jet returns k, k′ and k″ at a distance r by closed forms.
func jet(k gppl.Kernel, r float64) (j [3]float64) {
	switch k := k.(type) {
	case gppl.Laplace:
		e := k.Variance * math.Exp(-r/k.Lengthscale)
		return [3]float64{e, math.NaN(), math.NaN()}
	case gppl.Matern32:
		l := math.Sqrt(3) / k.Lengthscale
		e := k.Variance * math.Exp(-l*r)
		return [3]float64{e * (1 + l*r), -e * l * l * r, -e * l * l * (1 - l*r)}
	case gppl.Matern52:
		l := math.Sqrt(5) / k.Lengthscale
		a, e := l*r, k.Variance*math.Exp(-l*r)
		return [3]float64{e * (1 + a + a*a/3), -e * l * a * (1 + a) / 3, -e * l * l * (1 + a - a*a) / 3}
	case gppl.SHO:
		b, w := 0.5/k.Quality, 2*math.Pi/k.Period
		h := math.Sqrt(1 - b*b)
		e, c, s := k.Variance*math.Exp(-b*w*r), math.Cos(h*w*r), math.Sin(h*w*r)/h
		return [3]float64{e * (c + b*s), -e * w * s, -e * w * w * (c - b*s)}
	case gppl.Rotation:
		part := func(q, turns, v float64) [3]float64 {
			return jet(gppl.SHO{Variance: v, Period: k.Period / turns * math.Sqrt(4*q*q-1) / (2 * q), Quality: q}, r)
		}
		first, second := part(0.5+k.Quality+k.Difference, 1, k.Variance/(1+k.Mix)), part(0.5+k.Quality, 2, k.Variance*k.Mix/(1+k.Mix))
		for i := range j {
			j[i] = first[i] + second[i]
		}
		return j
	case gppl.Cosine:
		w := 2 * math.Pi / k.Period
		return [3]float64{k.Variance * math.Cos(w*r), -k.Variance * w * math.Sin(w*r), -k.Variance * w * w * math.Cos(w*r)}
	case gppl.Periodic:
		w, z := 2*math.Pi/k.Period, 1/(k.Lengthscale*k.Lengthscale)
		e, s, c := k.Variance*math.Exp(z*(math.Cos(w*r)-1)), math.Sin(w*r), math.Cos(w*r)
		return [3]float64{e, -e * z * w * s, e * w * w * (z*z*s*s - z*c)}
	case gppl.Sum:
		for _, p := range k.Terms() {
			for i, v := range jet(p, r) {
				j[i] += v
			}
		}
		return j
	case gppl.Product:
		j = [3]float64{1, 0, 0}
		for _, p := range k.Factors() {
			q := jet(p, r)
			j = [3]float64{j[0] * q[0], j[1]*q[0] + j[0]*q[1], j[2]*q[0] + 2*j[1]*q[1] + j[0]*q[2]}
		}
		return j
	}
	panic(fmt.Sprintf("no closed form of %v", k))
}

// seen is the covariance of what two channels see.
func seen(k gppl.Kernel, c, d gppl.Channel, x, z float64) float64 {
	j := jet(k, math.Abs(x-z))
	v := c.Value * d.Value * j[0]
	if b := c.Slope*d.Value - c.Value*d.Slope; b != 0 && x != z {
		v += b * math.Copysign(1, x-z) * j[1]
	}
	if b := c.Slope * d.Slope; b != 0 {
		v -= b * j[2]
	}
	return v
}

// channelCase is a random model of channels and observations of them.
type channelCase struct {
	model   gppl.Model
	data    gppl.Data
	channel []int
}

func channelKernels() []gppl.Kernel {
	return []gppl.Kernel{
		gppl.Matern32{Variance: 1.4, Lengthscale: 1.1}, gppl.Matern52{Variance: 0.7, Lengthscale: 2},
		gppl.SHO{Variance: 1.2, Period: 2.1, Quality: 3},
		gppl.Rotation{Variance: 2, Period: 3, Quality: 1.2, Difference: 0.4, Mix: 0.6},
		gppl.Add(gppl.Matern32{Variance: 1, Lengthscale: 0.6}, gppl.SHO{Variance: 0.4, Period: 1.3, Quality: 0.8}),
		gppl.Mul(gppl.Matern52{Variance: 1, Lengthscale: 3}, gppl.Periodic{Variance: 1, Period: 1.7, Lengthscale: 1.3}),
		gppl.Mul(gppl.Matern32{Variance: 1.3, Lengthscale: 4}, gppl.Cosine{Variance: 1, Period: 2}),
		gppl.Add(gppl.Matern32{Variance: 0.5, Lengthscale: 1}, gppl.Periodic{Variance: 1, Period: 2, Lengthscale: 2}),
		gppl.Mul(gppl.Matern32{Variance: 1, Lengthscale: 2}, gppl.SHO{Variance: 1, Period: 3, Quality: 2}),
	}
}

func randomChannels(rnd *rand.Rand, k gppl.Kernel) channelCase {
	theta := make([]float64, len(k.Params()))
	for i, p := range k.Params() {
		theta[i] = p.Value * math.Exp(0.3*rnd.NormFloat64())
		if p.Name == "quality" || strings.HasSuffix(p.Name, ".quality") {
			theta[i] = max(theta[i], 0.55) // the least value that the closed form takes
		}
	}
	c := channelCase{model: gppl.Model{Kernel: k.WithParams(theta)}}
	channels, n := 1+rnd.IntN(3), 12+rnd.IntN(20)
	for i := range channels {
		ch := gppl.Channel{Name: string(rune('A' + i)), Value: rnd.NormFloat64(), Slope: rnd.NormFloat64(),
			Noise: math.Exp(-2 + rnd.NormFloat64())}
		if rnd.IntN(3) == 0 {
			ch.Slope = 0
		}
		c.model.Channels = append(c.model.Channels, ch)
	}
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 12*rnd.Float64(), 3+rnd.NormFloat64()
		if i > 0 && rnd.IntN(5) == 0 {
			x[i] = x[i-1]
		}
		c.channel = append(c.channel, i%channels)
	}
	c.data = gppl.Data{X: gppl.Scalars(x), Y: y}
	if rnd.IntN(2) == 0 {
		c.data.Errors = make([]float64, n)
		for i := range x {
			c.data.Errors[i] = rnd.Float64()
		}
	}
	if rnd.IntN(3) == 0 {
		c.data.Relative = make([]float64, n)
		for i := range x {
			c.data.Relative[i] = 0.5 + rnd.Float64()
		}
	}
	return c
}

// denseChannels has the same case by Cholesky factors of A and of the information about the offsets.
type denseChannels struct {
	root, info mat.Cholesky // factors of A and HᵀA⁻¹H
	h, solved  mat.Dense    // H, A⁻¹H
	beta, rest mat.VecDense // the offsets, A⁻¹(y − Hβ)
	value      float64
}

func (c *channelCase) dense(t *testing.T, m gppl.Model) *denseChannels {
	t.Helper()
	return c.denseOf(t, m, func(i, j int) float64 {
		return seen(m.Kernel, m.Channels[c.channel[i]], m.Channels[c.channel[j]], c.data.X.At(i)[0], c.data.X.At(j)[0])
	})
}

// denseOf is dense with any covariance of what observations i and j see.
func (c *channelCase) denseOf(t *testing.T, m gppl.Model, covariance func(i, j int) float64) *denseChannels {
	t.Helper()
	n, k := c.data.Len(), len(m.Channels)
	a := mat.NewSymDense(n, nil)
	d := &denseChannels{h: *mat.NewDense(n, k, nil)}
	for i := range n {
		d.h.Set(i, c.channel[i], 1)
		for j := range i + 1 {
			a.SetSym(i, j, covariance(i, j))
		}
		noise := m.Channels[c.channel[i]].Noise
		if c.data.Relative != nil {
			noise *= c.data.Relative[i] * c.data.Relative[i]
		}
		if c.data.Errors != nil {
			noise += c.data.Errors[i] * c.data.Errors[i]
		}
		a.SetSym(i, i, a.At(i, i)+noise)
	}
	if !d.root.Factorize(a) {
		t.Fatal("A is not positive definite")
	}
	solve := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	solve(d.root.SolveTo(&d.solved, &d.h))
	var w, gram mat.Dense
	w.Mul(d.h.T(), &d.solved)
	gram.Mul(d.h.T(), &d.h)
	info := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			info.SetSym(i, j, w.At(i, j))
		}
		d.value -= 0.5 * math.Log(gram.At(i, i))
	}
	if !d.info.Factorize(info) {
		t.Fatal("the offsets are not determined")
	}
	y := mat.NewVecDense(n, c.data.Y)
	var right, mean mat.VecDense
	right.MulVec(d.solved.T(), y)
	solve(d.info.SolveVecTo(&d.beta, &right))
	mean.MulVec(&d.h, &d.beta)
	mean.SubVec(y, &mean)
	solve(d.root.SolveVecTo(&d.rest, &mean))
	d.value += 0.5 * (mat.Dot(&mean, &d.rest) + d.root.LogDet() + d.info.LogDet() + float64(n-k)*math.Log(2*math.Pi))
	return d
}

// predict returns the posterior of what a channel sees at z, with the offset of that index, or none at −1.
func (d *denseChannels) predict(t *testing.T, c *channelCase, ch gppl.Channel, offset int, z float64) (mean, variance float64) {
	t.Helper()
	n, k := c.data.Len(), len(c.model.Channels)
	cross := mat.NewVecDense(n, nil)
	for i := range n {
		cross.SetVec(i, seen(c.model.Kernel, ch, c.model.Channels[c.channel[i]], z, c.data.X.At(i)[0]))
	}
	var solved, r, u mat.VecDense
	if err := d.root.SolveVecTo(&solved, cross); err != nil {
		t.Fatal(err)
	}
	row := mat.NewVecDense(k, nil)
	mean = mat.Dot(cross, &d.rest)
	if offset >= 0 {
		row.SetVec(offset, 1)
		mean += d.beta.AtVec(offset)
	}
	r.MulVec(d.solved.T(), cross)
	r.SubVec(row, &r)
	if err := d.info.SolveVecTo(&u, &r); err != nil {
		t.Fatal(err)
	}
	return mean, seen(c.model.Kernel, ch, ch, z, z) - mat.Dot(cross, &solved) + mat.Dot(&r, &u)
}

// TestChannels compares values, gradients, offsets and posteriors with dense algebra on closed forms of the covariance.
func TestChannels(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	kernels := channelKernels()
	for trial := range testkit.Size(2*len(kernels), 10*len(kernels), 100*len(kernels)) {
		c := randomChannels(rnd, kernels[trial%len(kernels)])
		t.Run(fmt.Sprintf("%d/%T", trial, c.model.Kernel), func(t *testing.T) {
			loss, err := gppl.NewExact(t.Context(), c.model, viewed(c.data, c.channel, nil))
			if err != nil {
				t.Fatal(err)
			}
			theta := gppl.Values(loss.Params())
			grad := make([]float64, len(theta))
			got, err := loss.ValueGrad(t.Context(), grad, theta)
			if err != nil {
				t.Fatal(err)
			}
			d := c.dense(t, c.model)
			n := float64(c.data.Len())
			if !(math.Abs(got-d.value) <= 1e-8*(n+math.Abs(d.value))) || loss.Report().LastInexact > 0 {
				t.Fatalf("value %v, want %v; promised %v", got, d.value, loss.Report().LastBound)
			}
			for i := range theta {
				want := fd.Derivative(func(u float64) float64 {
					moved := slices.Clone(theta)
					moved[i] = u
					return c.dense(t, loss.Model(moved)).value
				}, theta[i], &fd.Settings{Formula: fd.Central, Step: 1e-5 * max(0.1, math.Abs(theta[i]))})
				if !(math.Abs(grad[i]-want) <= 1e-5*(1+math.Abs(want)+n)) {
					t.Errorf("derivative in %s: %v, want %v", loss.Params()[i].Name, grad[i], want)
				}
			}
			c.checkPosterior(t, rnd, d)
		})
	}
}

func (c *channelCase) checkPosterior(t *testing.T, rnd *rand.Rand, d *denseChannels) {
	t.Helper()
	p, err := gppl.NewPosterior(t.Context(), c.model, viewed(c.data, c.channel, nil))
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range p.Coefficients() {
		if math.Abs(o.Value-d.beta.AtVec(i)) > 1e-7*(1+math.Abs(o.Value)) {
			t.Errorf("offset %d: %v, want %v", i, o.Value, d.beta.AtVec(i))
		}
	}
	x := []float64{-3, 20, c.data.X.At(3)[0]}
	for range 5 {
		x = append(x, 12*rnd.Float64())
	}
	check := func(what string, ch gppl.Channel, offset int, mean, variance []float64, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i, z := range x {
			m, v := d.predict(t, c, ch, offset, z)
			prior := seen(c.model.Kernel, ch, ch, z, z)
			if math.Abs(mean[i]-m) > 1e-6*(1+math.Abs(m)+math.Sqrt(prior)) || math.Abs(variance[i]-v) > 1e-7*(v+prior) {
				t.Errorf("%s at %v: %v ± %v, want %v ± %v", what, z, mean[i], variance[i], m, v)
			}
		}
	}
	mean, variance, err := p.Latent(t.Context(), gppl.Scalars(x))
	check("f", gppl.Channel{Value: 1}, -1, mean, variance, err)
	mean, variance, err = p.Derivative(t.Context(), gppl.Scalars(x))
	check("f′", gppl.Channel{Slope: 1}, -1, mean, variance, err)
	for i, ch := range c.model.Channels {
		mean, variance, err = p.Channel(t.Context(), i, gppl.Scalars(x))
		check(ch.Name, ch, i, mean, variance, err)
	}
}

// TestChannelsLoss sends channels through the suite of losses.
func TestChannelsLoss(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for _, k := range append(channelKernels(), gppl.Add(gppl.Laplace{Variance: 1, Lengthscale: 2},
		gppl.Matern32{Variance: 1, Lengthscale: 1})) {
		c := randomChannels(rnd, k)
		if !gppl.IsDifferentiable(k) {
			for i := range c.model.Channels {
				c.model.Channels[i].Slope = 0
			}
		}
		loss, err := gppl.NewExact(t.Context(), c.model, viewed(c.data, c.channel, nil))
		if err != nil {
			t.Fatal(err)
		}
		gppltest.CheckLoss(t, loss)
	}
}

// TestInstruments: channels that see f itself, with one noise, are the model with their offsets as regressors.
func TestInstruments(t *testing.T) {
	k := gppl.Laplace{Variance: 1.3, Lengthscale: 2}
	c := randomChannels(rand.New(rand.NewPCG(1, 1)), k)
	c.data.Errors, c.data.Relative = nil, nil
	c.model.Channels = []gppl.Channel{{Name: "A", Value: 1, Noise: 0.2}, {Name: "B", Value: 1, Noise: 0.2}}
	x := c.data.X
	for i, name := range []string{"A", "B"} {
		is := make([]float64, c.data.Len())
		for j := range is {
			if c.channel[j] = j % 2; c.channel[j] == i {
				is[j] = 1
			}
		}
		x = x.WithColumn(name, is)
	}
	loss, err := gppl.NewExact(t.Context(), c.model, viewed(c.data, c.channel, nil))
	if err != nil {
		t.Fatal(err)
	}
	other, err := gppl.NewExact(t.Context(), gppl.Model{Kernel: c.model.Kernel, Noise: 0.2, Mean: gppl.AddMeans(gppl.Regressor{Name: "A"}, gppl.Regressor{Name: "B"})},
		gppl.Data{X: x, Y: c.data.Y})
	if err != nil {
		t.Fatal(err)
	}
	value := func(l gppl.Loss) float64 {
		theta := gppl.Values(l.Params())
		v, err := l.ValueGrad(t.Context(), nil, theta)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if a, b := value(loss), value(other); math.Abs(a-b) > 1e-9*math.Abs(b) {
		t.Errorf("%v as channels, %v with regressors", a, b)
	}
	if _, _, err := mustPosterior(t, c).Derivative(t.Context(), gppl.Scalars([]float64{1})); err == nil {
		t.Error("Laplace has a derivative")
	}
}

func mustPosterior(t *testing.T, c channelCase) *gppl.Posterior {
	t.Helper()
	p, err := gppl.NewPosterior(t.Context(), c.model, viewed(c.data, c.channel, nil))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestChannelsFit learns what two channels see of one function, and which is its derivative.
func TestChannelsFit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	truth := gppl.Model{Kernel: gppl.SHO{Variance: 1, Period: 9, Quality: 4}, Channels: []gppl.Channel{
		{Name: "index", Value: 1, Noise: 0.01}, {Name: "velocity", Value: 0.5, Slope: 3, Noise: 0.04}}}
	n := 240
	x, channel := make([]float64, n), make([]int, n)
	for i := range x {
		x[i], channel[i] = 100*rnd.Float64(), i%2
	}
	c := channelCase{truth, gppl.Data{X: gppl.Scalars(x), Y: make([]float64, n)}, channel}
	d := c.dense(t, truth)
	var l mat.TriDense
	d.root.LTo(&l)
	e := mat.NewVecDense(n, nil)
	for i := range n {
		e.SetVec(i, rnd.NormFloat64())
	}
	y := mat.NewVecDense(n, c.data.Y)
	y.MulVec(&l, e)
	for i := range n {
		c.data.Y[i] += 100 * float64(channel[i])
	}
	start := gppl.Model{Kernel: gppl.SHO{Variance: 2, Period: 9.5, Quality: 2}, Channels: []gppl.Channel{
		{Name: "index", Value: 1, Noise: 0.1}, {Name: "velocity", Value: 1, Slope: 1, Noise: 0.1}}}.Fix("value of index",
		"slope of index")
	loss, err := gppl.NewExact(t.Context(), start, viewed(c.data, channel, nil))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gppl.Fit(t.Context(), loss, nil, gppl.Settings{})
	if err != nil || r.Status != gppl.Converged {
		t.Fatal(r.Status, r.Reason, err)
	}
	want := truth.Params()
	for i, p := range r.Params {
		if sd := p.StdErr(); !p.IsFixed() && !(math.Abs(p.Value-want[i].Value) < 4*sd) {
			t.Errorf("%s: %v ± %v, want %v", p.Name, p.Value, sd, want[i].Value)
		}
	}
	if o := r.Mean[1]; !(math.Abs(o.Value-100) < 4*o.StdErr) || o.Name != "offset of velocity" {
		t.Errorf("offset %+v", o)
	}
}

// TestChannelsMean: a mean beside the offsets is found in the channel that sees it, and is as good as none where it is 0.
func TestChannelsMean(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	n := 120
	x, y, channel, wave := make([]float64, n), make([]float64, n), make([]int, n), make([]float64, n)
	for i := range x {
		x[i], channel[i] = 60*rnd.Float64(), i%2
		y[i] = math.Sin(x[i]/3) + 0.1*rnd.NormFloat64()
		if channel[i] == 1 {
			wave[i] = math.Cos(2 * x[i])
			y[i] += 0.5 * wave[i]
		}
	}
	m := gppl.Model{Kernel: gppl.Matern52{Variance: 1, Lengthscale: 5}, Mean: gppl.Regressor{Name: "orbit"},
		Channels: []gppl.Channel{{Name: "A", Value: 1, Noise: 0.01}, {Name: "B", Value: 1, Noise: 0.01}}}
	d := gppl.Data{X: gppl.Scalars(x).WithColumn("orbit", wave), Y: y}
	loss, err := gppl.NewExact(t.Context(), m, viewed(d, channel, nil))
	if err != nil {
		t.Fatal(err)
	}
	gppltest.CheckLoss(t, loss)
	p, err := gppl.NewPosterior(t.Context(), m, viewed(d, channel, nil))
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Coefficients()[2]; c.Name != "orbit" || !(math.Abs(c.Value-0.5) < 4*c.StdErr && c.StdErr < 0.05) {
		t.Errorf("%+v", c)
	}
	mean, variance, err := p.Channel(t.Context(), 1, gppl.Scalars([]float64{20, 40}))
	if err != nil || !(math.Abs(mean[0]-math.Sin(20./3)) < 5*math.Sqrt(variance[0])) {
		t.Error(mean, variance, err)
	}
	if _, err := gppl.NewExact(t.Context(), m, viewed(gppl.Data{X: gppl.Scalars(x), Y: y}, channel, nil)); err == nil ||
		!strings.Contains(err.Error(), "orbit") {
		t.Errorf("without the column: %v", err)
	}
}

// TestBlindChannel: what a channel of the Value 0 sees is noise about its offset, in any unit of y: ½Σ(y − ȳ)²/σ² +
// ½(n − 1)·log 2πσ².
func TestBlindChannel(t *testing.T) {
	for _, unit := range []float64{1e-20, 1e-12, 1, 1e12} {
		m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 2}, Channels: []gppl.Channel{{Name: "A", Noise: 0.1 * unit * unit}}}
		d := gppl.Data{X: gppl.Scalars([]float64{0, 1, 2, 4}), Y: []float64{unit, 0, -unit, 2 * unit}, Channels: make([]int, 4)}
		loss := testkit.Must(gppl.NewExact(t.Context(), m, d))(t)
		theta := gppl.Values(loss.Params())
		want := 0.5*5/0.1 + 1.5*(math.Log(2*math.Pi*0.1)+2*math.Log(unit))
		for _, grad := range [][]float64{nil, make([]float64, len(theta))} {
			if value, err := loss.ValueGrad(t.Context(), grad, theta); err != nil || !(math.Abs(value-want) < 1e-9*math.Abs(want)) {
				t.Errorf("y of %v: %v, %v, want %v", unit, value, err, want)
			}
		}
	}
}

// TestChannelsErrors: each error names what is wrong.
func TestChannelsErrors(t *testing.T) {
	data := gppl.Data{X: gppl.Scalars([]float64{0, 1, 2, 3}), Y: []float64{1, 2, 0, 1}}
	two := []gppl.Channel{{Name: "A", Value: 1, Noise: 1}, {Name: "B", Value: 1, Slope: 1, Noise: 1}}
	matern := gppl.Matern32{Variance: 1, Lengthscale: 1}
	for want, m := range map[string]gppl.Model{
		`channel "B" sees the derivative`: {Kernel: gppl.Laplace{Variance: 1, Lengthscale: 1}, Channels: two},
		"not a linear stochastic":         {Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Channels: two},
		"leave White out":                 {Kernel: gppl.Add(matern, gppl.White{Variance: 1}), Channels: two},
		`two channels "A"`:                {Kernel: matern, Channels: []gppl.Channel{two[0], two[0]}},
		`no parameter "value of C"`:       gppl.Model{Kernel: matern, Channels: two}.Fix("value of C"),
		`noise variance of A`:             {Kernel: matern, Channels: []gppl.Channel{{Name: "A", Value: 1}, two[1]}},
		`column "offset of C"`:            {Kernel: matern, Channels: append(two[:2:2], gppl.Channel{Name: "C", Value: 1, Noise: 1})},
		"does not say how they see f":     {Kernel: matern, Noise: 1},
		"observation 1 is of channel 1":   {Kernel: matern, Channels: two[:1]},
	} {
		_, err := gppl.NewExact(t.Context(), m, viewed(data, []int{0, 1, 0, 1}, nil))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestChannelsTogether: answers do not depend on what other goroutines ask of the same loss.
func TestChannelsTogether(t *testing.T) {
	c := randomChannels(rand.New(rand.NewPCG(4, 1)), channelKernels()[4])
	loss, err := gppl.NewExact(t.Context(), c.model, viewed(c.data, c.channel, nil))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(i int) (float64, []float64) {
		var theta []float64
		for _, p := range loss.Params() {
			theta = append(theta, p.Value*(1+0.1*float64(i)))
		}
		grad := make([]float64, len(theta))
		v, err := loss.ValueGrad(t.Context(), grad, theta)
		if err != nil {
			t.Error(err)
		}
		return v, grad
	}
	const many = 8
	var values [many]float64
	var grads [many][]float64
	for i := range many {
		values[i], grads[i] = ask(i)
	}
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			if v, grad := ask(i); v != values[i] || !slices.Equal(grad, grads[i]) {
				t.Errorf("%v beside others, %v alone", v, values[i])
			}
		})
	}
	all.Wait()
}

// BenchmarkChannels is a value and gradient of two channels, one with the derivative.
func BenchmarkChannels(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{3319, 100000} {
		for _, k := range []gppl.Kernel{gppl.Matern32{Variance: 1, Lengthscale: 3}, gppl.SHO{Variance: 1, Period: 9, Quality: 4},
			gppl.Rotation{Variance: 2, Period: 3, Quality: 1.2, Difference: 0.4, Mix: 0.6}} {
			x, y, channel := make([]float64, n), make([]float64, n), make([]int, n)
			for i := range x {
				x[i], y[i], channel[i] = float64(n)*rnd.Float64(), rnd.NormFloat64(), i%2
			}
			m := gppl.Model{Kernel: k, Channels: []gppl.Channel{{Name: "A", Value: 1, Noise: 0.1}, {Name: "B",
				Value: 0.4, Slope: 2, Noise: 0.2}}}
			loss, err := gppl.NewExact(b.Context(), m, viewed(gppl.Data{X: gppl.Scalars(x), Y: y}, channel, nil))
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("n=%d/kernel=%T", n, k), func(b *testing.B) { benchmarkLoss(b, loss) })
		}
	}
}

// benchmarkLoss times a value and gradient at the start.
func benchmarkLoss(b *testing.B, loss gppl.Loss) {
	theta := gppl.Values(loss.Params())
	grad := make([]float64, len(theta))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := loss.ValueGrad(b.Context(), grad, theta); err != nil {
			b.Fatal(err)
		}
	}
}

// viewed returns d with channels and exposures, nil for none.
func viewed(d gppl.Data, channel []int, exposure []float64) gppl.Data {
	d.Channels, d.Exposures = channel, exposure
	return d
}

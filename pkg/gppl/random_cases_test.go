package gppl_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// randomCase is a model, data and perhaps a projection. All follows from its
// number.
type randomCase struct {
	number   int
	model    gppl.Model
	data     gppl.Data
	inputs   string // kinds, for the tables
	target   string
	proj     *gppl.Projection // nil: only the exact NLL is computed
	residual bool             // PL keeps the residual energy
	before   []float64        // parameters of an earlier evaluation; nil: there is none
}

func (c *randomCase) String() string {
	s := fmt.Sprintf("case %d: %v, noise %.3g, n=%d, x %s, y %s", c.number, c.model.Kernel, c.model.Noise, c.data.Len(), c.inputs,
		c.target)
	if c.data.Errors != nil {
		s += fmt.Sprintf(", errors %.3g to %.3g", slices.Min(c.data.Errors), slices.Max(c.data.Errors))
	}
	if c.proj != nil {
		_, k := c.proj.Dims()
		s += fmt.Sprintf(", %s k=%d", c.proj.Design, k)
	}
	if c.before != nil {
		s += ", evaluated elsewhere before"
	}
	return s
}

// dice draws what a case is made of.
type dice struct{ *rand.Rand }

func caseDice(number int) dice { return dice{rand.New(rand.NewPCG(uint64(number), 11))} }

// chance is true with probability p.
func (d dice) chance(p float64) bool { return d.Float64() < p }

// log10 returns a number between 10^a and 10^b, uniform in the logarithm.
func (d dice) log10(a, b float64) float64 { return math.Pow(10, a+(b-a)*d.Float64()) }

// pick returns an index with a probability in proportion to its weight.
func (d dice) pick(weights ...float64) int {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	u := sum * d.Float64()
	for i, w := range weights {
		if u -= w; u < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// size returns n, between 2 and 3000. A quarter have 300 and more, where
// recursions have the room to go wrong; few are large, since the reference
// takes n³.
func (d dice) size() int {
	var lo, hi float64
	switch d.pick(0.72, 0.24, 0.033, 0.007) {
	case 0:
		lo, hi = 2, 300
	case 1:
		lo, hi = 300, 800
	case 2:
		lo, hi = 800, 1500
	default:
		lo, hi = 1500, 3001
	}
	return int(d.log10(math.Log10(lo), math.Log10(hi)))
}

// newRandomCase makes case number. largest, unless 0, refuses cases with more
// observations by nil, before any work is done.
func newRandomCase(number, largest int) *randomCase {
	d := caseDice(number)
	n := d.size()
	if largest > 0 && n > largest {
		return nil
	}
	c := &randomCase{number: number}
	x := c.drawInputs(d, n)
	lo, hi := gppl.Scalars(x).Range(0)
	if number >= knownFrom && d.chance(0.5) || number >= linearFrom && number < knownFrom {
		c.model = d.linearModel(hi-lo, n)
	} else {
		c.model = d.model(hi-lo, n)
	}
	y := c.drawTarget(d, x)
	var err error
	if c.data, err = gppl.NewData(gppl.Scalars(x), y); err != nil {
		panic(err) // finite by construction
	}
	if number >= knownFrom {
		c.drawErrors(d)
	} else if d.chance(0.5) {
		c.drawProjection(d)
	}
	if d.chance(0.2) {
		c.before = c.model.Values()
		for i := range c.before {
			c.before[i] *= math.Exp(0.3 * d.NormFloat64())
		}
	}
	return c
}

// drawInputs draws n times: their pattern on [0, 1], then span, offset, order.
func (c *randomCase) drawInputs(d dice, n int) []float64 {
	x := make([]float64, n)
	kind := []string{"regular", "irregular", "jittered", "clustered", "duplicated",
		"with a gap"}[d.pick(0.3, 0.25, 0.1, 0.12, 0.13, 0.1)]
	switch kind {
	case "regular":
		for i := range x {
			x[i] = float64(i) / float64(n)
		}
	case "irregular":
		for i := range x {
			x[i] = d.Float64()
		}
	case "jittered":
		for i := range x {
			x[i] = (float64(i) + 0.3*d.NormFloat64()) / float64(n)
		}
	case "clustered":
		clusters, width := 1+d.IntN(8), d.log10(-7, -1)
		for i := range x {
			x[i] = float64(d.IntN(clusters))/float64(clusters) + width*d.Float64()
		}
	case "duplicated":
		for i := range x {
			x[i] = d.Float64()
			if i > 0 && d.chance(0.4) {
				x[i] = x[d.IntN(i)]
			}
		}
	case "with a gap":
		share := 0.5 + 0.49*d.Float64()
		for i := range x {
			if x[i] = 0.5 * (1 - share) * d.Float64(); d.chance(0.5) {
				x[i] = 1 - x[i]
			}
		}
	}
	var span float64
	switch d.pick(0.5, 0.3, 0.2) {
	case 0:
		span = float64(n) // spacing 1
	case 1:
		span = d.log10(-9, 12)
	default:
		span = d.log10(0, 3)
	}
	var offset float64
	switch {
	case d.chance(0.25) && (span > 1e-3 || d.chance(0.2)): // else most points coincide
		offset = 1.7e9
		kind += " at 1.7e9"
	case d.chance(0.15):
		offset = -0.5 * span
	}
	for i := range x {
		x[i] = offset + span*x[i]
	}
	switch {
	case d.chance(0.3):
		d.Shuffle(n, func(i, j int) { x[i], x[j] = x[j], x[i] })
		kind += ", shuffled"
	case d.chance(0.1):
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			x[i], x[j] = x[j], x[i]
		}
		kind += ", descending"
	}
	c.inputs = fmt.Sprintf("%s, span %.2g", kind, span)
	return x
}

// model draws a kernel for n inputs on the span, and its noise.
func (d dice) model(span float64, n int) gppl.Model {
	if !(span > 0) {
		span = 1
	}
	scale := 1.0
	if d.chance(0.2) {
		scale = d.log10(-6, 6)
	}
	var k gppl.Kernel
	single := func() gppl.Kernel { return d.kernel(span, n, scale) }
	switch d.pick(0.55, 0.17, 0.1, 0.09, 0.09) {
	case 0:
		k = single()
	case 1:
		k = gppl.Add(single(), d.second(single, scale))
	case 2:
		k = gppl.Mul(single(), d.factor(span, n))
	case 3:
		k = gppl.Add(gppl.Mul(single(), d.factor(span, n)), d.second(single, scale))
	default:
		k = gppl.Mul(gppl.Add(single(), d.second(single, scale)), d.factor(span, n))
	}
	return d.noisy(k)
}

// linearModel is model for kernels that are linear stochastic differential equations.
func (d dice) linearModel(span float64, n int) gppl.Model {
	if !(span > 0) {
		span = 1
	}
	scale := 1.0
	if d.chance(0.2) {
		scale = d.log10(-6, 6)
	}
	return d.noisy(d.linear(span, n, scale))
}

// noisy draws the noise.
func (d dice) noisy(k gppl.Kernel) gppl.Model {
	v := make([]float64, 1)
	k.Cov(v, []float64{0})
	v[0] += capability.Nugget(k)
	ratio := d.log10(-10, 4)
	if d.chance(0.6) {
		ratio = d.log10(-4, 1)
	}
	return gppl.Model{Kernel: k, Noise: ratio * v[0]}
}

// second is a further term of a sum: White now and then.
func (d dice) second(single func() gppl.Kernel, scale float64) gppl.Kernel {
	if d.chance(0.2) {
		return gppl.White{Variance: scale * d.log10(-6, 0)}
	}
	return single()
}

// factor is a further factor of a product, at a variance around 1; White, for
// which there are few engines, now and then.
func (d dice) factor(span float64, n int) gppl.Kernel {
	if d.chance(0.03) {
		return gppl.White{Variance: d.log10(-1, 1)}
	}
	return d.kernel(span, n, 1)
}

// kernel draws a kernel that varies anywhere between a tenth of the spacing and
// thrice the span; two thirds of them are smooth.
func (d dice) kernel(span float64, n int, scale float64) gppl.Kernel {
	spacing := span / float64(n)
	v := scale * d.log10(-1, 1)
	l := spacing * d.log10(-1, math.Log10(3*float64(n)))
	// Periods below the spacing are where sin(πr/p) loses digits.
	period := spacing * d.log10(0.3, math.Log10(2*float64(n)+2))
	if d.chance(0.1) {
		period = spacing * d.log10(-3, 0.3)
	}
	phase := d.log10(-0.7, 0.7)
	switch d.pick(0.21, 0.15, 0.13, 0.1, 0.13, 0.12, 0.12, 0.02) {
	case 0:
		return gppl.SE{Variance: v, Lengthscale: l}
	case 1:
		return gppl.LocPer{Variance: v, Lengthscale: l, Period: period, PeriodicLengthscale: phase}
	case 2:
		return gppl.RQ{Variance: v, Lengthscale: l, Alpha: d.log10(-1, 2)}
	case 3:
		return gppl.Periodic{Variance: v, Lengthscale: phase, Period: period}
	case 4:
		return gppl.Matern52{Variance: v, Lengthscale: l}
	case 5:
		return gppl.Matern32{Variance: v, Lengthscale: l}
	case 6:
		return gppl.Laplace{Variance: v, Lengthscale: l}
	}
	return gppl.White{Variance: v}
}

// drawTarget draws y on the model's scale, or off it.
func (c *randomCase) drawTarget(d dice, x []float64) []float64 {
	prior := make([]float64, 1)
	c.model.Kernel.Cov(prior, []float64{0})
	sd := math.Sqrt(prior[0] + capability.Nugget(c.model.Kernel) + c.model.Noise)
	kind := d.pick(0.45, 0.12, 0.1, 0.08, 0.09, 0.08, 0.08)
	y := make([]float64, len(x))
	c.target = []string{"drawn", "white", "sine", "constant", "spike", "trend", "alternating"}[kind]
	switch kind {
	case 0:
		if !c.drawFromModel(d, y, x) {
			c.target = "white"
			fill(y, func(int) float64 { return sd * d.NormFloat64() })
		}
	case 1:
		fill(y, func(int) float64 { return sd * d.NormFloat64() })
	case 2:
		f := d.log10(-1, 1)
		fill(y, func(i int) float64 { return sd * math.Sin(f*float64(i)) })
	case 3:
		fill(y, func(int) float64 { return sd })
	case 4:
		y[d.IntN(len(y))] = 10 * sd
	case 5:
		lo, hi := gppl.Scalars(x).Range(0)
		fill(y, func(i int) float64 { return sd * (x[i] - 0.5*lo - 0.5*hi) / max(hi-lo, 1e-300) })
	case 6:
		fill(y, func(i int) float64 { return sd * float64(1-2*(i%2)) })
	}
	if s := d.pick(0.8, 0.1, 0.1); s > 0 {
		f := []float64{1, 1e6, 1e-6}[s]
		c.target += fmt.Sprintf(" × %g", f)
		fill(y, func(i int) float64 { return f * y[i] })
	}
	return y
}

func fill(y []float64, f func(int) float64) {
	for i := range y {
		y[i] = f(i)
	}
}

// drawFromModel sets y = Lε, and reports whether A could be factorised in
// float64.
func (c *randomCase) drawFromModel(d dice, y, x []float64) bool {
	n := len(x)
	a := mat.NewSymDense(n, nil)
	row := make([]float64, n)
	for i := range n {
		for j := range i {
			row[j] = math.Abs(x[i] - x[j])
		}
		row[i] = 0
		c.model.Kernel.Cov(row[:i+1], row[:i+1])
		row[i] += c.model.Noise + capability.Nugget(c.model.Kernel)
		for j, v := range row[:i+1] {
			a.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		return false
	}
	var l mat.TriDense
	chol.LTo(&l)
	e := mat.NewVecDense(n, nil)
	for i := range n {
		e.SetVec(i, d.NormFloat64())
	}
	mat.NewVecDense(n, y).MulVec(&l, e)
	return true
}

// knownFrom is the number from which on observations of random cases have known errors.
const knownFrom = 1 << 41

// drawErrors draws known errors, alike or not, and often makes the noise vanish beside them, as it does where they say it all.
func (c *randomCase) drawErrors(d dice) {
	prior := make([]float64, 1)
	c.model.Kernel.Cov(prior, []float64{0})
	size := math.Sqrt(prior[0]+capability.Nugget(c.model.Kernel)) * d.log10(-4, 1)
	spread := []float64{0, 0.3, 3}[d.IntN(3)]
	some := 1.0
	if d.chance(0.2) {
		some = 0.9 // the others are exact
	}
	c.data.Errors = make([]float64, c.data.Len())
	for i := range c.data.Errors {
		if d.chance(some) {
			c.data.Errors[i] = size * math.Exp(spread*d.NormFloat64())
			c.data.Y[i] += c.data.Errors[i] * d.NormFloat64()
		}
	}
	if some == 1 && d.chance(0.6) {
		c.model.Noise = size * size * d.log10(-14, -2)
	}
}

// drawProjection draws Ω, where the inputs let the design do so.
func (c *randomCase) drawProjection(d dice) {
	n := c.data.Len()
	k := min(n, 1+int(d.log10(0, math.Log10(min(100, 1+0.7*float64(n))))))
	if n <= 60 && d.chance(0.1) {
		k = n
	}
	design := []gppl.Design{
		gppl.Sphere{}, gppl.Spectral{}, gppl.Localised{}, gppl.OneHot{}, gppl.Raw{Design: gppl.Sphere{}},
	}[d.pick(0.35, 0.35, 0.1, 0.1, 0.1)]
	proj, err := gppl.NewProjection(context.Background(), design, c.data.X, k, uint64(c.number))
	if err != nil {
		return
	}
	c.proj = proj
	c.residual = proj.Orthonormal && d.chance(0.5)
}

// inducing returns the inducing inputs of a third of the small cases, nil for
// the others: up to twelve of the x, moved a little. Those that rounding leaves the same are one: K_uu of
// both has no inverse.
func (c *randomCase) inducing() []float64 {
	n := c.data.Len()
	lo, hi := c.data.X.Range(0)
	if c.number%3 != 0 || n > 300 || hi == lo || hasWhite(c.model.Kernel) {
		return nil
	}
	d := dice{rand.New(rand.NewPCG(uint64(c.number), 12))}
	z := make([]float64, min(n, 1+d.IntN(12)))
	for i := range z {
		z[i] = c.data.X.At(i * n / len(z))[0] + 0.3*(hi-lo)/float64(n)*d.NormFloat64()
	}
	slices.Sort(z)
	return slices.Compact(z)
}

func hasWhite(k gppl.Kernel) bool {
	switch k := k.(type) {
	case gppl.White:
		return true
	case gppl.Sum:
		return slices.ContainsFunc(k.Terms(), hasWhite)
	case gppl.Product:
		return slices.ContainsFunc(k.Factors(), hasWhite)
	}
	return false
}

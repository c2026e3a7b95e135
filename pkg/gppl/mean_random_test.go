package gppl_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

var (
	meanCount = flag.Int("mean-cases", 0, "TestRandomMeans: how many `cases`; 0 is a few small ones")
	meanFrom  = flag.Int("mean-from", 0, "TestRandomMeans: the `number` of the first case")
)

// meanRandom is a model with a mean of up to five columns, which may nearly repeat each other.
type meanRandom struct {
	number int
	model  gppl.Model
	data   gppl.Data
	proj   *gppl.Projection
	z      gppl.Inputs
	about  string
}

func newMeanRandom(number, largest int) *meanRandom {
	d := dice{rand.New(rand.NewPCG(uint64(number), 21))}
	n := 10 + d.IntN(largest-9)
	c := &meanRandom{number: number}
	step, origin := 1.0, 0.0
	switch d.IntN(5) {
	case 0: // Unix seconds
		step, origin = 60, 1.7e9
	case 1: // years
		step, origin = 0.25, 1950
	case 2:
		origin = d.log10(0, 6)
	case 3:
		step = d.log10(-6, 6)
	}
	regular := d.chance(0.5)
	x := make([]float64, n)
	for i := range x {
		u := float64(i)
		if !regular {
			u += 0.4 * d.NormFloat64()
		}
		x[i] = origin + step*u
	}
	step = (slices.Max(x) - slices.Min(x)) / float64(n)
	inputs := gppl.Scalars(x)

	var parts []gppl.Mean
	var columns [][]float64
	add := func(m gppl.Mean, column []float64) {
		parts, columns = append(parts, m), append(columns, column)
	}
	regressor := func(column []float64) {
		name := fmt.Sprint("r", len(parts))
		inputs = inputs.WithColumn(name, column)
		add(gppl.Regressor{Name: name}, column)
	}
	made := func(f func(i int) float64) []float64 {
		column := make([]float64, n)
		fill(column, f)
		return column
	}
	for range 1 + d.IntN(5) {
		switch kind := d.IntN(5); {
		case kind == 0 && !slices.Contains(parts, gppl.Mean(gppl.Intercept{})):
			add(gppl.Intercept{}, made(func(int) float64 { return 1 }))
		case kind == 1 && !slices.Contains(parts, gppl.Mean(gppl.Linear{})):
			add(gppl.Linear{}, x)
		case kind == 2:
			regressor(made(func(i int) float64 { return x[i] * x[i] }))
		case kind == 3 && len(columns) > 0: // nearly the same once more
			of, size, by := columns[d.IntN(len(columns))], d.log10(-12, 0), d.log10(-3, 3)
			regressor(made(func(i int) float64 { return by * of[i] * (1 + size*d.NormFloat64()) }))
		default:
			size := d.log10(-6, 6)
			regressor(made(func(int) float64 { return size * d.NormFloat64() }))
		}
	}
	mean := gppl.Mean(gppl.AddMeans(parts...))
	prior := d.IntN(3) // flat, Gaussian, mixed
	if prior > 0 {
		variances := make([]float64, len(parts))
		for j := range variances {
			variances[j] = math.Inf(1)
			if prior == 1 || d.chance(0.5) {
				variances[j] = d.log10(-2, 14)
			}
		}
		mean = gppl.GaussianBeta{Of: mean, Variances: variances}
	}
	l := step * d.log10(-0.3, 1.3)
	var k gppl.Kernel
	switch d.IntN(7) {
	case 0, 1:
		k = gppl.SE{Variance: 1, Lengthscale: l}
	case 2:
		k = gppl.Matern32{Variance: 1, Lengthscale: l}
	case 3:
		k = gppl.Laplace{Variance: 1, Lengthscale: l}
	case 4:
		k = gppl.LocPer{Variance: 1, Lengthscale: 3 * l, Period: step * d.log10(0.4, 1.3), PeriodicLengthscale: 1}
	case 5:
		k = gppl.RQ{Variance: 1, Lengthscale: l, Alpha: d.log10(-0.5, 1)}
	default:
		k = gppl.Add(gppl.SE{Variance: 1, Lengthscale: l}, gppl.Matern52{Variance: 0.3, Lengthscale: 3 * l})
	}
	c.model = gppl.Model{Kernel: k, Noise: d.log10(-5, 1), Mean: mean}
	y := make([]float64, n)
	phase := d.Float64()
	fill(y, func(i int) float64 {
		return math.Sin((x[i]-origin)/l+phase) + math.Sqrt(c.model.Noise)*d.NormFloat64()
	})
	if d.chance(0.6) { // plus a part that the mean explains
		for _, column := range columns {
			size := d.log10(-1, 4) * d.NormFloat64() / math.Sqrt(mat.Norm(mat.NewVecDense(n, column), 2))
			size /= math.Sqrt(mat.Norm(mat.NewVecDense(n, column), 2) / float64(n))
			fill(y, func(i int) float64 { return y[i] + size*column[i] })
		}
	}
	var err error
	if c.data, err = gppl.NewData(inputs, y); err != nil {
		panic(err)
	}
	c.about = fmt.Sprintf("case %d: %v, noise %.3g, mean %v, n=%d from %g by %g", number, k, c.model.Noise, mean, n, origin, step)
	design := []gppl.Design{gppl.Sphere{}, gppl.Spectral{}}[d.IntN(2)]
	if k := len(parts) + 1 + d.IntN(n-len(parts)-1); k < n {
		if p, err := gppl.NewProjection(context.Background(), design, inputs, k, uint64(number)); err == nil {
			c.proj = p
		}
	}
	z := make([]float64, 5)
	for i := range z {
		z[i] = x[0] + (x[n-1]-x[0])*(float64(i)+0.5)/5
	}
	c.z = gppl.Scalars(z)
	return c
}

// bigParts is a value in parts: logs of determinants, and the quadratic form.
type bigParts struct{ value, logDet, quad *big.Float }

// bigGram returns log|A| and CᵀA⁻¹C by elimination; it spoils a, and not c.
func bigGram(a, c [][]*big.Float) (logDet *big.Float, g [][]*big.Float) {
	n, cols := len(a), len(c[0])
	rows := make([][]*big.Float, n)
	for i := range rows {
		rows[i] = append(slices.Clone(a[i]), c[i]...)
	}
	logDet, g = bigOf(0), bigSquare(cols)
	for p := range n {
		logDet = bigAdd(logDet, bigLog(rows[p][p]))
		for i := range cols {
			f := bigDiv(rows[p][n+i], rows[p][p])
			for j := range cols {
				g[i][j] = bigAdd(g[i][j], bigMul(f, rows[p][n+j]))
			}
		}
		for i := p + 1; i < n; i++ {
			f := bigDiv(rows[p][i], rows[p][p]) // symmetric
			for j := i; j < n+cols; j++ {
				rows[i][j] = bigSub(rows[i][j], bigMul(f, rows[p][j]))
			}
		}
	}
	return logDet, g
}

func bigSquare(n int) [][]*big.Float {
	a := make([][]*big.Float, n)
	for i := range a {
		a[i] = make([]*big.Float, n)
		for j := range a[i] {
			a[i][j] = bigOf(0)
		}
	}
	return a
}

func bigMatrix(a mat.Matrix) [][]*big.Float {
	n, cols := a.Dims()
	m := make([][]*big.Float, n)
	for i := range m {
		for j := range cols {
			m[i] = append(m[i], bigOf(a.At(i, j)))
		}
	}
	return m
}

// bigTrans returns aᵀb.
func bigTrans(a, b [][]*big.Float) [][]*big.Float {
	m := make([][]*big.Float, len(a[0]))
	for i := range m {
		for j := range b[0] {
			sum := bigOf(0)
			for k := range a {
				sum = bigAdd(sum, bigMul(a[k][i], b[k][j]))
			}
			m[i] = append(m[i], sum)
		}
	}
	return m
}

// bigMean returns the value of a likelihood of terms numbers with covariance of log-determinant logDet, given
// G = CᵀA⁻¹C, and hh = HᵀH of what flat priors are normalised on.
func bigMean(terms int, logDet *big.Float, g, hh [][]*big.Float, columns []gppl.Column) bigParts {
	h := len(columns)
	m, right, flat := bigSquare(h), make([][]*big.Float, h), []int(nil)
	for i, c := range columns {
		right[i] = []*big.Float{g[1+i][0]}
		for j := range columns {
			m[i][j] = g[1+i][1+j]
		}
		if math.IsInf(c.Variance, 1) {
			flat = append(flat, i)
			continue
		}
		b := bigOf(math.Sqrt(c.Variance)) // standard deviations are float64
		b = bigMul(b, b)
		m[i][i] = bigAdd(m[i][i], bigDiv(bigOf(1), b))
		logDet = bigAdd(logDet, bigLog(b))
	}
	more, explained := bigGram(m, right)
	logDet = bigAdd(logDet, more)
	if len(flat) > 0 {
		f := bigSquare(len(flat))
		for a, i := range flat {
			for b, j := range flat {
				f[a][b] = hh[i][j]
			}
		}
		zero := make([][]*big.Float, len(flat))
		for i := range zero {
			zero[i] = []*big.Float{bigOf(0)}
		}
		less, _ := bigGram(f, zero)
		logDet = bigSub(logDet, less)
	}
	quad := bigSub(g[0][0], explained[0][0])
	constant := bigMul(bigOf(float64(terms-len(flat))), bigAdd(bigOf(log2PiHi), bigOf(log2PiLo)))
	return bigParts{bigMul(bigOf(0.5), bigAdd(bigAdd(logDet, quad), constant)), logDet, quad}
}

const log2PiHi, log2PiLo = 1.8378770664093456e+00, -7.756588316134483e-17

// bigLosses returns the values of the losses at theta, the model's parameters.
func (c *meanRandom) bigLosses(theta []*big.Float, only string) bigParts {
	n := c.data.Len()
	hMat, err := c.model.Mean.Basis(c.data.X)
	if err != nil {
		panic(err)
	}
	h := bigMatrix(hMat)
	columns := c.model.Mean.Columns()
	cols := make([][]*big.Float, n)
	for i := range cols {
		cols[i] = append([]*big.Float{bigOf(c.data.Y[i])}, h[i]...)
	}
	cov := func(a, b float64) *big.Float {
		r := bigSub(bigOf(a), bigOf(b))
		v, _ := bigKernel(c.model.Kernel, theta, r.Abs(r), false)
		return v
	}
	x := func(i int) float64 { return c.data.X.At(i)[0] }
	noise := theta[len(theta)-1]
	k := bigSquare(n)
	for i := range n {
		for j := range i + 1 {
			k[i][j] = cov(x(i), x(j))
			k[j][i] = k[i][j]
		}
	}
	addNoise := func(a [][]*big.Float) {
		for i := range a {
			a[i][i] = bigAdd(a[i][i], noise)
		}
	}
	switch only {
	case "exact":
		addNoise(k)
		logDet, g := bigGram(k, cols)
		return bigMean(n, logDet, g, bigTrans(h, h), columns)
	case "VFE":
		m := c.z.Len()
		kuu, kux := bigSquare(m), make([][]*big.Float, m)
		for i := range m {
			for j := range m {
				kuu[i][j] = cov(c.z.At(i)[0], c.z.At(j)[0])
			}
			for j := range n {
				kux[i] = append(kux[i], cov(c.z.At(i)[0], x(j)))
			}
		}
		_, q := bigGram(kuu, kux)
		slack := bigOf(0)
		for i := range n {
			slack = bigAdd(slack, bigSub(k[i][i], q[i][i]))
		}
		addNoise(q)
		logDet, g := bigGram(q, cols)
		p := bigMean(n, logDet, g, bigTrans(h, h), columns)
		p.value = bigAdd(p.value, bigDiv(slack, bigMul(bigOf(2), noise)))
		return p
	}
	omega := bigMatrix(omegaOf(c.proj))
	_, dim := c.proj.Dims()
	s := bigTrans(omega, bigTrans(k, omega))
	trace := bigOf(0)
	for i := range s {
		trace = bigAdd(trace, s[i][i])
	}
	addNoise(s)
	seen := bigTrans(omega, cols)
	logDet, g := bigGram(s, seen)
	if only == "PL" {
		sees := bigTrans(omega, h)
		return bigMean(dim, logDet, g, bigTrans(sees, sees), columns)
	}
	dof := bigOf(float64(n - dim))
	tau := bigAdd(noise, bigDiv(bigSub(bigMul(bigOf(float64(n)), k[0][0]), trace), dof))
	rest := make([][]*big.Float, n)
	for i := range rest {
		for j := range cols[i] {
			v := cols[i][j]
			for d := range dim {
				v = bigSub(v, bigMul(omega[i][d], seen[d][j]))
			}
			rest[i] = append(rest[i], v)
		}
	}
	energy := bigTrans(rest, rest)
	for i := range g {
		for j := range g {
			g[i][j] = bigAdd(g[i][j], bigDiv(energy[i][j], tau))
		}
	}
	logDet = bigAdd(logDet, bigMul(dof, bigLog(tau)))
	return bigMean(n, logDet, g, bigTrans(h, h), columns)
}

// truth returns value, gradient in logs and slopes, computed by big.Float.
func (c *meanRandom) truth(loss string) *truth {
	var theta []*big.Float
	for _, p := range c.model.Params() {
		theta = append(theta, bigOf(p.Value))
	}
	toWide := func(v *big.Float) wide {
		hi, _ := v.Float64()
		lo, _ := bigSub(v, bigOf(hi)).Float64()
		return wide{Hi: hi, Lo: lo}
	}
	at := c.bigLosses(theta, loss)
	t := &truth{value: toWide(at.value), quad: toWide(at.quad).Hi}
	n := float64(c.data.Len())
	x := c.data.X.Coordinate(0)
	t.slope = append(newWideGram(c.model.Kernel, x).slope, 1)
	const step = 1e-40
	for p := range theta {
		moved := func(by float64) bigParts {
			to := slices.Clone(theta)
			to[p] = bigMul(theta[p], bigExp(bigOf(by)))
			return c.bigLosses(to, loss)
		}
		up, down := moved(step), moved(-step)
		slope := func(a, b *big.Float) float64 { return toWide(bigDiv(bigSub(a, b), bigOf(2*step))).Hi }
		t.grad = append(t.grad, toWide(bigDiv(bigSub(up.value, down.value), bigOf(2*step))))
		t.slope[p] = max(t.slope[p], math.Abs(slope(up.logDet, down.logDet))/n, math.Abs(slope(up.quad, down.quad))/max(n, t.quad))
		t.gradSize = append(t.gradSize, t.slope[p]*max(n, t.quad))
	}
	return t
}

// judge holds every engine of every loss to the truth, and to LastBound alone: the tolerance is not allowed on top.
func (c *meanRandom) judge(report func(string, bool)) {
	run := func(name string, terms int, build func(...gppl.Option) (explained, error)) {
		var t *truth
		for _, engine := range append(gppl.Engines(), "") {
			var opts []gppl.Option
			if engine != "" {
				opts = append(opts, gppl.WithEngine(engine))
			}
			e := evaluate(func() (explained, error) { return build(opts...) }, nil)
			what := name + " " + engine
			if e.verdict != kept || e.report.Jitter > 0 {
				report(fmt.Sprintf("%s: %s: %s %s", c.about, what, e.verdict, e.detail),
					e.verdict == failed || e.verdict == refused || e.verdict == kept)
				continue
			}
			if t == nil {
				t = c.truth(name)
			}
			bound := e.report.LastBound
			if engine == "" && e.report.LastInexact == 0 {
				bound = min(bound, toleranceNats*max(float64(terms), t.quad))
			}
			off := (e.value - t.value.Hi) - t.value.Lo
			report(fmt.Sprintf("%s: %s by %s: value %.15g is off by %.3g, bound %.3g",
				c.about, what, e.report.Engine, e.value, off, bound), math.Abs(off) <= bound)
			for p := range t.grad {
				off := (e.grad[p] - t.grad[p].Hi) - t.grad[p].Lo
				limit := gradientFactor*t.slope[p]*bound + relativeRounding*t.gradSize[p]
				report(fmt.Sprintf("%s: %s by %s: derivative %d %.10g is off by %.3g, bound %.3g",
					c.about, what, e.report.Engine, p, e.grad[p], off, limit),
					math.Abs(off) <= limit)
			}
		}
	}
	n := c.data.Len()
	run("exact", n, func(o ...gppl.Option) (explained, error) {
		return gppl.NewExact(context.Background(), c.model, c.data, o...)
	})
	run("VFE", n, func(o ...gppl.Option) (explained, error) {
		return gppl.NewVFE(context.Background(), c.model, c.data, c.z, gppl.VFEOptions{}, o...)
	})
	if c.proj == nil {
		return
	}
	_, k := c.proj.Dims()
	run("PL", k, func(o ...gppl.Option) (explained, error) {
		return gppl.NewProjected(context.Background(), c.model, c.data, c.proj, o...)
	})
	run("residual", n, func(o ...gppl.Option) (explained, error) {
		return gppl.NewResidual(context.Background(), c.model, c.data, c.proj, o...)
	})
}

// TestRandomMeans holds value and gradient of every loss and engine with a mean to big.Float with 400 bits, for
// columns of a condition up to 1e12, and requires that LastBound is a bound:
//
//	go test ./pkg/gppl -run TestRandomMeans -mean-cases 1000 -timeout 2h
func TestRandomMeans(t *testing.T) {
	t.Parallel()
	count, largest := *meanCount, 40
	if count == 0 {
		count, largest = testkit.Size(2, 3, 3), testkit.Size(12, 14, 14)
	}
	var lock sync.Mutex
	var next atomic.Int64
	var checks, wrong int
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				number := int(next.Add(1)) - 1
				if number >= count {
					return
				}
				newMeanRandom(*meanFrom+number, largest).judge(func(what string, ok bool) {
					lock.Lock()
					defer lock.Unlock()
					if checks++; !ok {
						wrong++
						t.Error(what)
					}
				})
			}
		}()
	}
	group.Wait()
	t.Logf("%d cases, %d comparisons, %d above the bound", count, checks, wrong)
}

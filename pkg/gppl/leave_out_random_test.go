package gppl_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

var (
	leaveOutCases = flag.Int("leaveout", 60, "TestRandomLeaveOut: how many `cases`")
	leaveOutFrom  = flag.Int("leaveoutfrom", 0, "TestRandomLeaveOut: the `number` of the first case")
)

// leaveOutCase is a model, data and blocks. All follows from its number.
type leaveOutCase struct {
	number int
	model  gppl.Model
	data   gppl.Data
	what   string
	blocks [][]int
}

func newLeaveOutCase(number int) *leaveOutCase {
	d := dice{caseDice(1_000_000 + number).Rand}
	n := 3 + int(d.log10(0, 2))
	var r randomCase
	x := r.drawInputs(d, n)
	lo, hi := gppl.Scalars(x).Range(0)
	span := max(hi-lo, 1e-9)
	c := &leaveOutCase{number: number}
	k := d.leaveOutKernel(span, n)
	if number >= linearFrom {
		k = d.linear(span, n, 1)
	}
	v := []float64{0}
	k.Cov(v, v)
	v[0] += capability.Nugget(k)
	r.model = gppl.Model{Kernel: k, Noise: v[0] * d.log10(-14, 2)}
	y := r.drawTarget(d, x)
	sd := math.Sqrt(v[0] + r.model.Noise)
	if d.chance(0.3) {
		y[d.IntN(n)] += sd * d.log10(0, 3)
		r.target += ", outlier"
	}
	if d.chance(0.5) {
		r.model.Mean = d.mean(gppl.Scalars(x), sd)
	}
	c.model = r.model
	c.data = gppl.Data{X: gppl.Scalars(x), Y: y}
	noise := "even"
	switch d.pick(0.5, 0.2, 0.3) {
	case 1:
		noise = "known errors"
		c.data.Errors = make([]float64, n)
		size := sd * d.log10(-6, 0)
		fill(c.data.Errors, func(int) float64 { return size * d.log10(-2, 0) * float64(min(1, d.IntN(5))) })
	case 2:
		spread := d.log10(0, 0.7) - 1 // up to 4 decades to each side
		noise = fmt.Sprintf("relative errors over %.2g decades", 2*spread)
		c.data.Relative = make([]float64, n)
		fill(c.data.Relative, func(int) float64 { return d.log10(-spread, spread) })
	}
	var kind string
	c.blocks, kind = d.blocks(x)
	c.what = fmt.Sprintf("case %d: %v, noise/variance %.3g, n=%d, x %s, y %s, %s, %s",
		number, c.model, c.model.Noise/v[0], n, r.inputs, r.target, noise, kind)
	return c
}

// leaveOutKernel draws a kernel for every engine: half are Markov.
func (d dice) leaveOutKernel(span float64, n int) gppl.Kernel {
	markov := func() gppl.Kernel {
		v, l := d.log10(-1, 1), span/float64(n)*d.log10(-1, math.Log10(3*float64(n)))
		return []gppl.Kernel{gppl.Laplace{Variance: v, Lengthscale: l}, gppl.Matern32{Variance: v, Lengthscale: l},
			gppl.Matern52{Variance: v, Lengthscale: l}}[d.IntN(3)]
	}
	switch d.pick(0.35, 0.15, 0.2, 0.2, 0.1) {
	case 0:
		return markov()
	case 1:
		return gppl.Add(markov(), markov())
	case 2:
		return gppl.SE{Variance: d.log10(-1, 1), Lengthscale: span / float64(n) * d.log10(-1, 1)}
	case 3:
		return d.kernel(span, n, 1)
	}
	return gppl.Add(d.kernel(span, n, 1), d.kernel(span, n, 1))
}

// mean draws one with flat coefficients, or with Gaussian ones.
func (d dice) mean(x gppl.Inputs, sd float64) gppl.Mean {
	m := gppl.Mean(gppl.Intercept{})
	if d.chance(0.5) && x.Len() > 8 {
		if lo, hi := x.Range(0); hi > lo {
			m = gppl.AddMeans(m, gppl.NewTrend(1, x))
		}
	}
	if d.chance(0.3) {
		variances := make([]float64, len(m.Columns()))
		fill(variances, func(int) float64 { return sd * sd * d.log10(-2, 2) })
		m = gppl.GaussianBeta{Of: m, Variances: variances}
	}
	return m
}

// blocks draws the blocks to leave out: neighbours in x, or any observations.
func (d dice) blocks(x []float64) (blocks [][]int, kind string) {
	n := len(x)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	switch d.pick(0.4, 0.3, 0.15, 0.1, 0.05) {
	case 0:
		for i := range n {
			blocks = append(blocks, []int{i})
		}
		return blocks, "one at a time"
	case 1:
		slices.SortFunc(order, func(a, b int) int {
			if x[a] < x[b] {
				return -1
			}
			return 1
		})
		kind = "neighbours"
	case 2:
		d.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		kind = "scattered"
	case 3:
		return [][]int{{0, n - 1}}, "both ends"
	default:
		return [][]int{order}, "everything"
	}
	size := 1 + int(d.log10(0, math.Log10(float64(n))))
	return slices.Collect(slices.Chunk(order, size)), fmt.Sprintf("%s by %d", kind, size)
}

// wideLeaveOut predicts the observations left out, by the definition and in double-double: with P = A⁻¹ −
// A⁻¹H(HᵀA⁻¹H + B⁻¹)⁻¹HᵀA⁻¹ the block has the mean y_B − P_BB⁻¹(Py)_B and the covariance P_BB⁻¹.
func wideLeaveOut(c *leaveOutCase) (mean, variances []float64, err error) {
	n := c.data.Len()
	k := widen(c.model.Kernel)
	d := make([]wide, k.params())
	a := newWideLower(n)
	for i := range n {
		for j := range i + 1 {
			a[i][j] = k.at(d, doubled.Difference(c.data.X.At(i)[0], c.data.X.At(j)[0]).Abs(), false)
		}
		noise := doubled.Of(c.model.Noise).Add(doubled.Of(capability.Nugget(c.model.Kernel)))
		if c.data.Relative != nil {
			e := doubled.Of(c.data.Relative[i])
			noise = noise.Mul(e).Mul(e)
		}
		if c.data.Errors != nil {
			s := doubled.Of(c.data.Errors[i])
			noise = noise.Add(s.Mul(s))
		}
		a[i][i] = a[i][i].Add(noise)
	}
	if err := a.Cholesky(); err != nil {
		return nil, nil, err
	}
	inv := a.Invert()
	p := newWideLower(n)
	for i := range n {
		for j := range i + 1 {
			p[i][j] = inv.Inverse(i, j)
		}
	}
	at := func(m wideLower, i, j int) wide { return m[max(i, j)][min(i, j)] }
	if c.model.Mean != nil {
		h, err := c.model.Mean.Basis(c.data.X)
		if err != nil {
			return nil, nil, err
		}
		if err := projectOut(p, h, c.model.Mean.Columns()); err != nil {
			return nil, nil, err
		}
	}
	mean, variances = make([]float64, n), make([]float64, n)
	for _, block := range c.blocks {
		b := newWideLower(len(block))
		alpha := make([]wide, len(block))
		for r, i := range block {
			for s, j := range block[:r+1] {
				b[r][s] = at(p, i, j)
			}
			for j, y := range c.data.Y {
				alpha[r] = alpha[r].Add(at(p, i, j).Times(y))
			}
		}
		if err := b.Cholesky(); err != nil {
			return nil, nil, err
		}
		inv := b.Invert()
		t := inv.MulTrans(b.Solve(alpha))
		for r, i := range block {
			mean[i], variances[i] = doubled.Of(c.data.Y[i]).Sub(t[r]).Hi, inv.Inverse(r, r).Hi
		}
	}
	return mean, variances, nil
}

// projectOut subtracts A⁻¹H(HᵀA⁻¹H + B⁻¹)⁻¹HᵀA⁻¹ from p = A⁻¹.
func projectOut(p wideLower, h *mat.Dense, columns []gppl.Column) error {
	n, cols := h.Dims()
	solved := make([][]wide, cols) // A⁻¹H
	m := newWideLower(cols)
	for j, column := range columns {
		solved[j] = make([]wide, n)
		for i := range n {
			for k := range n {
				solved[j][i] = solved[j][i].Add(p[max(i, k)][min(i, k)].Times(h.At(k, j)))
			}
		}
		for l := range j + 1 {
			for i := range n {
				m[j][l] = m[j][l].Add(solved[j][i].Times(h.At(i, l)))
			}
		}
		if !math.IsInf(column.Variance, 1) {
			m[j][j] = m[j][j].Add(doubled.Of(1).Div(doubled.Of(column.Variance)))
		}
	}
	if err := m.Cholesky(); err != nil {
		return err
	}
	half := make([][]wide, n)
	for i := range n {
		row := make([]wide, cols)
		for j := range cols {
			row[j] = solved[j][i]
		}
		half[i] = m.Solve(row)
		for k := range i + 1 {
			p[i][k] = p[i][k].Sub(doubled.Dot(half[i], half[k]))
		}
	}
	return nil
}

// tooLong reports whether an engine would take more than 5 ms to factorise, by its own account.
func tooLong(t *testing.T, c *leaveOutCase, engine string) bool {
	l := testkit.Must(gppl.NewExact(t.Context(), c.model, c.data, gppl.WithEngine(engine)))(t)
	_, seconds := l.Cost(c.model.Values())
	return engine != "" && !math.IsInf(seconds, 1) && seconds > 0.005
}

// leaveOutTrust is how far a prediction may be off, in its standard deviations, and its variance relatively.
const leaveOutTrust = 0.01

// TestRandomLeaveOut: what every engine says of observations left out is within a hundredth of a standard deviation of the
// definition in double-double, or an error. It fails if rounding reaches an answer without the engine's estimate of it: by noise
// of 1e-14 of the variance, observations that coincide, outliers, errors of very different size, blocks that nearly determine
// each other or the mean, and harmonics that a state space leaves out. From 0 on, there are as many cases of kernels that are
// linear stochastic differential equations.
//
//	go test ./pkg/gppl -run TestRandomLeaveOut -leaveout 2000 -v
func TestRandomLeaveOut(t *testing.T) {
	type tally struct {
		right, refused, lost, silent int
		worst                        float64 // worst error of the correct answers
	}
	count := map[string]*tally{}
	var numbers []int
	for i := range *leaveOutCases {
		numbers = append(numbers, *leaveOutFrom+i)
		if *leaveOutFrom == 0 {
			numbers = append(numbers, linearFrom+i)
		}
	}
	for _, number := range numbers {
		c := newLeaveOutCase(number)
		want, v, unknown := wideLeaveOut(c)
		for _, engine := range append(gppl.Engines(), "") {
			name := engine
			if name == "" {
				name = "automatic"
			}
			if count[name] == nil {
				count[name] = new(tally)
			}
			s := count[name]
			if tooLong(t, c, engine) {
				s.refused++
				continue
			}
			mean, variances, err := gppl.LeaveOut(t.Context(), c.model, c.data, c.blocks, gppl.WithEngine(engine))
			var refusal *gppl.Refusal
			switch {
			case errors.As(err, &refusal):
				s.refused++
				continue
			case err != nil:
				s.lost++
				if testing.Verbose() && (engine == "" || engine == gppl.EngineStateSpace) &&
					!strings.Contains(err.Error(), "do not determine") {
					t.Logf("%s, %s: %v", c.what, name, err)
				}
				continue
			case unknown != nil:
				if s.silent++; true {
					t.Errorf("%s, by %s: an answer where there is none: %v", c.what, name, unknown)
				}
				continue
			}
			var off float64
			at := 0
			for i := range want {
				if e := max(math.Abs(mean[i]-want[i])/math.Sqrt(v[i]), math.Abs(variances[i]/v[i]-1)); v[i] > 0 && !(e <= off) {
					off, at = e, i
				}
			}
			if !(off <= leaveOutTrust) {
				s.silent++
				t.Errorf("%s, by %s: y[%d] has %.9g ± √%.9g, want %.9g ± √%.9g", c.what, name, at, mean[at], variances[at], want[at], v[at])
				continue
			}
			s.right++
			s.worst = max(s.worst, off)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		s := count[name]
		t.Logf("%-10s %4d right within %.1e, %4d errors, %4d not for this engine, %d silently wrong",
			name, s.right, s.worst, s.lost, s.refused, s.silent)
	}
}

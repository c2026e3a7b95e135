package search

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// refine returns the period in steps, within half a cycle over the span, at which the given number of harmonics explain most, and
// their gain there, in nats.
func (v *view) refine(steps float64, harmonics int) (best, more float64) {
	const rounds, tries, finer = 5, 3, 2.5
	span := float64(v.at[len(v.at)-1])
	at := func(shift float64) float64 { return 1 / (1/steps + shift/span) } // the period at a shift in cycles over the span
	here := v.gainAt(steps, harmonics)
	shift, top, reach := 0.0, here, 0.5
	for range rounds {
		centre := shift
		for k := -tries; k <= tries; k++ {
			to := centre + reach*float64(k)/tries
			if k == 0 || !(at(to) >= 2) {
				continue
			}
			if gain := v.gainAt(at(to), harmonics); gain > top {
				shift, top = to, gain
			}
		}
		reach /= finer
	}
	return at(shift), top - here
}

// gainAt returns the gain in nats, without a penalty, of the first harmonics of a period in steps.
func (v *view) gainAt(steps float64, harmonics int) float64 {
	periods := make([]float64, harmonics)
	for h := range periods {
		periods[h] = steps / float64(h+1)
	}
	_, gain := v.fitted(periods, 1)
	return gain
}

// fitted returns the coefficients of a level, a line, and the sines and cosines of periods in steps, by weighted least squares on
// one in every of the values, and the gain of the waves in nats, without a penalty: −Inf if they are not determined.
func (v *view) fitted(periods []float64, every int) (coefficients []float64, gain float64) {
	f := newSquares(2 + 2*len(periods))
	for i := 0; i < len(v.y); i += every {
		v.basis(f.row, periods, i)
		f.add(v.y[i], v.weight[i])
	}
	line, gainOfLine := f.solve(2)
	coefficients, gain = f.solve(len(f.row))
	if line == nil || coefficients == nil || math.IsInf(gainOfLine, -1) {
		return nil, math.Inf(-1)
	}
	return coefficients, gain - gainOfLine
}

// basis sets a row of the columns of fitted: 1, the place from −½ to ½, and the sine and cosine of each period.
func (v *view) basis(row, periods []float64, i int) {
	at := v.centred(i)
	row[0], row[1] = 1, at/float64(v.at[len(v.at)-1]) // a wave of a few cycles has tilted the line that was subtracted
	for j, p := range periods {
		row[2*j+2], row[2*j+3] = math.Sincos(2 * math.Pi * at / p)
	}
}

// centred returns the place of a value in steps from the middle.
func (v *view) centred(i int) float64 { return float64(v.at[i]) - 0.5*float64(v.at[len(v.at)-1]) }

// squares accumulates the normal equations of least squares.
type squares struct {
	row         []float64 // the next row of columns
	products, b []float64 // the upper triangle of the products of columns; their products with y
	n, total    float64
}

func newSquares(columns int) *squares {
	return &squares{row: make([]float64, columns), products: make([]float64, columns*columns), b: make([]float64, columns)}
}

func (f *squares) add(y, weight float64) {
	k := len(f.row)
	for c, r := range f.row {
		r *= weight
		f.b[c] += r * y
		for d := c; d < k; d++ {
			f.products[c*k+d] += r * f.row[d]
		}
	}
	f.n, f.total = f.n+1, f.total+weight*y*y
}

// solve returns the coefficients of the first k columns and their gain, without a penalty: none and −Inf if they are not
// determined.
func (f *squares) solve(k int) (coefficients []float64, gain float64) {
	var chol mat.Cholesky
	var beta mat.VecDense
	right := mat.NewVecDense(k, f.b[:k])
	leading := mat.NewSymDense(len(f.row), f.products).SliceSym(0, k)
	if !chol.Factorize(leading) || chol.SolveVecTo(&beta, right) != nil {
		return nil, math.Inf(-1)
	}
	return beta.RawVector().Data, gainOf(f.n, f.total, mat.Dot(&beta, right), 0)
}

// together returns the periods at which waves together explain most, from periods close to these, by Gauss and Newton's method. A
// wave moves by at most half a cycle over the span in each round. It returns nil if the waves are not determined.
func (v *view) together(periods []float64) []float64 {
	const rounds = 4
	periods = slices.Clone(periods)
	k, every, last := len(periods), v.sparse(), float64(v.at[len(v.at)-1])
	beta, _ := v.fitted(periods, every)
	for range rounds {
		if beta == nil {
			return nil
		}
		f := newSquares(2 + 3*k) // the last k columns are derivatives by the angle of a wave at the end
		for i := 0; i < len(v.y); i += every {
			v.basis(f.row, periods, i)
			for j := range periods {
				f.row[2+2*k+j] = v.centred(i) / last * (beta[2*j+2]*f.row[2*j+3] - beta[2*j+3]*f.row[2*j+2])
			}
			f.add(v.y[i], v.weight[i])
		}
		if beta, _ = f.solve(len(f.row)); beta == nil {
			return nil
		}
		for j := range periods {
			turn := min(max(beta[2+2*k+j], -math.Pi), math.Pi)
			periods[j] = 1 / (1/periods[j] + turn/(2*math.Pi*last))
			if !(periods[j] >= 2) {
				return nil
			}
		}
	}
	return periods
}

// sparse returns every so that one in every of the values is at most mostFolded of them.
func (v *view) sparse() int { return 1 + (len(v.y)-1)/mostFolded }

// without returns the view minus a line and the waves of periods. Waves of other periods are fitted beside them and stay.
func (v *view) without(periods, beside []float64) *view {
	rest := &view{v.at, slices.Clone(v.y), v.weight}
	all := slices.Concat(periods, beside)
	beta, _ := v.fitted(all, v.sparse())
	if beta == nil {
		return rest
	}
	taken := 2 + 2*len(periods) // columns
	row := make([]float64, len(beta))
	for i := range rest.y {
		v.basis(row, all, i)
		rest.y[i] -= floats.Dot(beta[:taken], row[:taken])
	}
	return rest
}

// waves describe a view together.
type waves struct {
	periods []float64 // in steps, the strongest first
	gain    float64   // in nats, by BIC with three coefficients to a wave
}

// pursued returns the waves of a view. It finds the clearest wave, and then the clearest of what the waves so far leave, and
// refines the periods of all together after each: two waves with close periods look like one wave of a third period.
func (v *view) pursued(ctx context.Context) (all waves, err error) {
	const most = 8 // waves, to bound the time of a pursuit
	rest := v
	for len(all.periods) < most {
		next, err := rest.clearestWave(ctx)
		if next == 0 || err != nil {
			return all, err
		}
		if slices.ContainsFunc(all.periods, func(p float64) bool { return v.sameWave(p, next) }) {
			return all, nil
		}
		more := v.together(append(slices.Clone(all.periods), next))
		if more == nil {
			return all, nil
		}
		gain := v.shown(more) - 1.5*float64(len(more))*math.Log(float64(len(v.y)))
		if gain < all.gain+clearlyShown {
			return all, nil
		}
		all = waves{more, gain}
		rest = v.without(more, nil)
	}
	return all, nil
}

// sameWave reports whether two periods differ by less than half a cycle over the span.
func (v *view) sameWave(a, b float64) bool { return math.Abs(1/a-1/b)*float64(v.at[len(v.at)-1]) < 0.5 }

// clearestWave returns the period in steps of the clearest wave: a clear peak of the periodogram. Since few cycles make no clear
// peak, the highest peak and the slowest wave also count if they are most of the series. A wave must gain as much as other
// seasons, in white noise and in red noise. It returns 0 if there is none.
func (v *view) clearestWave(ctx context.Context) (steps float64, err error) {
	const most = 0.5 // share of the variance that a cubic leaves
	x := make([]float64, len(v.at))
	for i, at := range v.at {
		x[i] = float64(at)
	}
	d := gppl.Data{X: gppl.Scalars(x), Y: v.y}
	n := float64(len(v.y))
	for _, peaks := range []struct {
		find  func() ([]float64, error)
		share float64
	}{
		{func() ([]float64, error) { return auto.ClearPeriods(ctx, d, mostShown) }, 0},
		{func() ([]float64, error) { return auto.LikelyPeriods(ctx, d, 1) }, most},
		{func() ([]float64, error) { return v.slowest(), nil }, most},
	} {
		found, err := peaks.find()
		if err != nil { // no periodogram, or the end of ctx
			return 0, ctx.Err()
		}
		for _, period := range found {
			refined := v.together([]float64{period})
			if refined == nil || refined[0] > float64(v.at[len(v.at)-1])/leastWaves || refined[0] < shortestWave {
				continue
			}
			_, gain := v.fitted(refined, 1)
			if v.shown(refined)-math.Log(n) >= clearlyShown && 1-math.Exp(-2*gain/n) >= peaks.share {
				return refined[0], nil
			}
		}
	}
	return 0, nil
}

// slowest returns the period in steps at which a single wave of few cycles explains most, if any explains something. The
// periodogram has no peak there, since it subtracts a cubic, and its window hides the first and the last cycle.
func (v *view) slowest() []float64 {
	const most, apart = 4, 0.1 // cycles
	var best, top float64
	for cycles := leastWaves; cycles <= most; cycles += apart {
		steps := float64(v.at[len(v.at)-1]) / cycles
		if _, gain := v.fitted([]float64{steps}, v.sparse()); gain > top {
			best, top = steps, gain
		}
	}
	if top == 0 {
		return nil
	}
	return []float64{best}
}

// shown returns the gain of waves, without a penalty: the lesser of those in white and in red noise.
func (v *view) shown(periods []float64) float64 {
	_, gain := v.fitted(periods, 1)
	return min(gain, v.gainInRed(periods))
}

// gainInRed returns the gain of waves, without a penalty, in AR(1) noise: the larger of two. The first estimates one correlation
// of neighbours, from the values. The second estimates it anew beside the waves, because a slow wave itself makes neighbours
// alike, and residuals with the first correlation hardly show it.
func (v *view) gainInRed(periods []float64) float64 {
	white := v.whitened()
	_, gain := white.fitted(periods, 1)
	rest := v.without(periods, nil).whitened()
	before, after := floats.Dot(white.y, white.y), floats.Dot(rest.y, rest.y)
	return max(gain, gainOf(float64(len(white.y)), before, before-after, 0))
}

package gppl

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// spectralData is the data as engines read them that represent a kernel by waves.
type spectralData struct{ summed }

// frequencies returns the number to expect, or why there are too many.
func (d *spectralData) frequencies(k Kernel, eps float64) (m float64, windowed bool, why reason) {
	if c, ok := d.circle(); ok {
		return c.frequencies(d.span, k, eps)
	}
	return forecastSpectral(k, d.span, eps, true)
}

// known reports whether the sums up to frequency m are there, on a circle that suits k.
func (d *spectralData) known(k Kernel, eps, m float64) bool {
	c := d.kept.find(func(c *circleSums) bool { return seriesCovers(d.span, c.period, c.windowed, k, eps, true) })
	return c != nil && m <= float64(c.m)
}

// circleFor returns a circle that suits k, with the sums on it that there are.
func (d *spectralData) circleFor(k Kernel, eps float64) (*circleSums, error) {
	if fixed, ok := d.circle(); ok {
		_, windowed, why := fixed.frequencies(d.span, k, eps)
		if why != (reason{}) {
			return nil, &Refusal{Engine: EngineSpectral, Reason: why.String()}
		}
		return d.kept.begin(func(c *circleSums) bool { return c.windowed == windowed },
			circleSums{origin: fixed.origin, period: fixed.period, windowed: windowed}), nil
	}
	period, windowed, err := seriesPeriod(d.span, k, eps, true)
	if err != nil {
		return nil, err
	}
	return d.kept.begin(func(c *circleSums) bool { return seriesCovers(d.span, c.period, c.windowed, k, eps, true) },
		circleSums{origin: d.lo, period: period, windowed: windowed}), nil
}

// spectralBasis is the features φ_f that represent a kernel at the distances of the
// data, k(t − t′) = Σ_f c_f·φ_f(t)·φ_f(t′), and the sums over the data on their circle.
// It is working memory.
type spectralBasis struct {
	sums     *circleSums
	series   *cosineSeries
	features []fourier.Feature
	root     []float64 // |c_f|^½ of each
	negative int       // features from here on have negative weights
	leading  []int     // the frequencies that are kept, ascending
	probed   int       // the last frequency that is worth a look if it was left out
}

// expand sets b to the features of k, but for weights that sum to eps times the
// variance, and makes sure of the sums that they need.
func (d *spectralData) expand(b *spectralBasis, k Kernel, eps float64) error {
	c, err := d.circleFor(k, eps)
	if err != nil {
		return err
	}
	if b.series == nil || b.series.period != c.period || c.windowed != (b.series.window != nil) {
		b.series = newCosineSeriesOf(d.span, c.period, c.windowed, k, eps)
	}
	m, err := b.series.expand(k, eps)
	if err != nil {
		return err
	}
	if m > maxFeatures {
		return fmt.Errorf("gppl: %d frequencies for %v", m, k)
	}
	if m > c.m {
		if c, err = d.kept.grow(c, m, m+m/8+8); err != nil {
			return err
		}
	}
	b.sums = c
	b.choose(m, eps*variance(k)/float64(2*m+1))
	return nil
}

// choose lists the features of the first m frequencies with weights above the
// threshold.
func (b *spectralBasis) choose(m int, threshold float64) {
	b.features, b.root, b.leading = b.features[:0], b.root[:0], b.leading[:0]
	b.probed = min(b.sums.m, m+m/64+2)
	for j, c := range b.series.c[:m] {
		if b.series.keeps(j, threshold) {
			b.leading = append(b.leading, j)
		}
		if c > 0 && b.series.keeps(j, threshold) {
			b.take(j, c)
		}
	}
	// The negative ones begin a block of their own, after features of weight
	// zero that fill the last.
	b.negative = dense.Tile * dense.Blocks(len(b.features))
	end := len(b.features)
	for j, c := range b.series.c[:m] {
		if c < 0 && b.series.keeps(j, threshold) {
			for len(b.features) < b.negative {
				b.features, b.root = append(b.features, fourier.Cos(0)), append(b.root, 0)
			}
			b.take(j, -c)
		}
	}
	if b.negative = min(b.negative, len(b.features)); len(b.features) == end {
		b.negative = end
	}
}

// take adds the features of a frequency.
func (b *spectralBasis) take(m int, weight float64) {
	root := math.Sqrt(weight)
	b.features, b.root = append(b.features, fourier.Cos(m)), append(b.root, root)
	if m > 0 {
		b.features, b.root = append(b.features, fourier.Sin(m)), append(b.root, root)
	}
}

// sign returns the sign of c_f.
func (b *spectralBasis) sign(f int) float64 {
	if f >= b.negative {
		return -1
	}
	return 1
}

// weight returns c_f.
func (b *spectralBasis) weight(f int) float64 { return b.sign(f) * b.root[f] * b.root[f] }

package fourier

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// Waves represents the columns of Q = WL⁻ᵀ without a matrix, where W are the features of a Basis at points on a circle. It
// needs only moments of the points. It is immutable.
type Waves struct {
	X              []float64 // the points; nil if only moments are known
	Origin, Period float64   // origin and period of the circle
	Moments        Moments   // moments up to twice the highest frequency
	Basis          *Basis

	once   sync.Once
	matrix blas64.General
}

// NewWaves returns the waves of features at x, in ascending order of their frequencies, or nil if the moments do not distinguish
// them up to the limit of their condition. It reuses known moments, and runs until ctx ends (parallel.Look). x is copied.
func NewWaves(ctx context.Context, x []float64, origin, period float64, features []Feature, known Moments, limit float64) *Waves {
	w := &Waves{X: slices.Clone(x), Origin: origin, Period: period, Moments: known}
	w.Moments = w.upTo(ctx, 2*features[len(features)-1].Frequency())
	w.Basis = w.Moments.Basis(ctx, features, limit)
	if w.Len() < len(features) || w.Basis.Condition() > limit {
		return nil
	}
	return w
}

// Len returns k, the number of columns.
func (w *Waves) Len() int { return len(w.Basis.Features()) }

// Top returns the highest frequency of the columns.
func (w *Waves) Top() int {
	f := w.Basis.Features()
	return f[len(f)-1].Frequency()
}

// Points returns the points on the circle.
func (w *Waves) Points() *Points { return NewPoints(w.X, w.Origin, w.Period) }

// upTo returns the moments up to frequency m at least, starting from the known ones.
func (w *Waves) upTo(ctx context.Context, m int) Moments {
	if len(w.Moments) >= 2*(m+1) {
		return w.Moments
	}
	points := w.Points()
	points.Ctx = ctx
	t := points.Moments(m, Tolerance)
	copy(t, w.Moments)
	return t
}

// Project returns Qᵀy in O(n), plus the cost of sums over the points.
func (w *Waves) Project(y []float64) []float64 {
	sums, z := dense.New(2*(w.Top()+1), 1), make([]float64, w.Len())
	w.Points().Sums(sums, dense.AsColumn(y), 0, Tolerance)
	w.Basis.Project(z, sums.Data)
	return z
}

// Columns sets q (n×k) to Q, until ctx ends (parallel.Look).
func (w *Waves) Columns(ctx context.Context, q blas64.General) {
	points := w.Points()
	points.Ctx = ctx
	w.Basis.At(q, points)
}

// Matrix returns Q, n×k, formed at the first call. The caller must not change it.
func (w *Waves) Matrix() blas64.General {
	w.once.Do(func() {
		w.matrix = dense.New(len(w.X), w.Len())
		w.Columns(context.Background(), w.matrix)
	})
	return w.matrix
}

// momentRounding is the relative rounding of a moment, 4e-16, with a margin of five; see gppl's TestWavesAgainstOmega.
const momentRounding = 2e-15

// Bound bounds the trace norm of QᵀQ − I, by the condition squared over the rounding of a moment.
func (w *Waves) Bound() float64 {
	c := w.Basis.Condition()
	return momentRounding * c * c
}

// Rounding bounds the error of Qᵀy for a y of the given length.
func (w *Waves) Rounding(length float64) float64 { return Rounding * w.Basis.Condition() * length }

// WaveMoments holds the moments of Waves that several goroutines share.
type WaveMoments struct {
	Of *Waves

	mu   sync.Mutex
	more []Moments // up to the frequency of Of's, or leastRung, times 1, 2, 4, …; nil until needed
}

// upTo returns the moments up to frequency m or further. They do not depend on what was asked before.
func (s *WaveMoments) upTo(m int) Moments {
	if m <= s.known() {
		return s.Of.Moments
	}
	doubled, highest := 0, max(s.known(), leastRung)
	for ; highest < m; highest *= 2 {
		doubled++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if missing := doubled + 1 - len(s.more); missing > 0 {
		s.more = append(s.more, make([]Moments, missing)...)
	}
	if s.more[doubled] == nil {
		s.more[doubled] = s.Of.upTo(context.Background(), highest)
	}
	return s.more[doubled]
}

// known returns the frequency up to which the moments are known from the start.
func (s *WaveMoments) known() int { return len(s.Of.Moments)/2 - 1 }

// Product sets dst to ΦᵀQ, where Φ are the features of the frequencies 0, 1, … of a series whose frequency 1 is frequency step
// of the circle.
func (s *WaveMoments) Product(dst blas64.General, step int) {
	features := make([]Feature, dst.Rows)
	for i := range features {
		m := step * (i / 2)
		if features[i] = Cos(m); i%2 == 1 {
			features[i] = Sin(m)
		}
	}
	t := s.upTo(step*(dst.Rows/2-1) + s.Of.Top())
	s.Of.Basis.Product(dst, t, features)
}

// Seconds estimates the time of the moments for products with frequencies up to m of the circle, whether or not they are
// computed already.
func (s *WaveMoments) Seconds(m int) float64 {
	if m += s.Of.Top(); m <= s.known() {
		return 0
	}
	return Predict(len(s.Of.X), 1, 0, m+1, Tolerance).Seconds / 2
}

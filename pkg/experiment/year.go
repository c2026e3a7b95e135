package experiment

import (
	"context"
	"fmt"
	"hash/crc64"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Year is a simulated year of readings at a constant rate, SE plus noise, in days. It is generated a month at a time and never
// stored.
type Year struct {
	N      int // readings
	Truth  gppl.Model
	signal []float64 // values on a grid of gridStep days that starts one step before 0
	seed   uint64
}

const (
	yearDays  = 360.0 // twelve equal months
	months    = 12
	gridStep  = 1.0 / 240 // 48 points per lengthscale: cubic interpolation errs by 1e-5
	yearScale = 0.2       // lengthscale
)

// NewYear returns a year of n readings; at one per second n is 31104000.
func NewYear(n int, seed uint64) *Year {
	y := &Year{N: n, Truth: gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: yearScale}, Noise: 0.1}, seed: seed}
	rnd := rand.New(rand.NewPCG(seed, 0))
	size := int((yearDays + 10) / gridStep)
	period := float64(size) * gridStep
	fft := fourier.NewFFT(size)
	hat := make([]complex128, size/2+1)
	for m := range hat {
		w := 2 * math.Pi * float64(m) / period * yearScale
		c := math.Sqrt(math.Sqrt(2*math.Pi) * yearScale / period * math.Exp(-0.5*w*w) / 2)
		hat[m] = complex(c*rnd.NormFloat64(), c*rnd.NormFloat64())
	}
	hat[0] = complex(math.Sqrt2*real(hat[0]), 0)
	y.signal = fft.Sequence(nil, hat)
	return y
}

// noiseless returns the signal at a time in days.
func (y *Year) noiseless(day float64) float64 {
	u := day/gridStep + 1
	i := int(u)
	x := u - float64(i)
	p := y.signal[i-1 : i+3]
	return p[1] + 0.5*x*(p[2]-p[0]+x*(2*p[0]-5*p[1]+4*p[2]-p[3]+x*(3*(p[1]-p[2])+p[3]-p[0])))
}

// Plan returns a header for the sums of the year, with a margin in lengthscale and size.
func (y *Year) Plan() (sums.Plan, error) {
	return sums.NewPlan(sums.Range{Lo: 0, Hi: yearDays, Shortest: yearScale / 2, Longest: 4 * yearScale, Largest: 12})
}

// Months returns the sums of each month.
func (y *Year) Months(h sums.Header) ([]*sums.Sums, error) {
	const chunk = 1 << 16
	all := make([]*sums.Sums, months)
	t, v := make([]float64, 0, chunk), make([]float64, 0, chunk)
	for month := range all {
		s, err := sums.New(h)
		if err != nil {
			return nil, err
		}
		for at, reading := range y.month(month) {
			if t, v = append(t, at), append(v, reading); len(t) == chunk {
				if err := s.Add(t, v); err != nil {
					return nil, err
				}
				t, v = t[:0], v[:0]
			}
		}
		if err := s.Add(t, v); err != nil {
			return nil, err
		}
		t, v = t[:0], v[:0]
		all[month] = s
	}
	return all, nil
}

// month yields the times and readings of a month, counted from zero.
func (y *Year) month(month int) iter.Seq2[float64, float64] {
	return func(yield func(t, v float64) bool) {
		rnd := rand.New(rand.NewPCG(y.seed, uint64(month)+1))
		sigma := math.Sqrt(y.Truth.Noise)
		for i := month * y.N / months; i < (month+1)*y.N/months; i++ {
			t := yearDays * (float64(i) + 0.5) / float64(y.N)
			if !yield(t, y.noiseless(t)+sigma*rnd.NormFloat64()) {
				return
			}
		}
	}
}

// merged adds sums in the given order.
func merged(parts []*sums.Sums, order []int) (*sums.Sums, error) {
	all := parts[order[0]].Clone()
	for _, i := range order[1:] {
		if err := all.Merge(parts[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ordersOf returns three orders of the months: forwards, backwards, and shuffled.
func ordersOf(seed uint64) map[string][]int {
	forwards, backwards := timeline.Range(0, months), timeline.Range(0, months)
	slices.Reverse(backwards)
	return map[string][]int{"forwards": forwards, "backwards": backwards, "shuffled": rand.New(rand.NewPCG(seed, 0)).Perm(months)}
}

// Forecast compares predictions from sums with the signal at the given days.
func (y *Year) Forecast(m gppl.Model, s *sums.Sums, days []float64) (*viz.Table, error) {
	post, err := gppl.NewPosterior(context.Background(), m, gppl.SumsData(s, 0))
	if err != nil {
		return nil, err
	}
	mean, variance, _ := post.Latent(context.Background(), gppl.Scalars(days))
	t := &viz.Table{Caption: "Forecasts without the readings",
		Columns: []viz.Column{{Name: "time", Unit: "days"}, {Name: "forecast", Format: viz.Fixed(4)},
			{Name: "standard deviation", Format: viz.Fixed(4)}, {Name: "signal", Format: viz.Fixed(4)}}}
	for i, day := range days {
		t.Rows = append(t.Rows, []any{day, mean[i], math.Sqrt(variance[i]), y.noiseless(day)})
	}
	return t, nil
}

// YearCosts times, for each size, adding the readings and a likelihood with its gradient, from sums and from the readings. The
// time from the readings includes reading them all once.
func YearCosts(sizes []int, seed uint64) (*viz.Table, error) {
	t := &viz.Table{Caption: "Cost against n", Columns: []viz.Column{
		{Name: "n"}, {Name: "simulate and add"}, {Name: "likelihood from sums"}, {Name: "the same from readings"},
		{Name: "difference", Unit: "nats", Right: true},
	}}
	for _, n := range sizes {
		y := NewYear(n, seed)
		p, err := y.Plan()
		if err != nil {
			return nil, err
		}
		began := time.Now()
		parts, err := y.Months(p.Header)
		if err != nil {
			return nil, err
		}
		adding := time.Since(began)
		all, err := merged(parts, ordersOf(seed)["forwards"])
		if err != nil {
			return nil, err
		}
		began = time.Now()
		loss, err := gppl.NewExact(context.Background(), y.Truth, gppl.SumsData(all, 0))
		if err != nil {
			return nil, err
		}
		a, err := gradientAt(loss)
		if err != nil {
			return nil, err
		}
		fromSums := time.Since(began)
		x, v := y.readings()
		data, err := gppl.NewData(gppl.Scalars(x), v)
		if err != nil {
			return nil, err
		}
		began = time.Now()
		raw, err := gppl.NewExact(context.Background(), y.Truth, data, gppl.WithEngine(gppl.EngineGridded))
		if err != nil {
			return nil, err
		}
		b, err := gradientAt(raw)
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, []any{n, adding, fromSums, time.Since(began), fmt.Sprintf("%.1g", math.Abs(a-b))})
	}
	return t, nil
}

func gradientAt(l *gppl.Exact) (float64, error) {
	theta := gppl.Values(l.Params())
	return l.ValueGrad(context.Background(), make([]float64, len(theta)), theta)
}

// readings returns the readings of the whole year, the same as Months adds.
func (y *Year) readings() (t, v []float64) {
	for month := range months {
		for at, reading := range y.month(month) {
			t, v = append(t, at), append(v, reading)
		}
	}
	return t, v
}

// WriteSums writes sums to a file, either completely or not at all.
func WriteSums(path string, s *sums.Sums) error {
	b, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.WriteBytes(context.Background(), path, b)
}

// ReadSums reads a file that WriteSums wrote.
func ReadSums(path string) (*sums.Sums, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := new(sums.Sums)
	return s, s.UnmarshalBinary(b)
}

// MergedInOrders merges the months in each order of ordersOf, and lists the checksum of each file.
func MergedInOrders(parts []*sums.Sums, seed uint64) (all *sums.Sums, t *viz.Table, err error) {
	t = &viz.Table{
		Caption: "Merged in three orders",
		Columns: []viz.Column{{Name: "order"}, {Name: "bytes of a file", Right: true}, {Name: "CRC-64"}},
	}
	for _, name := range []string{"forwards", "backwards", "shuffled"} {
		if all, err = merged(parts, ordersOf(seed)[name]); err != nil {
			return nil, nil, err
		}
		b, err := all.MarshalBinary()
		if err != nil {
			return nil, nil, err
		}
		sum := crc64.Checksum(b[:len(b)-8], crc64.MakeTable(crc64.ECMA))
		t.Rows = append(t.Rows, []any{name, strconv.Itoa(len(b)), fmt.Sprintf("%016x", sum)})
	}
	return all, t, nil
}

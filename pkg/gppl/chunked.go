package gppl

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// A Chunk is a segment of a series in ascending order: Y[i] was observed at T[i].
type Chunk struct{ T, Y []float64 }

// Chunks opens a series that may be too long for memory: each call returns a new
// iterator over its chunks, which starts at the first, and several may be in use at
// once. Chunks may have any length, including 0. The memory of a chunk may be reused
// once the iterator advances. FileChunks reads a file. For a csv file, use
// dataset.StreamCSV with one worker, which returns blocks in order.
type Chunks func() iter.Seq2[Chunk, error]

// Chunked is a series in chunks that was read once and checked: its times ascend, and its
// length, mean and variance are known. It holds no observations.
type Chunked struct {
	open   Chunks
	rows   int // of a segment
	n      int
	lo, hi float64
	mean   float64
	square float64 // Σ(y − mean)²
	spare  *pool[segment]
}

// segmentRows is the number of observations that are worked on at a time, whatever the
// chunks: enough for a segment to forget the one before it soon, few enough to be small.
const segmentRows = 1 << 15

// NewChunked reads the series once. It is an error, which names chunk and row (from 0), if
// times do not ascend, within a chunk or from one to the next, if a number is not finite,
// or if T and Y differ in length. It is also an error if there is no observation.
func NewChunked(open Chunks) (*Chunked, error) {
	c := &Chunked{open: open, rows: segmentRows, lo: math.Inf(1), hi: math.Inf(-1), spare: new(pool[segment])}
	err := c.read(func(chunk Chunk) error {
		for i, y := range chunk.Y { // Welford: one pass, without cancellation
			c.n++
			step := y - c.mean
			c.mean += step / float64(c.n)
			c.square += step * (y - c.mean)
			c.lo, c.hi = min(c.lo, chunk.T[i]), max(c.hi, chunk.T[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if c.n == 0 {
		return nil, errors.New("gppl: NewChunked: no observations")
	}
	return c, nil
}

// Len returns the number of observations.
func (c *Chunked) Len() int { return c.n }

// Extent returns the first and the last time.
func (c *Chunked) Extent() (lo, hi float64) { return c.lo, c.hi }

// Mean returns the mean of the observations.
func (c *Chunked) Mean() float64 { return c.mean }

// Variance returns the variance of the observations about their mean.
func (c *Chunked) Variance() float64 { return c.square / float64(c.n) }

// read visits the chunks in order, once they are checked.
func (c *Chunked) read(visit func(Chunk) error) error {
	before, chunk := math.Inf(-1), 0
	for part, err := range c.open() {
		if err != nil {
			return fmt.Errorf("gppl: chunk %d: %w", chunk, err)
		}
		if len(part.T) != len(part.Y) {
			return fmt.Errorf("gppl: chunk %d has %d times and %d observations", chunk, len(part.T), len(part.Y))
		}
		for i, t := range part.T {
			switch {
			case math.IsNaN(t) || math.IsInf(t, 0):
				return fmt.Errorf("gppl: chunk %d, row %d: t = %v is not finite", chunk, i, t)
			case t < before:
				return fmt.Errorf("gppl: chunk %d, row %d: t = %v comes after %v: times must ascend, also from one chunk to the next", chunk, i, t, before)
			case math.IsNaN(part.Y[i]) || math.IsInf(part.Y[i], 0):
				return fmt.Errorf("gppl: chunk %d, row %d: y = %v is not finite", chunk, i, part.Y[i])
			}
			before = t
		}
		if err := visit(part); err != nil {
			return err
		}
		chunk++
	}
	return nil
}

// segment is some observations in a row.
type segment struct {
	index  int
	first  int     // the number of observations before it
	before float64 // the time of the last of them, −Inf if there is none
	t, y   []float64
}

// workers returns the number of goroutines that share the segments.
func (c *Chunked) workers() int { return min(runtime.GOMAXPROCS(0), c.count()) }

// segments reads the series again and calls work for every segment of c.rows observations
// (the last may be shorter), from the given number of numbered goroutines. The result of
// work depends on the segment alone, so neither the chunks nor the number of goroutines
// matter.
func (c *Chunked) segments(atOnce int, work func(worker int, s *segment) error) error {
	full, free := make(chan *segment, atOnce), make(chan *segment, 2*atOnce)
	for range cap(free) {
		free <- c.spare.get()
	}
	var wait workers.Group
	var failed firstError
	for w := range atOnce {
		wait.Go(func() {
			returned := false
			defer func() {
				if !returned { // work panicked: the reader must not wait
					failed.set(-1, errEnough)
					for s := range full {
						free <- s
					}
				}
			}()
			for s := range full {
				if !failed.any() {
					failed.set(s.index, work(w, s))
				}
				free <- s
			}
			returned = true
		})
	}
	err := c.fill(free, full, &failed)
	wait.Wait()
	for range len(free) {
		c.spare.put(<-free)
	}
	if failed.err != nil {
		return failed.err
	}
	return err
}

// count returns the number of segments.
func (c *Chunked) count() int { return (c.n + c.rows - 1) / c.rows }

// errEnough ends reading.
var errEnough = errors.New("enough")

// fill reads the series into segments, and closes full. It is an error if it is not what it was.
func (c *Chunked) fill(free <-chan *segment, full chan<- *segment, failed *firstError) error {
	defer close(full)
	var now *segment
	index, n, before := 0, 0, math.Inf(-1)
	send := func() {
		before = now.t[len(now.t)-1]
		full <- now
		now = nil
	}
	err := c.read(func(chunk Chunk) error {
		for len(chunk.T) > 0 {
			if failed.any() || n == c.n {
				n += len(chunk.T)
				return errEnough
			}
			if now == nil {
				now = <-free
				now.index, now.first, now.before = index, n, before
				now.t, now.y = now.t[:0], now.y[:0]
				index++
			}
			rows := min(len(chunk.T), c.rows-len(now.t), c.n-n)
			now.t, now.y = append(now.t, chunk.T[:rows]...), append(now.y, chunk.Y[:rows]...)
			chunk.T, chunk.Y = chunk.T[rows:], chunk.Y[rows:]
			if n += rows; len(now.t) == c.rows || n == c.n {
				send()
			}
		}
		return nil
	})
	if err != nil && err != errEnough {
		return err
	}
	if n != c.n && !failed.any() {
		return fmt.Errorf("gppl: the series has changed: it had %d observations when it was first read, and has %s now", c.n, thanBefore(n, c.n))
	}
	return nil
}

func thanBefore(n, before int) string {
	if n > before {
		return "more"
	}
	return fmt.Sprint(n)
}

// firstError is the error of the first of several pieces of work that failed.
type firstError struct {
	mu    sync.Mutex
	index int
	err   error
}

func (f *firstError) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err != nil
}

func (f *firstError) set(index int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && (f.err == nil || index < f.index) {
		f.index, f.err = index, err
	}
}

// NewChunkedExact returns the exact negative log likelihood of a series in chunks minus the
// constant centre (c.Mean(), or a known mean), to be trained from the parameters of m.
// Value and gradient are those of NewExact with the state-space engine on the whole series.
// The kernel must be Laplace, Matérn 3/2 or 5/2 or a sum of these, whose state has D
// numbers; any other is refused, and so is a mean function.
//
// A value reads the series once, a gradient twice. Each segment of 32768 observations is
// reduced to one element: the information about the state before it, and the map to the state
// after it. Elements combine associatively and in order, so that all processors compute them
// in parallel (Särkkä and García-Fernández 2021, eq. 10 to 12). The part of the gradient from
// one segment needs, besides the segment, only the combined elements to its left and to its
// right. The bits depend neither on the chunks nor on the number of processors.
//
// O(nD³) operations, and memory for 32768·(D² + 4D + 10) numbers for each processor and
// 5D² + 4D for each segment.
func NewChunkedExact(m Model, c *Chunked, centre float64, opts ...Option) (*Exact, error) {
	start := time.Now()
	if err := m.Check(); err != nil {
		return nil, err
	}
	if m.Mean != nil {
		return nil, fmt.Errorf("gppl: the likelihood of chunks has no mean function, and the model has %v: only a known constant, the centre, can be taken out", m.Mean)
	}
	if math.IsNaN(centre) || math.IsInf(centre, 0) {
		return nil, fmt.Errorf("gppl: NewChunkedExact: centre = %v is not finite", centre)
	}
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	l := newExact(m, c.n, []exactEngine{&chunkedExact{series: c, centre: centre}}, o, c.hi-c.lo)
	l.tally.setUp(time.Since(start))
	return l, nil
}

// NewChunkedPosterior conditions m on a series in chunks minus the constant centre, as
// NewPosterior does; add centre to the means that it returns. Each call of Latent or
// Noisy reads the series twice, in the time of a gradient, whatever the number of inputs.
// Sample, which needs covariances between inputs, returns an error.
func NewChunkedPosterior(m Model, c *Chunked, centre float64, opts ...Option) (*Posterior, error) {
	l, err := NewChunkedExact(m, c, centre, append(opts[:len(opts):len(opts)], forPosterior)...)
	if err != nil {
		return nil, err
	}
	return l.posterior(Scalars([]float64{c.lo, c.hi}))
}

// segmentWorker is the working memory of one goroutine.
type segmentWorker struct {
	filter *statespace.Filter
	rest   []float64 // y less the centre
}

// take prepares the worker for a segment.
func (w *segmentWorker) take(s *segment, centre float64) {
	if w.filter == nil {
		w.filter = statespace.NewFilter(nil, nil)
	}
	w.filter.Reset(s.t)
	w.rest = dense.Resize(w.rest, len(s.y))
	for i, y := range s.y {
		w.rest[i] = y - centre
	}
}

package forecast

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// The most memory that a series takes at once, in bytes for each observation, beside some for the program. These are bounds of
// live memory, whether a file is sorted or not: with GOGC=15 in the environment, gppl fit --origins 0 --budget 2s has a peak of
// 98 to 114 MB on 10⁵ irregular rows and 181 to 186 MB on 10⁶ for Laplace; these constants and the residual checks
// (denseBytes, 100 MB) give 136 and 190 MB. The automatic search takes 109 to 125 and 124 to 158 MB. Without a limit the garbage
// collector lets the heap grow to up to twice that.

const (
	readBytes   = 60  // columns that grow, and the copies that checks sort
	columnBytes = 80  // more for each column of errors or regressors
	keyBytes    = 60  // more for each column that tells series apart
	trainBytes  = 150 // training on the whole series: columns of the trend, a likelihood, its sums
	// projectedBytes is that of the projected likelihood, for each observation and projection.
	projectedBytes = 40
	searchBytes    = 5e6 // the automatic search, whose parts are short
	programSize    = 30e6
)

// modest is the memory, in bytes, above which a method that needs less is used if there is one: windows instead of a state space,
// waves instead of an explicit Ω. It does not depend on the machine, so that results do not either.
const modest = 1 << 30

// refuse returns a MemoryError if the predicted memory is above the limit; 0 means no limit.
func refuse(what string, needed, limit float64) error {
	if limit > 0 && needed > limit {
		return &gppl.MemoryError{What: what, Needed: needed, Limit: limit}
	}
	return nil
}

// bytesFor predicts the memory of Read for a number of rows.
func (o ReadOptions) bytesFor(rows float64) float64 {
	return programSize + rows*(readBytes+columnBytes*float64(len(o.also()))+keyBytes*float64(len(o.By)))
}

// fits returns a MemoryError if the rows of a file, whose number follows from its size and first lines, exceed the limit. The
// length of a pipe is unknown: there, reading stops at the row that exceeds the limit.
func (o ReadOptions) fits(path string) error {
	if o.Memory <= 0 {
		return nil
	}
	info, err := os.Stat(path)
	if path == dataset.StandardInput || err != nil || !info.Mode().IsRegular() {
		return nil // the reader says what is wrong
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 1<<16)
	n, err := io.ReadFull(f, head)
	lines := bytes.Count(head[:n], []byte{'\n'}) + bytes.Count(head[:n], []byte{'\r'})
	if err != nil || lines == 0 { // a small file, or one line
		return nil
	}
	rows := float64(info.Size()) / float64(n) * float64(lines)
	return refuse(fmt.Sprintf("reading about %.2g rows of %s", rows, path), o.bytesFor(rows), o.Memory)
}

// mostRows returns the number of rows that fit the limit; 0 means any number.
func (o ReadOptions) mostRows() int {
	if o.Memory <= 0 {
		return 0
	}
	return max(1, int(o.Memory/o.bytesFor(1e6)*1e6))
}

// bytes predicts the memory of a series.
func (s *Series) bytes() float64 {
	columns := 0.0
	if s.Errors != nil {
		columns++
	}
	if s.Known != nil {
		columns += float64(len(s.Known.Names))
	}
	if s.Holidays != nil {
		columns += float64(len(s.Holidays.Names))
	}
	columns += float64(len(s.Shifts))
	return programSize + float64(len(s.X))*(readBytes+columns*columnBytes)
}

// Bytes returns the memory of the series, without the program.
func (s *Series) Bytes() float64 { return s.bytes() - programSize }

// fitBytes predicts the memory of a fit: the series, training on the part of it that is used, and the least that a forecast
// takes.
func (o Options) fitBytes(s *Series) float64 {
	if len(o.Kernels) == 0 {
		bytes := s.bytes() + searchBytes
		if s.dense() || len(s.X) > mostToeplitz { // forecasts are those of a window
			bytes += denseBytes(min(len(s.X), windowLength))
		}
		return bytes
	}
	return s.bytes() + trainBytes*float64(min(len(s.X), mostTrained))
}

// atOnce returns how many models, or origins, of n observations are learnt at the same time: one for each processor, or as many
// as the memory limit allows by dense algebra; for a long series only one, which may need much of the memory.
func (o Options) atOnce(s *Series, n int) int {
	const most = 10_000 // observations
	if n > most {
		return 1
	}
	processors := runtime.GOMAXPROCS(0)
	if o.Memory > 0 {
		processors = min(processors, max(1, int((o.Memory-s.bytes())/denseBytes(min(n, windowLength)))))
	}
	return processors
}

// engineMemory is the memory that engines may take beside the series.
func (o Options) engineMemory(s *Series) gppl.Option {
	if o.Memory <= 0 {
		return gppl.WithMemory(defaultEngineMemory)
	}
	return gppl.WithMemory(max(1, o.Memory-s.bytes()))
}

func (a *Analysis) engineMemory() gppl.Option {
	return Options{Memory: a.memory}.engineMemory(a.Series)
}

// defaultEngineMemory is that of gppl.WithMemory.
const defaultEngineMemory = 12 << 30

// LimitMemory bounds the memory of predictions, in bytes; 0 means no limit. Fit sets it by Options.Memory. It is an error, a
// *gppl.MemoryError, if the series itself takes more.
func (a *Analysis) LimitMemory(bytes float64) error {
	a.memory = bytes
	return refuse(fmt.Sprintf("predicting from %d observations", len(a.Series.X)), a.Series.bytes(), bytes)
}

// room is the memory that the averaged models, conditioned on the data, may take.
type room struct {
	bytes  float64 // beside the series; +Inf for no limit
	models int     // that are conditioned at the same time
}

func (a *Analysis) room() room {
	r := room{bytes: math.Inf(1)}
	if a.memory > 0 {
		r.bytes = max(1, a.memory-a.Series.bytes())
	}
	for _, m := range a.members {
		r.models += 1 + len(m.draws)
	}
	r.models = max(1, r.models)
	return r
}

// most is the memory that one model may take on any machine, above which a method that needs less is used; share is what it may
// take here.
func (r room) most() float64  { return modest / float64(r.models) }
func (r room) share() float64 { return min(modest, 0.5*r.bytes) / float64(r.models) }

// denseMatrices is the number of matrices for a factorisation of a covariance: itself and its factor.
const denseMatrices = 2

// windows returns how many dense factors of n observations may be held at a time; half of the room is for what is computed from
// them. It is a *gppl.MemoryError if one does not fit.
func (r room) windows(n int) (int, error) {
	each := denseBytes(n)
	if err := refuse(fmt.Sprintf("the dense factor of %d observations", n), each, r.bytes); err != nil {
		return 0, err
	}
	return int(min(1e6, max(1, 0.5*r.bytes/each))), nil
}

func denseBytes(n int) float64 { return denseMatrices * 8 * float64(n) * float64(n) }

// loadFactor is the memory that Load takes for each byte of a file, for text, numbers and checks, as measured.
const loadFactor = 6.5

package search

import (
	"runtime"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// FitBytes predicts the memory of a fit: the series, training on the part of it that is used, and the least that a forecast
// takes.
func (o Options) FitBytes(s *series.Series) float64 {
	bytes := s.MemoryBytes() + searchBytes
	if s.NeedsDense() || len(s.X) > MostToeplitz { // forecasts are those of a window
		bytes += DenseBytes(min(len(s.X), WindowLength))
	}
	if len(o.Kernels) > 0 {
		bytes += startBytes * float64(min(len(s.X), searchedRows))
	}
	return bytes
}

// searchedBytes predicts the memory of the search for the starts of a named kernel: the periodogram of n observations, at a
// fiftieth of the mean spacing.
func searchedBytes(k gppl.Kernel, n int) float64 {
	const frequencies, each = 1 << 19, 100
	if !hasPeriod(k) {
		return 0
	}
	return each * min(frequencies, 250*float64(n))
}

// AtOnce returns how many models, or origins, of n observations are learnt at the same time: one for each processor, or as many
// as the memory limit allows by dense algebra; for a long series only one, which may need much of the memory.
func (o Options) AtOnce(s *series.Series, n int) int {
	const most = 10_000 // observations
	if n > most {
		return 1
	}
	processors := runtime.GOMAXPROCS(0)
	if o.Memory > 0 {
		processors = min(processors, max(1, int((o.Memory-s.MemoryBytes())/DenseBytes(min(n, WindowLength)))))
	}
	return processors
}

// EngineMemory is the memory that engines may take beside the series.
func (o Options) EngineMemory(s *series.Series) gppl.Option {
	if o.Memory <= 0 {
		return gppl.WithMemory(defaultEngineMemory)
	}
	return gppl.WithMemory(max(1, o.Memory-s.MemoryBytes()))
}

// defaultEngineMemory is that of gppl.WithMemory.
const defaultEngineMemory = 12 << 30

func DenseBytes(n int) float64 { return denseMatrices * 8 * float64(n) * float64(n) }

// denseMatrices is the number of matrices for a factorisation of a covariance: itself and its factor.
const denseMatrices = 2

const startBytes = 150 // the search for the start of a named kernel: columns of the trend, a likelihood, its sums

const searchBytes = 5e6 // the search, whose parts are short

// MostToeplitz is the largest number of observations of a regular series in one factor, which takes 3 s: half of toeplitzPair
// for each pair, without gradient. A longer series uses windows.
const MostToeplitz = 60000

// WindowLength is the number of neighbouring observations on which a prediction is conditioned if no cheap engine takes the
// series. Factorising their covariance takes n³/3 operations, 0.3 s at coreFlops; all of n = 7445 would take 15 s, all of 20
// 000 five minutes.
const WindowLength = 2000

// searchedRows is the number of latest observations of a long series that the search for starts takes.
const searchedRows = 200_000

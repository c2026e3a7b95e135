package search

import (
	"runtime"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// FitBytes predicts the memory of a fit in bytes: the series, the training on the observations that are learnt from, and the
// smallest forecast.
func (o Options) FitBytes(s *series.Series) float64 {
	bytes := s.MemoryBytes() + searchBytes
	if s.NeedsDense() || len(s.X) > MostToeplitz { // forecasts use a window
		bytes += DenseBytes(min(len(s.X), WindowLength))
	}
	if len(o.Kernels) > 0 {
		bytes += startBytes * float64(min(len(s.X), searchedRows))
	}
	return bytes
}

// searchedBytes predicts the memory in bytes of the search for start values of a named kernel. Most of it is the periodogram of n
// observations at a fiftieth of the mean spacing.
func searchedBytes(k gppl.Kernel, n int) float64 {
	const frequencies, each = 1 << 19, 100
	if !hasPeriod(k) {
		return 0
	}
	return each * min(frequencies, 250*float64(n))
}

// AtOnce returns how many models, or origins, of n observations are learnt at the same time: one for each processor, or fewer if
// dense algebra for as many exceeds the memory limit. For a long series it is one.
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

// EngineMemory limits the memory of engines to what the series leaves.
func (o Options) EngineMemory(s *series.Series) gppl.Option {
	if o.Memory <= 0 {
		return gppl.WithMemory(defaultEngineMemory)
	}
	return gppl.WithMemory(max(1, o.Memory-s.MemoryBytes()))
}

// defaultEngineMemory is the default limit of gppl.WithMemory.
const defaultEngineMemory = 12 << 30

func DenseBytes(n int) float64 { return denseMatrices * 8 * float64(n) * float64(n) }

// denseMatrices counts the matrices of a factorisation: the covariance and its factor.
const denseMatrices = 2

const startBytes = 150 // bytes for each observation in the search for start values: columns of the trend, a likelihood, its sums

const searchBytes = 5e6 // bytes for the rest of the search, whose data are short

// MostToeplitz is the largest number of observations of a regular series that one factor takes, in 3 s: half of toeplitzPair for
// each pair, without the gradient. A longer series is predicted by windows.
const MostToeplitz = 60000

// WindowLength is the number of neighbouring observations on which a prediction is conditioned if no cheap engine takes the
// series. Factorising their covariance takes n³/3 operations, 0.3 s at coreFlops; all of n = 7445 would take 15 s, and 20 000
// five minutes.
const WindowLength = 2000

// searchedRows is the largest number of latest observations in the search for start values.
const searchedRows = 200_000

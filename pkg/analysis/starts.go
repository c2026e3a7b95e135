package analysis

import (
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// startsFor returns at least one model to train from. A kernel with one period gets the values of gppl.StartFrom at each of the most
// likely periods: the likelihood has a maximum at each multiple of a period, so the period has to be correct from the start. (A kernel
// with several periods gets a different one for each from StartFrom.) Any other kernel gets the values for the data and for the
// detrended data: the likelihood has one maximum where the kernel explains the trend alone and another where it explains more.
func startsFor(k gppl.Kernel, d, detrended gppl.Data, periods []float64) []gppl.Model {
	plain := gppl.Model{Kernel: k, Noise: 1}.FixRedundant()
	if periodsOf(k) != 1 || len(periods) == 0 {
		starts := []gppl.Model{gppl.StartFrom(plain, d)}
		if rest := gppl.StartFrom(plain, detrended); !slices.Equal(naturals(rest), naturals(starts[0])) {
			starts = append(starts, rest)
		}
		return starts
	}
	var starts []gppl.Model
	for _, period := range periods {
		theta := naturals(plain)
		var names []string
		for i, p := range plain.Params() {
			if p.Role == gppl.RolePeriod {
				theta[i] = period
				names = append(names, p.Name)
			}
		}
		held := gppl.StartFrom(plain.WithParams(theta).Fix(names...), d)
		starts = append(starts, plain.WithParams(naturals(held)))
	}
	return starts
}

func hasPeriod(k gppl.Kernel) bool { return periodsOf(k) > 0 }

// periodsOf returns the number of periods among the parameters of k.
func periodsOf(k gppl.Kernel) (n int) {
	for _, p := range k.Params() {
		if p.Role == gppl.RolePeriod {
			n++
		}
	}
	return n
}

// naturals returns the natural values of a model's parameters.
func naturals(m gppl.Model) []float64 {
	params := m.Params()
	theta := make([]float64, len(params))
	for i, p := range params {
		theta[i] = p.Value
	}
	return theta
}

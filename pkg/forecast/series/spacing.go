package series

import "github.com/projected-likelihood/gppl/internal/timeline"

// Regular reports whether ascending x have a constant step, with at most a few missing values: the Toeplitz engine then takes any
// kernel, in O(n²) instead of O(n³).
func Regular(x []float64) bool {
	const off, missing = 1e-4, 0.02
	g, ok := timeline.RegularOf(x)
	return ok && float64(g.N) <= (1+missing)*float64(len(x)) && g.Off <= off*g.Step
}

// NeedsDense reports whether most kernels take n³: the series is long, and its latest x are not regular or its observations have
// errors of their own or are counts.
func (s *Series) NeedsDense() bool {
	n := len(s.X)
	return n > FewUneven && (s.Errors != nil || s.Counting != nil || !Regular(s.X[max(0, n-DecisiveRows):]))
}

// DecisiveRows is the number of latest observations whose spacing decides whether a series is regular: those from which a search
// of standard effort learns parameters.
const DecisiveRows = 1500

// FewUneven replaces MostRemembered where a likelihood takes dense algebra (Series.NeedsDense).
const FewUneven = 700

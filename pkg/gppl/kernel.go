package gppl

import (
	"fmt"
	"strings"
	"sync"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

// A Kernel is a stationary, isotropic covariance function k(r; θ) of the
// Euclidean distance r = |x − x'|, at given values of its parameters, and
// continuous in r; white noise is declared through Nuggeter (see White), and what
// depends on the points themselves through Placed (see On and ARD). It is
// an immutable value: its parameters are its fields, as in
//
//	SE{Variance: 1, Lengthscale: 20}
//
// and training returns new values. All methods work on slices of distances,
// entry by entry, so that an engine may lay out the pairs as it likes. They
// are safe for concurrent use and do not allocate once warm.
type Kernel interface {
	// Params returns the parameters, in a fixed order.
	Params() []Param
	// WithParams returns the same kernel at the natural values theta. It panics if
	// their number is wrong; it does not check their values.
	WithParams(theta []float64) Kernel
	// Cov sets dst[i] = k(r[i]). dst and r have one length and may be the
	// same slice.
	Cov(dst, r []float64)
	// Contract adds Σ_i w[i]·∂k(r[i])/∂log θ_p to grad[p], for each p.
	// w and r have one length; grad has an entry per parameter.
	Contract(grad, w, r []float64)
	// Slope sets dst[i] = dk/dr at r[i]; by symmetry 0 at r = 0. dst and r
	// have one length and may be the same slice.
	Slope(dst, r []float64)
	// String names the kernel with its parameters.
	fmt.Stringer
}

// variance returns k(0), the prior variance without the nugget.
func variance(k Kernel) float64 {
	buf := scratchPool.Get().(*scratch)
	defer scratchPool.Put(buf)
	v := buf[0][:1]
	v[0] = 0
	k.Cov(v, v)
	return v[0]
}

const (
	UnitX  = "x"  // the unit of the inputs
	UnitY2 = "y²" // the unit of the observations, squared

	NoiseName = "noise variance" // names the noise variance, the last parameter of a model without channels
)

// want panics unless theta has n values.
func want(theta []float64, n int, kernel string) {
	if len(theta) != n {
		panic(fmt.Sprintf("gppl: %s.WithParams: len(theta) = %d, want %d", kernel, len(theta), n))
	}
}

// The usual parameters, each trained in its log.

func varianceParam(v float64) Param {
	return Param{Name: "variance", Value: v, Transform: transform.Log{}, Unit: UnitY2, Role: RoleVariance}
}

func periodParam(p float64) Param {
	return Param{Name: "period", Value: p, Transform: transform.Log{}, Unit: UnitX, Role: RolePeriod}
}

func shapeParam(name string, v float64) Param {
	return Param{Name: name, Value: v, Transform: transform.Log{}, Role: RoleShape}
}

func varianceAndLengthscale(v, l float64) []Param {
	return []Param{varianceParam(v), {Name: "lengthscale", Value: l, Transform: transform.Log{}, Unit: UnitX, Role: RoleLengthscale}}
}

// expScaled sets x[i] = v·exp(x[i]).
func expScaled(x []float64, v float64) {
	vexp.Exp(x, x)
	for i := range x {
		x[i] *= v
	}
}

// expOf sets dst[i] = exp(c·r[i]) for all of dst.
func expOf(dst, r []float64, c float64) {
	for i, ri := range r[:len(dst)] {
		dst[i] = c * ri
	}
	vexp.Exp(dst, dst)
}

// describe renders name(parameter=value, …).
func describe(name string, params []Param) string {
	var b strings.Builder
	b.WriteString(name + "(")
	for i, p := range params {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s=%.4g", p.Name, p.Value)
	}
	return b.String() + ")"
}

// Kernels that combine others work through their slices in chunks, with
// scratch from a pool.
const chunk = 512

type scratch [3][chunk]float64

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// inChunks calls f for n distances, a chunk of them at a time, with working memory for each.
func inChunks(n int, f func(from, to int, a, b, c []float64)) {
	buf := scratchPool.Get().(*scratch)
	defer scratchPool.Put(buf)
	for from := 0; from < n; from += chunk {
		m := min(chunk, n-from)
		f(from, from+m, buf[0][:m], buf[1][:m], buf[2][:m])
	}
}

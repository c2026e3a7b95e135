package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// A kernel declares its properties beyond the covariance through the optional interfaces of package capability. Engines ask
// through the functions of this file and compiled.go, and do not know the types.

// markovian and waver combine Kernel with a capability that engines need.
type (
	markovian interface {
		Kernel
		capability.Markovian
	}
	waver interface {
		Kernel
		capability.Waver
	}
)

// chained is a process that is a variance times a process of few parameters. Derivatives are taken in the variance and these
// parameters; the chain rule to the kernel's parameters follows once, not at every observation.
type chained interface {
	// unchained returns the variance, the process, and its number of parameters.
	unchained() (variance float64, process statespace.Process, params int)
	// contractChain adds to grad, by the chain rule, the derivatives w in the logs of the variance and of the process's
	// parameters.
	contractChain(grad, w []float64)
}

// contractNugget adds w times the derivatives of the nugget in the logs.
func contractNugget(grad []float64, k Kernel, w float64) {
	if k, ok := k.(capability.Nuggeter); ok {
		k.ContractNugget(grad, w)
	}
}

// contractVariance adds w times the derivatives of k(0) in the logs.
func contractVariance(grad []float64, k Kernel, w float64) {
	buf := scratchPool.Get().(*scratch)
	defer scratchPool.Put(buf)
	weight, r := buf[0][:1], buf[1][:1]
	weight[0], r[0] = w, 0
	k.Contract(grad, weight, r)
}

// reach returns a distance beyond which |k| stays below eps times its variance, or +Inf if none is known.
func reach(k Kernel, eps float64) float64 {
	if k, ok := k.(capability.Reacher); ok {
		return k.Reach(eps)
	}
	return math.Inf(1)
}

// bandwidth returns the frequency beyond which the remaining spectrum of the kernel is below eps times its variance, or +Inf
// if none is known.
func bandwidth(k Kernel, eps float64) float64 {
	if k, ok := k.(capability.Bandlimited); ok {
		return k.Bandwidth(eps)
	}
	return math.Inf(1)
}

// decay adapts a Kernel to spectral.Kernel for series and circles. Passing its address allocates nothing.
type decay struct{ Kernel }

func (k decay) Reach(eps float64) float64     { return reach(k.Kernel, eps) }
func (k decay) Bandwidth(eps float64) float64 { return bandwidth(k.Kernel, eps) }

// scaledAt returns the indices of the variance and the lengthscale of a Scaled kernel; ok is false for any other.
func scaledAt(k Kernel) (variance, lengthscale int, ok bool) {
	params := k.Params()
	if _, is := k.(capability.Scaled); !is || len(params) != 2 {
		return 0, 0, false
	}
	switch {
	case params[0].Role == RoleVariance && params[1].Role == RoleLengthscale:
		return 0, 1, true
	case params[0].Role == RoleLengthscale && params[1].Role == RoleVariance:
		return 1, 0, true
	}
	return 0, 0, false
}

// steepness returns the kernel's own bound (see Steep), or samples it.
func steepness(k Kernel, span float64) float64 {
	if k, ok := k.(capability.Steep); ok {
		return k.Steepness(span)
	}
	return sampledSteepness(k, span)
}

// sampledSteepness returns twice the largest r·|k′(r)| at 512 distances. Some are at equal ratios, for kernels that fall; the
// others are spread over the farther half, where oscillating kernels are steepest. The factor of two allows for distances in
// between.
func sampledSteepness(k Kernel, span float64) float64 {
	const (
		golden  = 0.6180339887498949
		octaves = 30 // distances below 1e-9 of the span are too short to matter
	)
	v := variance(k)
	if !(span > 0) || v == 0 {
		return 0
	}
	buf := scratchPool.Get().(*scratch)
	defer scratchPool.Put(buf)
	r, slope := buf[0][:], buf[1][:]
	for i := range r {
		if u := float64(i) / chunk; i%2 == 0 {
			r[i] = span * math.Exp2(-octaves*u)
		} else {
			_, u = math.Modf(golden * float64(i))
			r[i] = span * (1 - 0.5*u)
		}
	}
	k.Slope(slope, r)
	var most float64
	for i, s := range slope {
		if s := math.Abs(r[i] * s); !(s <= most) { // true for NaN as well
			most = s
		}
	}
	return 2 * most / v
}

// scaling holds which parameters v scale a kernel as a whole: Σ ∂k/∂log v = k. It serves one family of kernels.
type scaling struct {
	at           []int
	known, ready bool
}

func scalingOf(k Kernel) scaling {
	at, known := amplitudesOf(k, 0)
	return scaling{at, known, true}
}

// derivative returns the sum of the derivatives, in logs, that scale the kernel as a whole. ok is false if it is unknown which
// parameters do.
func (s *scaling) derivative(grad []float64, k Kernel) (sum float64, ok bool) {
	if !s.ready {
		*s = scalingOf(k)
	}
	for _, i := range s.at {
		sum += grad[i]
	}
	return sum, s.known
}

// amplitudesOf returns the indices, plus offset, of the parameters that scale k as a whole: the variances of every term of a
// sum and of one factor of a product, none of White. known is false if the kernel does not say.
func amplitudesOf(k Kernel, offset int) (at []int, known bool) {
	if k, ok := k.(capability.Amplified); ok {
		at, known = k.Amplitudes()
		for i := range at {
			at[i] += offset
		}
		return at, known
	}
	for i, p := range k.Params() {
		if p.Role == RoleVariance {
			at = append(at, offset+i)
		}
	}
	return at, at != nil
}

// noiseTerms is NoiseTerms of a kernel.
func noiseTerms(k Kernel) (at []int) {
	if sum, ok := k.(Sum); ok {
		for i, p := range sum.parts {
			for _, j := range noiseTerms(p) {
				at = append(at, sum.offset[i]+j)
			}
		}
		return at
	}
	if _, ok := k.(Product); ok || isPlaced(k) {
		return nil
	}
	for i, p := range k.Params() {
		if p.Role == RoleNoise {
			at = append(at, i)
		}
	}
	return at
}

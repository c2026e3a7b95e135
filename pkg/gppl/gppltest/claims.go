package gppltest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Kernels with a capability whose check needs the kernel, too.
type (
	markovian interface {
		gppl.Kernel
		capability.Markovian
	}
	spectrum interface {
		gppl.Kernel
		capability.Spectrum
	}
	waver interface {
		gppl.Kernel
		capability.Waver
	}
)

// checkClaims compares what a kernel says of itself, by its roles and by optional interfaces, with what it computes.
func checkClaims(t *testing.T, k gppl.Kernel) {
	t.Run("Roles", func(t *testing.T) { checkRoles(t, k) })
	t.Run("Continuous", func(t *testing.T) {
		if v, near := cov(k, 0), cov(k, 1e-12); math.Abs(v-near) > 1e-6*math.Abs(v) {
			t.Errorf("k(0) = %v, but k(1e-12) = %v: what an observation has for itself alone belongs in Nugget", v, near)
		}
	})
	claim(t, k, "Nugget", checkNugget)
	claim(t, k, "Reach", checkReach)
	claim(t, k, "Bandwidth", checkBandwidth)
	claim(t, k, "Scale", checkScale)
	claim(t, k, "Markov", checkMarkov)
	claim(t, k, "Steepness", checkSteepness)
	claim(t, k, "Amplitudes", checkAmplitudes)
	claim(t, k, "Density", checkDensity)
	claim(t, k, "Waves", checkWaves)
}

// claim runs the check of an optional interface, if k has it.
func claim[T any](t *testing.T, k gppl.Kernel, name string, check func(t *testing.T, k gppl.Kernel, c T)) {
	if c, ok := k.(T); ok {
		t.Run(name, func(t *testing.T) { check(t, k, c) })
	}
}

func cov(k gppl.Kernel, r float64) float64 {
	v := []float64{r}
	k.Cov(v, v)
	return v[0]
}

// gradientLog differentiates f in the logs of the kernel's parameters.
func gradientLog(k gppl.Kernel, f func(k gppl.Kernel) float64) []float64 {
	u := gppl.Values(k.Params())
	for i, v := range u {
		u[i] = math.Log(v)
	}
	return fd.Gradient(nil, func(u []float64) float64 {
		raised := make([]float64, len(u))
		for i, v := range u {
			raised[i] = math.Exp(v)
		}
		return f(k.WithParams(raised))
	}, u, &fd.Settings{Formula: fourthOrder, Step: 1e-4})
}

// checkRoles: the variances of a kernel, together, scale it. Every part of sums and products is checked.
func checkRoles(t *testing.T, k gppl.Kernel) {
	switch k := k.(type) {
	case gppl.Sum:
		for _, p := range k.Terms() {
			checkRoles(t, p)
		}
		return
	case gppl.Product:
		for _, p := range k.Factors() {
			checkRoles(t, p)
		}
		return
	}
	params := k.Params()
	var variances []int
	for i, p := range params {
		if p.Role == gppl.RoleVariance {
			variances = append(variances, i)
		}
	}
	if variances != nil {
		checkTogether(t, k, variances, "parameters of RoleVariance")
	}
	for i, p := range k.WithParams(elsewhere(k)).Params() {
		if p.Role != params[i].Role || p.Unit != params[i].Unit {
			t.Errorf("%v: role and unit of parameter %q depend on its value", k, p.Name)
		}
	}
}

// checkTogether: some parameters, together, scale k.
func checkTogether(t *testing.T, k gppl.Kernel, at []int, what string) {
	grad := make([]float64, len(k.Params()))
	for _, r := range []float64{0, 0.1, 0.7, 2, 5} {
		clear(grad)
		k.Contract(grad, []float64{1}, []float64{r})
		var sum float64
		for _, i := range at {
			sum += grad[i]
		}
		if v := cov(k, r); !(math.Abs(sum-v) <= 1e-9*math.Abs(cov(k, 0))) {
			t.Errorf("%v: Σ ∂k/∂log v over %s is %v at %v, want k = %v", k, what, sum, r, v)
		}
	}
}

func checkNugget(t *testing.T, k gppl.Kernel, c capability.Nuggeter) {
	if w := c.Nugget(); !(w >= 0) || math.IsInf(w, 1) {
		t.Errorf("Nugget = %v, want a number of at least 0", w)
	}
	want := gradientLog(k, func(k gppl.Kernel) float64 { return capability.Nugget(k) })
	got := slices.Repeat([]float64{3}, len(want)) // ContractNugget adds
	c.ContractNugget(got, 2)
	for p := range got {
		got[p] = (got[p] - 3) / 2
	}
	closeVectors(t, "∂nugget/∂log θ", got, want, 1e-8)
}

func checkReach(t *testing.T, k gppl.Kernel, c capability.Reacher) {
	v, before := cov(k, 0), 0.0
	for _, eps := range []float64{0.5, 1e-2, 1e-6, 1e-12, 1e-17, 1e-250} {
		r := c.Reach(eps)
		if !(r >= before) {
			t.Errorf("Reach(%v) = %v, but for a larger eps it is %v", eps, r, before)
		}
		before = r
		if math.IsInf(r, 1) {
			return
		}
		for j := range 400 {
			at := r * (1 + 1e-9 + 0.01*float64(j))
			if far := cov(k, at); !(math.Abs(far) <= eps*v*(1+1e-6)) {
				t.Errorf("Reach(%v) = %v, but k(%v) = %v·k(0)", eps, r, at, far/v)
				return
			}
		}
	}
}

// checkBandwidth: of the spectrum of k, smoothed, at most some hundred times eps is
// beyond the frequency that is said to leave eps.
func checkBandwidth(t *testing.T, k gppl.Kernel, c capability.Bandlimited) {
	const (
		eps   = 1e-4
		loose = 100 // it is an estimate
	)
	b := c.Bandwidth(eps)
	if b == 0 || math.IsInf(b, 1) {
		if b == 0 && cov(k, 0) != 0 {
			t.Error("Bandwidth = 0, but there is a covariance")
		}
		return
	}
	// A Gaussian window of width s smooths over 1/2πs; k is sampled at 16 b.
	s := 10 / b
	const samples = 1440
	step := 1 / (16 * b)
	var g [samples]float64
	for i := range g {
		at := step * float64(i)
		g[i] = cov(k, at) * math.Exp(-0.5*(at/s)*(at/s))
	}
	g[0] *= 0.5
	var beyond, all float64
	for m := range samples {
		var density float64
		for i, v := range g {
			density += v * math.Cos(math.Pi*float64(m)*float64(i)/samples)
		}
		all += math.Abs(density)
		if f := float64(m) / (2 * samples * step); f > 1.25*b {
			beyond += math.Abs(density)
		}
	}
	if !(beyond <= loose*eps*all) {
		t.Errorf("Bandwidth(%v) = %v, but beyond it is %.2g of the spectrum", eps, b, beyond/all)
	}
}

func checkScale(t *testing.T, k gppl.Kernel, c capability.Scaled) {
	params := k.Params()
	if len(params) != 2 {
		t.Fatalf("a Scaled kernel has a variance and a lengthscale; this has %d parameters", len(params))
	}
	v, l := 0, 1
	if params[0].Role == gppl.RoleLengthscale {
		v, l = 1, 0
	}
	if params[v].Role != gppl.RoleVariance || params[l].Role != gppl.RoleLengthscale {
		t.Fatalf("the parameters of a Scaled kernel have the roles %v and %v, want variance and lengthscale",
			params[0].Role, params[1].Role)
	}
	if gotV, gotL := c.Scale(); gotV != params[v].Value || gotL != params[l].Value {
		t.Errorf("Scale = %v, %v, but the parameters are %v, %v", gotV, gotL, params[v].Value, params[l].Value)
	}
	// at returns k(r) at variance 1 and lengthscale exp(u).
	at := func(r, u float64) float64 {
		theta := make([]float64, 2)
		theta[v], theta[l] = 1, math.Exp(u)
		return cov(k.WithParams(theta), r)
	}
	theta := gppl.Values(k.Params())
	theta[v], theta[l] = 1.7*theta[v], 0.6*theta[l]
	moved := k.WithParams(theta)
	const nodes, halfWidth = 30, 0.6 // as the interpolated engine has them
	for _, r := range []float64{0, 0.3, 1, 3, 10} {
		r *= params[l].Value
		if got, want := cov(moved, 0.6*r), 1.7*cov(k, r); math.Abs(got-want) > 1e-12*1.7*cov(k, 0) {
			t.Errorf("k at 1.7 v, 0.6 l and 0.6 r is %v, want 1.7 k = %v", got, want)
		}
		centre := math.Log(params[l].Value)
		u := centre + 0.37*halfWidth
		var sum, weights float64
		for q := range nodes {
			angle := math.Pi * (float64(q) + 0.5) / nodes
			x := centre + halfWidth*math.Cos(angle)
			w := math.Sin(angle) / (u - x)
			if q%2 == 1 {
				w = -w
			}
			sum, weights = sum+w*at(r, x), weights+w
		}
		if off := sum/weights - at(r, u); !(math.Abs(off) <= 1e-10*math.Abs(at(0, u))) {
			t.Errorf("k(%v) is no polynomial in log l: interpolation is off by %.2g·v", r, off)
		}
	}
}

// checkSteepness compares with the slope at distances over eighteen octaves below each span.
func checkSteepness(t *testing.T, k gppl.Kernel, c capability.Steep) {
	v := cov(k, 0)
	for _, span := range []float64{0.01, 1, 30, 1000} {
		bound := c.Steepness(span)
		for j := range 1000 {
			r := span * math.Exp2(-0.018*float64(j))
			slope := []float64{r}
			k.Slope(slope, slope)
			if s := math.Abs(r * slope[0]); !(s <= bound*v*(1+1e-9)) {
				t.Errorf("Steepness(%v) = %v, but r·|k′(r)| is %v·k(0) at %v", span, bound, s/v, r)
				break
			}
		}
	}
}

// checkAmplitudes: the parameters that are said to scale k do, together, and none is named twice.
func checkAmplitudes(t *testing.T, k gppl.Kernel, c capability.Amplified) {
	at, known := c.Amplitudes()
	if !known {
		return
	}
	params := len(k.Params())
	for n, i := range at {
		if i < 0 || i >= params || slices.Contains(at[:n], i) {
			t.Fatalf("Amplitudes = %v of %d parameters", at, params)
		}
	}
	checkTogether(t, k, at, "Amplitudes")
}

// checkMarkov compares the sum of the processes, and its derivatives, with the covariance, and their noise with what is
// stationary.
func checkMarkov(t *testing.T, _ gppl.Kernel, k markovian) {
	processes, params := k.Processes(nil), len(k.Params())
	r := []float64{0, 1e-5, 1e-3, 0.1, 0.4, 1, 2.5, 7, 60, math.Inf(1)}
	got, slopes := make([]float64, len(r)), make([][]float64, len(r))
	for i := range r {
		slopes[i] = make([]float64, params)
	}
	for b, process := range processes {
		if m, is := process.(gppl.MaternProcess); is && (m.Order < 0 || m.Order > 2 || m.Chain != nil && len(m.Chain) != params) {
			t.Fatalf("process %d is %+v of a kernel of %d parameters: want an order of 0, 1 or 2, and a row of the chain for each",
				b, m, params)
		}
		d := process.Dim()
		dd := d * d
		all, dAll, scratch := make([]float64, dd), make([]float64, params*dd), make([]float64, params*dd)
		process.Transition(scratch[:dd], all, math.Inf(1))
		process.Slopes(scratch, dAll, make([]float64, dd), all, math.Inf(1))
		for i, gap := range r {
			phi, q := make([]float64, dd), make([]float64, dd)
			dPhi, dQ := make([]float64, params*dd), make([]float64, params*dd)
			process.Transition(phi, q, gap)
			process.Slopes(dPhi, dQ, phi, q, gap)
			kept := sandwich(phi, all, phi, d)
			for e := range q {
				if !(math.Abs(q[e]-(all[e]-kept[e])) <= 1e-12*math.Abs(all[0])) {
					t.Errorf("process %d: Q(%v) has %v at %d, P∞ − ΦP∞Φᵀ has %v", b, gap, q[e], e, all[e]-kept[e])
				}
			}
			for j := range d {
				got[i] += phi[j] * all[j*d]
			}
			for p := range params {
				own, stationary := dPhi[p*dd:][:dd], dAll[p*dd:][:dd]
				x, y, z := sandwich(own, all, phi, d), sandwich(phi, stationary, phi, d), sandwich(phi, all, own, d)
				for e := range dd {
					want := stationary[e] - x[e] - y[e] - z[e]
					if !(math.Abs(dQ[p*dd+e]-want) <= 1e-10*math.Abs(all[0])) {
						t.Errorf("process %d: ∂Q(%v) in parameter %d has %v at %d, that of P∞ − ΦP∞Φᵀ has %v", b, gap, p, dQ[p*dd+e], e, want)
					}
				}
				for j := range d {
					slopes[i][p] += own[j]*all[j*d] + phi[j]*stationary[j*d]
				}
			}
		}
	}
	for i, at := range r {
		if math.IsInf(at, 1) {
			if got[i] != 0 {
				t.Errorf("Φ of an infinite gap is not 0: k = %v", got[i])
			}
			continue
		}
		if want := cov(k, at); !(math.Abs(got[i]-want) <= 1e-11*cov(k, 0)) {
			t.Errorf("the processes add up to %v at r = %v, the covariance is %v", got[i], at, want)
		}
		want := make([]float64, params)
		k.Contract(want, []float64{1}, []float64{at})
		closeVectors(t, fmt.Sprintf("derivatives of the processes at r = %v", at), slopes[i], want, 1e-9)
	}
	more := k.WithParams(elsewhere(k)).(markovian).Processes(slices.Clip(processes))
	if len(more) != 2*len(processes) {
		t.Errorf("Processes does not append as many as at other parameters: %d to %d", len(more)-len(processes), len(processes))
	}
}

// sandwich returns A·M·Bᵀ, d×d.
func sandwich(a, m, b []float64, d int) []float64 {
	out := make([]float64, d*d)
	for i := range d {
		for j := range d {
			for k := range d {
				for l := range d {
					out[i*d+j] += a[i*d+k] * m[k*d+l] * b[j*d+l]
				}
			}
		}
	}
	return out
}

// checkDensity compares with the cosine transform of the covariance, by Simpson's rule, where the kernel dies out.
func checkDensity(t *testing.T, _ gppl.Kernel, k spectrum) {
	c, ok := k.(capability.Reacher)
	if !ok || math.IsInf(c.Reach(1e-12), 1) {
		t.Skip("the kernel does not say how far it reaches")
	}
	const intervals = 1 << 14
	step := c.Reach(1e-12) / intervals
	f := make([]float64, 9)
	for i := range f {
		f[i] = 0.1 * float64(i) * 2 / c.Reach(0.1)
	}
	density := make([]float64, len(f))
	k.Density(density, f)
	for i, fi := range f {
		var sum float64
		for j := range intervals + 1 {
			weight := 2. / 3
			switch {
			case j == 0 || j == intervals:
				weight = 1. / 3
			case j%2 == 1:
				weight = 4. / 3
			}
			at := step * float64(j)
			sum += 2 * weight * step * cov(k, at) * math.Cos(2*math.Pi*fi*at)
		}
		if !(math.Abs(density[i]-sum) <= 1e-7*math.Abs(density[0])) {
			t.Errorf("Density at %v is %v, the cosine transform %v", fi, density[i], sum)
		}
	}
	w := make([]float64, len(f))
	for i := range w {
		w[i] = 1 / (1 + float64(i))
	}
	want := gradientLog(k, func(k gppl.Kernel) float64 {
		s := make([]float64, len(f))
		k.(spectrum).Density(s, f)
		return floats.Dot(w, s)
	})
	got := make([]float64, len(want))
	k.ContractDensity(got, w, f)
	closeVectors(t, "Σ w ∂S/∂log θ", got, want, 1e-7)
}

// checkWaves compares the sum of waves, and its derivatives, with the covariance over a span of some periods or scales.
func checkWaves(t *testing.T, _ gppl.Kernel, k waver) {
	const span, eps = 7, 1e-10
	period, bands := k.Bands(nil, span, eps)
	if bands == nil {
		t.Skip("too many waves")
	}
	var frequencies []float64
	for _, b := range bands {
		for m := b.From; m <= b.To; m++ {
			frequencies = append(frequencies, float64(m)/period)
		}
	}
	c := make([]float64, len(frequencies))
	k.Coefficients(c, period, bands)
	for i := range 20 {
		r := span * float64(i) / 19
		var sum, moved float64
		w := make([]float64, len(c))
		for j, f := range frequencies {
			w[j] = math.Cos(2 * math.Pi * f * r)
			sum += c[j] * w[j]
			moved += c[j] * 2 * math.Pi * f * r * math.Sin(2*math.Pi*f*r)
		}
		if want := cov(k, r); !(math.Abs(sum-want) <= 10*eps*cov(k, 0)) {
			t.Errorf("%d waves add up to %v at r = %v, the covariance is %v", len(c), sum, r, want)
		}
		got, want := make([]float64, len(k.Params())), make([]float64, len(k.Params()))
		k.ContractCoefficients(got, w, period, bands)
		if p := k.PeriodParam(); p >= 0 {
			got[p] += moved
		}
		k.Contract(want, []float64{1}, []float64{r})
		closeVectors(t, "derivatives of the sum of waves", got, want, 1e-6)
	}
}

package statespace

import (
	"fmt"
	"math"
)

// A Process is a stationary Markov process of d numbers, the first of which is observed: over a gap Δ ≥ 0
//
//	x(t+Δ) = Φ(Δ)·x(t) + noise of covariance Q(Δ),  Q = P∞ − ΦP∞Φᵀ,  k(Δ) = (ΦP∞)₁₁.
//
// Matrices are d×d, by rows. Methods must be safe for concurrent use.
type Process interface {
	Dim() int
	// Transition sets phi to Φ and noise to Q. Over an infinite gap they are 0 and P∞. Relative digits that Q loses over a
	// short gap cost the likelihood digits in proportion to v/σ².
	Transition(phi, noise []float64, gap float64)
	// Slopes sets entry p of dPhi and dNoise, d×d each, to ∂Φ and ∂Q in the log of parameter p. phi and noise are the results
	// of Transition.
	Slopes(dPhi, dNoise, phi, noise []float64, gap float64)
}

// A Block is a term of K: the covariance of
//
//	√v·Σ_m √c_m·(x_m(t)·cos(2πmt/p) + x′_m(t)·sin(2πmt/p)),  v·k(τ)·Σ_m c_m·cos(2πmτ/p),
//
// where x_m and x′_m are independent copies of one process. The state moves with the waves, so its Φ is the process's, P∞ is
// as well conditioned as the process's own, and h turns. Without Weights the covariance is v·k(τ).
type Block struct {
	Process  Process
	Params   int     // number of parameters of the process
	Variance float64 // v
	Period   float64 // p
	First    int     // m of the first weight
	Weights  []float64
}

// A Sweep is a way to factorise blocks. Both agree within their errors.
type Sweep int

const (
	// ByPairs supports any blocks. P is kept by pairs of processes, which are independent of the others. The observed hᵀx is
	// no number of the state, so rounding costs v/σ².
	ByPairs Sweep = iota
	// BySum supports blocks of Matern processes without Weights. Their sum is a number of the state, so rounding is amplified by
	// √(v/σ²) only.
	BySum
)

// Summable reports whether BySum supports the blocks.
func Summable(blocks []Block) bool {
	for i := range blocks {
		if _, is := blocks[i].Process.(*Matern); !is || blocks[i].Weights != nil {
			return false
		}
	}
	return len(blocks) > 0
}

// components returns Summable blocks in the form for BySum, reusing memory.
func components(dst []component, blocks []Block) []component {
	dst = dst[:0]
	for i := range blocks {
		p, is := blocks[i].Process.(*Matern)
		if !is || blocks[i].Weights != nil {
			panic(fmt.Sprintf("statespace: block %d is no Matérn process", i))
		}
		dst = append(dst, component{p.Order, blocks[i].Variance, p.Lengthscale})
	}
	return dst
}

// derivatives returns the number of derivatives of a block: in log v, in the log of each parameter and, with weights, in log p
// and in each c_m.
func (b *Block) derivatives() int {
	n := 1 + b.Params
	if b.Weights != nil {
		n += 1 + len(b.Weights)
	}
	return n
}

// A piece is the state of one process.
type piece struct {
	block, dim int
	at         int     // index of its first number in the state
	wave       int     // m, or −1 without waves
	sine       bool    //
	scale      float64 // v·c_m
}

func checkBlocks(blocks []Block) error {
	if len(blocks) == 0 {
		panic("statespace: no block")
	}
	for i, b := range blocks {
		if !(b.Variance > 0 && b.Variance <= math.MaxFloat64) {
			return fmt.Errorf("statespace: variance %v of block %d must be positive and finite", b.Variance, i)
		}
		if b.Weights == nil {
			continue
		}
		if !(b.Period > 0 && b.Period <= math.MaxFloat64) {
			return fmt.Errorf("statespace: period %v of block %d must be positive and finite", b.Period, i)
		}
		for j, c := range b.Weights {
			if !(c >= 0 && c <= math.MaxFloat64) {
				return fmt.Errorf("statespace: weight %d of block %d is %v, want a finite number, not negative", j, i, c)
			}
		}
	}
	return nil
}

// units returns the processes of the blocks, reusing memory.
func units(dst []piece, blocks []Block) (all []piece, dim int) {
	dst = dst[:0]
	add := func(b, wave int, sine bool, scale float64) {
		d := blocks[b].Process.Dim()
		dst = append(dst, piece{b, d, dim, wave, sine, scale})
		dim += d
	}
	for b := range blocks {
		block := &blocks[b]
		if block.Weights == nil {
			add(b, -1, false, block.Variance)
			continue
		}
		for j, c := range block.Weights {
			m := block.First + j
			add(b, m, false, block.Variance*c)
			if m > 0 {
				add(b, m, true, block.Variance*c)
			}
		}
	}
	return dst, dim
}

// A Matern is the process of a Matérn covariance of unit variance with ν = Order + ½ for Order 0, 1 or 2. Its parameter is the
// lengthscale.
type Matern struct {
	Order       int
	Lengthscale float64
}

func (p *Matern) unit() component { return component{p.Order, 1, p.Lengthscale} }

func (p *Matern) Dim() int { return p.Order + 1 }

func (p *Matern) Transition(phi, noise []float64, gap float64) {
	p.unit().over(phi, noise, gap)
}

// Slopes implements Process: ∂Φ = −aFΦ, ∂Q = −a(FQ + QFᵀ + q·e_d·e_dᵀ).
func (p *Matern) Slopes(dPhi, dNoise, phi, noise []float64, gap float64) {
	d := p.Dim()
	a := p.generator(gap)
	for i := range d {
		for j := range d {
			// (FX)_ij = X_{i+1,j} − X_ij
			f := -phi[i*d+j]
			g := -2 * noise[i*d+j]
			if i+1 < d {
				f += phi[(i+1)*d+j]
				g += noise[(i+1)*d+j]
			}
			if j+1 < d {
				g += noise[i*d+j+1]
			}
			dPhi[i*d+j], dNoise[i*d+j] = -a*f, -a*g
		}
	}
	dNoise[d*d-1] -= a * intensity[p.Order]
}

// generator returns a = λΔ, or 0 beyond far, where everything is constant.
func (p *Matern) generator(gap float64) float64 {
	a := p.unit().rate() * gap
	if !(a < far) {
		return 0
	}
	return a
}

// A Constant is constant in time: Φ = 1, Q = 0.
type Constant struct{}

func (Constant) Dim() int { return 1 }

func (Constant) Transition(phi, noise []float64, gap float64) {
	phi[0], noise[0] = 1, 0
	if math.IsInf(gap, 1) {
		phi[0], noise[0] = 0, 1
	}
}

func (Constant) Slopes(_, _, _, _ []float64, _ float64) {}

// A Kronecker is the process x⊗y of two independent processes. Its covariance is the product of the two:
//
//	Φ = Φ_x⊗Φ_y,  Q = Q_x⊗P_y + (ΦPΦᵀ)_x⊗Q_y,
//
// Both are sums of positive terms. The parameters of the first process come first.
type Kronecker struct {
	X, Y             Process
	XParams, YParams int
}

func (p *Kronecker) Dim() int { return p.X.Dim() * p.Y.Dim() }

// A factor is a step of one process of a product: Φ, Q, P∞ and S = ΦP∞Φᵀ.
type factor struct{ phi, q, all, carried []float64 }

func (f *factor) of(p Process, gap float64) {
	d := p.Dim()
	buffer := make([]float64, 4*d*d)
	f.phi, f.q, f.all, f.carried = buffer[:d*d], buffer[d*d:2*d*d], buffer[2*d*d:3*d*d], buffer[3*d*d:]
	p.Transition(f.phi, f.all, math.Inf(1))
	p.Transition(f.phi, f.q, gap)
	for i := range f.carried {
		f.carried[i] = f.all[i] - f.q[i]
	}
}

// kronecker adds a⊗b to dst.
func kronecker(dst, a, b []float64, m, n int) {
	for i := range m * n {
		for j := range m * n {
			dst[i*m*n+j] += a[i/n*m+j/n] * b[i%n*n+j%n]
		}
	}
}

func (p *Kronecker) Transition(phi, noise []float64, gap float64) {
	var x, y factor
	x.of(p.X, gap)
	y.of(p.Y, gap)
	m, n := p.X.Dim(), p.Y.Dim()
	clear(phi[:m*n*m*n])
	clear(noise[:m*n*m*n])
	kronecker(phi, x.phi, y.phi, m, n)
	kronecker(noise, x.q, y.all, m, n)
	kronecker(noise, x.carried, y.q, m, n)
}

func (p *Kronecker) Slopes(phi, noise, _, _ []float64, gap float64) {
	var x, y factor
	x.of(p.X, gap)
	y.of(p.Y, gap)
	m, n := p.X.Dim(), p.Y.Dim()
	dd := m * n * m * n
	clear(phi[:dd*(p.XParams+p.YParams)])
	clear(noise[:dd*(p.XParams+p.YParams)])
	slopes := func(q Process, f *factor, params, d int) (phi, noise, all []float64) {
		buffer := make([]float64, 3*params*d*d)
		phi, noise, all = buffer[:params*d*d], buffer[params*d*d:2*params*d*d], buffer[2*params*d*d:]
		q.Slopes(phi, all, make([]float64, d*d), f.all, math.Inf(1))
		q.Slopes(phi, noise, f.phi, f.q, gap)
		return phi, noise, all
	}
	dPhi, dQ, dAll := slopes(p.X, &x, p.XParams, m)
	for i := range p.XParams {
		s := func(a []float64) []float64 { return a[i*m*m : (i+1)*m*m] }
		kept := make([]float64, m*m)
		for j := range kept {
			kept[j] = s(dAll)[j] - s(dQ)[j]
		}
		kronecker(phi[i*dd:], s(dPhi), y.phi, m, n)
		kronecker(noise[i*dd:], s(dQ), y.all, m, n)
		kronecker(noise[i*dd:], kept, y.q, m, n)
	}
	dPhi, dQ, dAll = slopes(p.Y, &y, p.YParams, n)
	for i := range p.YParams {
		s := func(a []float64) []float64 { return a[i*n*n : (i+1)*n*n] }
		at := (p.XParams + i) * dd
		kronecker(phi[at:], x.phi, s(dPhi), m, n)
		kronecker(noise[at:], x.q, s(dAll), m, n)
		kronecker(noise[at:], x.carried, s(dQ), m, n)
	}
}

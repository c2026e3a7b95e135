package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

// stateSpace is a kernel as a sum of blocks of Markov processes. Each term is a Markovian kernel, a kernel that turns (a Waver
// whose P is a parameter), or a product of these with at most one that turns. It serves one family of kernels.
type stateSpace struct {
	split   split
	sources []source
	blocks  []statespace.Block
	of      []part  // destinations of the derivatives of each block
	lost    float64 // variance of the omitted harmonics
	apart   bool    // each harmonic is a block of its own, without weights, whose derivative has a functional of the state
	calm    bool    // no waves: a kernel that turns is refused

	processes []capability.Process // processes of a term
	atoms     []atom               // memory of the terms that are single processes
	w         []float64            // arguments of the chain of a process
}

// source is a factor at its place in the kernel.
type source struct {
	kernel      Kernel
	offset, end int
	w           []float64 // derivatives in the coefficients of a Waver
	period      float64   // P of a Waver
	bands       []capability.Band
}

// atom is a process of a source.
type atom struct {
	source   int
	process  statespace.Process
	params   int
	variance float64
	chain    chained // nil if the parameters of the process are the kernel's
}

// newAtom returns the atom of a process of source number at; ok is false if there is none.
func newAtom(p capability.Process, at, params int) (atom, bool) {
	a := atom{at, p, params, 1, nil}
	if m, is := p.(MaternProcess); is && !m.check() {
		return a, false
	}
	if c, is := p.(chained); is {
		a.chain = c
		a.variance, a.process, a.params = c.unchained()
	}
	return a, true
}

// part is a product of atoms, with the wave of a source or without (−1).
type part struct {
	atoms    []atom
	wave     int
	harmonic int     // index of its harmonic's weight, for a block of one harmonic
	weight   float64 // weight of that harmonic
}

const notMarkov = "not a linear stochastic differential equation, as Matérn and SHO are, " +
	"or does not declare it by capability.Markovian"

// largestState bounds the numbers in a state: beyond it other engines are faster, and memory is short.
const largestState = 256

// expand sets l to k, with the weights of a Waver up to eps of its variance. It returns false if k has no such form.
func (l *stateSpace) expand(k Kernel, eps float64) bool {
	l.sources, l.blocks, l.of, l.lost = l.sources[:0], l.blocks[:0], l.of[:0], 0
	l.atoms = l.atoms[:0]
	if !l.split.set(k) {
		return false
	}
	for i, term := range l.split.signal {
		if m, is := term.(markovian); is {
			if !l.addProcesses(m, l.split.offset[i], l.split.end[i]) {
				return false
			}
			continue
		}
		parts, ok := l.parts(term, l.split.offset[i], eps)
		if !ok {
			return false
		}
		var left float64
		for _, p := range parts {
			if p.wave >= 0 {
				left = eps
			}
			if !l.add(p) {
				return false
			}
		}
		l.lost += left * variance(term)
	}
	state, _ := l.size()
	return len(l.blocks) > 0 && (state <= largestState || l.summable())
}

// summable reports whether all blocks are Matérn processes, whose sum may be one number of the state.
func (l *stateSpace) summable() bool { return statespace.Summable(l.blocks) }

// addProcesses appends the blocks of a term.
func (l *stateSpace) addProcesses(k markovian, offset, end int) bool {
	at := len(l.sources)
	l.sources = append(l.sources, source{kernel: k, offset: offset, end: end})
	l.processes = k.Processes(l.processes[:0])
	for _, p := range l.processes {
		a, ok := newAtom(p, at, end-offset)
		if !ok {
			return false
		}
		l.atoms = append(l.atoms, a)
		n := len(l.atoms)
		l.add(part{atoms: l.atoms[n-1 : n : n], wave: -1})
	}
	return true
}

// parts returns a kernel as a sum of products.
func (l *stateSpace) parts(k Kernel, offset int, eps float64) ([]part, bool) {
	if reach(k, 0.5) == 0 {
		return nil, true
	}
	at := len(l.sources)
	if w, ok := k.(capability.Waver); ok && (l.calm || w.PeriodParam() < 0) {
		return nil, false // before memory is allocated: smooth kernels arrive here at every evaluation
	}
	own := source{kernel: k, offset: offset}
	switch k := k.(type) {
	case Sum:
		var all []part
		for i, p := range k.parts {
			more, ok := l.parts(p, offset+k.offset[i], eps)
			if !ok {
				return nil, false
			}
			all = append(all, more...)
		}
		return all, true
	case Product:
		all := []part{{wave: -1}}
		for i, p := range k.parts {
			more, ok := l.parts(p, offset+k.offset[i], eps)
			if !ok {
				return nil, false
			}
			if all, ok = cross(all, more); !ok {
				return nil, false
			}
		}
		return all, true
	case markovian:
		own.end = offset + len(own.kernel.Params())
		l.sources = append(l.sources, own)
		var all []part
		for _, p := range k.Processes(nil) {
			a, ok := newAtom(p, at, own.end-offset)
			if !ok {
				return nil, false
			}
			all = append(all, part{atoms: []atom{a}, wave: -1})
		}
		return all, true
	case capability.Waver:
		own.period, own.bands = k.Bands(nil, 0, eps)
		if len(own.bands) != 1 || waves.Count(own.bands) > largestState {
			return nil, false
		}
		own.end, own.w = offset+len(own.kernel.Params()), make([]float64, waves.Count(own.bands))
		l.sources = append(l.sources, own)
		return []part{{wave: at}}, true
	}
	return nil, false
}

// cross returns the products of two sums; ok is false if both turn.
func cross(a, b []part) (all []part, ok bool) {
	for _, p := range a {
		for _, q := range b {
			if p.wave >= 0 && q.wave >= 0 {
				return nil, false
			}
			atoms := append(append([]atom(nil), p.atoms...), q.atoms...)
			all = append(all, part{atoms: atoms, wave: max(p.wave, q.wave)})
		}
	}
	return all, true
}

// add appends the block of a part. More than one wave by itself is left to the mixed engine.
func (l *stateSpace) add(p part) bool {
	b := statespace.Block{Process: statespace.Constant{}, Variance: 1}
	for i, a := range p.atoms {
		b.Variance *= a.variance
		if i == 0 {
			b.Process, b.Params = a.process, a.params
			continue
		}
		b.Process = &statespace.Kronecker{X: b.Process, Y: a.process, XParams: b.Params, YParams: a.params}
		b.Params += a.params
	}
	if p.wave >= 0 && l.apart {
		l.addHarmonics(p, b)
		return true
	}
	if p.wave >= 0 {
		s := &l.sources[p.wave]
		if len(p.atoms) == 0 && len(s.w) > 1 {
			return false
		}
		b.Period, b.First, b.Weights = s.period, s.bands[0].From, make([]float64, len(s.w))
		s.kernel.(capability.Waver).Coefficients(b.Weights, s.period, s.bands)
	}
	l.blocks = append(l.blocks, b)
	l.of = append(l.of, p)
	return true
}

// addHarmonics appends a block for each harmonic of a part whose product of atoms is b.
func (l *stateSpace) addHarmonics(p part, b statespace.Block) {
	s := &l.sources[p.wave]
	s.kernel.(capability.Waver).Coefficients(s.w, s.period, s.bands)
	for j, c := range s.w {
		if c <= 0 {
			continue
		}
		one := b
		one.Variance *= c
		if m := s.bands[0].From + j; m > 0 {
			turn := statespace.Turn{Period: s.period, Wave: m}
			one.Process = &statespace.Kronecker{X: b.Process, Y: turn, XParams: b.Params, YParams: 1}
			one.Params++
			if len(p.atoms) == 0 {
				one.Process = turn
			}
		}
		p.harmonic, p.weight = j, c
		l.blocks, l.of = append(l.blocks, one), append(l.of, p)
	}
}

// contract adds the contribution of the derivatives of the blocks, w, to the derivatives in the kernel's own parameters.
func (l *stateSpace) contract(grad, w []float64) {
	for i := range l.sources {
		clear(l.sources[i].w)
	}
	at := 0
	for i := range l.blocks {
		b, from := &l.blocks[i], l.of[i]
		inVariance := w[at]
		at++
		for _, a := range from.atoms {
			s := &l.sources[a.source]
			if a.chain != nil {
				l.w = append(append(l.w[:0], inVariance), w[at:][:a.params]...)
				a.chain.contractChain(grad[s.offset:s.end], l.w)
			} else {
				dense.Add(grad[s.offset:s.end], w[at:][:a.params])
			}
			at += a.params
		}
		if from.wave >= 0 && b.Weights == nil {
			s, j := &l.sources[from.wave], from.harmonic
			if s.bands[0].From+j > 0 {
				grad[s.offset+s.kernel.(capability.Waver).PeriodParam()] += w[at]
				at++
			}
			s.w[j] += inVariance / from.weight
		}
		if b.Weights != nil {
			s := &l.sources[from.wave]
			grad[s.offset+s.kernel.(capability.Waver).PeriodParam()] += w[at]
			dense.Add(s.w, w[at+1:][:len(b.Weights)])
			at += 1 + len(b.Weights)
		}
	}
	for i := range l.sources {
		if s := &l.sources[i]; s.bands != nil {
			s.kernel.(capability.Waver).ContractCoefficients(grad[s.offset:s.end], s.w, s.period, s.bands)
		}
	}
}

// fastest returns the highest frequency of a wave, in radians per unit of x; 0 without waves.
func (l *stateSpace) fastest() (omega float64) {
	for i := range l.sources {
		if s := &l.sources[i]; s.bands != nil {
			omega = max(omega, 2*math.Pi*float64(s.bands[0].From+len(s.w))/s.period)
		}
	}
	return omega
}

// size returns the number of entries of the state, and of its symmetric matrices.
func (l *stateSpace) size() (state, pairs float64) {
	widest := 0.
	for i := range l.blocks {
		b := &l.blocks[i]
		d, count := float64(b.Process.Dim()), 1.
		if n := len(b.Weights); n > 0 {
			if count = float64(2 * n); b.First == 0 {
				count--
			}
		}
		state += d * count
		widest = max(widest, d)
	}
	return state, 0.5 * state * (state + widest)
}

// scaling returns the sum of the derivatives in the variances of all blocks.
func (l *stateSpace) scaling(w []float64) (sum float64) {
	at := 0
	for i := range l.blocks {
		sum += w[at]
		at += 1 + l.blocks[i].Params
		if n := len(l.blocks[i].Weights); n > 0 {
			at += 1 + n
		}
	}
	return sum
}

// leastLost and mostLost bound the share of a variance in omitted harmonics.
const leastLost, mostLost = 0x1p-52, 1e-6

// harmonicsLost returns the share of the variance that harmonics may omit for a tolerance per observation: if A lacks a
// positive matrix with the diagonal δ, the value changes by at most ½(n + yᵀA⁻¹y)·δ/σ².
func harmonicsLost(tolerance, variance, noise float64) float64 {
	return min(max(0.1*tolerance*noise/variance, leastLost), mostLost)
}

// bound returns this bound on the value, for a form of one per observation.
func (l *stateSpace) bound(n, noise float64) float64 { return n * l.lost / noise }

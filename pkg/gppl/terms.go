package gppl

import (
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// A model A = K + σ²I is brought into the form that engines know here: K is the
// continuous covariance, a sum of terms, and σ² all of the white noise, the
// kernel's nugget included. Losses add the nugget before they ask an engine
// and share the derivative afterwards.

// split is the signal of a kernel as a sum of terms. It serves one family of
// kernels.
type split struct {
	signal []Kernel // the terms, but for those that are white noise alone
	offset []int    // of each term's first parameter in the whole kernel
	end    []int    // of its last parameter, plus one
	params int      // of the whole kernel
}

const noSignal = "the kernel is white noise alone"

// of splits k, reusing memory. It reports false if there is no signal.
func (s *split) of(k Kernel) bool {
	s.signal, s.offset, s.end = s.signal[:0], s.offset[:0], s.end[:0]
	if s.params == 0 {
		s.params = len(k.Params())
	}
	s.add(k, 0, s.params)
	return len(s.signal) > 0
}

func (s *split) add(k Kernel, offset, end int) {
	if sum, ok := k.(Sum); ok {
		for i, p := range sum.parts {
			s.add(p, offset+sum.offset[i], offset+sum.offset[i+1])
		}
		return
	}
	if reach(k, 0.5) == 0 { // zero everywhere
		return
	}
	s.signal = append(s.signal, k)
	s.offset, s.end = append(s.offset, offset), append(s.end, end)
}

// own returns the part of a gradient that belongs to the parameters of term i.
func (s *split) own(grad []float64, i int) []float64 { return grad[s.offset[i]:s.end[i]] }

// shareNoise divides the derivative in the log of the total noise variance, last in
// grad, among the model's own noise and the parameters that k's nugget depends on.
func shareNoise(grad []float64, k Kernel, own, total float64) {
	last := len(grad) - 1
	slope := grad[last] / total
	grad[last] = slope * own
	contractNugget(grad[:last], k, slope)
}

// markov is a kernel as a sum of Matérn components, some to each of its terms.
type markov struct {
	split      split
	components []statespace.Component
	first      []int // of each term's components; one more at the end
	terms      []MaternTerm
}

// of expands k, reusing memory, and reports whether all terms have a Markov form.
func (m *markov) of(k Kernel) bool {
	if !m.sum(k) {
		m.components = m.components[:0]
	}
	return len(m.components) > 0
}

// sum is of, and may leave some components where it reports false.
func (m *markov) sum(k Kernel) bool {
	m.components, m.first = m.components[:0], append(m.first[:0], 0)
	if !m.split.of(k) {
		return false
	}
	for _, k := range m.split.signal {
		k, ok := k.(Markovian)
		if !ok {
			return false
		}
		m.terms = k.Markov(m.terms[:0])
		for _, t := range m.terms {
			if t.Order < 0 || t.Order > 2 {
				return false
			}
			m.components = append(m.components, statespace.Component(t))
		}
		m.first = append(m.first, len(m.components))
	}
	return true
}

// contract adds what derivatives in log v and log l of each component in turn, w,
// contribute to those in the kernel's own parameters.
func (m *markov) contract(grad, w []float64) {
	for i, k := range m.split.signal {
		k.(Markovian).ContractMarkov(m.split.own(grad, i), w[2*m.first[i]:2*m.first[i+1]])
	}
}

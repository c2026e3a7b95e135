package gppl

import (
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// split is a kernel as signal + white noise: White terms of a sum add to the
// noise variance, and the rest is what an engine has to work on. It serves one
// family of kernels.
type split struct {
	signal        []Kernel // the terms that are not White
	offset        []int    // of each term's first parameter in the whole kernel
	end           []int    // of its last parameter, plus one
	white         []int    // indices of the White variances in the whole kernel
	whites        []float64
	whiteVariance float64
	params        int // of the whole kernel
}

// of splits k, reusing memory. It reports false for what only the dense engine
// can do: White as a factor of a product, or no signal at all.
func (s *split) of(k Kernel) bool {
	s.signal, s.offset, s.end, s.white, s.whites = s.signal[:0], s.offset[:0], s.end[:0], s.white[:0], s.whites[:0]
	s.whiteVariance = 0
	if s.params == 0 {
		s.params = len(k.Params())
	}
	return s.add(k, 0, s.params) && len(s.signal) > 0
}

func (s *split) add(k Kernel, offset, end int) bool {
	switch k := k.(type) {
	case White:
		s.white = append(s.white, offset)
		s.whites = append(s.whites, k.Variance)
		s.whiteVariance += k.Variance
		return true
	case Sum:
		for i, p := range k.parts {
			if !s.add(p, offset+k.offset[i], offset+k.offset[i+1]) {
				return false
			}
		}
		return true
	case Product:
		if slices.ContainsFunc(k.parts, hasWhite) {
			return false
		}
	}
	s.signal = append(s.signal, k)
	s.offset, s.end = append(s.offset, offset), append(s.end, end)
	return true
}

// own returns the part of a gradient that belongs to the parameters of term i.
func (s *split) own(grad []float64, i int) []float64 { return grad[s.offset[i]:s.end[i]] }

// shareNoise divides the derivative in the log of the total noise variance
// among the White terms and, last in grad, the model's own noise.
func (s *split) shareNoise(grad []float64, total, noise float64) {
	all := noise + s.whiteVariance
	for i, p := range s.white {
		grad[p] = total * s.whites[i] / all
	}
	grad[len(grad)-1] = total * noise / all
}

func hasWhite(k Kernel) bool {
	switch k := k.(type) {
	case White:
		return true
	case Sum:
		return slices.ContainsFunc(k.parts, hasWhite)
	case Product:
		return slices.ContainsFunc(k.parts, hasWhite)
	}
	return false
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
	return len(m.components) > 0
}

// contract adds what derivatives in log v and log l of each component in turn, w,
// contribute to those in the kernel's own parameters.
func (m *markov) contract(grad, w []float64) {
	for i, k := range m.split.signal {
		k.(Markovian).ContractMarkov(m.split.own(grad, i), w[2*m.first[i]:2*m.first[i+1]])
	}
}

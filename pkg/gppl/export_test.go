package gppl

import "github.com/projected-likelihood/gppl/pkg/gppl/sums"

// SumsWaves returns the waves of a projected likelihood from sums, for tests that project
// the observations themselves.
func SumsWaves(s *sums.Sums, l *Projected) (origin, period float64, frequency []int, sine []bool) {
	for _, f := range l.data.Waves.Basis.Features() {
		frequency, sine = append(frequency, f.Frequency()), append(sine, f.IsSin())
	}
	return s.Header().Origin, s.Header().Period, frequency, sine
}

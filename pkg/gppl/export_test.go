package gppl

// SumsWaves returns the waves of a projected likelihood from sums, for tests that project
// the observations themselves.
func SumsWaves(s *Sums, l *Projected) (origin, period float64, frequency []int, sine []bool) {
	for _, f := range l.data.Waves.Basis.Features() {
		frequency, sine = append(frequency, f.Frequency()), append(sine, f.IsSin())
	}
	return s.header.Origin, s.header.Period, frequency, sine
}

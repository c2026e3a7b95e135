package series

import "fmt"

// KnownIn returns the observations from ≤ i < to as a series of their own: with its own step, and with regressors and holidays
// learnt from it.
func (s *Series) KnownIn(from, to int) (*Series, error) {
	p := s.Part(from, to)
	p.whole, p.Source, p.YUnit = nil, s.Source, s.YUnit
	const fewest = 3
	if distinct := distinct(p.X); distinct < fewest {
		return nil, fmt.Errorf("%d observations at %d different x are not a series", to-from, distinct)
	}
	p.spacing()
	if s.Known != nil {
		known := Known{Names: s.Known.Names, X: s.Known.X, Values: s.Known.Values}
		if err := known.standardise(p.X); err != nil {
			return nil, err
		}
		known.group(p.X)
		p.Known = &known
	}
	p.MonthDays = nil // a fit learns them anew
	p.Shifts, p.Events = p.givenShifts(s.Shifts), p.knownEvents(s.Events)
	if s.Holidays != nil {
		return p, p.LearnHolidays(s.Holidays.Country)
	}
	return p, nil
}

// Package sumflags holds what gppl and gppl-beam share for sums: the flags, their meaning for the header of sums.Sums, for
// columns and memory, the flag for each setting, and the first look at files that a header is planned from.
package sumflags

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// Names are the flags that determine a header, beside --like.
var Names = []string{"from", "to", "lengthscale", "longest", "centre", "largest"}

// Range holds the values of the flags of the header.
type Range struct {
	Like                                  string // file with the header; "" if the header is planned
	From, To                              string // "" if not given
	Lengthscale, Longest, Centre, Largest float64
	Given                                 func(name string) bool
}

// Wrong is an error in what flags say.
type Wrong struct{ error }

// Header returns the header of the sums of --like, which read reads, or a planned one, with the range from look where flags leave
// it open.
func (r Range) Header(read func() (*sums.Sums, error), look func() (sums.Range, error)) (h sums.Header, err error) {
	if r.Like != "" {
		if i := slices.IndexFunc(Names, r.Given); i >= 0 {
			return h, Wrong{fmt.Errorf("--%s: --like %s already determines it", Names[i], r.Like)}
		}
		other, err := read()
		if err != nil {
			return h, err
		}
		return other.Header(), nil
	}
	var p sums.Range
	ends := []struct {
		name, text string
		at         *float64
	}{{"from", r.From, &p.Lo}, {"to", r.To, &p.Hi}}
	dates, local := false, true
	for _, end := range ends {
		if end.text == "" {
			continue
		}
		if _, err := series.ParsePlace(end.text); err != nil {
			return h, Wrong{fmt.Errorf("--%s: %s", end.name, strings.TrimPrefix(err.Error(), "dataset: "))}
		}
		dates, local = dates || series.IsDate(end.text), local && !dataset.Zoned(end.text)
	}
	p.Local = dates && local
	if r.From == "" || r.To == "" || !r.Given("centre") || !r.Given("largest") {
		if p, err = look(); err != nil {
			return h, err
		}
	}
	p.Dates = p.Dates || dates
	for _, end := range ends { // 2024 is a year among dates
		if end.text != "" {
			*end.at, _ = series.ParsePlaceOf(p.Dates, end.text)
		}
	}
	if r.Given("centre") {
		p.Centre = r.Centre
	}
	if r.Given("largest") {
		p.Largest = r.Largest
	}
	p.Shortest, p.Longest = r.Lengthscale, r.Longest
	if err := r.check(p); err != nil {
		return h, Wrong{err}
	}
	planned, err := sums.NewPlan(p)
	return planned.Header, err
}

// check returns an error, in terms of the flags, if the range is not valid.
func (r Range) check(p sums.Range) error {
	end := func(flag, given, place string, x float64) string { // writes an end of the range as it was given or found
		if given != "" {
			return fmt.Sprintf("--%s %s", flag, given)
		}
		return fmt.Sprintf("%s, the %s x of the files", Place(sums.Header{Dates: p.Dates, Local: p.Local}, x), place)
	}
	switch {
	case !(p.Lo < p.Hi):
		return fmt.Errorf("%s is not before %s: the range of x is empty (write dates as 2024-01-31; they become seconds since 1970)",
			end("from", r.From, "first", p.Lo), end("to", r.To, "last", p.Hi))
	case r.Given("centre") && !(math.Abs(p.Centre) <= math.MaxFloat64):
		return fmt.Errorf("--centre %v: it takes a finite number", p.Centre)
	case r.Given("largest") && !(p.Largest > 0 && p.Largest <= math.MaxFloat64):
		return fmt.Errorf("--largest %v: it takes a positive distance", p.Largest)
	case !(p.Shortest >= 0 && p.Shortest <= math.MaxFloat64):
		return fmt.Errorf("--lengthscale %v: it takes a positive number", p.Shortest)
	case !(p.Longest >= 0 && p.Longest <= math.MaxFloat64):
		return fmt.Errorf("--longest %v: it takes a positive number", p.Longest)
	}
	return nil
}

// Place writes an input of sums: a date if inputs are dates.
func Place(h sums.Header, x float64) string {
	if h.Dates {
		return h.Place(x)
	}
	return strconv.FormatFloat(x, 'g', 10, 64)
}

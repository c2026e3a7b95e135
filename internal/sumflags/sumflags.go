// Package sumflags has the flags by which programs that make gppl.Sums are told the header.
package sumflags

import (
	"flag"
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Flags are those of the header.
type Flags struct {
	Like string // the file that the header is of, "" if it is planned

	set                  *flag.FlagSet
	from, to             string
	lengthscale, longest float64
	centre, largest      float64
	memory               string
}

// ends are the flags that a look at the files replaces.
var ends = []string{"from", "to", "centre", "largest"}

// New adds the flags to a set. seen says where what is not given comes from.
func New(set *flag.FlagSet, seen string) *Flags {
	f := &Flags{set: set}
	set.StringVar(&f.Like, "like", "", "take the header of this file of sums, to merge with it later")
	set.StringVar(&f.from, "from", "", "earliest x to come, a number or a date; from "+seen+" if not given")
	set.StringVar(&f.to, "to", "", "latest x to come")
	set.Float64Var(&f.lengthscale, "lengthscale", 0, "shortest lengthscale of SE to resolve, in the unit of x, seconds for dates; 0: a thousandth of the range")
	set.Float64Var(&f.longest, "longest", 0, "longest lengthscale of interest, for smaller sums; 0: any")
	set.Float64Var(&f.centre, "centre", 0, "a y near the mean; from "+seen+" if not given")
	set.StringVar(&f.memory, "memory", "", "size of memory to use at most, such as 500MB or 8GB: what would take more is refused before it begins; half of what is available if not given")
	set.Float64Var(&f.largest, "largest", 0, "the largest distance of y from the centre; from "+seen+" if not given")
	return f
}

// Header returns that of another file, or one that is planned, in the range that look returns where flags leave it open.
func (f *Flags) Header(look func() (gppl.SumsRange, error)) (h gppl.SumsHeader, err error) {
	set := map[string]bool{}
	f.set.Visit(func(g *flag.Flag) { set[g.Name] = true })
	if f.Like != "" {
		for _, name := range append(ends, "lengthscale", "longest") {
			if set[name] {
				return h, fmt.Errorf("--%s: --like %s says that", name, f.Like)
			}
		}
		limit, err := f.Memory()
		if err != nil {
			return h, err
		}
		other, err := Read(f.Like, limit)
		if err != nil {
			return h, err
		}
		return other.Header(), nil
	}
	var r gppl.SumsRange
	for _, name := range ends {
		if !set[name] {
			if r, err = look(); err != nil {
				return h, err
			}
			break
		}
	}
	for _, end := range []struct {
		name, text string
		at         *float64
	}{{"from", f.from, &r.Lo}, {"to", f.to, &r.Hi}} {
		if set[end.name] {
			if *end.at, err = forecast.ParsePlace(end.text); err != nil {
				return h, fmt.Errorf("--%s: %w", end.name, err)
			}
			r.Dates = r.Dates || forecast.IsDate(end.text)
		}
	}
	if set["centre"] {
		r.Centre = f.centre
	}
	if set["largest"] {
		r.Largest = f.largest
	}
	r.Shortest, r.Longest = f.lengthscale, f.longest
	planned, err := gppl.PlanSums(r)
	return planned.Header, err
}

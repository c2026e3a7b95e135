// Command search measures what the automatic search of package forecast makes of series whose truth is known:
//
//	go run ./measure/search      # 60 series of four kinds, 200 without structure, 20 with events or paydays, 20 at bounds
//	go run ./measure/search -seed 100 -kind season -v
//
// The kinds are seasons of dates that the calendar does not have, rough seasons of numbers, changes of level, and long smooth
// seasons. The last part of each series is held out. The root mean square error there is divided by the error of the true model,
// whose coefficients are learnt by least squares. A series without structure is white, red or heavy-tailed noise, a trend, or a
// walk: a season or a change of level in the best model is false there. Values at bounds are compared by
// CRPS, with bounds and without.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// drawn is a series whose truth is known.
type drawn struct {
	kind, name string
	s          *series.Series
	x, y       []float64                 // the held-out part
	basis      func(x float64) []float64 // the functions of the true model; nil for a series without structure
}

func main() {
	log.SetFlags(0)
	seed := flag.Uint64("seed", 1, "of the draws")
	kind := flag.String("kind", "", "only kinds that contain this text")
	verbose := flag.Bool("v", false, "a line for each series")
	flag.Parse()
	for _, part := range []struct {
		of     []drawn
		report func(all []drawn, got []outcome)
	}{{structured(*seed), reportErrors}, {plain(*seed), reportFalse}, {dates(*seed), reportErrors}} {
		all := slices.DeleteFunc(part.of, func(d drawn) bool { return !strings.Contains(d.kind, *kind) })
		got := make([]outcome, len(all))
		parallel.Each(2, len(all), func(i int) { got[i] = all[i].fit() })
		for i, o := range got {
			if o.err != nil {
				log.Fatalf("%s: %v", all[i].name, o.err)
			}
			if *verbose {
				fmt.Printf("%-40s %-60s %6.2f  %5.1f s\n", all[i].name, o.model, o.ratio, o.seconds)
			}
		}
		part.report(all, got)
	}
	reportEnded(slices.DeleteFunc(ended(*seed), func(c atBounds) bool { return !strings.Contains(c.kind, *kind) }))
}

// outcome is the result of the search for a series.
type outcome struct {
	model          string
	ratio, seconds float64 // error ÷ error of the true model; time of the fit
	structure      bool    // the best model has a season or a change of level
	err            error
}

// fit learns a series and forecasts its held-out part.
func (d drawn) fit() (o outcome) {
	ctx, began := context.Background(), time.Now()
	a, err := forecast.Fit(ctx, d.s, forecast.Options{})
	if err != nil {
		return outcome{err: err}
	}
	o.seconds = time.Since(began).Seconds()
	o.model = a.Name() + fmt.Sprintf(" (%d changes)", len(a.Series.Shifts))
	best := a.Candidates[0]
	if len(best.Seasons) == 1 {
		o.model = strings.Replace(o.model, best.Kernel, best.Kernel+" ("+best.Seasons[0]+")", 1)
	}
	o.structure = len(best.Seasons) > 0 || len(a.Series.Shifts) > 0
	if d.basis == nil {
		return o
	}
	f, err := a.Forecast(ctx, len(d.x))
	if err != nil {
		return outcome{err: err}
	}
	o.ratio = rms(f.Median, d.y) / rms(d.truth(), d.y)
	return o
}

// truth returns the forecast of the true model, by least squares.
func (d drawn) truth() (at []float64) {
	n, h := len(d.s.X), len(d.basis(d.s.X[0]))
	a, b := mat.NewDense(n, h, nil), mat.NewVecDense(n, d.s.Y)
	for i, x := range d.s.X {
		a.SetRow(i, d.basis(x))
	}
	var beta mat.VecDense
	if err := beta.SolveVec(a, b); err != nil {
		log.Fatalf("%s: %v", d.name, err)
	}
	for _, x := range d.x {
		at = append(at, mat.Dot(mat.NewVecDense(h, d.basis(x)), &beta))
	}
	return at
}

func rms(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

func reportErrors(all []drawn, got []outcome) {
	var total []float64
	for _, kind := range kinds(all) {
		var ratios []float64
		for i, d := range all {
			if d.kind == kind {
				ratios = append(ratios, got[i].ratio)
			}
		}
		total = append(total, ratios...)
		printRatios(kind, ratios)
	}
	if len(total) > 0 {
		printRatios("all", total)
	}
}

func printRatios(kind string, ratios []float64) {
	slices.Sort(ratios)
	fmt.Printf("%-32s %3d series: error over that of the true model: median %5.2f, largest %6.2f\n",
		kind, len(ratios), ratios[len(ratios)/2], ratios[len(ratios)-1])
}

func reportFalse(all []drawn, got []outcome) {
	found, of := 0, 0
	for _, kind := range kinds(all) {
		here, n := 0, 0
		for i, d := range all {
			if d.kind == kind {
				if n++; got[i].structure {
					here++
				}
			}
		}
		found, of = found+here, of+n
		fmt.Fprintf(os.Stdout, "%-32s %3d series: a season or a change is found in %d\n", kind, n, here)
	}
	if of > 0 {
		fmt.Printf("%-32s %3d series: a season or a change is found in %d (%.1f %%)\n", "all without structure", of, found,
			100*float64(found)/float64(of))
	}
}

// kinds returns the kinds in the order of the series.
func kinds(all []drawn) (names []string) {
	for _, d := range all {
		if !slices.Contains(names, d.kind) {
			names = append(names, d.kind)
		}
	}
	return names
}

// Command effects measures how much forecasts gain from effects that gppl fit can look for, on simulated series with and without
// them: changes of level and of slope (--shifts), and holidays (--holidays).
//
//	go run ./measure/effects                        # both tables of docs/forecasts.md
//	go run ./measure/effects -of shifts -series 100
//
// Each series is read from a csv file, as by gppl fit, and forecast with the effects and without. The CRPS compares the forecast
// with the future of the same simulation, in standard deviations of its noise.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/words"
	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/forecast"
)

func main() {
	log.SetFlags(0)
	of := flag.String("of", "shifts,holidays", "effects, separated by commas")
	series := flag.Int("series", 60, "simulated series of each kind")
	flag.Parse()
	folder, err := os.MkdirTemp("", "effects")
	if err != nil {
		log.Fatal("effects: ", err)
	}
	defer os.RemoveAll(folder)
	for _, name := range strings.Split(*of, ",") {
		kinds, known := map[string][]kind{"shifts": shifts, "holidays": holidays}[name]
		if !known {
			log.Fatalf("effects: -of %q: shifts, holidays, or both", name)
		}
		fmt.Printf("| %s | series | seen in | CRPS without | with | difference | 95 %% bands without | with "+
			"|\n|---|---|---|---|---|---|---|---|\n", name)
		for _, k := range kinds {
			r, err := k.measure(folder, *series)
			if err != nil {
				log.Fatal("effects: ", err)
			}
			fmt.Println(r)
		}
	}
}

// kind is a kind of simulated series.
type kind struct {
	name  string
	ahead int // the last observations are the future
	// draw returns dates and values, whose noise has a standard deviation of about 1.
	draw func(rng *rand.Rand) (dates []time.Time, y []float64)
	// fit learns with or without looking for the effects; seen reports whether it found any.
	fit func(path string, with bool) (a *forecast.Analysis, seen bool, err error)
}

// outcome is the result for one series, without the effects and with them.
type outcome struct {
	seen       bool
	crps, held [2]float64
	err        error
}

// measure forecasts the series of a kind and returns a row of the table.
func (k kind) measure(folder string, series int) (string, error) {
	outcomes := make([]outcome, series)
	workers.Each(runtime.NumCPU(), series, func(i int) {
		outcomes[i] = k.one(filepath.Join(folder, fmt.Sprintf("%d.csv", i)), uint64(i))
	})
	seen, gain := 0, make([]float64, series)
	var mean outcome
	for i, o := range outcomes {
		if o.err != nil {
			return "", fmt.Errorf("%s, series %d: %w", k.name, i, o.err)
		}
		if o.seen {
			seen++
		}
		for with := range 2 {
			mean.crps[with] += o.crps[with] / float64(series)
			mean.held[with] += 100 * o.held[with] / float64(series)
		}
		gain[i] = o.crps[1] - o.crps[0]
	}
	change, sd := stat.MeanStdDev(gain, nil)
	return words.Minus(fmt.Sprintf("| %s | %d | %d | %.3f | %.3f | %+.3f ± %.3f | %.1f | %.1f |", k.name, series, seen,
		mean.crps[0],
		mean.crps[1], change, sd/math.Sqrt(float64(series)),
		mean.held[0], mean.held[1])), nil
}

// one simulates a series and forecasts its end.
func (k kind) one(path string, seed uint64) (o outcome) {
	dates, y := k.draw(rand.New(rand.NewPCG(seed, 77)))
	n := len(y) - k.ahead
	var text strings.Builder
	text.WriteString("date,y\n")
	for i := range n {
		fmt.Fprintf(&text, "%s,%.4f\n", dates[i].Format(time.DateOnly), y[i])
	}
	if o.err = os.WriteFile(path, []byte(text.String()), 0o600); o.err != nil {
		return o
	}
	for with := range 2 {
		a, seen, err := k.fit(path, with == 1)
		if err == nil {
			o.seen = seen
			err = o.score(with, a, y[n:])
		}
		if err != nil {
			o.err = err
			return o
		}
	}
	return o
}

// score scores a forecast of y.
func (o *outcome) score(with int, a *forecast.Analysis, y []float64) error {
	f, err := a.Forecast(len(y))
	if err != nil {
		return err
	}
	levels := make([]float64, 99)
	for j := range levels {
		levels[j] = float64(j+1) / float64(len(levels)+1)
	}
	for _, v := range forecast.CRPSQuantiles(y, f.Quantile, levels) {
		o.crps[with] += v / float64(len(y))
	}
	o.held[with] = forecast.Coverage(y, f.Lower, f.Upper)
	return nil
}

func fitShifts(path string, with bool) (*forecast.Analysis, bool, error) {
	s, err := forecast.Read(path, forecast.ReadOptions{})
	if err != nil {
		return nil, false, err
	}
	o := forecast.Options{Shifts: "never"}
	if with {
		o.Shifts = forecast.ShiftsUsed
	}
	a, err := forecast.Fit(context.Background(), s, o)
	if err != nil {
		return nil, false, err
	}
	return a, a.Found(), nil
}

func fitHolidays(path string, with bool) (*forecast.Analysis, bool, error) {
	var o forecast.ReadOptions
	if with {
		o.Holidays = "US"
	}
	s, err := forecast.Read(path, o)
	if err != nil {
		return nil, false, err
	}
	a, err := forecast.Fit(context.Background(), s, forecast.Options{Shifts: "never"})
	return a, with && len(s.Holidays.Names) > 0, err
}

// monthly draws ten years of months and one to forecast. change adds to month i of n, beginning at month at.
func monthly(change func(rng *rand.Rand, i, at, n int) float64) func(rng *rand.Rand) ([]time.Time, []float64) {
	return func(rng *rand.Rand) (dates []time.Time, y []float64) {
		const n, ahead = 120, 12
		at := n/4 + rng.IntN(n*5/8) // up to 15 months before the end
		phi, level, phase := 0.6*rng.Float64(), 0.0, 2*math.Pi*rng.Float64()
		for i := range n + ahead {
			level = phi*level + math.Sqrt(1-phi*phi)*rng.NormFloat64()
			season := 2 * math.Sin(2*math.Pi*float64(i)/12+phase)
			dates = append(dates, time.Date(2010, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC))
			y = append(y, 50+0.02*float64(i)+season+level)
		}
		for i := range y {
			y[i] += change(rng, i, at, n)
		}
		return dates, y
	}
}

func step(size float64) func(rng *rand.Rand, i, at, n int) float64 {
	return func(_ *rand.Rand, i, at, _ int) float64 {
		if i < at {
			return 0
		}
		return size
	}
}

func kink(_ *rand.Rand, i, at, n int) float64 { return 10 * float64(max(0, i-at)) / float64(n-at) }

// walk is a level that wanders, instead of a change.
func walk() func(rng *rand.Rand, i, at, n int) float64 {
	level := 0.0
	return func(rng *rand.Rand, i, _, _ int) float64 {
		if i == 0 {
			level = 0
		}
		level += 0.5 * rng.NormFloat64()
		return level
	}
}

var shifts = []kind{
	{"no change, monthly", 12, monthly(step(0)), fitShifts},
	{"a level that wanders, monthly", 12, func(rng *rand.Rand) ([]time.Time, []float64) { return monthly(walk())(rng) }, fitShifts},
	{"a step of 4 sd, monthly", 12, monthly(step(4)), fitShifts},
	{"a step of 8 sd, monthly", 12, monthly(step(8)), fitShifts},
	{"a kink of 10 sd at the end, monthly", 12, monthly(kink), fitShifts},
}

// daily draws days up to November 14 and 60 further ones, over Thanksgiving, Christmas and New Year. They have a weekly pattern,
// a slow level, noise, and effects of size standard deviations on the holidays of the United States.
func daily(years int, size float64, noise func(rng *rand.Rand) float64) func(rng *rand.Rand) ([]time.Time, []float64) {
	return func(rng *rand.Rand) (dates []time.Time, y []float64) {
		const ahead = 60
		last := time.Date(2023, 11, 14, 0, 0, 0, 0, time.UTC)
		week, level := [7]float64{}, 0.0
		for d := range week {
			week[d] = 2 * rng.NormFloat64()
		}
		effects := map[string]float64{}
		for day := last.AddDate(-years, 0, 0); !day.After(last.AddDate(0, 0, ahead)); day = day.AddDate(0, 0, 1) {
			level = 0.995*level + 0.1*rng.NormFloat64()
			v := 100 + week[day.Weekday()] + level + noise(rng)
			if name := holidayOf(day); name != "" {
				if _, known := effects[name]; !known {
					effects[name] = size * rng.NormFloat64()
				}
				v += effects[name]
			}
			dates, y = append(dates, day), append(y, v)
		}
		return dates, y
	}
}

// holidayOf names some holidays of the United States.
func holidayOf(day time.Time) string {
	if name, ok := map[string]string{"01-01": "New Year", "07-04": "Independence Day", "12-25": "Christmas",
		"11-11": "Veterans Day"}[day.Format("01-02")]; ok {
		return name
	}
	nth := (day.Day()-1)/7 + 1
	switch {
	case day.Month() == time.November && day.Weekday() == time.Thursday && nth == 4:
		return "Thanksgiving"
	case day.Month() == time.September && day.Weekday() == time.Monday && nth == 1:
		return "Labor Day"
	case day.Month() == time.May && day.Weekday() == time.Monday && day.AddDate(0, 0, 7).Month() == time.June:
		return "Memorial Day"
	}
	return ""
}

func normal(rng *rand.Rand) float64 { return rng.NormFloat64() }

// heavy is Student's t with three degrees of freedom, of variance 1.
func heavy(rng *rand.Rand) float64 {
	chi := 0.0
	for range 3 {
		z := rng.NormFloat64()
		chi += z * z
	}
	return rng.NormFloat64() / math.Sqrt(chi)
}

var holidays = []kind{
	{"none, two years", 60, daily(2, 0, normal), fitHolidays},
	{"none, two years, heavy tails", 60, daily(2, 0, heavy), fitHolidays},
	{"2 sd, two years", 60, daily(2, 2, normal), fitHolidays},
	{"5 sd, two years", 60, daily(2, 5, normal), fitHolidays},
	{"5 sd, one year", 60, daily(1, 5, normal), fitHolidays},
}

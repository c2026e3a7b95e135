package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// table is a csv file that is written row by row.
type table struct{ strings.Builder }

func newTable(columns string) *table {
	t := &table{}
	t.WriteString(columns + "\n")
	return t
}

func (t *table) row(format string, cells ...any) { fmt.Fprintf(t, format+"\n", cells...) }

// days returns n dates from the first.
func days(from string, n int) []time.Time {
	first, err := time.Parse(time.DateOnly, from)
	if err != nil {
		panic(err) // this cannot happen, since every from is a constant
	}
	dates := make([]time.Time, n)
	for i := range dates {
		dates[i] = first.AddDate(0, 0, i)
	}
	return dates
}

// simulated returns the data of the gallery by name. They are simulated from fixed seeds, so that every page can be checked and
// none needs a download.
func simulated() map[string]string {
	return map[string]string{"sales.csv": sales(), "sensor.csv": sensor(), "star.csv": star()}
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 31)) }

// closed lists the holidays of England and Wales on which the shop sells less, and the Saturday before Christmas, when it sells
// more.
var closed = map[string]float64{
	"2023-12-25": 0.1, "2023-12-26": 0.35, "2024-01-01": 0.3, "2024-03-29": 0.6, "2024-04-01": 0.5, "2024-05-06": 0.6,
	"2024-05-27": 0.6,
	"2024-08-26": 0.6, "2024-12-25": 0.1, "2024-12-26": 0.35, "2025-01-01": 0.3, "2025-04-18": 0.6, "2025-04-21": 0.5,
	"2025-05-05": 0.6,
	"2025-05-26": 0.6, "2025-08-25": 0.6,
}

// sales returns the daily sales of a shop over fourteen months: a weekly pattern, slow growth, and holidays.
func sales() string {
	rnd, t := seeded(1), newTable("date,sold")
	week := []float64{0.75, 0.85, 0.9, 0.95, 1, 1.25, 1.45} // Sunday first
	for i, d := range days("2024-03-01", 440) {
		mean := (210 + 0.06*float64(i)) * week[d.Weekday()]
		if f, ok := closed[d.Format(time.DateOnly)]; ok {
			mean *= f
		}
		t.row("%s,%.0f", d.Format(time.DateOnly), mean*math.Exp(0.07*rnd.NormFloat64()))
	}
	return t.String()
}

// sensor returns the temperature of a river about every hour for ten days, with two failures of the logger.
func sensor() string {
	rnd, t := seeded(2), newTable("time,water_C")
	slow := 0.0
	start := days("2025-06-02", 1)[0]
	for i := range 10 * 24 {
		slow += 0.08 * rnd.NormFloat64()
		at := start.Add(time.Duration(60*i+rnd.IntN(9)) * time.Minute)
		day := at.Sub(start).Hours() / 24
		if day > 3.3 && day < 4.9 || day > 7.5 && day < 7.9 {
			continue
		}
		t.row("%s,%.2f", at.Format("2006-01-02 15:04"), 14+slow+1.3*math.Sin(2*math.Pi*(day-0.4))+0.1*rnd.NormFloat64())
	}
	return t.String()
}

// wave returns an oscillation of variance 1 with a period and a quality, whose amplitude and phase wander, at steps of 1/rate.
type wave struct{ re, im, cos, sin, keep float64 }

func newWave(rnd *rand.Rand, rate, period, quality float64) *wave {
	sin, cos := math.Sincos(2 * math.Pi / period / rate)
	return &wave{rnd.NormFloat64(), rnd.NormFloat64(), cos, sin, math.Exp(-math.Pi / (period * quality * rate))}
}

func (w *wave) next(rnd *rand.Rand) float64 {
	kick := math.Sqrt(1 - w.keep*w.keep)
	w.re, w.im = w.keep*(w.re*w.cos-w.im*w.sin)+kick*rnd.NormFloat64(), w.keep*(w.re*w.sin+w.im*w.cos)+kick*rnd.NormFloat64()
	return w.re
}

// star returns the brightness of a spotted star that rotates once in 12.6 days, observed at night with error bars.
func star() string {
	rnd, t := seeded(3), newTable("day,flux_ppt,error_ppt")
	const rate, period = 50, 12.6
	once, twice := newWave(rnd, rate, period, 6), newWave(rnd, rate, period/2, 6)
	next := 0.0
	for i := range 120 * rate {
		day, flux := float64(i)/rate, 4*once.next(rnd)+2*twice.next(rnd)
		if day < next || math.Mod(day, 27) > 21 { // there is no observation in moonlight
			continue
		}
		next = day + 0.35 + 0.5*rnd.Float64()
		e := 0.3 + 0.3*rnd.Float64()
		t.row("%.2f,%.3f,%.3f", day, flux+e*rnd.NormFloat64(), e)
	}
	return t.String()
}

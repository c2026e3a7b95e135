package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"time"
)

// dates returns 20 daily series with a weekly season and either an event, which recurs in the held-out part, or a payday.
func dates(seed uint64) (all []drawn) {
	const n, ahead, noise = 420, 35, 6.0
	for i := range 20 {
		r := rand.New(rand.NewPCG(seed, 3000+uint64(i)))
		axis, x := dated(n+ahead, 24)
		date := func(x float64) time.Time { return axis.Time(x).Add(time.Hour).Truncate(24 * time.Hour) }
		effect, phase := 4*noise*(0.5+r.Float64()), 2*math.Pi*r.Float64()
		kind, applies := "event", func(d time.Time) bool { return false }
		var events []string
		if i%2 == 0 {
			at, days := 100+r.IntN(200), 10+r.IntN(60)
			for _, span := range [][2]int{{at, at + days - 1}, {n + 10, n + 19}} {
				first, last := date(x[span[0]]), date(x[span[1]])
				before := applies
				applies = func(d time.Time) bool { return before(d) || !d.Before(first) && !d.After(last) }
				events = append(events, "event="+first.Format(time.DateOnly)+".."+last.Format(time.DateOnly))
			}
		} else {
			kind, applies = "payday", paydays[i/2%len(paydays)]
		}
		row := func(x float64) []float64 {
			d := date(x)
			sin, cos := math.Sincos(2 * math.Pi * float64(d.Weekday()) / 7)
			paid := 0.0
			if applies(d) {
				paid = 1
			}
			return []float64{1, sin, cos, paid}
		}
		y := make([]float64, n+ahead)
		for k := range y {
			b := row(x[k])
			y[k] = 100 + 15*(b[1]*math.Sin(phase)+b[2]*math.Cos(phase)) + effect*b[3] + noise*r.NormFloat64()
		}
		d := hold(kind, fmt.Sprintf("%s %d, %.1f noises", kind, i/2, effect/noise), axis, x, y, ahead, row)
		if events != nil {
			known, err := axis.ParseEvents(events)
			if err == nil {
				d.s, err = d.s.WithEvents(known)
			}
			if err != nil {
				log.Fatalf("%s: %v", d.name, err)
			}
		}
		all = append(all, d)
	}
	return all
}

// paydays are the last and the first working day of a month, and the 15th and the 25th or the working day before.
var paydays = []func(d time.Time) bool{
	func(d time.Time) bool { return works(d) && next(d, 1).Month() != d.Month() },
	func(d time.Time) bool { return works(d) && next(d, -1).Month() != d.Month() },
	func(d time.Time) bool { return works(d) && d.Day() <= 15 && next(d, 1).Day() > 15 },
	func(d time.Time) bool {
		return works(d) && d.Day() <= 25 && (next(d, 1).Day() > 25 || next(d, 1).Month() != d.Month())
	},
}

func works(d time.Time) bool { return d.Weekday() != time.Saturday && d.Weekday() != time.Sunday }

// next returns the next working day, or the one before for −1.
func next(d time.Time, direction int) time.Time {
	for d = d.AddDate(0, 0, direction); !works(d); d = d.AddDate(0, 0, direction) {
	}
	return d
}

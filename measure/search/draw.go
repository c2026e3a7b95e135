package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// dated returns an axis of dates from 2021 on, and n places a number of hours apart.
func dated(n int, hours float64) (series.Axis, []float64) {
	seconds := make([]float64, n)
	from := time.Date(2021, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range seconds {
		seconds[i] = float64(from.Unix()) + 3600*hours*float64(i)
	}
	a := series.DateAxis("date", seconds)
	for i, s := range seconds {
		seconds[i] = a.X(time.Unix(int64(s), 0).UTC())
	}
	return a, seconds
}

// numbers returns a plain axis with n places a step apart.
func numbers(n int, step float64) (series.Axis, []float64) {
	x := make([]float64, n)
	for i := range x {
		x[i] = step * float64(i)
	}
	return series.Axis{Name: "t"}, x
}

// hold makes a series of all but the last ahead values, which are held out.
func hold(kind, name string, axis series.Axis, x, y []float64, ahead int, basis func(x float64) []float64) drawn {
	n := len(x) - ahead
	s, err := series.NewSeries(axis, x[:n:n], y[:n:n])
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return drawn{kind: kind, name: name, s: s, x: x[n:], y: y[n:], basis: basis}
}

// phases returns the basis of a season of period steps: one function for each step of it.
func phases(x0, step float64, period int) func(x float64) []float64 {
	return func(x float64) []float64 {
		row := make([]float64, period)
		row[(int(math.Round((x-x0)/step))%period+period)%period] = 1
		return row
	}
}

// structured returns 60 series with structure.
func structured(seed uint64) (all []drawn) {
	for i := range 15 { // a season of days or hours, in dates
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		period, hours := []int{4, 9, 10, 11, 13, 16, 18, 25}[i%8], 24.0
		if i%5 == 4 {
			hours = 1
		}
		n := period*(8+r.IntN(8)) + period*2
		if i%5 == 4 {
			n = max(n, 300)
		}
		axis, x := dated(n, hours)
		y := rota(r, n, period, 5, 100)
		name := fmt.Sprintf("season of %d, steps of %g h, %d rows", period, hours, n)
		all = append(all, hold("season, dated", name, axis, x, y, period*2, phases(x[0], x[1]-x[0], period)))
	}
	for i := range 15 { // a rough season of numbers
		r := rand.New(rand.NewPCG(seed, 100+uint64(i)))
		period, step := []int{6, 8, 10, 12, 14, 20, 24, 30}[i%8], []float64{1, 0.5, 2.5}[i%3]
		n := period*(5+r.IntN(6)) + period
		axis, x := numbers(n, step)
		y := rota(r, n, period, 5, 3)
		all = append(all, hold("season, rough", fmt.Sprintf("rough season of %d, %d rows", period, n), axis, x, y, period,
			phases(0, step, period)))
	}
	for i := range 18 { // one or two changes of level
		r := rand.New(rand.NewPCG(seed, 200+uint64(i)))
		n, before := []int{24, 45, 60, 80, 120, 200}[i%6], 3+10*r.Float64()
		ahead := max(4, n/6)
		at := n/3 + r.IntN(n/3)
		size := []float64{100, 12, 8}[i%3]
		axis, x := numbers(n+ahead, 1)
		if i%2 == 1 {
			axis, x = dated(n+ahead, 24)
		}
		change := x[at]
		y := make([]float64, n+ahead)
		for k := range y {
			y[k] = before + 0.8*r.NormFloat64()
			if k >= at {
				y[k] += 0.8 * size
			}
		}
		all = append(all, hold("change of level", fmt.Sprintf("change by %g noises at %d of %d", size, at, n), axis, x, y, ahead,
			func(x float64) []float64 {
				if x >= change {
					return []float64{1, 1}
				}
				return []float64{1, 0}
			}))
	}
	for i := range 12 { // long and smooth seasons
		r := rand.New(rand.NewPCG(seed, 300+uint64(i)))
		n, period := []int{1500, 3000, 5000}[i%3], []float64{250, 333.3, 500, 450}[i%4]
		axis, x := numbers(n+int(period), 1)
		phase, y := 2*math.Pi*r.Float64(), make([]float64, n+int(period))
		for k := range y {
			y[k] = 2*math.Sin(2*math.Pi*x[k]/period+phase) + 0.3*r.NormFloat64()
		}
		all = append(all, hold("season, long and smooth", fmt.Sprintf("sine of %g in %d rows", period, n), axis, x, y, int(period),
			func(x float64) []float64 {
				sin, cos := math.Sincos(2 * math.Pi * x / period)
				return []float64{1, sin, cos}
			}))
	}
	return all
}

// rota returns a rough season about a level, with noise of variance 1. signal is the ratio of the standard deviations of season
// and noise.
func rota(r *rand.Rand, n, period int, signal, level float64) []float64 {
	shape := make([]float64, period)
	var mean, square float64
	for i := range shape {
		shape[i] = r.NormFloat64()
		mean += shape[i] / float64(period)
	}
	for i := range shape {
		shape[i] -= mean
		square += shape[i] * shape[i] / float64(period)
	}
	y := make([]float64, n)
	for i := range y {
		y[i] = level + signal*shape[i%period]/math.Sqrt(square) + r.NormFloat64()
	}
	return y
}

// plain returns 200 series without structure.
func plain(seed uint64) (all []drawn) {
	lengths := []int{24, 60, 150, 400}
	for i := range 200 {
		r := rand.New(rand.NewPCG(seed, 1000+uint64(i)))
		n := lengths[i/8%len(lengths)]
		y := make([]float64, n)
		var name string
		e := func() float64 { return r.NormFloat64() }
		red := func(a float64) {
			v := 0.0
			for k := range y {
				v = a*v + e()
				y[k] = v
			}
		}
		switch i % 8 {
		case 0, 1:
			name = "white noise"
			red(0)
		case 2:
			name = "red noise"
			red(0.5)
		case 3:
			name = "red noise"
			red(0.9)
		case 4, 5:
			name = "heavy-tailed noise"
			t := func() float64 { // Student's t, 3 degrees of freedom
				return r.NormFloat64() / math.Sqrt((sq(e())+sq(e())+sq(e()))/3)
			}
			for k := range y {
				y[k] = t()
			}
		case 6:
			name = "trend"
			for k := range y {
				y[k] = 100 + 0.1*float64(k) + e()
			}
		case 7:
			name = "walk"
			red(1)
		}
		axis, x := numbers(n, 1)
		if i%3 == 0 {
			axis, x = dated(n, 24)
		}
		all = append(all, hold(name, fmt.Sprintf("%s, %d rows", name, n), axis, x, y, 0, nil))
	}
	return all
}

func sq(v float64) float64 { return v * v }

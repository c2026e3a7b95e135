package series

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// dated returns the series of y at the given times, read as dates are.
func dated(t *testing.T, at []time.Time, y func(time.Time) float64) *Series {
	t.Helper()
	seconds, x, v := make([]float64, len(at)), make([]float64, len(at)), make([]float64, len(at))
	for i := range at {
		seconds[i] = float64(at[i].UnixMicro()) / 1e6
	}
	axis := DateAxis("date", seconds)
	for i := range at {
		x[i], v[i] = axis.X(at[i]), y(at[i])
	}
	s, err := NewSeries(axis, x, v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// workdays are n days from Wednesday 3 January 2024 on, without weekends and New Year.
func workdays(n int) (at []time.Time) {
	for day := time.Date(2024, 1, 3, 0, 0, 0, 0, time.UTC); len(at) < n; day = day.AddDate(0, 0, 1) {
		if w := day.Weekday(); w != time.Saturday && w != time.Sunday && day.YearDay() != 1 {
			at = append(at, day)
		}
	}
	return at
}

// share is a series of per cent that comes close to 100, with some values there if full is set.
func share(t *testing.T, full bool) *Series {
	t.Helper()
	rnd := rand.New(rand.NewPCG(9, 9))
	x, y := make([]float64, 80), make([]float64, 80)
	for i := range x {
		x[i] = float64(i)
		y[i] = 100 / (1 + math.Exp(-2.5-1.5*math.Sin(float64(i)/6)-0.4*rnd.NormFloat64()))
		if full && i%17 == 5 {
			y[i] = 100
		}
	}
	s, err := NewSeries(Axis{Name: "t"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// steps returns the series of f at 0, 1, …, with noise.
func steps(t testing.TB, n int, noise float64, f func(i int) float64) *Series {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 3))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), f(i)+noise*rnd.NormFloat64()
	}
	s, err := NewSeries(Axis{Name: "step"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// driven is a csv file in which y follows a regressor with coefficient 3 and is otherwise constant; the regressor continues for 6
// months.
func driven(n int) string {
	rnd := rand.New(rand.NewPCG(5, 9))
	var b strings.Builder
	b.WriteString("month,y,price,se\n")
	for i := range n + 6 {
		price := 10 + 2*math.Sin(0.7*float64(i*i)) // without structure in time
		y := fmt.Sprintf("%.4f", 50+3*price+0.3*rnd.NormFloat64())
		if i >= n {
			y = ""
		}
		fmt.Fprintf(&b, "%d-%02d,%s,%.5f,0.3\n", 2010+i/12, 1+i%12, y, price)
	}
	return b.String()
}

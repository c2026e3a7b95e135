package series

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
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

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rhythm is a noisy rhythm of 12 steps on a trend: rows of step and value.
func rhythm(n int, row func(i int, y float64) string) string {
	rnd := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("t,level\n")
	for i := range n {
		x := float64(i)
		b.WriteString(row(i, 10+0.02*x+math.Sin(2*math.Pi*x/12)+0.1*rnd.NormFloat64()))
	}
	return b.String()
}

func monthly(n int) string {
	return rhythm(n, func(i int, y float64) string { return fmt.Sprintf("%d-%02d-01,%.4f\n", 2000+i/12, i%12+1, y) })
}

// shopping draws a daily series of n days from 2021 on: a week, noise, and the effects of days, by month and day, times a size.
func shopping(seed uint64, n int, size float64) (x []time.Time, y []float64) {
	r := rand.New(rand.NewPCG(seed, 28))
	effects := map[string]float64{"12-24": 15, "12-25": -30, "07-04": -20}
	for i := range n {
		day := time.Date(2021, 1, 1+i, 0, 0, 0, 0, time.UTC)
		x = append(x, day)
		y = append(y, 100+5*math.Sin(2*math.Pi*float64(i)/7)+2*r.NormFloat64()+size*effects[day.Format("01-02")])
	}
	return x, y
}

func shop(t *testing.T, x []time.Time, y []float64) string {
	t.Helper()
	lines := []string{"day,y"}
	for i, day := range x {
		lines = append(lines, fmt.Sprintf("%s,%.3f", day.Format(time.DateOnly), y[i]))
	}
	return file(t, strings.Join(lines, "\n"))
}

// Package testdraws draws series for the tests of the packages of forecasts.
package testdraws

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// File writes a csv file for a test, and returns its path.
func File(tb testing.TB, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// Rhythm returns the rows of a csv file: steps and values, a noisy rhythm of 12 steps on a trend.
func Rhythm(n int, row func(i int, y float64) string) string {
	rnd := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("t,level\n")
	for i := range n {
		x := float64(i)
		b.WriteString(row(i, 10+0.02*x+math.Sin(2*math.Pi*x/12)+0.1*rnd.NormFloat64()))
	}
	return b.String()
}

// Monthly returns Rhythm on the first days of n months from 2000 on.
func Monthly(n int) string {
	return Rhythm(n, func(i int, y float64) string { return fmt.Sprintf("%d-%02d-01,%.4f\n", 2000+i/12, i%12+1, y) })
}

// Shopping draws a daily series of n days from 2021 on: a week, noise, and the effects of days, by month and day, times a size.
func Shopping(seed uint64, n int, size float64) (x []time.Time, y []float64) {
	r := rand.New(rand.NewPCG(seed, 28))
	effects := map[string]float64{"12-24": 15, "12-25": -30, "07-04": -20}
	for i := range n {
		day := time.Date(2021, 1, 1+i, 0, 0, 0, 0, time.UTC)
		x = append(x, day)
		y = append(y, 100+5*math.Sin(2*math.Pi*float64(i)/7)+2*r.NormFloat64()+size*effects[day.Format("01-02")])
	}
	return x, y
}

// Shop writes a daily series to a csv file for a test, and returns its path.
func Shop(tb testing.TB, x []time.Time, y []float64) string {
	tb.Helper()
	lines := []string{"day,y"}
	for i, day := range x {
		lines = append(lines, fmt.Sprintf("%s,%.3f", day.Format(time.DateOnly), y[i]))
	}
	return File(tb, strings.Join(lines, "\n"))
}

// Counts draws n counts whose log rate, or log odds, is a season of 12 steps, and their exposures or numbers of trials.
func Counts(rnd *rand.Rand, likelihood string, n int) (x, y, sizes []float64) {
	for i := range n {
		g := 0.8 + 0.6*math.Sin(2*math.Pi*float64(i)/12)
		var v, size float64 = 0, 1
		switch likelihood {
		case "negbinomial":
			g += math.Log(distuv.Gamma{Alpha: 2, Beta: 2, Src: rnd}.Rand())
			fallthrough
		case "poisson":
			v = distuv.Poisson{Lambda: math.Exp(g), Src: rnd}.Rand()
		case "binomial":
			size = float64(5 + rnd.IntN(10))
			fallthrough
		case "bernoulli":
			v = distuv.Binomial{N: size, P: 1 / (1 + math.Exp(-g)), Src: rnd}.Rand()
		}
		x, y, sizes = append(x, float64(i)), append(y, v), append(sizes, size)
	}
	return x, y, sizes
}

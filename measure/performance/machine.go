package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// rates are the speeds of the machine.
type rates struct {
	cpu               string
	load              string
	gemm, triad       float64 // GF/s and GB/s on all processors
	gemmEnd, triadEnd float64
}

func ratesNow() rates {
	m := rates{cpu: machine.CPU(), load: "unknown"}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.load, _, _ = strings.Cut(string(b), " ")
	}
	m.gemm, m.triad = gemmRate(), triadRate()
	return m
}

// onAll runs f once on each processor.
func onAll(f func(i, n int)) {
	n := runtime.GOMAXPROCS(0)
	var wg parallel.Group
	for i := range n {
		wg.Go(func() { f(i, n) })
	}
	wg.Wait()
}

// gemmRate is the best of several rates of blas64.Gemm, in GF/s, on all processors at once: a tile of 64×64 times 64×100, which
// fits the cache.
func gemmRate() float64 {
	const t, reps = 64, 2000
	best := 0.0
	for range 12 {
		start := time.Now()
		onAll(func(int, int) {
			fill := func(r, c int) blas64.General {
				g := blas64.General{Rows: r, Cols: c, Stride: c, Data: make([]float64, r*c)}
				for i := range g.Data {
					g.Data[i] = float64(i%7) + 1
				}
				return g
			}
			a, x, c := fill(t, t), fill(t, k), fill(t, k)
			for range reps {
				blas64.Gemm(blas.NoTrans, blas.NoTrans, 1e-9, a, x, 1, c)
			}
		})
		best = max(best, float64(runtime.GOMAXPROCS(0))*reps*2*t*t*k/time.Since(start).Seconds()/1e9)
	}
	return best
}

// triadRate is the best of several rates of a = b + s·c, in GB/s, over arrays of 128 MB; two are read and one is written.
func triadRate() float64 {
	const n = 1 << 24
	a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range a {
		a[i], b[i], c[i] = 0, 1, 2
	}
	best := math.Inf(1)
	for range 7 {
		start := time.Now()
		onAll(func(i, of int) {
			a, b, c := a[n*i/of:n*(i+1)/of], b[n*i/of:n*(i+1)/of], c[n*i/of:n*(i+1)/of]
			for j := range a {
				a[j] = b[j] + 3*c[j]
			}
		})
		best = min(best, time.Since(start).Seconds())
	}
	return 24 * n / best / 1e9
}

func (m rates) text(p plan, took time.Duration) string {
	var b strings.Builder
	kind := "full run"
	if p.quick {
		kind = "trial run (-quick), with small sizes"
	}
	fmt.Fprintf(&b, "%s of %s, %v, %s, %d processors (%s), load %s before it began.\n\n", strings.ToUpper(kind[:1])+kind[1:],
		time.Now().Format("2 January 2006"), took.Round(time.Second), runtime.Version(), runtime.GOMAXPROCS(0), m.cpu, m.load)
	b.WriteString(markdown([]string{"the machine", "at the start", "at the end"}, "lrr", [][]string{
		{"gonum's matrix product at a tile's size, all processors", fmt.Sprintf("%.1f GF/s", m.gemm),
			fmt.Sprintf("%.1f GF/s", m.gemmEnd)},
		{"memory, a triad over 3 × 128 MB, all processors", fmt.Sprintf("%.1f GB/s", m.triad), fmt.Sprintf("%.1f GB/s", m.triadEnd)},
	}))
	return b.String()
}

// Command whittle compares the debiased Whittle likelihood with the exact and the projected one over draws of a known model: bias
// and spread of the estimates, how often intervals of 95 % cover the truth, and the time of a training from the truth.
//
//	go run ./measure/whittle -draws 500                      # all kernels and lengths: hours
//	go run ./measure/whittle -draws 500 -n 512 -kernel SE    # one of them
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// truths are the models that are drawn from, at steps of 1.
var truths = []struct {
	name  string
	model gppl.Model
}{
	{"SE", gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}},
	{"Matern32", gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 5}, Noise: 0.1}},
	{"LocPer", gppl.Model{Kernel: gppl.LocPer{Variance: 1, Lengthscale: 30, Period: 12, PeriodicLengthscale: 1}, Noise: 0.1}},
}

// projections is the k of PL, with Sphere as the paper draws it.
const projections = 100

// methods make a loss for the data.
var methods = []struct {
	name string
	of   func(ctx context.Context, m gppl.Model, d gppl.Data, seed uint64) (gppl.Loss, error)
}{
	{"Whittle", func(ctx context.Context, m gppl.Model, d gppl.Data, _ uint64) (gppl.Loss, error) {
		return gppl.NewWhittle(ctx, m, d, gppl.WhittleOptions{})
	}},
	{"Whittle, NW=4", func(ctx context.Context, m gppl.Model, d gppl.Data, _ uint64) (gppl.Loss, error) {
		return gppl.NewWhittle(ctx, m, d, gppl.WhittleOptions{Taper: 4})
	}},
	{"Whittle 1953", func(ctx context.Context, m gppl.Model, d gppl.Data, _ uint64) (gppl.Loss, error) {
		return gppl.NewWhittle(ctx, m, d, gppl.WhittleOptions{Density: true})
	}},
	{"exact", func(ctx context.Context, m gppl.Model, d gppl.Data, _ uint64) (gppl.Loss, error) {
		return gppl.NewExact(ctx, m, d)
	}},
	{"PL", func(ctx context.Context, m gppl.Model, d gppl.Data, seed uint64) (gppl.Loss, error) {
		p, err := gppl.NewProjection(ctx, gppl.Sphere{}, d.X, min(projections, d.Len()/2), seed)
		if err != nil {
			return nil, err
		}
		return gppl.NewProjected(ctx, m, d, p)
	}},
}

func main() {
	log.SetFlags(0)
	draws := flag.Int("draws", 500, "number of draws for each row")
	lengths := flag.String("n", "128,512,2048,8192", "places of the series, separated by commas")
	kernels := flag.String("kernel", "SE,Matern32,LocPer", "kernels, separated by commas")
	gaps := flag.String("gaps", "0,0.2", "shares of places that are empty, separated by commas")
	skip := flag.String("skip", "", "methods to leave out, separated by semicolons")
	flag.Parse()
	ctx := context.Background()
	fmt.Println("kernel, n, gaps, method: of each parameter bias ± spread of its log, and coverage; milliseconds; draws that" +
		" diverged")
	for _, t := range truths {
		if !slices.Contains(strings.Split(*kernels, ","), t.name) {
			continue
		}
		for _, length := range strings.Split(*lengths, ",") {
			n, err := strconv.Atoi(length)
			if err != nil {
				log.Fatal(err)
			}
			for _, share := range strings.Split(*gaps, ",") {
				g, err := strconv.ParseFloat(share, 64)
				if err != nil {
					log.Fatal(err)
				}
				series := make([]gppl.Data, *draws)
				parallel.For(*draws, func(i int) {
					if series[i], err = drawn(ctx, t.model, n, g, uint64(i)); err != nil {
						log.Fatal(err)
					}
				})
				for _, m := range methods {
					if slices.Contains(strings.Split(*skip, ";"), m.name) {
						continue
					}
					s := newSummary(t.model)
					for i, d := range series {
						began := time.Now()
						loss, err := m.of(ctx, t.model, d, uint64(i))
						if err != nil {
							log.Fatal(err)
						}
						r, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
						if err != nil {
							log.Fatal(err)
						}
						s.add(r, time.Since(began))
					}
					fmt.Printf("%s, %d, %v, %s: %v\n", t.name, n, g, m.name, s)
				}
			}
		}
	}
}

// drawn returns a draw of m at n places, without a random share gaps of them.
func drawn(ctx context.Context, m gppl.Model, n int, gaps float64, seed uint64) (gppl.Data, error) {
	rnd := rand.New(rand.NewPCG(seed, 18))
	var x []float64
	for i := range n {
		if i == 0 || i == n-1 || rnd.Float64() >= gaps {
			x = append(x, float64(i))
		}
	}
	draw, err := m.Sample(ctx, gppl.Scalars(x), seed)
	return gppl.Data{X: gppl.Scalars(x), Y: draw.Y}, err
}

// summary collects the results of a method.
type summary struct {
	truth    []float64
	logs     [][]float64 // logs[i] has log(estimate ÷ truth) of parameter i for each draw
	covered  []int
	known    []int // number of draws with an interval, by parameter
	diverged int
	times    []time.Duration
}

func newSummary(m gppl.Model) *summary {
	theta := m.Values()
	p := len(theta)
	return &summary{truth: theta, logs: make([][]float64, p), covered: make([]int, p), known: make([]int, p)}
}

func (s *summary) add(r *gppl.Result, took time.Duration) {
	const diverged = 100 // beyond 100 × or below 1/100 of the truth, a corner of the likelihood is counted apart
	s.times = append(s.times, took)
	for i, p := range r.Params {
		if off := math.Abs(math.Log(p.Value / s.truth[i])); !(off < math.Log(diverged)) {
			s.diverged++
			return
		}
	}
	for i, p := range r.Params {
		off := math.Log(p.Value / s.truth[i])
		s.logs[i] = append(s.logs[i], off)
		if p.StdErrLog > 0 && !math.IsInf(p.StdErrLog, 1) {
			s.known[i]++
			if math.Abs(off) < 1.96*p.StdErrLog {
				s.covered[i]++
			}
		}
	}
}

// String returns bias, spread and coverage of each parameter, the median time, and the number of draws that diverged.
func (s *summary) String() string {
	var b strings.Builder
	for i, logs := range s.logs {
		var mean, squares float64
		for _, v := range logs {
			mean += v / float64(len(logs))
		}
		for _, v := range logs {
			squares += (v - mean) * (v - mean) / float64(len(logs))
		}
		fmt.Fprintf(&b, "%+.3f ± %.3f (%.0f %%), ", mean, math.Sqrt(squares), 100*float64(s.covered[i])/float64(max(1, s.known[i])))
	}
	slices.Sort(s.times)
	fmt.Fprintf(&b, "%.2g ms, %d", 1000*s.times[len(s.times)/2].Seconds(), s.diverged)
	return b.String()
}

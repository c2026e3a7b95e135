package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Budgets are the processor times, in seconds, after which a Race is judged.
var Budgets = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1}

// A Race is one training of an estimator on a draw of a known model. It is judged while it runs, to compare what estimators reach
// in a given time.
type Race struct {
	Kernel    string  `json:"kernel"` // a key of RaceKernels
	N         int     `json:"n"`
	Ratio     float64 `json:"ratio"`            // variance of the signal over variance of the noise
	Random    bool    `json:"random,omitempty"` // times are uniform on the range, else they have a step of 1
	Estimator string  `json:"estimator"`        // ML, Whittle, PL, …
	Engine    string  `json:"engine,omitempty"` // engine of ML if one is forced
	Order     int     `json:"order,omitempty"`  // k projections, m inducing inputs, or observations of a subset
	Taper     float64 `json:"taper,omitempty"`  // taper of Whittle's likelihood
	Seed      uint64  `json:"seed"`             // seed of the draw, the start, the projections, k-means and the subset
}

// String names the race in a line.
func (r Race) String() string {
	times := "regular"
	if r.Random {
		times = "random"
	}
	return fmt.Sprintf("%s, %d %s times, signal/noise %g: %s %d, seed %d", r.Kernel, r.N, times, r.Ratio, r.Estimator, r.Order,
		r.Seed)
}

// A Standing is how far a Race came within each of the Budgets.
type Standing struct {
	// Excess is, for each of the Budgets, how far the exact NLL lies above its optimum at the parameters that are best by the
	// estimator's own loss. It is −1 before the first evaluation ended, and 1e9 if it is larger or not finite.
	Excess  []float64 `json:"excess"`
	Engine  string    `json:"engine"`          // engines of the loss
	Seconds float64   `json:"seconds"`         // processor time until training ended
	Ended   bool      `json:"ended,omitempty"` // the training ended by itself, within the largest budget
	Machine string    `json:"machine"`
}

// Subset is the exact likelihood of a random subset of the data.
const Subset = "subset"

// raceKernels are the kernels of the races, with variance 1 and a step of 1 between the times.
var raceKernels = map[string]gppl.Kernel{
	"SE": gppl.SE{Variance: 1, Lengthscale: 5}, "Matern32": gppl.Matern32{Variance: 1, Lengthscale: 5},
	"LocPer": gppl.LocPer{Variance: 1, Lengthscale: 30, Period: 12, PeriodicLengthscale: 1},
}

// RaceKernels, RaceSizes and RaceRatios are the settings of the races with regular times; those with random times have the second
// of the ratios.
var (
	RaceKernels = []string{"SE", "Matern32", "LocPer"}
	RaceRatios  = []float64{1, 10, 100}
)

// RaceSizes are the numbers of observations.
func RaceSizes(s scales.Scale) []int { return scales.Pick(s, []int{250, 1000, 4000}, []int{100}) }

// Races lists every estimator with every kernel, size and ratio, over three draws.
func Races(s scales.Scale) (races []Race) {
	for _, kernel := range scales.Pick(s, RaceKernels, RaceKernels[:1]) {
		for _, n := range RaceSizes(s) {
			for _, ratio := range scales.Pick(s, RaceRatios, RaceRatios[1:2]) {
				for _, random := range []bool{false, true} {
					if random && ratio != RaceRatios[1] {
						continue
					}
					for seed := range scales.Pick[uint64](s, 3, 1) {
						for _, r := range raceEstimators(n) {
							r.Kernel, r.N, r.Ratio, r.Random, r.Seed = kernel, n, ratio, random, seed+1
							if !random || r.Estimator != Whittle {
								races = append(races, r)
							}
						}
					}
				}
			}
		}
	}
	return races
}

// raceEstimators are the estimators for n observations.
func raceEstimators(n int) (some []Race) {
	all := []Race{{Estimator: ML}, {Estimator: ML, Engine: gppl.EngineDense}, {Estimator: Subset, Order: 200},
		{Estimator: Subset, Order: 1000}, {Estimator: VFE, Order: 50}, {Estimator: VFE, Order: 150}, {Estimator: PL, Order: 100},
		{Estimator: Residual, Order: 100}, {Estimator: Residual, Order: 300}, {Estimator: Whittle},
		{Estimator: Whittle, Taper: whittleTaper}}
	for _, r := range all {
		if r.Order < n {
			some = append(some, r)
		}
	}
	return some
}

// RaceSurvey runs races one after another, so that the processor time of the process belongs to one race. It stores the standings
// in the folder.
func RaceSurvey(folder string) Survey[Race, Standing] {
	return Survey[Race, Standing]{Name: "races", Folder: folder, Workers: 1,
		Compute: func(ctx context.Context, r Race) (Standing, error) { return r.Run(ctx) }}
}

// RaceFolder is where the standings of a scale are, from the folder of the notebooks.
func RaceFolder(s scales.Scale) string { return scales.Pick(s, "results", "out") }

// raceDraw is a draw and the parameters of its maximum likelihood.
type raceDraw struct {
	data    gppl.Data
	start   gppl.Model
	exact   *gppl.Exact
	optimum float64
}

// draw makes the data of a race, and a start that is off the truth by a factor of up to two in each parameter, by up to 5 % in
// periods.
func (r Race) draw(ctx context.Context) (d raceDraw, err error) {
	truth := gppl.Model{Kernel: raceKernels[r.Kernel], Noise: 1 / r.Ratio}
	rnd := rand.New(rand.NewPCG(r.Seed, 671))
	x := make([]float64, r.N)
	for i := range x {
		if x[i] = float64(i); r.Random {
			x[i] = float64(r.N) * rnd.Float64()
		}
	}
	draw, err := truth.Sample(ctx, gppl.Scalars(x), r.Seed)
	if err != nil {
		return d, err
	}
	if d.data, err = gppl.NewData(gppl.Scalars(x), draw.Y); err != nil {
		return d, err
	}
	theta := truth.Values()
	for i, p := range truth.Params() {
		most := math.Log(2)
		if p.Role == gppl.RolePeriod {
			most = math.Log(1.05)
		}
		theta[i] *= math.Exp(most * (2*rnd.Float64() - 1))
	}
	d.start = truth.WithParams(theta)
	if d.exact, err = gppl.NewExact(ctx, truth, d.data); err != nil {
		return d, err
	}
	best, err := gppl.Fit(ctx, d.exact, nil, gppl.Settings{NoStandardErrors: true})
	if err != nil {
		return d, err
	}
	d.optimum = best.Value
	return d, nil
}

// raceDraws keeps the latest draw, which the estimators share.
var raceDraws struct {
	sync.Mutex
	of Race
	raceDraw
}

func (r Race) shared(ctx context.Context) (raceDraw, error) {
	key := Race{Kernel: r.Kernel, N: r.N, Ratio: r.Ratio, Random: r.Random, Seed: r.Seed}
	raceDraws.Lock()
	defer raceDraws.Unlock()
	if raceDraws.of == key {
		return raceDraws.raceDraw, nil
	}
	d, err := key.draw(ctx)
	if err == nil {
		raceDraws.of, raceDraws.raceDraw = key, d
	}
	return d, err
}

// loss makes the loss of the estimator.
func (r Race) loss(ctx context.Context, m gppl.Model, d gppl.Data) (gppl.Loss, error) {
	switch r.Estimator {
	case Subset:
		some := rand.New(rand.NewPCG(r.Seed, 672)).Perm(d.Len())[:r.Order]
		return gppl.NewExact(ctx, m, d.Pick(some))
	case Residual:
		omega, err := gppl.SpectralProjection(ctx, d.X, r.Order)
		if err != nil {
			return nil, err
		}
		return gppl.NewResidual(ctx, m, d, omega)
	}
	t := Trial{Loss: r.Estimator, Design: "Sphere", Order: r.Order, Seed: r.Seed, Engine: r.Engine, Taper: r.Taper}
	return t.loss(ctx, m, d)
}

// A mark is where a training stood after some processor time.
type mark struct {
	seconds float64
	theta   []float64 // parameters of the model
}

// traced is a loss that remembers each value below all before it.
type traced struct {
	gppl.Loss
	began float64
	best  float64
	marks []mark
}

func (l *traced) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	value, err := l.Loss.ValueGrad(ctx, grad, theta)
	if err == nil && value < l.best {
		l.best = value
		l.marks = append(l.marks, mark{machine.ProcessorSeconds() - l.began, l.Model(theta).Values()})
	}
	return value, err
}

// errOver is the cause of a context that ends because the largest budget is used up.
var errOver = errors.New("experiment: the largest budget is used up")

// Run trains until training ends or the largest of the budgets is used up, and judges it afterwards. Nothing else may run in the
// process meanwhile.
func (r Race) Run(ctx context.Context) (Standing, error) {
	return r.within(ctx, Budgets[len(Budgets)-1])
}

// within runs the race with a budget in seconds of processor time.
func (r Race) within(ctx context.Context, budget float64) (s Standing, err error) {
	s.Machine = machine.CPU()
	d, err := r.shared(ctx)
	if err != nil {
		return s, err
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := &traced{best: math.Inf(1), began: machine.ProcessorSeconds()}
	most := l.began + budget
	go func() {
		for limited.Err() == nil {
			if time.Sleep(10 * time.Millisecond); machine.ProcessorSeconds() > most {
				cancel(errOver)
			}
		}
	}()
	l.Loss, err = r.loss(limited, d.start, d.data)
	if err == nil {
		_, err = gppl.Fit(limited, l, nil, gppl.Settings{NoStandardErrors: true})
		s.Engine = l.Report().Engine
	}
	s.Seconds = text.Rounded(machine.ProcessorSeconds()-l.began, 4)
	if s.Ended = err == nil; err != nil && context.Cause(limited) != errOver {
		return s, err
	}
	cancel(nil)
	s.Excess, err = l.judged(ctx, d)
	return s, err
}

// judged returns the exact NLL above its optimum at the last mark within each of the budgets.
func (l *traced) judged(ctx context.Context, d raceDraw) (excess []float64, err error) {
	const none, most = -1, 1e9
	at, last := 0, 0. // marks within the budget, and the excess of the last of them
	for _, budget := range Budgets {
		before := at
		for at < len(l.marks) && l.marks[at].seconds <= budget {
			at++
		}
		switch {
		case at == 0:
			last = none
		case at > before:
			nll, err := d.exact.ValueGrad(ctx, nil, l.marks[at-1].theta)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if last = most; err == nil && nll-d.optimum < most {
				last = text.Rounded(max(0, nll-d.optimum), 5)
			}
		}
		excess = append(excess, last)
	}
	return excess, nil
}

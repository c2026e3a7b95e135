// Command optima compares the optimum of auto.Fit with the best of many random restarts, for 30 kinds of series and 8 kernels:
//
//	go run ./measure/optima
//	go run ./measure/optima -quick -seed 3
//	go run ./measure/optima -named
//
// With -named it tests gppl fit --kernel (forecast.Fit) for the kernels with a season, and ! marks results that lose more than
// ten nats without a warning of doubt. -sample 20 takes 20 of the 150 pairs, drawn by the seed. -store FILE keeps each outcome,
// so that a run can be continued.
//
// It prints how many nats auto.Fit ends above the best restart, for each pair. ? marks results that auto.Fit calls doubtful, and
// ! marks results that lose more than a nat and are called converged. The reference trains the exact likelihood from log-uniform
// starts in a wide box, which uses only the range, the spacing and the power of the series, and from the model that drew the
// series if it has the kernel. Everything is computed again from seeds, except what -store has. It exits with 1 if any pair is
// marked !.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

func main() {
	var (
		quick    = flag.Bool("quick", false, "a quarter of the pairs, 10 restarts")
		seed     = flag.Uint64("seed", 1, "of the series and of the restarts")
		restarts = flag.Int("restarts", 30, "random starts of the reference")
		atOnce   = flag.Int("workers", runtime.NumCPU(), "pairs at the same time")
		verbose  = flag.Bool("v", false, "print both models of every pair that loses more than a nat")
		named    = flag.Bool("named", false, "the path of named kernels, for kernels with a season")
		sample   = flag.Int("sample", 0, "of so many pairs, drawn by the seed; 0: all")
		store    = flag.String("store", "", "a file of outcomes, to which new ones are added")
		only     = flag.String("only", "", "only pairs whose name, \"kind × kernel\", contains this")
	)
	flag.Parse()
	pairs := allPairs(*seed, *named)
	if *quick {
		pairs = quarter(pairs)
		*restarts = min(*restarts, 10)
	}
	pairs = slices.DeleteFunc(pairs, func(p pair) bool { return !strings.Contains(p.String(), *only) })
	if *sample > 0 && *sample < len(pairs) {
		rand.New(rand.NewPCG(*seed, 13)).Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		pairs = pairs[:*sample]
	}
	kept, err := open(*store)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	outcomes := make([]outcome, len(pairs))
	parallel.Each(*atOnce, len(pairs), func(i int) {
		outcomes[i] = kept.outcome(fmt.Sprintf("%s, seed %d, %d restarts", pairs[i], pairs[i].seed, *restarts),
			func() outcome { return pairs[i].compare(*restarts) })
		fmt.Fprintf(os.Stderr, "%s: %v\n", pairs[i], outcomes[i])
	})
	silent := table(os.Stdout, pairs, outcomes, *named, *verbose)
	switch {
	case kept.err != nil:
		fmt.Fprintln(os.Stderr, kept.err)
		os.Exit(2)
	case silent > 0:
		os.Exit(1)
	}
}

// A pair is a kernel and the series to train it on.
type pair struct {
	kind, kernel string
	family       gppl.Kernel
	of           kind
	seed         uint64
	named        bool // train it as gppl fit does for a named kernel
}

func (p pair) String() string { return p.kind + " × " + p.kernel }

// families returns the kernels and their names in the table; with seasonal only those with a season.
func families(seasonal bool) (names []string, kernels []gppl.Kernel) {
	if seasonal {
		return []string{"Periodic", "LocPer", "SpectralMixture", "SE + Periodic", "SE + LocPer"},
			[]gppl.Kernel{gppl.Periodic{}, gppl.LocPer{}, gppl.SpectralMixture{}, gppl.Add(gppl.SE{}, gppl.Periodic{}),
				gppl.Add(gppl.SE{}, gppl.LocPer{})}
	}
	return []string{"SE", "Laplace", "Matern32", "Matern52", "RQ", "Periodic", "LocPer", "SE+Periodic"},
		[]gppl.Kernel{gppl.SE{}, gppl.Laplace{}, gppl.Matern32{}, gppl.Matern52{}, gppl.RQ{}, gppl.Periodic{}, gppl.LocPer{},
			gppl.Add(gppl.SE{}, gppl.Periodic{})}
}

// allPairs returns all pairs, by kind.
func allPairs(seed uint64, named bool) (pairs []pair) {
	names, kernels := families(named)
	for i, k := range kinds() {
		for j, name := range names {
			pairs = append(pairs, pair{kind: k.name, kernel: name, family: kernels[j], of: k, seed: seed*1000 + uint64(i), named: named})
		}
	}
	return pairs
}

// quarter keeps every kind and every kernel, but not every pair.
func quarter(pairs []pair) (some []pair) {
	names, _ := families(pairs[0].named)
	for i, p := range pairs {
		if (i/len(names)+i%len(names))%4 == 0 {
			some = append(some, p)
		}
	}
	return some
}

// An outcome compares the optimum found with the best restart.
type outcome struct {
	Err      string `json:",omitempty"`
	Status   gppl.Status
	Text     string  // the result in words
	Exact    float64 // exact NLL at the optimum found
	Best     float64 // least exact NLL of the restarts
	BestAt   string
	Agree    int     // number of restarts that ended within 0.1 nats of the best
	Lost     float64 // Exact − Best, in nats
	Silent   bool    // a loss above the limit, without a warning
	Doubtful bool    // the status warns of the result
}

func (o outcome) String() string {
	if o.Err != "" {
		return o.Err
	}
	return fmt.Sprintf("lost %.2f nats, %s", o.Lost, o.Status)
}

// compare trains as the library does, and from many random starts.
func (p pair) compare(restarts int) (o outcome) {
	d, err := p.of.series(p.seed)
	if err != nil {
		return outcome{Err: err.Error()}
	}
	train, most := p.automatic, 1.0
	if p.named {
		train, most = p.byName, 10
	}
	if o, err = train(d); err != nil {
		return outcome{Err: err.Error()}
	}
	o.Best, o.BestAt, o.Agree = reference(p, d, restarts)
	o.Lost = o.Exact - o.Best
	o.Doubtful = o.Status != gppl.Converged && o.Status != gppl.Stopped
	o.Silent = o.Lost > most && !o.Doubtful
	return o
}

// automatic trains by auto.Fit.
func (p pair) automatic(d gppl.Data) (o outcome, err error) {
	found, err := auto.Fit(context.Background(), gppl.Model{Kernel: p.family}, d, auto.Settings{})
	if err != nil {
		return o, err
	}
	exact, err := gppl.NewExact(context.Background(), found.Model, d)
	if err != nil {
		return o, err
	}
	o.Status, o.Text = found.Status, found.String()
	o.Exact, err = exact.ValueGrad(context.Background(), nil, found.Model.Values())
	return o, err
}

// byName trains as the command does for a named kernel.
func (p pair) byName(d gppl.Data) (o outcome, err error) {
	a, err := forecast.Fit(context.Background(), &series.Series{X: d.X.Coordinate(0), Y: d.Y, Step: span / points},
		forecast.Options{Kernels: []string{p.kernel}, Trend: "none", Log: "never"})
	if err != nil {
		return o, err
	}
	return outcome{Status: a.Result.Status, Text: a.Result.String(), Exact: a.NLL()}, nil
}

// reference returns the best of many trainings of the exact likelihood from random starts, and how many of them ended there.
func reference(p pair, d gppl.Data, restarts int) (best float64, at string, agree int) {
	lo, hi := d.X.Range(0)
	spacing := (hi - lo) / float64(d.Len())
	var power float64
	for _, v := range d.Y {
		power += v * v / float64(d.Len())
	}
	box := func(p gppl.Param) (from, to float64) {
		switch {
		case p.Name == gppl.NoiseName:
			return 1e-4 * power, power
		case p.Unit == gppl.UnitY2:
			return 1e-2 * power, 1e2 * power
		case p.Role == gppl.RolePeriod:
			return 2 * spacing, hi - lo
		case p.Unit == gppl.UnitX:
			return spacing / 2, 2 * (hi - lo)
		}
		return 0.1, 10
	}
	rnd := rand.New(rand.NewPCG(p.seed, 12))
	m := gppl.Model{Kernel: p.family}
	var starts []gppl.Model
	for range restarts {
		var theta []float64
		for _, q := range m.Params() {
			from, to := box(q)
			theta = append(theta, from*math.Pow(to/from, rnd.Float64()))
		}
		starts = append(starts, m.WithParams(theta))
	}
	if truth := p.of.truth; truth.Kernel != nil && slices.EqualFunc(truth.Params(), m.Params(),
		func(a, b gppl.Param) bool { return a.Name == b.Name }) && fmt.Sprintf("%T", truth.Kernel) == fmt.Sprintf("%T", p.family) {
		starts = append(starts, truth)
	}
	var ends []float64
	best = math.Inf(1)
	for _, start := range starts {
		loss, err := gppl.NewExact(context.Background(), start, d)
		if err != nil {
			continue
		}
		r, err := gppl.Fit(context.Background(), loss, nil, gppl.Settings{NoStandardErrors: true,
			MaxEvaluations: 200, GradientTolerance: 1e-3})
		if err != nil {
			continue // the likelihood cannot be computed at this start
		}
		ends = append(ends, r.Value)
		if r.Value < best {
			best, at = r.Value, r.Model.String()
		}
	}
	agree = 0
	for _, v := range ends {
		if v < best+0.1 {
			agree++
		}
	}
	return best, at, agree
}

// table prints the losses and returns the number of pairs marked !.
func table(to io.Writer, pairs []pair, outcomes []outcome, named, verbose bool) (silent int) {
	names, _ := families(named)
	what := "auto.Fit"
	if named {
		what = "the named kernel"
	}
	lost := make(map[[2]string]string)
	var rows []string
	var large, doubtful, better, failed int
	for i, p := range pairs {
		o := outcomes[i]
		cell := fmt.Sprintf("%.1f", o.Lost)
		switch {
		case o.Err != "":
			cell, failed = "error!", failed+1
		case o.Silent:
			cell, silent = cell+"!", silent+1
		case o.Doubtful:
			cell, doubtful = cell+"?", doubtful+1
		}
		if o.Err != "" || o.Lost > 1 {
			large++
		}
		if o.Lost < -1 {
			better++
		}
		lost[[2]string{p.kind, p.kernel}] = cell
		if !slices.Contains(rows, p.kind) {
			rows = append(rows, p.kind)
		}
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "nats above the best\t%s\t\n", strings.Join(names, "\t"))
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t", row)
		for _, name := range names {
			fmt.Fprintf(w, "%s\t", lost[[2]string{row, name}])
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	fmt.Fprintf(to, "%d pairs: %d lose more than 1 nat, %d of them silently; %d doubtful in all; %s is more than 1 nat better in "+
		"%d; %d errors\n",
		len(pairs), large, silent, doubtful, what, better, failed)
	if verbose {
		for i, p := range pairs {
			if o := outcomes[i]; o.Err != "" {
				fmt.Fprintf(to, "\n%s: %v\n", p, o.Err)
			} else if o.Lost > 1 {
				fmt.Fprintf(to, "\n%s: best %.3f by %d restarts: %v\n%v\n", p, o.Best, o.Agree, o.BestAt, o.Text)
			}
		}
	}
	return silent + failed
}

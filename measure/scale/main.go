// Command scale learns a Gaussian process from any number of simulated observations. They are never stored: they are made in
// chunks and added to sums.Sums by a given number of workers.
//
//	go run ./measure/scale -n 1e9
//	go run ./measure/scale -n 1e7 -range 1e5 -workers 1
//	go run ./measure/scale -n 1e7 -range 1e5 -tenth
//
// It prints the time, the memory, a checksum of the sums, which does not depend on the number of workers, and the learnt
// parameters, in standard errors from the truth. With -tenth it does the same with the first tenth of the range, and prints by
// how much the parameters differ.
//
//	go run ./measure/scale -files 1e6,1e7
//
// measures gppl fit with every named kernel, gppl predict and gppl sum on csv files of these numbers of rows.
package main

import (
	"context"
	"flag"
	"fmt"
	"hash/crc64"
	"math"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

func main() {
	n := flag.Float64("n", 1e7, "observations")
	span := flag.Float64("range", 1000, "range of the times, in lengthscales")
	shortest := flag.Float64("shortest", 0.5, "shortest lengthscale that the sums resolve, in lengthscales")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "goroutines, each with sums of its own")
	seed := flag.Uint64("seed", 1, "of the observations")
	out := flag.String("o", "", "write the sums to this file")
	tenth := flag.Bool("tenth", false, "learn from the first tenth of the range as well")
	files := flag.String("files", "", "run gppl on csv files of so many `ROWS`, separated by commas, instead")
	var c commands
	flag.BoolVar(&c.even, "even", false, "with -files: at even times")
	kernels := flag.String("kernels", everyKernel(), "with -files: values of --kernel, separated by commas")
	flag.DurationVar(&c.wait, "wait", 2*time.Minute, "with -files: end a command after this `TIME`")
	flag.StringVar(&c.folder, "folder", "", "with -files: keep the files in this `FOLDER`, and take those that are there")
	flag.Parse()
	ctx := machine.UntilSignal()
	s := simulation{n: int(*n), span: *span, shortest: *shortest, workers: *workers, seed: *seed}
	err := error(nil)
	if *files == "" {
		err = run(ctx, s, *out, *tenth)
	} else {
		c.args = flag.Args()
		err = c.run(ctx, *files, *kernels)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// truth is the simulated model: SE with lengthscale 1, so that times are in lengthscales.
var truth = gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}

// simulation says what is observed, and how.
type simulation struct {
	n              int
	span, shortest float64
	workers        int
	seed           uint64
}

func run(ctx context.Context, s simulation, out string, tenth bool) error {
	if s.n < 1 || !(s.span > 0) || s.workers < 1 {
		return fmt.Errorf("%d observations over a range of %v by %d workers", s.n, s.span, s.workers)
	}
	began := time.Now()
	f := newSignal(s.span, s.seed)
	fmt.Printf("signal drawn in %.2f s\n", time.Since(began).Seconds())
	whole, err := s.learn(ctx, f, 1, out)
	if err != nil || !tenth {
		return err
	}
	fmt.Println("\nthe first tenth of the range:")
	part, err := s.learn(ctx, f, 10, "")
	if err != nil {
		return err
	}
	fmt.Println("\nthe whole range less a tenth of it, in standard errors of the difference, where " +
		"the tenth is a part of the whole:")
	for i, p := range whole.Params {
		q := part.Params[i]
		se := math.Sqrt(q.StdErrLog*q.StdErrLog - p.StdErrLog*p.StdErrLog)
		fmt.Printf("%-16s %+.2f, standard errors %.2g and %.2g\n", p.Name, math.Log(p.Value/q.Value)/se,
			p.Value*p.StdErrLog, q.Value*q.StdErrLog)
	}
	return nil
}

// learn adds the observations of the first 1/part of the range and learns from them.
func (s simulation) learn(ctx context.Context, f *signalGrid, part int, out string) (*gppl.Result, error) {
	plan, err := sums.NewPlan(sums.Range{Lo: 0, Hi: s.span / float64(part), Shortest: s.shortest, Longest: 4, Largest: 12})
	if err != nil {
		return nil, err
	}
	fmt.Println(plan)
	count := s.n / part
	began := time.Now()
	all, adding, err := s.collect(ctx, plan.Header, f, count)
	if err != nil {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	file, err := all.MarshalBinary()
	if err != nil {
		return nil, err
	}
	fmt.Printf("%d observations in %.1f s by %d workers: %.3g a second; %.3g a second and worker without their simulation\n",
		all.Len(), seconds, s.workers, float64(count)/seconds, float64(count)/adding.Seconds())
	fmt.Printf("memory %s; a file of %d bytes, checksum %016x\n", memory(), len(file),
		crc64.Checksum(file[:len(file)-8], crc64.MakeTable(crc64.ECMA)))
	if out != "" {
		if err := files.WriteBytes(context.Background(), out, file); err != nil {
			return nil, err
		}
	}
	return fitSums(ctx, all)
}

// chunk is the number of observations that are generated at a time.
const chunk = 1 << 16

// collect adds the first count observations. adding is the time that this took, summed over all workers.
func (s simulation) collect(
	ctx context.Context, h sums.Header, f *signalGrid, count int,
) (all *sums.Sums, adding time.Duration, err error) {
	parts := make([]*sums.Sums, s.workers)
	for i := range parts {
		if parts[i], err = sums.New(h); err != nil {
			return nil, 0, err
		}
	}
	var next, spent atomic.Int64
	var wait parallel.Group
	errs := make([]error, s.workers)
	began := time.Now()
	for i, part := range parts {
		wait.Go(func() {
			t, y := make([]float64, chunk), make([]float64, chunk)
			for errs[i] == nil && ctx.Err() == nil {
				c := int(next.Add(1)) - 1
				size := min(chunk, count-c*chunk)
				if size <= 0 {
					return
				}
				f.observe(t[:size], y[:size], c, s.n, truth.Noise, s.seed)
				start := time.Now()
				// The pieces are too small for Add to use several processors, which are busy with the other workers.
				const piece = 4096
				for from := 0; from < size && errs[i] == nil; from += piece {
					to := min(from+piece, size)
					errs[i] = part.Add(t[from:to], y[from:to])
				}
				spent.Add(int64(time.Since(start)))
				if c%256 == 0 {
					done := float64(c*chunk) / float64(count)
					fmt.Fprintf(os.Stderr, "\r\x1b[K%.1f %% after %.0f s", 100*done, time.Since(began).Seconds())
				}
			}
		})
	}
	wait.Wait()
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	for i, part := range parts {
		if errs[i] != nil {
			return nil, 0, errs[i]
		}
		if i > 0 {
			if err := parts[0].Merge(part); err != nil {
				return nil, 0, err
			}
		}
	}
	return parts[0], time.Duration(spent.Load()), nil
}

// fitSums trains a model on sums, from parameters that are wrong by a factor of three, and prints the result.
func fitSums(ctx context.Context, s *sums.Sums) (*gppl.Result, error) {
	start := truth.WithParams([]float64{3, 1.6, 0.3})
	began := time.Now()
	loss, err := gppl.NewExact(ctx, start, gppl.SumsData(s, 0))
	if err != nil {
		return nil, err
	}
	setup := time.Since(began)
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	fmt.Printf("trained in %.2f s: %.2f s to read the sums, %d evaluations of %.2f s\n%v\n",
		seconds, setup.Seconds(), result.Evaluations, (seconds-setup.Seconds())/float64(result.Evaluations), result)
	for i, p := range truth.Params() {
		learnt := result.Params[i]
		fmt.Printf("%-16s true %-6v learnt %.8g, %+.2f standard errors of %.2g\n", p.Name, p.Value, learnt.Value,
			math.Log(learnt.Value/p.Value)/learnt.StdErrLog, learnt.Value*learnt.StdErrLog)
	}
	fmt.Printf("memory %s\n", memory())
	return result, nil
}

// memory reports the largest memory of the process, if the system tells, and Go's share of it.
func memory() string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text := fmt.Sprintf("%.1f MB of Go", 1e-6*float64(m.Sys))
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(status)) {
			if peak, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				text += ", largest resident set " + strings.TrimSpace(peak)
			}
		}
	}
	return text
}

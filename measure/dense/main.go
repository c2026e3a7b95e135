// Command dense compares the rate of a dense likelihood with OpenBLAS's, by turns in one run:
//
//	OPENBLAS_NUM_THREADS=1 GOMAXPROCS=1 go run ./measure/dense
//
// Each turn evaluates value and gradient of two kernels at n points of a plane, and then factorises and inverts such a covariance
// by potrf and potri (scripts/potri.py, for which -python names a Python with numpy and scipy). All count as n³ operations: ours
// contain the covariances and their derivatives too. It prints the quartiles of the rates, and of their ratios within a turn.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// rest is how long OpenBLAS's idle threads may go on spinning before they leave the processor to us.
const rest = 100 * time.Millisecond

func main() {
	log.SetFlags(0)
	python := flag.String("python", "python3", "a Python with numpy and scipy")
	turns := flag.Int("turns", 40, "number of turns at n = 2000; a size has more or fewer as it takes less or more")
	flag.Parse()
	fmt.Println("n      kernel    GF/s             OpenBLAS         ratio")
	for _, n := range []int{1000, 2000, 4000} {
		if err := compare(*python, n, max(8, *turns*2000/n)); err != nil {
			log.Fatal(err)
		}
	}
}

// compare prints the rates at n points.
func compare(python string, n, turns int) error {
	rnd := rand.New(rand.NewPCG(uint64(n), 5))
	x, y := make([]float64, 2*n), make([]float64, n)
	for i := range y {
		x[2*i], x[2*i+1], y[i] = 10*rnd.Float64(), 10*rnd.Float64(), rnd.NormFloat64()
	}
	ctx, data := context.Background(), gppl.Data{X: gppl.Vectors(x, 2), Y: y}
	names := []string{"SE", "Matern32"}
	var models []gppl.Model
	var losses []*gppl.Exact
	for _, k := range []gppl.Kernel{gppl.SE{Variance: 1, Lengthscale: 1}, gppl.Matern32{Variance: 1, Lengthscale: 1}} {
		m := gppl.Model{Kernel: k, Noise: 0.1}
		l, err := gppl.NewExact(ctx, m, data, gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			return err
		}
		models, losses = append(models, m), append(losses, l)
	}
	blas, err := startOpenBLAS(python, n)
	if err != nil {
		return err
	}
	var theirs []float64
	ours, ratios := make([][]float64, len(losses)), make([][]float64, len(losses))
	flops := float64(n) * float64(n) * float64(n)
	rate := func(i int) (float64, error) {
		theta := models[i].Values()
		start := time.Now()
		_, err := losses[i].ValueGrad(ctx, make([]float64, len(theta)), theta)
		return flops / time.Since(start).Seconds() / 1e9, err
	}
	for turn := range turns + 1 {
		seconds, err := blas.seconds()
		if err != nil {
			return err
		}
		other := flops / seconds / 1e9
		if turn > 0 { // the first turn touches the memory
			theirs = append(theirs, other)
		}
		time.Sleep(rest)
		if _, err := rate(0); err != nil { // wakes the processors, as the copy of the covariance does before OpenBLAS begins
			return err
		}
		for i := range losses {
			r, err := rate(i)
			if err != nil {
				return err
			}
			if turn > 0 {
				ours[i], ratios[i] = append(ours[i], r), append(ratios[i], r/other)
			}
		}
	}
	for i, name := range names {
		fmt.Printf("%-6d %-9s %-16s %-16s %s\n", n, name, quartiles("%.1f", ours[i]), quartiles("%.1f", theirs),
			quartiles("%.2f", ratios[i]))
	}
	return blas.stop()
}

// quartiles returns the three quartiles of x as text.
func quartiles(format string, x []float64) string {
	slices.Sort(x)
	var at []string
	for _, q := range []float64{0.25, 0.5, 0.75} {
		at = append(at, fmt.Sprintf(format, numeric.SortedQuantile(x, q)))
	}
	return strings.Join(at, " ")
}

// openBLAS is the process of scripts/potri.py.
type openBLAS struct {
	cmd     *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Scanner
}

func startOpenBLAS(python string, n int) (*openBLAS, error) {
	cmd := exec.Command(python, "scripts/potri.py", strconv.Itoa(n))
	cmd.Stderr = os.Stderr
	ask, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &openBLAS{cmd, ask, bufio.NewScanner(answers)}, cmd.Start()
}

// seconds factorises and inverts once.
func (b *openBLAS) seconds() (float64, error) {
	if _, err := fmt.Fprintln(b.ask); err != nil {
		return 0, err
	}
	if !b.answers.Scan() {
		return 0, fmt.Errorf("scripts/potri.py gave no answer: %w", b.cmd.Wait())
	}
	return strconv.ParseFloat(b.answers.Text(), 64)
}

func (b *openBLAS) stop() error {
	if err := b.ask.Close(); err != nil {
		return err
	}
	return b.cmd.Wait()
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
)

// commands runs the program on csv files of several lengths.
type commands struct {
	even   bool
	wait   time.Duration // a command that takes longer is ended
	folder string        // holds the files; "" means a temporary folder
	args   []string      // further arguments of gppl fit
}

// everyKernel lists the values of gppl fit --kernel that are measured: all names, and some sums and products.
func everyKernel() string {
	return "auto," + strings.Join(search.KernelNames(), ",") +
		",SE + LocPer,SE + Matern32,SE * Periodic,Matern32 * Periodic,Matern52 * Cosine"
}

// run prints a table for gppl fit, predict and sum on files of each length: wall-clock and processor time and the largest
// resident set, or how the command ended.
func (c commands) run(ctx context.Context, rows, kernels string) error {
	var lengths []int
	for text := range strings.SplitSeq(rows, ",") {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= 1) {
			return fmt.Errorf("-files %s: want numbers of rows", rows)
		}
		lengths = append(lengths, int(n))
	}
	folder := c.folder
	if folder == "" {
		var err error
		if folder, err = os.MkdirTemp("", "scale"); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	}
	program := filepath.Join(folder, "gppl")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/gppl").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	fmt.Print("| rows | command | on the clock | of a processor | largest resident set | learnt from |\n|---|---|---|---|---|---|\n")
	for _, n := range lengths {
		file := filepath.Join(folder, fmt.Sprintf("rows-%d-%v.csv", n, c.even))
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			if err := files.Write(ctx, file, func(w io.Writer) error { return writeRows(ctx, w, n, c.even) }); err != nil {
				return err
			}
		}
		model, sums := filepath.Join(folder, "model.json"), filepath.Join(folder, "rows.sums")
		run := func(name string, args ...string) {
			if ctx.Err() == nil {
				fmt.Printf("| %.0e | %s | %v |\n", float64(n), name, measured(ctx, c.wait, program, args...))
			}
		}
		all := strings.Split(kernels, ",")
		for i, kernel := range all {
			args := append([]string{"--kernel", kernel}, c.args...)
			name := "fit " + strings.Join(args, " ")
			if i == len(all)-1 { // save the model for predict; the file contains the rows, which takes time
				args, name = append(args, "--model", model), name+" --model"
			}
			run("`"+name+"`", append([]string{"fit", file, "-q"}, args...)...)
		}
		run("`predict`", "predict", model)
		run("`sum`", "sum", file, "-q", "-o", sums)
		for _, left := range []string{model, sums} {
			os.Remove(left)
		}
	}
	return ctx.Err()
}

// measured runs a program and reports its time and memory.
func measured(ctx context.Context, wait time.Duration, program string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &stderr
	began := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return "– | – | – | not started: " + err.Error()
	}
	processor := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	took := fmt.Sprintf("%.1f s | %.1f s | %.0f MB", time.Since(began).Seconds(), processor.Seconds(),
		1e-6*float64(machine.Peak(cmd.ProcessState)))
	switch last := strings.TrimSpace(stderr.String()); {
	case ctx.Err() != nil:
		return took + " | not done"
	case err != nil:
		line, _, _ := strings.Cut(last, "\n")
		return took + " | refused: " + line
	}
	return took + " | " + learntFrom(out.String())
}

// learntFrom returns the number of observations on which, by the output of gppl fit, the parameters were trained; "" if it does
// not say.
func learntFrom(text string) string {
	for line := range strings.Lines(text) {
		if _, what, ok := strings.Cut(line, "learnt from "); ok {
			return strings.TrimRight(what, ".\n")
		}
	}
	return ""
}

// writeRows writes a csv file of n rows: a season of 24, a slow wave and noise, at even or uneven times.
func writeRows(ctx context.Context, w io.Writer, n int, even bool) error {
	b := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintln(b, "x,y")
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		x := float64(i)
		if !even {
			x += 0.8 * rnd.Float64()
		}
		y := math.Sin(2*math.Pi*x/24) + math.Sin(x/50+3*math.Sin(x/3000)) + 0.5*rnd.NormFloat64()
		fmt.Fprintf(b, "%.10g,%.4f\n", math.Round(1000*x)/1000, y)
		if i%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return b.Flush()
}

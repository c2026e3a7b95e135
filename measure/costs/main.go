// Command costs measures what an evaluation takes by each engine, and how good the choice among them is:
//
//	go run ./measure/costs                 # a grid of 200 models and data: the chosen engine's time over the best engine's
//	go run ./measure/costs -fit            # fits the seconds of operations to the times, and writes internal/costs/seconds.go
//	go run ./measure/costs -cliffs 300     # random points: how much longer each takes than its neighbours
//
// Times are processor time of one thread, the least of several runs, with a share of the set-up. With -times they are kept in a
// file, and those that are there are not measured again: the choice follows from the constants alone.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"runtime"
	"slices"
)

func main() {
	log.SetFlags(0)
	file := flag.String("times", "", "file of times, one JSON object a line, to continue")
	fitting := flag.Bool("fit", false, "fit the constants and write internal/costs/seconds.go")
	points := flag.Int("cliffs", 0, "number of random points to search for cliffs")
	seed := flag.Uint64("seed", 1, "of the random points")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	ctx := context.Background()
	if *points > 0 {
		if err := cliffs(ctx, *points, *seed); err != nil {
			log.Fatal(err)
		}
		return
	}
	times, err := timed(ctx, *file)
	if err != nil {
		log.Fatal(err)
	}
	all, err := rows(ctx, times)
	if err != nil {
		log.Fatal(err)
	}
	if *fitting {
		fit(all)
	}
	residuals(all)
	if err := choices(ctx, times); err != nil {
		log.Fatal(err)
	}
	if *fitting {
		if err := write(ctx, "internal/costs/seconds.go"); err != nil {
			log.Fatal(err)
		}
	}
}

// timed returns the times of all cells of the grid. It reads those in the file, and measures the others and appends them to it.
func timed(ctx context.Context, file string) (times []timing, err error) {
	done := map[cell]bool{}
	var out *json.Encoder
	if file != "" {
		f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			var t timing
			if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
				return nil, err
			}
			done[t.Cell] = true
			times = append(times, t)
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
		out = json.NewEncoder(f)
	}
	for _, c := range slices.Concat(grid(), further) {
		if done[c] {
			continue
		}
		more, err := c.measure(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range more {
			if out != nil {
				if err := out.Encode(t); err != nil {
					return nil, err
				}
			}
		}
		times = append(times, more...)
	}
	return times, nil
}

// choices prints the ratio of the chosen engine's time to the best's for each cell, the worst first, and their distribution.
func choices(ctx context.Context, times []timing) error {
	type choice struct {
		cell         cell
		chosen, best timing
		ratio        float64
	}
	var all []choice
	for _, c := range grid() {
		data, err := c.data()
		if err != nil {
			return err
		}
		loss, theta, err := c.loss(ctx, data, "")
		if err != nil {
			return err
		}
		engine, _ := loss.Cost(theta)
		is := choice{cell: c, best: timing{Seconds: math.Inf(1)}}
		for _, t := range times {
			if t.Cell != c {
				continue
			}
			if t.Seconds < is.best.Seconds {
				is.best = t
			}
			if t.Engine == engine {
				is.chosen = t
			}
		}
		if is.chosen.Engine == "" { // the engine failed its checks, or was predicted to be hopeless
			s, _, err := c.time(ctx, data, "", math.Inf(1))
			if err != nil {
				return err
			}
			is.chosen = timing{c, engine + ", and what follows", s, false}
		}
		is.ratio = is.chosen.Seconds / is.best.Seconds
		all = append(all, is)
	}
	slices.SortStableFunc(all, func(a, b choice) int { return cmp.Compare(b.ratio, a.ratio) })
	for _, c := range all {
		fmt.Printf("%5.2f %v  %s %.3g ms, best %s %.3g ms\n",
			c.ratio, c.cell, c.chosen.Engine, 1e3*c.chosen.Seconds, c.best.Engine,
			1e3*c.best.Seconds)
	}
	at := func(q float64) float64 { return all[int((1-q)*float64(len(all)-1))].ratio }
	within := 0
	for _, c := range all {
		if c.ratio <= 1.3 {
			within++
		}
	}
	fmt.Printf("%d cells: median %.2f, 90 %% %.2f, most %.2f; %d within 1.3\n", len(all), at(0.5), at(0.9), at(1), within)
	return nil
}

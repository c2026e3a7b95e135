// Command digest prints one line for each kind of number that a change of form must not move: the likelihoods of the library, the
// forecasts of gppl fit, and the stored results of the paper. A commit that takes away or moves code quotes the lines from before
// and after it:
//
//	GPPL_DATA=… go run ./measure/digest                        # three lines: the kind, how many, a hash
//	GPPL_DATA=… go run ./measure/digest -details digest.txt    # and every number, to compare by diff
//	go run ./measure/digest -only library
//
// The hashes depend on the processor, as the last digits do: run both commits on one machine.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/machine"
)

// part is one kind of number. Its function returns a line for each number, always in the same order.
type part struct {
	name  string
	lines func(context.Context) ([]string, error)
}

var parts = []part{{"library", library}, {"forecasts", forecasts}, {"results", results}}

func main() {
	log.SetFlags(0)
	log.SetPrefix("digest: ")
	details := flag.String("details", "", "write every number to this file")
	only := flag.String("only", "", "one part: library, forecasts or results")
	flag.Parse()
	if !slices.ContainsFunc(parts, func(p part) bool { return *only == "" || p.name == *only }) {
		log.Fatalf("-only %s: there are library, forecasts and results", *only)
	}
	var all strings.Builder
	for _, p := range parts {
		if *only != "" && p.name != *only {
			continue
		}
		lines, err := p.lines(machine.UntilSignal())
		if err != nil {
			log.Fatalf("%s: %v", p.name, err)
		}
		text := strings.Join(lines, "\n") + "\n"
		all.WriteString(text)
		fmt.Printf("%-9s %6d  %x\n", p.name, len(lines), sha256.Sum256([]byte(text)))
	}
	if *details != "" {
		if err := os.WriteFile(*details, []byte(all.String()), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

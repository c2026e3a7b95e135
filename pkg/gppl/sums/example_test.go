package sums_test

import (
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// What is resolved sets the size, not the number of observations: a year of readings, in days, takes 1.3 MB in a file down to a
// lengthscale of 0.1 days, and 100 kB down to 1.35 days.
func ExampleNewPlan() {
	for _, shortest := range []float64{0.1, 1.35} {
		plan, err := sums.NewPlan(sums.Range{Lo: 0, Hi: 360, Shortest: shortest, Longest: 8 * shortest, Largest: 12})
		if err != nil {
			panic(err)
		}
		fmt.Printf("SE lengthscales from %v: %d frequencies, %d kB in a file\n", shortest, plan.Header.Highest, plan.FileBytes/1000)
	}
	// Output:
	// SE lengthscales from 0.1: 6936 frequencies, 1311 kB in a file
	// SE lengthscales from 1.35: 700 frequencies, 99 kB in a file
}

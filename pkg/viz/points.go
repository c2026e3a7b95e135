package viz

import (
	"fmt"
	"math"
)

// Points are observations. X and Y have one length, and any order.
type Points struct {
	Name string // name in the legend; default "observations" or "held out"
	X, Y []float64
	// Errors are standard deviations of the observations. Each is drawn as a bar that reaches one to each side; nil for none. A
	// value that is not positive has no bar.
	Errors []float64
}

// Prediction is a posterior along X, which must ascend. LatentVar is the variance of f, NoisyVar the variance of a new
// observation y. A band is drawn from its ends or, without them, from its variance; a band that has neither is not drawn. A
// variance below zero, from rounding, is taken as zero.
type Prediction struct {
	Name      string
	X, Mean   []float64
	LatentVar []float64
	NoisyVar  []float64
	// Lower and Upper are the ends of the band of a new observation where it is not mean ± 1.96 standard deviations; both or none.
	Lower, Upper []float64
	// LatentLower and LatentUpper are the ends of the band of f; both or none.
	LatentLower, LatentUpper []float64
	Slot                     int // colour and dash to use: 1, 2, …; zero means the position among the predictions
}

func (p Prediction) check(i int) error {
	n := len(p.X)
	if len(p.Mean) != n || (p.LatentVar != nil && len(p.LatentVar) != n) || (p.NoisyVar != nil && len(p.NoisyVar) != n) {
		return fmt.Errorf("viz: prediction %d (%q): %d X, %d means, %d and %d variances", i, p.Name, n, len(p.Mean),
			len(p.LatentVar), len(p.NoisyVar))
	}
	for _, ends := range [][2][]float64{{p.Lower, p.Upper}, {p.LatentLower, p.LatentUpper}} {
		if lo, hi := ends[0], ends[1]; len(lo) != len(hi) || lo != nil && len(lo) != n {
			return fmt.Errorf("viz: prediction %d (%q): %d X, %d and %d ends of the band", i, p.Name, n, len(lo), len(hi))
		}
	}
	last := math.Inf(-1)
	for j, x := range p.X {
		if x < last {
			return fmt.Errorf("viz: prediction %d (%q): X descends at %d", i, p.Name, j)
		}
		if !math.IsNaN(x) {
			last = x
		}
	}
	return nil
}

// Span is a stretch of the horizontal axis to mark, such as a forecast. An infinite end reaches the end of the axis.
type Span struct {
	From, To float64
	Label    string
}

// slotOf returns the look of the i-th method, counted from zero.
func slotOf(slot, i int) int {
	if slot > 0 {
		return slot - 1
	}
	return i
}

// normal95 is the half width of a band, in standard deviations, that holds 95 % of a normal distribution.
const normal95 = 1.96

// Package costs holds the times of the operations of engines, by which engines are chosen: seconds of one thread, fitted to
// measurements by
//
//	go run ./measure/costs -fit
//
// They are the same on every machine, so that a choice does not depend on where it is made: only the ratios matter.
package costs

import "runtime"

// Operation is a step that an engine repeats; names that end in Once are the fixed part of every evaluation. The comment beside
// each says how often an evaluation of n observations takes it; products are floating-point operations of matrix products.
type Operation int

const (
	DenseCube Operation = iota // n³, products
	DensePair                  // n², covariances and their derivatives
	DenseOnce

	BandedProduct // n·w², w numbers in a row of the band
	BandedPair    // n·w
	BandedRow     // n
	BandedOnce

	SumRow    // n, of a state of one process that is summed
	SumNumber // n·d, of its d numbers
	SumsEntry // n·d², of a state of several processes
	SumsRow   // n
	StateOnce

	SpectralCube   // p³ features, products
	SpectralSquare // p²
	SpectralLeft   // a feature that is left out, for each of the p that are kept
	SpectralSample // a sample of the kernel, for its transform
	SpectralOnce

	GriddedPoint
	GriddedOnce

	ToeplitzSquare // n²
	ToeplitzRow    // n
	ToeplitzLong   // n, beyond the rows whose products are direct
	ToeplitzOnce

	MixedProduct // n·p² for p columns, and packets of waves times columns, products
	MixedWave    // n for each column without packets
	MixedSum     // a pair of waves on a circle
	MixedCube    // p³, products
	MixedSquare  // p²
	MixedOnce
	MixedPackets     // once, where waves are combined to packets
	MixedBaseProduct // n for each pair of columns, and n for each column and number of a base, products
	MixedBaseOnce

	Operations // number of operations
)

// names spell the constants as measure/costs writes them.
var names = [Operations]string{
	DenseCube:        "DenseCube",
	DensePair:        "DensePair",
	DenseOnce:        "DenseOnce",
	BandedProduct:    "BandedProduct",
	BandedPair:       "BandedPair",
	BandedRow:        "BandedRow",
	BandedOnce:       "BandedOnce",
	SumRow:           "SumRow",
	SumNumber:        "SumNumber",
	SumsEntry:        "SumsEntry",
	SumsRow:          "SumsRow",
	StateOnce:        "StateOnce",
	SpectralCube:     "SpectralCube",
	SpectralSquare:   "SpectralSquare",
	SpectralLeft:     "SpectralLeft",
	SpectralSample:   "SpectralSample",
	SpectralOnce:     "SpectralOnce",
	GriddedPoint:     "GriddedPoint",
	GriddedOnce:      "GriddedOnce",
	ToeplitzSquare:   "ToeplitzSquare",
	ToeplitzRow:      "ToeplitzRow",
	ToeplitzLong:     "ToeplitzLong",
	ToeplitzOnce:     "ToeplitzOnce",
	MixedProduct:     "MixedProduct",
	MixedWave:        "MixedWave",
	MixedSum:         "MixedSum",
	MixedCube:        "MixedCube",
	MixedSquare:      "MixedSquare",
	MixedOnce:        "MixedOnce",
	MixedPackets:     "MixedPackets",
	MixedBaseProduct: "MixedBaseProduct",
	MixedBaseOnce:    "MixedBaseOnce",
}

func (o Operation) String() string { return names[o] }

// Of returns the seconds of an operation that is done so many times.
func Of(o Operation, times float64) float64 { return times * Seconds[o] }

// flops counts the floating-point operations of each product, which bound its fitted seconds from below. A MixedSum waits for
// memory, 2 ns each: the grid has too few of them to fit, and would take them for free.
var flops = [Operations]float64{DenseCube: 1, BandedProduct: 3, SpectralCube: 2. / 3, MixedProduct: 1, MixedSum: 120,
	MixedCube: 1, MixedBaseProduct: 1}

// Flops returns how many flops an operation is, 0 if it is no matrix product.
func (o Operation) Flops() float64 { return flops[o] }

// In WebAssembly, which has no assembly, products take eight to eleven times as long as on amd64, a filter two to three.
func init() {
	if runtime.GOARCH == "wasm" {
		for o := range Seconds {
			if flops[o] > 0 {
				Seconds[o] *= 4
			}
		}
	}
}

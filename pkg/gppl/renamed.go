package gppl

import "github.com/projected-likelihood/gppl/pkg/gppl/sums"

// Names that are now those of package sums.
type (
	// Sums is sums.Sums.
	//
	// Deprecated: use sums.Sums.
	Sums = sums.Sums
	// SumsHeader is sums.Header.
	//
	// Deprecated: use sums.Header.
	SumsHeader = sums.Header
	// SumsPlan is sums.Plan.
	//
	// Deprecated: use sums.Plan.
	SumsPlan = sums.Plan
	// SumsRange is sums.Range.
	//
	// Deprecated: use sums.Range.
	SumsRange = sums.Range
)

// NewSums is sums.New.
//
// Deprecated: use sums.New.
func NewSums(h sums.Header) (*sums.Sums, error) { return sums.New(h) }

// PlanSums is sums.NewPlan.
//
// Deprecated: use sums.NewPlan.
func PlanSums(r sums.Range) (sums.Plan, error) { return sums.NewPlan(r) }

// SampleRange is sums.SampleRange.
//
// Deprecated: use sums.SampleRange.
func SampleRange(t, y []float64, margin, spread float64) (sums.Range, error) {
	return sums.SampleRange(t, y, margin, spread)
}

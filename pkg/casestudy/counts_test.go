package casestudy_test

import (
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/casestudy"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// TestAtLeastOne sends the notebook's own likelihood through the suite.
func TestAtLeastOne(t *testing.T) {
	gppltest.CheckLikelihood(t, casestudy.AtLeastOne{}, gppltest.Observation{Y: 1, Size: 1, G: -2},
		gppltest.Observation{Y: 4, Size: 3, G: 0.4})
	if err := (casestudy.AtLeastOne{}).Check(0, 1); err == nil {
		t.Error("a count of 0 is allowed")
	}
}

// TestCounted runs what notebook 15 shows: overall, counts are forecast better as counts than by a normal distribution, their own
// likelihood finds the groups that are not seen, and the band of a share stays within 0 to 1.
func TestCounted(t *testing.T) {
	scale := scales.Smoke
	if testkit.Long() {
		scale = scales.Full
	}
	ctx := t.Context()
	c := testkit.Must(casestudy.NewCounted(ctx, scale))(t)
	testkit.Must(c.PIT())(t)
	testkit.Must(c.Rates(ctx))(t)
	testkit.Must(c.Years(ctx))(t)
	var least, most, sum float64 = 1, 0, 0
	for i, row := range c.Table().Rows {
		t.Log(row...)
		gain := number(t, c.Table(), i, 3) - number(t, c.Table(), i, 4)
		least, most, sum = min(least, gain), max(most, gain), sum+gain
	}
	if !(sum > 0) || scale == scales.Full && !(least > 0.05 && most < 0.65) {
		t.Errorf("counts gain %v to %v nats", least, most)
	}
	for _, row := range c.Corrections().Rows {
		t.Log(row...)
	}
	own := testkit.Must(casestudy.Own(ctx, scale))(t)
	if poisson, with, truth := number(t, own, 0, 2), number(t, own, 1, 2),
		number(t, own, 1, 3); !(poisson > with && with < 1.2*truth) || !(number(t, own, 1, 1) < number(t, own, 0, 1)) {
		t.Errorf("%v", own.Rows)
	}
	_, shares, err := casestudy.Shares(ctx, scale)
	if err != nil || shares.Rows[0][2] != 0 {
		t.Errorf("%v, %v", shares, err)
	}
	t.Log(own.Rows, shares.Rows)
}

func number(t *testing.T, table *viz.Table, row, column int) float64 {
	t.Helper()
	return table.Rows[row][column].(float64)
}

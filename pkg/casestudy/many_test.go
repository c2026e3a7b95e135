package casestudy_test

import (
	"context"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testsize"
	"github.com/projected-likelihood/gppl/pkg/casestudy"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// TestManySeries makes what notebook 16 shows. At full size the series gain beyond chance, and so do most of them at each length.
func TestManySeries(t *testing.T) {
	scale := scales.Smoke
	if testsize.Long() {
		scale = scales.Full
	}
	ctx := context.Background()
	m, err := casestudy.ManySeries(ctx, scale)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Figure(); err != nil {
		t.Error(err)
	}
	shown(t, m.One())
	rows := m.Table().Rows
	for _, r := range rows {
		t.Log(r...)
	}
	var gain, squares float64
	least := 1.0
	for _, r := range rows {
		gain, squares, least = gain+r[2].(float64), squares+r[3].(float64)*r[3].(float64), min(least, r[4].(float64))
	}
	if scale == scales.Full && !(gain > 3*math.Sqrt(squares) && least > 0.65) {
		t.Errorf("the lengths gain %v ± %v together, of one %v of the stores", gain, math.Sqrt(squares), least)
	}
	figure, table, err := casestudy.Whole(ctx, scale)
	if err != nil || figure == nil || len(table.Rows) != 3 {
		t.Errorf("%v, %v", table, err)
	}
}

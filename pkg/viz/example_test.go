package viz_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/projected-likelihood/gppl/pkg/viz"
)

func ExampleSeries() {
	var obs viz.Points
	pred := viz.Prediction{Name: "SE kernel"}
	for i := range 200 {
		x := float64(i) / 10
		if x < 15 {
			obs.X, obs.Y = append(obs.X, x), append(obs.Y, math.Sin(x)+0.2*math.Sin(97*x))
		}
		pred.X, pred.Mean = append(pred.X, x), append(pred.Mean, math.Sin(x))
		pred.LatentVar, pred.NoisyVar = append(pred.LatentVar, 0.01), append(pred.NoisyVar, 0.03)
	}
	fig, err := viz.Series(viz.SeriesOptions{
		Frame:       viz.Frame{Title: "The period is learnt", XLabel: "time (s)", YLabel: "level (µV)"},
		Observed:    obs,
		Predictions: []viz.Prediction{pred},
		Spans:       []viz.Span{{From: 15, To: math.Inf(1), Label: "forecast"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	shown, _ := viz.Show(fig) // in a notebook
	dir, _ := os.MkdirTemp("", "viz")
	defer os.RemoveAll(dir)
	fmt.Println(shown, fig.Save(filepath.Join(dir, "series.svg")))
	// Output: false <nil>
}

func ExampleTable() {
	t := &viz.Table{
		Caption: "Exact NLL at what each method learnt",
		Columns: []viz.Column{{Name: "method"}, {Name: "NLL", Unit: "nats", Format: viz.Fixed(1), Best: true}, {Name: "time"}},
		Rows: [][]any{
			{"ML", 1468.565, 127 * time.Second},
			{"PL", 1471.2, 361 * time.Millisecond},
		},
	}
	fmt.Print(t)
	// Output:
	// Exact NLL at what each method learnt
	// method  NLL (nats)        time
	// ──────  ──────────  ──────────
	// ML         1468.6*  2 min 07 s
	// PL         1471.2       361 ms
}

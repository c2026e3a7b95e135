package casestudy

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/projected-likelihood/gppl/pkg/viz"
)

//go:embed counts.json
var countRivals []byte // by scripts/counts.py

// CountRivals compares the time to a trained model and the held-out scores with other libraries, as scripts/counts.py stored
// them.
func CountRivals() (*viz.Table, error) {
	var stored struct {
		Run  string
		Rows []struct {
			Series, Library, Error string
			N                      int
			Seconds, First, Score  float64
		}
	}
	if err := json.Unmarshal(countRivals, &stored); err != nil {
		return nil, fmt.Errorf("casestudy: counts.json: %w", err)
	}
	t := &viz.Table{Caption: "Other libraries on the same counts",
		Columns: []viz.Column{{Name: "series"}, {Name: "trained on"}, {Name: "library"}, {Name: "trained in"},
			{Name: "with compilation"}, {Name: "time, gppl = 1", Format: viz.Digits(3)},
			{Name: "log score", Unit: "nats", Format: viz.Fixed(4)}}, Notes: []string{stored.Run}}
	own := map[string]float64{}
	for _, r := range stored.Rows {
		if r.Library == "gppl" {
			own[r.Series] = r.Seconds
		}
		row := []any{r.Series, r.N, r.Library, inSeconds(r.Seconds), inSeconds(r.First), r.Seconds / own[r.Series], r.Score}
		if r.Error != "" {
			row = []any{r.Series, r.N, r.Library, r.Error, "", "", ""}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

func inSeconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }

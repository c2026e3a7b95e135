package casestudy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/casestudy"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

func shown(t *testing.T, s *casestudy.Study) {
	t.Helper()
	if _, err := s.Figure(); err != nil {
		t.Error(err)
	}
	if rows := len(s.Table().Rows); rows != 2 {
		t.Errorf("%s: a table of %d rows", s.Title, rows)
	}
	for _, c := range s.Contenders {
		i := c.Scores.Intervals[0]
		t.Logf("%s, %s: %.0f %% in the band, width %.3g, RMSE %.3g, NLPD %.3g; %s", s.Title, c.Name, 100*i.Coverage, i.Width,
			c.Scores.RMSE, c.Scores.NLPD, c.Said)
	}
}

// TestStudies checks that in each study the feature has the effect that the notebook states.
func TestStudies(t *testing.T) {
	ctx := context.Background()
	scale := scales.Smoke
	if testkit.Long() {
		scale = scales.Full
	}
	t.Run("trend", func(t *testing.T) {
		s := viz.Must(casestudy.Trend(ctx, scale))
		shown(t, s)
		if s.Contenders[1].Scores.RMSE > s.Contenders[0].Scores.RMSE {
			t.Error("the trend does not help")
		}
	})
	t.Run("error bars", func(t *testing.T) {
		s := viz.Must(casestudy.ErrorBars(ctx, scale))
		shown(t, s)
		if s.Contenders[1].Scores.RMSE > s.Contenders[0].Scores.RMSE {
			t.Error("known errors do not help")
		}
	})
	t.Run("outliers", func(t *testing.T) {
		s, test, err := casestudy.Outliers(ctx, scale)
		if err != nil {
			t.Fatal(err)
		}
		shown(t, s)
		t.Log(test)
		if !test.Proposed() || s.Contenders[1].Scores.RMSE > s.Contenders[0].Scores.RMSE {
			t.Error("Student-t noise is not proposed, or does not help")
		}
	})
	t.Run("slope", func(t *testing.T) {
		s := viz.Must(casestudy.Slope(ctx, scale))
		shown(t, s)
		if s.Contenders[1].Scores.RMSE > s.Contenders[0].Scores.RMSE || !strings.Contains(s.Contenders[1].Said, "kink at 60") {
			t.Error("the kink does not help")
		}
	})
	t.Run("change", func(t *testing.T) {
		s := viz.Must(casestudy.Change(ctx, scale))
		shown(t, s)
		if s.Contenders[1].Scores.NLPD > s.Contenders[0].Scores.NLPD-0.1 || !strings.Contains(s.Contenders[1].Said, "learnt at 6") {
			t.Error("the change point does not help, or is not found")
		}
	})
	t.Run("uncertain", func(t *testing.T) {
		s, table, err := casestudy.Uncertain(ctx, scale)
		if err != nil {
			t.Fatal(err)
		}
		shown(t, s)
		t.Log(table.Rows)
		if table.Rows[1][1].(float64) < table.Rows[0][1].(float64) {
			t.Error("bands hold less with uncertain parameters")
		}
	})
	t.Run("leave out", func(t *testing.T) {
		table := viz.Must(casestudy.LeaveOut(ctx, scale))
		for _, row := range table.Rows {
			t.Log(row...)
		}
		if table.Rows[0][3].(float64) > table.Rows[2][3].(float64) {
			t.Error("a week between known ones is harder than half a year ahead")
		}
	})
}

package main

import (
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/measure/competition"
)

// TestReportWander checks that errors are compared with the errors of repeating the last value, and counted if they are less than
// half or more than twice as large.
func TestReportWander(t *testing.T) {
	var text strings.Builder
	reportWander(&text, []competition.Detail{
		{ID: "a", MASE: 1, Naive: 4, Cover95: 1}, {ID: "b", MASE: 1, Naive: 1, Cover95: 1},
		{ID: "c", MASE: 4, Naive: 1, Cover95: 0.4, Word: "use"}, {ID: "d", Error: "none"},
	})
	for _, want := range []string{
		"3 forecasts of 100 steps: geometric mean of the error over that of the last value 1.000, the largest 4.00",
		"less than half in 1, more than twice in 1; the 95 % bands held 80.0 %", "more than twice: c (4.00, use)",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}

// TestReportKnown checks that knowing a drift of a standard deviation lowers the error by a fifth, and that still one forecast in
// seven errs more than twice as much as the last value.
func TestReportKnown(t *testing.T) {
	var text strings.Builder
	reportKnown(&text)
	const want = "a drift of 1 standard deviations, known: geometric mean of the error over that of the last value 0.8"
	if !strings.Contains(text.String(), want) {
		t.Errorf("%q is not in\n%s", want, text.String())
	}
	t.Log(text.String())
}

package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/show"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

var number = regexp.MustCompile(`-?\d+(\.\d+)?`)

// sameFigure returns "" or says where two figures differ by more than a tenth of a point, which is invisible. Processors with
// fused multiply-add give other last digits.
func sameFigure(got, want string) string {
	if number.ReplaceAllString(got, "#") != number.ReplaceAllString(want, "#") {
		return "elements or texts"
	}
	wants := number.FindAllString(want, -1)
	for i, text := range number.FindAllString(got, -1) {
		g, _ := strconv.ParseFloat(text, 64)
		w, _ := strconv.ParseFloat(wants[i], 64)
		if math.Abs(g-w) > 0.1 {
			return text + " in place of " + wants[i]
		}
	}
	return ""
}

// TestFigure checks that the committed figure equals the one that the command draws.
func TestFigure(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains a model")
	}
	split, err := show.SplitAt(dataset.CO2(), until, 1)
	if err != nil {
		t.Fatal(err)
	}
	figure, err := withTrend(split)
	if err != nil {
		t.Fatal(err)
	}
	drawn := current(t, figure, "../../docs/forecast.svg")
	for _, other := range []string{drawn + "<g/>", number.ReplaceAllString(drawn, "7")} {
		if sameFigure(other, drawn) == "" {
			t.Error("the comparison does not see a difference")
		}
	}
}

// TestIdea checks both drawings of the figure of the index.
func TestIdea(t *testing.T) {
	figure, err := idea()
	if err != nil {
		t.Fatal(err)
	}
	current(t, figure, "../../scripts/report/idea.svg")
}

// current compares the files of a figure with the committed ones, and returns the figure's.
func current(t *testing.T, figure *viz.Figure, committed string) (drawn string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawn.svg")
	if err := figure.SaveImages(path); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"-narrow.svg", ".svg"} {
		file := strings.TrimSuffix(committed, ".svg") + end
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(strings.TrimSuffix(path, ".svg") + end)
		if err != nil {
			t.Fatal(err)
		}
		if where := sameFigure(string(got), string(want)); where != "" {
			t.Errorf("%s is not what is drawn: %s. Make it again: go run ./measure/figures docs/forecast.svg scripts/report/idea.svg", file, where)
		}
		drawn = string(got)
	}
	return drawn
}

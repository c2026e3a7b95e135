package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/show"
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

// TestFigure checks that the committed figure is what the command draws.
func TestFigure(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains a model")
	}
	committed, err := os.ReadFile("../../docs/forecast.svg")
	if err != nil {
		t.Fatal(err)
	}
	split, err := show.SplitAt(dataset.CO2(), until, 1)
	if err != nil {
		t.Fatal(err)
	}
	figure, err := withTrend(split)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "forecast.svg")
	if err := figure.SaveImages(path); err != nil {
		t.Fatal(err)
	}
	drawn, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if where := sameFigure(string(drawn), string(committed)); where != "" {
		t.Errorf("docs/forecast.svg is not what is drawn: %s. Make it again: go run ./measure/figures docs/forecast.svg", where)
	}
	for _, other := range []string{string(drawn) + "<g/>", number.ReplaceAllString(string(drawn), "7")} {
		if sameFigure(other, string(drawn)) == "" {
			t.Error("the comparison does not see a difference")
		}
	}
}

package viz

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
)

// TestLiveHTML checks that a live figure is the figure plus what it is computed from, and that a value without JSON is an error.
func TestLiveHTML(t *testing.T) {
	f, err := Curves(CurvesOptions{Frame: Frame{Title: "line", XLabel: "x", YLabel: "y"},
		Curves: []Curve{{Name: "line", Y: []float64{1, 2, 3}}}})
	if err != nil {
		t.Fatal(err)
	}
	still, err := f.HTML()
	if err != nil {
		t.Fatal(err)
	}
	live, err := f.LiveHTML(map[string]any{"controls": []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	data := regexp.MustCompile(` ?data-live="([^"]*)"`).FindStringSubmatch(string(live))
	if data == nil || strings.Replace(string(live), data[0], "", 1) != string(still) {
		t.Fatalf("the live figure is %.100s, the other one %.100s", live, still)
	}
	packed, err := base64.StdEncoding.DecodeString(data[1])
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != `{"controls":[1]}` {
		t.Errorf("computed from %s, %v", text, err)
	}
	if _, err := f.LiveHTML(math.NaN()); err == nil || !strings.Contains(err.Error(), "line") {
		t.Errorf("NaN: %v", err)
	}
	if shown, err := ShowLive(f, 1); shown || err != nil {
		t.Errorf("outside a notebook: %v, %v", shown, err)
	}
}

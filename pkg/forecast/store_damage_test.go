package forecast

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"testing"

	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestModelDamage flips a bit of every byte of a saved model, each of the eight in turn: it is refused or is the same analysis.
func TestModelDamage(t *testing.T) {
	a, err := Fit(context.Background(), longSeries(t, 30, 0.5), Options{Kernels: []string{"SE"}, Log: "never", Trend: "none"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.json")
	if err := a.Save(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(text []byte) ([]byte, error) {
		b, err := decode(text)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = b.Encode(&out)
		return out.Bytes(), err
	}
	want, err := read(whole)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range whole {
		changed := bytes.Clone(whole)
		changed[i] ^= bits.RotateLeft8(1, i)
		switch got, err := read(changed); {
		case err != nil:
			refused++
		case !bytes.Equal(got, want):
			t.Errorf("byte %d, %q for %q, is accepted", i, changed[i], whole[i])
		}
	}
	t.Logf("%d of %d changes are refused", refused, len(whole))
}

// TestModelBefore: a model file of the previous version, which standardised the whole series, forecasts as it did.
func TestModelBefore(t *testing.T) {
	a, err := Fit(context.Background(), longSeries(t, 60, 0.5), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := a.Encode(&text); err != nil {
		t.Fatal(err)
	}
	object, err := sealed.Open(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		t.Fatal(err)
	}
	fields["version"], fields["trained_on"] = json.RawMessage("1"), json.RawMessage("20")
	delete(fields, "effort")
	if object, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	before, err := decode(sealed.Seal(object))
	if err != nil {
		t.Fatal(err)
	}
	got, err := before.Forecast(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	want, err := a.Forecast(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Median {
		if math.Abs(got.Median[i]-want.Median[i]) > 1e-9 || math.Abs(got.Upper[i]-want.Upper[i]) > 1e-9 {
			t.Errorf("%d ahead: %v up to %v, want %v up to %v", i+1, got.Median[i], got.Upper[i], want.Median[i], want.Upper[i])
		}
	}
	fields["version"] = json.RawMessage("3")
	if object, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	if _, err := decode(sealed.Seal(object)); err == nil {
		t.Error("a version to come is read")
	}
}

// TestEncodePieces: a series that is written in pieces has the bytes that package json writes for the whole.
func TestEncodePieces(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 14, 1<<14 + 1, 50001} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float64(i)+1e-9, math.Sin(float64(i))*math.Pow(10, float64(i%40-20))
		}
		whole := stored{Header: sealed.Header{Format: format, Version: version},
			Series: series.Series{Source: series.Source{File: `a "x":[],"y":[] b`}, X: x, Y: y}}
		want, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		whole.X, whole.Y = []float64{}, []float64{}
		object, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := writeStored(sealed.NewWriter(&got), object, x, y); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), append(sealed.Seal(want), '\n')) {
			t.Errorf("n = %d: other bytes", n)
		}
	}
}

package forecast

import (
	"bytes"
	"context"
	"math/bits"
	"os"
	"path/filepath"
	"testing"
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

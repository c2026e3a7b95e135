package main

import (
	"bytes"
	"encoding/json"
	"math/bits"
	"path/filepath"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// TestDamagedResult flips a bit of every byte of an indented model of sums: the model is refused, or it is the same result.
func TestDamagedResult(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, "sum", put(t, dir, "a.csv", plain), "--lengthscale", "0.1", "-o", at("a.sums"), "-q")
	must(t, "fit", at("a.sums"), "--model", at("m.json"), "-q")
	whole := bytesOf(t, at("m.json"))
	read := func(text []byte) ([]byte, error) {
		r := new(store.Result)
		if err := json.Unmarshal(text, r); err != nil {
			return nil, err
		}
		return json.Marshal(r)
	}
	want, err := read(whole)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := store.Load(at("m.json")); err != nil || store.Save(at("again.json"), r) != nil ||
		!bytes.Equal(bytesOf(t, at("again.json")), whole) {
		t.Errorf("store.Load and store.Save give another file: %v", err)
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

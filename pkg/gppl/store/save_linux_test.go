package store_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/faultydisk"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

func TestSaveWholeOrNot(t *testing.T) {
	if !faultydisk.Alone(t) {
		return
	}
	r := &gppl.Result{Model: gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 1}, Reason: strings.Repeat("x", 10000)}
	for _, p := range r.Model.Params() {
		r.Params = append(r.Params, gppl.FittedParam{Param: p, Start: 1})
	}
	path := filepath.Join(t.TempDir(), "result.json")
	if err := store.Save(path, r); err != nil {
		t.Fatal(err)
	}
	faultydisk.CheckSave(t, path, func() error { return store.Save(path, r) })
	if _, err := store.Load(path); err != nil {
		t.Error(err)
	}
}

package viz

import (
	"path/filepath"
	"testing"

	"github.com/projected-likelihood/gppl/internal/badfs"
)

func TestSaveWholeOrNot(t *testing.T) {
	if !badfs.Alone(t) {
		return
	}
	f := Must(Curves(CurvesOptions{Frame: frame(""), Curves: []Curve{{Y: []float64{1, 2}}}}))
	for _, ext := range []string{".svg", ".png", ".pdf"} {
		t.Run(ext, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "figure"+ext)
			if err := f.Save(path); err != nil {
				t.Fatal(err)
			}
			badfs.CheckSave(t, path, func() error { return f.Save(path) })
		})
	}
}

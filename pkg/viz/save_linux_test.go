package viz

import (
	"path/filepath"
	"testing"

	"github.com/projected-likelihood/gppl/internal/faultydisk"
)

func TestSaveWholeOrNot(t *testing.T) {
	if !faultydisk.Alone(t) {
		return
	}
	f := Must(Curves(CurvesOptions{Frame: frame(""), Curves: []Curve{{Y: []float64{1, 2}}}}))
	for _, ext := range []string{".svg", ".png", ".pdf"} {
		t.Run(ext, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "figure"+ext)
			if err := f.Save(path); err != nil {
				t.Fatal(err)
			}
			faultydisk.CheckSave(t, path, func() error { return f.Save(path) })
		})
	}
}

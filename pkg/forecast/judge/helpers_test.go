package judge

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// ofParts lets tests compare forecasts with the scales of their parts.
var ofParts = cmp.AllowUnexported(forecast.Part{})

func automatic(t *testing.T, s *series.Series, o forecast.Options) *forecast.Analysis {
	t.Helper()
	a, err := forecast.Fit(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// decoded returns the analysis in the text of a file.
func decoded(t *testing.T, text []byte) (*forecast.Analysis, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "analysis.json")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return forecast.Load(path)
}

// reloaded returns the analysis as it is read after it was saved.
func reloaded(t *testing.T, a *forecast.Analysis) *forecast.Analysis {
	t.Helper()
	var b bytes.Buffer
	if err := a.Encode(&b); err != nil {
		t.Fatal(err)
	}
	loaded, err := decoded(t, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

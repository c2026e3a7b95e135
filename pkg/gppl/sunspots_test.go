package gppl_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// sunspots is the paper's series, standardised; the test is skipped where the
// file is not at hand.
func sunspots(t testing.TB) gppl.Data {
	t.Helper()
	s, err := dataset.Sunspots(context.Background(), dataset.Options{Offline: true, Log: io.Discard})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no sunspot file: set GPPL_DATA to the folder that holds it")
	}
	if err != nil {
		t.Fatal(err)
	}
	s, _ = s.Standardize()
	return testkit.Must(gppl.NewData(gppl.Scalars(s.X), s.Y))(t)
}

// TestSunspotOptima trains the exact likelihood from the paper's start, in one go, by the engines that are chosen. RQ ends at a
// local optimum from there: its lowest is 1506.424 (auto.Fit). GPPL_LONG=1 does the same densely, which takes minutes.
func TestSunspotOptima(t *testing.T) {
	if testkit.Quick() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	engines := []string{""}
	if testkit.Long() {
		engines = append(engines, gppl.EngineDense)
	}
	d := sunspots(t)
	for _, engine := range engines {
		for _, c := range []struct {
			kernel gppl.Kernel
			want   float64
		}{
			{gppl.SE{}, 1549.119},
			{gppl.Laplace{}, 1432.675},
			{gppl.RQ{}, 1531.907},
			{gppl.LocPer{}, 1468.565},
		}[:testkit.Size(0, 2, 4)] { // the others take half a minute
			l := testkit.Must(gppl.NewExact(t.Context(), gppl.PaperModel(c.kernel), d, gppl.WithEngine(engine)))(t)
			r := testkit.Must(gppl.Fit(context.Background(), l, nil, gppl.Settings{NoStandardErrors: true}))(t)
			t.Log(r)
			if math.Abs(r.Value-c.want) > 0.01 || r.Status != gppl.Converged {
				t.Errorf("%v by %s: %v, %s; want %v", r.Model, r.Engine, r.Value, r.Status, c.want)
			}
		}
	}
}

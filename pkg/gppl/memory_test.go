package gppl_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestProjectedMemory reads what the heap holds at most while PL is set up and
// evaluated, value and gradient, at n = 20 000 and k = 100: an n×n matrix would
// be 3.2 GB.
func TestProjectedMemory(t *testing.T) {
	if testkit.Quick() {
		t.Skip("takes some seconds")
	}
	const n, k, limit = 20000, 100, 200 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	stop, peak := make(chan bool), make(chan uint64)
	go func() {
		var worst uint64
		var s runtime.MemStats
		for {
			runtime.ReadMemStats(&s)
			worst = max(worst, s.HeapInuse)
			select {
			case <-stop:
				peak <- worst
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	x := uniform(n, 1000, 1)
	y := make([]float64, n)
	for i := range y {
		y[i] = x.At(i)[0] - 500
	}
	d := testkit.Must(gppl.NewData(x, y))(t)
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.OneHot{}, x, k, 1))(t)
	l := testkit.Must(gppl.NewProjected(t.Context(), gppl.PaperModel(gppl.SE{}), d, p))(t)
	theta := []float64{1, 5, 0.1}
	if _, err := l.ValueGrad(t.Context(), make([]float64, 3), theta); err != nil {
		t.Fatal(err)
	}
	close(stop)
	if got := <-peak; got > limit {
		t.Errorf("the heap grew to %d MB, limit %d MB", got>>20, limit>>20)
	} else {
		t.Logf("the heap grew to %d MB", got>>20)
	}
}

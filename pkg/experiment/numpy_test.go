package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestLegacyNormal compares with NumPy 1.26.4: after numpy.random.seed(55), a digest of the first 100 000 numbers of
// random_sample(), and numbers of randn(3319, 100).
func TestLegacyNormal(t *testing.T) {
	g := newLegacyNormal(notebookSeed)
	hash := sha256.New()
	for range 100_000 {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(g.uniform()))
		hash.Write(b[:])
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != "24e3e37de11b2e5b57555fb4263abc36bd08b2f3fd72c88902a1028412557da4" {
		t.Errorf("the uniform numbers have digest %s", got)
	}
	want := map[int]float64{0: -1.6237311146339946, 1: -0.10178393227075644, 2: -1.809791098294546, 3: 0.2626538403016696,
		331897: -0.7821395224278191, 331898: -1.7780305553487876, 331899: -1.0131827342182338}
	g = newLegacyNormal(notebookSeed)
	sum := 0.0
	for i := range 3319 * 100 {
		v := g.next()
		sum += v
		if w, ok := want[i]; ok && math.Abs(v-w) > 4e-16*math.Abs(w) {
			t.Errorf("number %d is %v, want %v", i, v, w)
		}
	}
	if math.Abs(sum-20.017200615549655) > 1e-9 {
		t.Errorf("the sum is %v", sum)
	}
}

// TestNotebookOmega compares Ω of the sunspot notebook with NumPy's: randn, normalised columns, numpy.linalg.qr.
func TestNotebookOmega(t *testing.T) {
	omega, err := gppl.NewProjection(t.Context(), legacySphere{notebookSeed}, gppl.Scalars(Grid(0, 1, 3319)), 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		i, j int
		want float64
	}{
		{0, 0, -0.028961785360937187}, {0, 1, -0.0015847458451898231}, {0, 2, -0.0303142650852942}, {1000, 50, 0.003340363393234151},
		{3318, 98, -0.03251723630469521}, {3318, 99, -0.012144805458016064},
	} {
		if got := testkit.Must(omega.Omega(t.Context()))(t).At(c.i, c.j); math.Abs(got-c.want) > 1e-14 {
			t.Errorf("Ω[%d, %d] = %v, want %v", c.i, c.j, got, c.want)
		}
	}
}

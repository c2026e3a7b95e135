package theory

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// TestLowRank compares with dense matrices: the spectra of K and of Σ, the top
// eigenvectors, the traces.
func TestLowRank(t *testing.T) {
	const n, k, v, l = 150, 20, 5, 10
	x := Times(n, 75, 3)
	kernel := gppl.SE{Variance: v, Lengthscale: l}
	low := testkit.Must(newLowRank(kernel, x))(t)
	trace := floats.Sum(low.eigenvalues())
	if len(low.root) > n/2 || math.Abs(low.rest) > 1e-10 || math.Abs(trace-n*v) > 1e-10 {
		t.Errorf("rank %d, trace %v of %v, left out %v", len(low.root), trace, n*v, low.rest)
	}
	descending := func(a mat.Symmetric) []float64 {
		e := eigenvalues(a)
		slices.Reverse(e)
		return e
	}
	compare := func(what string, got, want []float64) {
		t.Helper()
		for i, w := range want {
			g := 0.0
			if i < len(got) {
				g = got[i]
			}
			if math.Abs(g-w) > 1e-11*want[0]+1e-12 {
				t.Errorf("%s: eigenvalue %d is %v, want %v", what, i, g, w)
			}
		}
	}
	for _, noise := range []float64{0.1, 1e-3} {
		info := testkit.Must(fisher.New(t.Context(), gppl.Model{Kernel: kernel, Noise: noise}, x))(t)
		gram := info.Covariance()
		for i := range n {
			gram.SetSym(i, i, v)
		}
		compare("K", low.eigenvalues(), descending(gram))
		for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Localised{}, gppl.OneHot{}, unsorted{}, gppl.Spectral{}, low.top()} {
			p := testkit.Must(gppl.NewProjection(t.Context(), design, x, k, 1))(t)
			want := testkit.Must(info.ConditionalLatent(t.Context(), p))(t)
			compare(design.String(), testkit.Must(low.conditionalEigenvalues(p, noise))(t), descending(want))
			trace := testkit.Must(low.conditionalTrace(p, noise))(t)
			if math.Abs(trace-mat.Trace(want)) > 1e-9*n*v {
				t.Errorf("%v: trace %v, want %v", design, trace, mat.Trace(want))
			}
			var projected mat.Dense
			projected.Product(testkit.Must(p.Omega(t.Context()))(t).T(), gram, testkit.Must(p.Omega(t.Context()))(t))
			if got, want := testkit.Must(low.meanProjected(p))(t), mat.Trace(&projected)/k; math.Abs(got-want) > 1e-10*want {
				t.Errorf("%v: mean of the diagonal of ΩᵀKΩ %v, want %v", design, got, want)
			}
		}
	}
	theirs := testkit.Must(gppl.NewProjection(t.Context(), gppl.Eigen{Kernel: kernel}, x, 5, 0))(t)
	ours := testkit.Must(gppl.NewProjection(t.Context(), low.top(), x, 5, 0))(t)
	var overlap mat.Dense
	overlap.Mul(testkit.Must(theirs.Omega(t.Context()))(t).T(), testkit.Must(ours.Omega(t.Context()))(t))
	if d := mat.Norm(&overlap, 2); math.Abs(d-math.Sqrt(5)) > 1e-10 {
		t.Errorf("the span of the top 5 eigenvectors overlaps by %v, want √5", d)
	}
}

// TestUnsorted checks that the bumps equal Localised's up to the order of the observations.
func TestUnsorted(t *testing.T) {
	const n, k = 60, 4
	omega := mat.NewDense(n, k, nil)
	if err := (unsorted{}).Directions(t.Context(), omega, Times(n, 30, 1), rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	for j := range k {
		column := slices.Sorted(slices.Values(mat.Col(nil, j, omega)))
		var want []float64
		for i := range n {
			d := 3 * k * (float64(i)/n - float64(j)/k)
			want = append(want, math.Exp(-0.5*d*d))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, column, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })); diff != "" {
			t.Errorf("column %d (-want +got):\n%s", j, diff)
		}
	}
}

func TestLine(t *testing.T) {
	x := Times(1000, 500, 1)
	lo, hi := x.Range(0)
	if lo <= 0 || hi >= 500 || hi-lo < 490 || !slices.IsSorted(mat.Col(nil, 0, mat.NewDense(1000, 1, flat(x)))) {
		t.Errorf("from %v to %v", lo, hi)
	}
	if cmp.Equal(flat(x), flat(Times(1000, 500, 2))) || !cmp.Equal(flat(x), flat(Times(1000, 500, 1))) {
		t.Error("the seed does not decide")
	}
}

func flat(x gppl.Inputs) (all []float64) {
	for i := range x.Len() {
		all = append(all, x.At(i)...)
	}
	return all
}

// TestSmoke runs everything at smoke scale, where the statements about the
// theorem are judged as at full scale; those about figure 1 need its size.
func TestSmoke(t *testing.T) {
	theorem := testkit.Must(Theorem(scales.Smoke))(t)
	var told []string
	spectrum := testkit.Must(Spectrum(scales.Smoke, func(done, total int, what string) { told = append(told, what) }))(t)
	if len(told) != 5 || told[4] != "done" {
		t.Errorf("progress told %q", told)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "theorem.json")
	if err := Write(path, theorem); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(theorem, testkit.Must(Read[TheoremResults](path))(t)); diff != "" {
		t.Errorf("theorem, as read again: %s", diff)
	}
	if err := Write(path, spectrum); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(spectrum, testkit.Must(Read[SpectrumResults](path))(t)); diff != "" {
		t.Errorf("spectrum, as read again: %s", diff)
	}
	stored := filepath.Join(dir, "theory.json")
	for _, r := range []Results{theorem.Numbers(), spectrum.Numbers()} {
		if err := r.Save(stored); err != nil {
			t.Fatal(err)
		}
	}
	results := testkit.Must(Load(stored))(t)
	for name, most := range map[string]float64{"theorem.score.worst_deviation": 4.5, "theorem.routes.worst": 1e-9, "theorem.k_equals_n.lost": 1e-20,
		"theorem.k_equals_n.off": 1e-6, "theorem.bounds.corrected_violations": 0, "theorem.slope.off": 1e-9} {
		if v, ok := results[name]; !ok || !(v <= most) {
			t.Errorf("%s is %v (%v), want at most %v", name, v, ok, most)
		}
	}
	for name, least := range map[string]float64{"theorem.bounds.printed_violations": 1, "theorem.loss.least_eigenvalue": -1e-12,
		"theorem.choice.sphere.commutator": 0.01} {
		if v, ok := results[name]; !ok || !(v >= least) {
			t.Errorf("%s is %v (%v), want at least %v", name, v, ok, least)
		}
	}
}

func TestResults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results", "theory.json")
	if r := testkit.Must(Load(path))(t); len(r) != 0 {
		t.Errorf("a file that is not there holds %v", r)
	}
	// Last, another machine: a and c differ by rounding, b does not.
	for _, r := range []Results{{"a": 1.23456789, "b": 2}, {"b": 3, "c": 1e-30}, {"a": 1.234571, "b": 3.0001, "c": -2e-12}} {
		if err := r.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(Results{"a": 1.23457, "b": 3.0001, "c": 1e-30}, testkit.Must(Load(path))(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := (Results{"bad": math.NaN()}).Save(path); err == nil || !strings.Contains(err.Error(), "bad") {
		t.Errorf("NaN: error %v", err)
	}
}

func TestBound(t *testing.T) {
	b := Bound{Trace: 5, PrintedLo: 1, PrintedHi: 4, CorrectedLo: 2, CorrectedHi: 6}
	if b.Printed() || !b.Corrected() {
		t.Errorf("%+v: printed %v, corrected %v", b, b.Printed(), b.Corrected())
	}
	b.Trace = 1.9
	if !b.Printed() || b.Corrected() {
		t.Errorf("%+v: printed %v, corrected %v", b, b.Printed(), b.Corrected())
	}
}

// TestStoredStudy: the numbers that the ledger reads come from the study that notebook 04 shows from the store.
func TestStoredStudy(t *testing.T) {
	study, err := Read[SpectrumResults]("../../../notebooks/results/spectrum.json")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := Load("../../../notebooks/results/theory.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range study.Numbers() {
		if old, ok := stored[name]; !ok || !sameButRounding(old, v) {
			t.Errorf("%s is %v in the study, and %v is stored (%v)", name, v, old, ok)
		}
	}
}

// TestStoredTheory computes the numbers of the theorem and of Figure 1 again. Quick tests take five of the
// figure's twenty draws, different ones each day: their means must lie near the means of all twenty.
func TestStoredTheory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	stored := testkit.Must(Load("../../../notebooks/results/theory.json"))(t)
	same := func(again Results) {
		for name, v := range again {
			if old, ok := stored[name]; !ok || !sameButRounding(old, v) {
				t.Errorf("%s is %v, and %v is stored (%v)", name, v, old, ok)
			}
		}
	}
	same(testkit.Must(Theorem(scales.Full))(t).Numbers())
	if !testkit.Quick() {
		same(testkit.Must(FigureOne(scales.Full))(t))
		return
	}
	day := uint64(time.Now().Unix() / (24 * 60 * 60))
	seeds := []uint64{1 + day%20, 1 + (day+3)%20, 1 + (day+7)%20, 1 + (day+11)%20, 1 + (day+15)%20}
	const most = 4.5 // standard errors of a mean of five
	for name, v := range testkit.Must(figureOne(2000, seeds))(t) {
		at, of := strings.CutSuffix(name, ".mean")
		if sd := stored[at+".sd"]; of && math.Abs(v-stored[name]) > most*sd/math.Sqrt(5) {
			t.Errorf("%s is %v over the draws %v, and %v ± %v is stored", name, v, seeds, stored[name], sd)
		}
	}
}

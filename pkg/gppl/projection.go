package gppl

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/projected"
)

// A Design draws the directions ω₁, …, ω_k, the columns of Ω, onto which observations are projected.
type Design interface {
	// Directions sets the n×k matrix omega to the directions for the inputs x, not yet orthonormal. All randomness comes from rnd
	// (math/rand/v2). It ends soon after ctx does, with an error that wraps ctx's.
	Directions(ctx context.Context, omega *mat.Dense, x Inputs, rnd *rand.Rand) error
	fmt.Stringer
}

var (
	_ Design = Sphere{}
	_ Design = Repulsive{}
	_ Design = Localised{}
	_ Design = OneHot{}
	_ Design = Mixed{}
	_ Design = Identity{}
	_ Design = Eigen{}
	_ Design = Spectral{}
	_ Design = Raw{}
)

// A Projection is a matrix Ω (n×k) whose columns are directions in the space of the n observations; z = Ωᵀy are the projected
// data. Its columns are orthonormal unless the design is Raw. The Ω of Spectral is formed when Omega is called: losses whose
// kernels have a spectrum do not need it. A Projection must not be copied.
type Projection struct {
	Orthonormal bool // ΩᵀΩ = I
	Design      string
	Seed        uint64

	n, k  int
	drawn int // columns of Spectral tried by SpectralProjection, 0 for others

	forming sync.Mutex
	omega   *mat.Dense      // Ω of waves is formed on demand
	waves   *fourier.Waves  // nil where there is Ω only
	moment  fourier.Moments // moments of waves, which JSON keeps
	ofSums  bool            // made by Data.Projection: there is no Ω
	from    *Projection     // the projection that Extend added to: Ω begins with its columns
}

// String has the sizes and the design, not Ω.
func (p *Projection) String() string {
	return fmt.Sprintf("%d projections of %d observations, %s, seed %d", p.k, p.n, p.Design, p.Seed)
}

// ProjectionOf returns the projection on the columns of omega, as they are; they need not be orthonormal. It keeps omega, which
// must not change afterwards.
func ProjectionOf(omega *mat.Dense) *Projection {
	n, k := omega.Dims()
	return &Projection{Design: "given", n: n, k: k, omega: omega}
}

// Omega returns Ω, n×k, which must not be changed. A Spectral one is formed on the first call, in O(nk²), and kept.
func (p *Projection) Omega(ctx context.Context) (omega *mat.Dense, err error) {
	defer parallel.Stopped(&err)
	return p.formed(ctx), nil
}

// formed is Omega until ctx ends (parallel.Look).
func (p *Projection) formed(ctx context.Context) *mat.Dense {
	p.forming.Lock()
	defer p.forming.Unlock()
	if p.omega == nil {
		p.omega = p.form(ctx)
	}
	return p.omega
}

// NewProjection draws k directions for the inputs x by the given design and seed and orthonormalises them by a thin QR
// factorisation, in O(nk²). For Spectral{} with up to about 150 directions, sums over the data replace both, in O(n + k³) time
// and O(n) memory. The same arguments give the same Ω. It is an error if k is not in 1, …, n, or if the directions are linearly
// dependent: the error then names the columns that depend on those before them.
func NewProjection(ctx context.Context, design Design, x Inputs, k int, seed uint64) (p *Projection, err error) {
	defer parallel.Stopped(&err)
	if design == nil {
		panic("gppl: NewProjection: design is nil")
	}
	n := x.Len()
	if err := x.check("x"); err != nil {
		return nil, err
	}
	if k < 1 || k > n {
		return nil, fmt.Errorf("gppl: k = %d projections of n = %d observations: want 1 ≤ k ≤ n", k, n)
	}
	if design == Design(Spectral{}) {
		if waves := newWaves(ctx, x, k, nil); waves != nil {
			return ofWaves(waves, design.String(), seed), nil
		}
	}
	if bytes := formingBytes(n, k); bytes > choice.DefaultMemory {
		return nil, &MemoryError{What: fmt.Sprintf("%d projections of n = %d", k, n), Needed: bytes, Limit: choice.DefaultMemory}
	}
	omega := mat.NewDense(n, k, nil)
	p = &Projection{Design: design.String(), Seed: seed, n: n, k: k, omega: omega}
	if err := design.Directions(ctx, omega, x, rand.New(rand.NewPCG(seed, 0))); err != nil {
		return nil, err
	}
	parallel.Look(ctx)
	entries := omega.RawMatrix().Data
	if i := numeric.FirstNotFinite(entries); i >= 0 {
		return nil, fmt.Errorf("gppl: %v projection: direction %d has entry %v at observation %d", design, i%k, entries[i], i/k)
	}
	if _, raw := design.(Raw); raw {
		return p, nil
	}
	p.Orthonormal = true
	f := dense.Orthonormalise(ctx, omega.RawMatrix())
	if f.Dependent != nil || k < n && !f.Sound() { // n columns span everything
		return nil, dependentError(f, design.String(), k)
	}
	return p, nil
}

// Dims returns the number of observations n and of projections k.
func (p *Projection) Dims() (n, k int) { return p.n, p.k }

// A DependentError is the error of directions that depend on one another, or so nearly that rounding decides where some of them
// point.
type DependentError struct {
	Design    string
	N, K      int     // observations and directions
	Columns   []int   // columns that vanish or depend on those before them, from 0; none if only rounding decides
	Condition float64 // condition number of Ω with columns scaled to length one
	Sound     int     // number of leading columns that are sound
}

func (e *DependentError) Error() string {
	if e.Columns == nil {
		return fmt.Sprintf("gppl: %v projection of n = %d observations: rounding decides where some of k = %d columns point, whose"+
			" condition is %.2g: the first %d are sound", e.Design, e.N, e.K, e.Condition, e.Sound)
	}
	return fmt.Sprintf("gppl: %v projection of n = %d observations has rank %d of k = %d: columns %v (from 0) vanish or depend"+
		" on those before them", e.Design, e.N, e.K-len(e.Columns), e.K, e.Columns)
}

// dependentError returns what is wrong with the k directions of a design.
func dependentError(f *dense.QR, design string, k int) error {
	return &DependentError{Design: design, N: f.Rows, K: k, Columns: f.Dependent, Condition: f.Cond, Sound: f.Leading}
}

// illConditioned is the condition of Ω from which on losses compute with an orthonormal basis: the covariance of the projections
// has its square. Below it the digits that are lost are in the error bound.
const illConditioned = 1e4

// wellConditioned returns p or, if its columns are nearly dependent, the projection on an orthonormal basis Q of their span, and
// log|det R| of Ω = QR. The projections by Ω are Rᵀ times those by Q, so that their likelihoods differ by log|det R|. Where
// rounding decides the span it returns p. It runs until ctx ends (parallel.Look).
func (p *Projection) wellConditioned(ctx context.Context) (*Projection, float64) {
	if p.Orthonormal {
		return p, 0
	}
	q, f := dense.OrthonormalBasis(ctx, p.formed(ctx).RawMatrix())
	if f.Cond < illConditioned || !f.Sound() {
		return p, 0
	}
	basis := &Projection{Design: p.Design, Seed: p.Seed, Orthonormal: true, n: p.n, k: p.k}
	basis.omega = mat.NewDense(q.Rows, q.Cols, q.Data)
	return basis, f.LogDet
}

// Sphere draws directions uniformly on the unit sphere of R^n. Orthonormalised they span a uniformly distributed subspace.
type Sphere struct{}

func (Sphere) String() string { return "Sphere" }

func (Sphere) Directions(ctx context.Context, omega *mat.Dense, _ Inputs, rnd *rand.Rand) (err error) {
	defer parallel.Stopped(&err)
	n, _ := omega.Dims()
	for i := range n {
		parallel.Look(ctx)
		row := omega.RawRowView(i)
		for j := range row {
			row[j] = rnd.NormFloat64()
		}
	}
	dense.Normalise(ctx, omega.RawMatrix())
	return nil
}

// Repulsive starts from Sphere and lets the directions repel each other
// pairwise, W ← normalise(W − η·W·offdiag(WᵀW)), as the authors' code does.
//
// Every step multiplies W from the right, so that the span never changes: once orthonormalised, Repulsive is Sphere with the same
// seed, up to a rotation, which does not change the projected likelihood. The same holds for Raw{Repulsive{}}, up to a constant
// and rounding.
type Repulsive struct {
	Steps int     // 0 means 200
	Rate  float64 // η; 0 means 0.1
}

func (d Repulsive) String() string { return "Repulsive" }

// Directions takes O(nk² + steps·k³).
func (d Repulsive) Directions(ctx context.Context, omega *mat.Dense, x Inputs, rnd *rand.Rand) (err error) {
	defer parallel.Stopped(&err)
	if err := (Sphere{}).Directions(ctx, omega, x, rnd); err != nil {
		return err
	}
	dense.Repel(ctx, omega, cmp.Or(d.Steps, 200), cmp.Or(d.Rate, 0.1))
	return nil
}

// Localised weighs the observations by k Gaussian bumps whose centres are evenly spread over the range of x, each of width
// (standard deviation) range/3k. It needs d = 1; bumps over a gap in the data can be linearly dependent, which NewProjection
// reports.
type Localised struct{}

func (Localised) String() string { return "Localised" }

func (Localised) Directions(ctx context.Context, omega *mat.Dense, x Inputs, _ *rand.Rand) (err error) {
	defer parallel.Stopped(&err)
	lo, span, err := rangeOf(x, "Localised")
	if err != nil {
		return err
	}
	_, k := omega.Dims()
	width := span / float64(3*k)
	for i, xi := range x.at {
		parallel.Look(ctx)
		row := omega.RawRowView(i)
		for j := range row {
			t := (xi - lo - span*(float64(j)+0.5)/float64(k)) / width
			row[j] = math.Exp(-0.5 * t * t)
		}
	}
	return nil
}

// rangeOf returns the start and the length of the range of a time series.
func rangeOf(x Inputs, design string) (lo, span float64, err error) {
	if x.d != 1 {
		return 0, 0, fmt.Errorf("gppl: %s projection needs inputs of dimension 1, not %d", design, x.d)
	}
	lo, hi := x.Range(0)
	if lo == hi {
		if x.Len() == 1 {
			return lo, 1, nil
		}
		return 0, 0, fmt.Errorf("gppl: %s projection: all x equal %v", design, lo)
	}
	return lo, hi - lo, nil
}

// OneHot picks k distinct observations at random: the projected likelihood is then the exact one on a random subset of the data.
type OneHot struct{}

func (OneHot) String() string { return "OneHot" }

func (OneHot) Directions(_ context.Context, omega *mat.Dense, _ Inputs, rnd *rand.Rand) error {
	n, k := omega.Dims()
	omega.Zero()
	picked := rnd.Perm(n)[:k]
	slices.Sort(picked)
	for j, i := range picked {
		omega.Set(i, j, 1)
	}
	return nil
}

// Mixed divides the directions as evenly as possible among several designs, in their order.
type Mixed struct {
	Designs []Design // nil means Sphere, Localised, OneHot
}

func (d Mixed) designs() []Design {
	if d.Designs == nil {
		return []Design{Sphere{}, Localised{}, OneHot{}}
	}
	return d.Designs
}

func (d Mixed) String() string { return "Mixed" + fmt.Sprint(d.designs()) }

func (d Mixed) Directions(ctx context.Context, omega *mat.Dense, x Inputs, rnd *rand.Rand) (err error) {
	defer parallel.Stopped(&err)
	parts := d.designs()
	n, k := omega.Dims()
	for i, part := range parts {
		from, to := i*k/len(parts), (i+1)*k/len(parts)
		if from == to {
			continue
		}
		w := mat.NewDense(n, to-from, nil)
		if err := part.Directions(ctx, w, x, rnd); err != nil {
			return err
		}
		parallel.Look(ctx)
		dense.Normalise(ctx, w.RawMatrix())
		omega.Slice(0, n, from, to).(*mat.Dense).Copy(w)
	}
	return nil
}

// Identity is Ω = I, which needs k = n and recovers the exact likelihood.
type Identity struct{}

func (Identity) String() string { return "Identity" }

func (Identity) Directions(_ context.Context, omega *mat.Dense, _ Inputs, _ *rand.Rand) error {
	n, k := omega.Dims()
	if n != k {
		return fmt.Errorf("gppl: Identity projection needs k = n = %d, not k = %d", n, k)
	}
	omega.Zero()
	for i := range n {
		omega.Set(i, i, 1)
	}
	return nil
}

// Eigen takes the eigenvectors of the k largest eigenvalues of the Gram matrix K of the given kernel, in O(n³) time and O(n²)
// memory. They minimise the trace of Cov(Y|Z), but need the kernel that is to be learnt: Eigen serves as a benchmark only. Its
// Directions return once ctx has ended, but the computation of eigenvalues goes on in vain.
type Eigen struct{ Kernel Kernel }

func (d Eigen) String() string { return "Eigen" }

func (d Eigen) Directions(ctx context.Context, omega *mat.Dense, x Inputs, _ *rand.Rand) (err error) {
	defer parallel.Stopped(&err)
	if d.Kernel == nil {
		return errors.New("gppl: Eigen projection needs a kernel")
	}
	if err := checkAxes(d.Kernel, x.Dim()); err != nil {
		return err
	}
	n, k := omega.Dims()
	if needed := 8 * 4 * float64(n) * float64(n); needed > choice.DefaultMemory { // the matrix, its eigenvectors, and work
		return &MemoryError{What: fmt.Sprintf("the Eigen projection of n = %d", n), Needed: needed, Limit: choice.DefaultMemory}
	}
	gram := make([]float64, n*n)
	if err := Covariance(ctx, gram, d.Kernel, x, x); err != nil {
		return fmt.Errorf("gppl: interrupted: %w", err)
	}
	var e mat.EigenSym
	var converged bool
	parallel.Apart(ctx, func() { converged = e.Factorize(mat.NewSymDense(n, gram), true) })
	if !converged {
		return fmt.Errorf("gppl: Eigen projection: the eigenvalues of the Gram matrix (n = %d) of %v did not converge", n, d.Kernel)
	}
	var u mat.Dense
	e.VectorsTo(&u)
	for j := range k { // eigenvalues ascend
		omega.ColView(j).(*mat.VecDense).CopyVec(u.ColView(n - 1 - j))
	}
	return nil
}

// Raw keeps the directions of a design as they are drawn, not orthonormalised and not checked for rank.
type Raw struct{ Design Design }

func (d Raw) String() string { return "Raw " + d.Design.String() }

func (d Raw) Directions(ctx context.Context, omega *mat.Dense, x Inputs, rnd *rand.Rand) (err error) {
	defer parallel.Stopped(&err)
	return d.Design.Directions(ctx, omega, x, rnd)
}

// Project returns z = Ωᵀy, of length k. It panics if len(y) is not n. For a
// Spectral projection without Ω it takes O(n), with an error of up to about
// 1e-8·|y|.
func (p *Projection) Project(y []float64) []float64 {
	n, k := p.Dims()
	if len(y) != n {
		panic(fmt.Sprintf("gppl: Project: len(y) = %d, want n = %d", len(y), n))
	}
	return projected.Directions{N: n, K: k, Waves: p.waves, Omega: p.matrix}.Project(y)
}

// projectionJSON holds Ω by rows as little-endian float64, which encoding/json writes in base64: exact, and half as long as
// digits.
type projectionJSON struct {
	Observations int
	Projections  int
	Omega        []byte
	Orthonormal  bool
	Design       string
	Seed         uint64
	Drawn        int       `json:",omitempty"`
	Moments      []float64 `json:",omitempty"` // moments from which Extend continues
}

// MarshalJSON writes all of the projection, Ω included.
func (p *Projection) MarshalJSON() ([]byte, error) {
	if p.k == 0 {
		return nil, errors.New("gppl: a projection without directions cannot be saved")
	}
	n, k := p.Dims()
	j := projectionJSON{Observations: n, Projections: k, Orthonormal: p.Orthonormal, Design: p.Design, Seed: p.Seed, Drawn: p.drawn,
		Moments: p.moment}
	omega := p.formed(context.Background())
	j.Omega = make([]byte, 0, 8*n*k)
	for i := range n {
		for _, v := range omega.RawRowView(i) {
			j.Omega = binary.LittleEndian.AppendUint64(j.Omega, math.Float64bits(v))
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote and checks it: entries must be finite, and orthonormal columns must have length 1.
func (p *Projection) UnmarshalJSON(b []byte) error {
	var j projectionJSON
	if err := sealed.Strict(b, &j); err != nil {
		return fmt.Errorf("gppl: projection: %w", err)
	}
	n, k := j.Observations, j.Projections
	// The second condition keeps n·k from overflowing.
	if n < 1 || k < 1 || k > n || n > len(j.Omega) || len(j.Omega) != 8*n*k || j.Drawn < 0 {
		return fmt.Errorf("gppl: projection: %d bytes for %d projections of %d observations", len(j.Omega), k, n)
	}
	entries := make([]float64, n*k)
	for i := range entries {
		entries[i] = math.Float64frombits(binary.LittleEndian.Uint64(j.Omega[8*i:]))
		if v := entries[i]; !numeric.IsFinite(v) {
			return fmt.Errorf("gppl: projection: direction %d has entry %v at observation %d", i%k, v, i/k)
		}
	}
	if j.Orthonormal {
		const rounding = 1e-6 // far above what orthonormalisation leaves
		for c := range k {
			if length := blas64.Nrm2(blas64.Vector{N: n, Inc: k, Data: entries[c:]}); math.Abs(length-1) > rounding {
				return fmt.Errorf("gppl: projection: direction %d has length %v, not 1", c, length)
			}
		}
	}
	for i, v := range j.Moments {
		if !(math.Abs(v) <= 2*float64(n)) {
			return fmt.Errorf("gppl: projection: moment %d of %d observations is %v", i, n, v)
		}
	}
	*p = Projection{Orthonormal: j.Orthonormal, Design: j.Design, Seed: j.Seed, n: n, k: k, drawn: j.Drawn,
		omega: mat.NewDense(n, k, entries), moment: j.Moments}
	return nil
}

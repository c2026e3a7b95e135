package theory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// SpectrumResults holds what Spectrum computes about Figure 1 of the paper and about the information that its designs keep.
type SpectrumResults struct {
	Figure    []Eigenspectrum // eigenvalues of Σ in Figure 1, for the first seed
	Gram      []float64       // eigenvalues of K in Figure 1, in descending order
	Cases     []Case
	Repulsive []SameSpan
}

// Case is a model with its designs, measured over seeds of x and of the projections.
type Case struct {
	Name                        string
	N, Seeds                    int
	Span, Variance, Lengthscale float64
	Noise                       float64
	Params                      []string
	All                         Measured // measured without a projection
	Designs                     []Measured
}

// Measured holds the numbers of one design and k. Each slice has one entry per seed.
type Measured struct {
	Design       string
	K            int
	Figure       []float64   // trace of Σ as in Figure 1, where K has no noise; see Jitter
	Latent       []float64   // tr Cov(f|Z)
	Observed     []float64   // tr Cov(Y|Z)
	StdErrLog    [][]float64 // Cramér–Rao bounds, one per parameter
	Information  [][]float64 // diagonal of I_Z, one entry per parameter
	Unidentified int         // number of seeds for which a parameter has no bound; StdErrLog leaves them out
}

// Eigenspectrum holds the eigenvalues of Σ for one design and k.
type Eigenspectrum struct {
	Design string
	K      int
	Jitter float64   // added to the diagonal of ΩᵀKΩ
	Values []float64 // eigenvalues in descending order
}

// SameSpan compares the span and the information of Repulsive projections with Sphere ones of the same seed.
type SameSpan struct {
	K    int
	Raw  float64 // ‖Ω_R − Ω_S‖/‖Ω_S‖ as drawn: the directions themselves move
	Span float64 // ‖Ω_RΩ_Rᵀ − Ω_SΩ_Sᵀ‖/√2k, which is 1 for spans at right angles
	Info float64 // largest relative difference of I_Z
}

// figureJitter returns the value that the authors' code adds to the diagonal of ΩᵀKΩ, relative to the mean of that diagonal:
// 10⁻³, and 10⁻² for the largest k. K has no noise, so the jitter takes its place: Σ = K − KΩ(ΩᵀKΩ + εI)⁻¹ΩᵀK.
func figureJitter(largest bool) float64 {
	if largest {
		return 1e-2
	}
	return 1e-3
}

// Progress is called with the progress of a computation.
type Progress func(done, total int, what string)

// Spectrum computes everything that notebook 04 shows, in about two minutes at full scale. progress may be nil.
func Spectrum(scale scales.Scale, progress Progress) (*SpectrumResults, error) {
	n, seeds := scales.Pick(scale, 2000, 300), scales.Pick(scale, 5, 2)
	r := &SpectrumResults{}
	figure := Case{Name: "figure 1", N: n, Seeds: seeds, Span: float64(n) / 2, Variance: 5, Lengthscale: 10, Noise: 0.1}
	short := Case{Name: "short", N: n, Seeds: seeds, Span: float64(n) / 2, Variance: 1, Lengthscale: 5, Noise: 0.1}
	ks := []int{n / 40, n / 20, n / 10}
	done, total := 0, 2*seeds
	step := func(what string) {
		if progress != nil {
			progress(done, total, what)
		}
		done++
	}
	for seed := range uint64(seeds) {
		step(fmt.Sprintf("SE(5, 10), draw %d", seed+1))
		draw, err := figure.draw(seed + 1)
		if err != nil {
			return nil, err
		}
		for i, k := range ks {
			if err := draw.designs(&figure, k, figureJitter(i == len(ks)-1)); err != nil {
				return nil, err
			}
		}
		if seed == 0 {
			if err := draw.figure(r, ks); err != nil {
				return nil, err
			}
		}
	}
	for seed := range uint64(seeds) {
		step(fmt.Sprintf("SE(1, 5), draw %d", seed+1))
		draw, err := short.draw(seed + 1)
		if err != nil {
			return nil, err
		}
		if err := draw.designs(&short, ks[1], figureJitter(false)); err != nil {
			return nil, err
		}
	}
	if progress != nil {
		progress(total, total, "done")
	}
	r.Cases = []Case{figure, short}
	return r, nil
}

// draw is one draw of the inputs of a case.
type draw struct {
	seed uint64
	x    gppl.Inputs
	info *fisher.Information
	gram *lowRank
}

func (c *Case) draw(seed uint64) (*draw, error) {
	kernel := gppl.SE{Variance: c.Variance, Lengthscale: c.Lengthscale}
	d := &draw{seed: seed, x: Times(c.N, c.Span, seed)}
	var err error
	if d.info, err = fisher.New(context.Background(), gppl.Model{Kernel: kernel, Noise: c.Noise}, d.x); err != nil {
		return nil, err
	}
	if d.gram, err = newLowRank(kernel, d.x); err != nil {
		return nil, err
	}
	c.Params = names(d.info.Params())
	if c.All.Design == "" {
		c.All = newMeasured("all data", c.N, len(c.Params))
	}
	c.All.Figure, c.All.Latent = append(c.All.Figure, 0), append(c.All.Latent, 0)
	c.All.Observed = append(c.All.Observed, 0)
	return d, c.All.add(d.info.Data(), d.info.Params())
}

func newMeasured(design string, k, params int) Measured {
	return Measured{Design: design, K: k, StdErrLog: make([][]float64, params), Information: make([][]float64, params)}
}

// add appends an information matrix and its bounds.
func (m *Measured) add(info *mat.SymDense, params []gppl.Param) error {
	for a := range params {
		m.Information[a] = append(m.Information[a], info.At(a, a))
	}
	se, err := fisher.StdErrLog(info, params)
	if _, ok := errors.AsType[*fisher.NotIdentified](err); ok {
		m.Unidentified++
		return nil
	}
	for a, v := range se {
		m.StdErrLog[a] = append(m.StdErrLog[a], v)
	}
	return err
}

// figureDesigns are the designs of figure 1 and three more.
func (d *draw) figureDesigns() []gppl.Design {
	return []gppl.Design{gppl.Sphere{}, gppl.Repulsive{}, gppl.Localised{}, gppl.OneHot{}, unsorted{}, gppl.Spectral{}, d.gram.top()}
}

// unsorted is Localised as in the authors' code for figure 1: the bumps run over the index of the observations while x is in
// random order, so that each bump averages observations from anywhere.
type unsorted struct{}

func (unsorted) String() string { return "Localised, unsorted" }

func (unsorted) Directions(_ context.Context, omega *mat.Dense, _ gppl.Inputs, rnd *rand.Rand) error {
	n, k := omega.Dims()
	for i, index := range rnd.Perm(n) {
		for j := range k {
			t := 3 * (float64(k*index)/float64(n) - float64(j)) // centres j/k, width 1/3k
			omega.Set(i, j, math.Exp(-0.5*t*t))
		}
	}
	return nil
}

// designs measures every design at one k.
func (d *draw) designs(c *Case, k int, jitter float64) error {
	for _, design := range d.figureDesigns() {
		p, err := gppl.NewProjection(context.Background(), design, d.x, k, d.seed)
		if err != nil {
			return err
		}
		m := c.measured(design.String(), k)
		mean, err := d.gram.meanProjected(p)
		if err != nil {
			return err
		}
		figure, err := d.gram.conditionalTrace(p, jitter*mean)
		if err != nil {
			return err
		}
		observed, latent, err := d.info.ConditionalTrace(context.Background(), p)
		if err != nil {
			return err
		}
		m.Figure, m.Observed, m.Latent = append(m.Figure, figure), append(m.Observed, observed), append(m.Latent, latent)
		iz, err := d.info.Projected(context.Background(), p)
		if err != nil {
			return err
		}
		if err := m.add(iz, d.info.Params()); err != nil {
			return err
		}
	}
	return nil
}

// measured returns the numbers of a design and k, and creates them if necessary.
func (c *Case) measured(design string, k int) *Measured {
	if m := c.find(design, k); m != nil {
		return m
	}
	c.Designs = append(c.Designs, newMeasured(design, k, len(c.Params)))
	return &c.Designs[len(c.Designs)-1]
}

// find returns the numbers of a design and k, or nil.
func (c *Case) find(design string, k int) *Measured {
	for i := range c.Designs {
		if m := &c.Designs[i]; m.Design == design && m.K == k {
			return m
		}
	}
	return nil
}

// figure computes the spectra of figure 1, and compares Repulsive with Sphere.
func (d *draw) figure(r *SpectrumResults, ks []int) error {
	r.Gram = d.gram.eigenvalues()
	for i, k := range ks {
		for _, design := range d.figureDesigns() {
			p, err := gppl.NewProjection(context.Background(), design, d.x, k, d.seed)
			if err != nil {
				return err
			}
			mean, err := d.gram.meanProjected(p)
			if err != nil {
				return err
			}
			s := Eigenspectrum{Design: design.String(), K: k, Jitter: figureJitter(i == len(ks)-1) * mean}
			if s.Values, err = d.gram.conditionalEigenvalues(p, s.Jitter); err != nil {
				return err
			}
			r.Figure = append(r.Figure, s)
		}
		same, err := d.sameSpan(k)
		if err != nil {
			return err
		}
		r.Repulsive = append(r.Repulsive, same)
	}
	return nil
}

func (d *draw) sameSpan(k int) (s SameSpan, err error) {
	s.K = k
	var drawn, spans []*mat.Dense
	var infos []*mat.SymDense
	for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Repulsive{}} {
		raw, err := gppl.NewProjection(context.Background(), gppl.Raw{Design: design}, d.x, k, d.seed)
		if err != nil {
			return s, err
		}
		p, err := gppl.NewProjection(context.Background(), design, d.x, k, d.seed)
		if err != nil {
			return s, err
		}
		info, err := d.info.Projected(context.Background(), p)
		if err != nil {
			return s, err
		}
		before, err := raw.Omega(context.Background())
		if err != nil {
			return s, err
		}
		span, err := p.Omega(context.Background())
		if err != nil {
			return s, err
		}
		drawn, spans, infos = append(drawn, before), append(spans, span), append(infos, info)
	}
	var moved, inside, out mat.Dense
	moved.Sub(drawn[1], drawn[0])
	s.Raw = mat.Norm(&moved, 2) / mat.Norm(drawn[0], 2)
	// ‖P_R − P_S‖² = 2‖(I − P_S)Ω_R‖²
	inside.Mul(spans[0].T(), spans[1])
	out.Mul(spans[0], &inside)
	out.Sub(spans[1], &out)
	s.Span = mat.Norm(&out, 2) / mat.Norm(spans[1], 2)
	for a := range infos[0].SymmetricDim() {
		s.Info = max(s.Info, math.Abs(infos[1].At(a, a)/infos[0].At(a, a)-1))
	}
	return s, nil
}

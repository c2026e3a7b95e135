package live

import (
	"context"
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// Projected describes k projections of observations at X, as k grows, and a model. The kernel has a variance and one lengthscale.
type Projected struct {
	Model store.Model `json:"model"`
	X     []float64   `json:"x"`
	XUnit string      `json:"xUnit"`
	K     []int       `json:"k"`  // numbers of projections, ascending
	At    int         `json:"at"` // the k whose numbers are read first
}

// Directions describes projections with the Fisher information of the model (fisher.Information) that they keep and lose.
type Directions struct {
	Projected

	of    []float64                     // the latest parameters
	info  *fisher.Information           // information at the latest parameters
	drawn map[string][]*gppl.Projection // projections of each design, for each k
}

// lengthscale returns its index among the parameters, −1 if there is none.
func (d *Projected) lengthscale() int {
	return slices.IndexFunc(d.Model.Params(), func(p gppl.Param) bool { return p.Role == gppl.RoleLengthscale })
}

// parameters returns the indices of the parameters that a reader chooses among: the lengthscale, then the others, the noise last.
func (d *Directions) parameters() []int {
	at := []int{d.lengthscale()}
	for i := range d.Model.Params() {
		if i != at[0] {
			at = append(at, i)
		}
	}
	return at
}

// names returns the names of the parameters with the given indices.
func (d *Directions) names(at []int) (names []string) {
	params := d.Model.Params()
	for _, i := range at {
		names = append(names, params[i].Name)
	}
	return names
}

// sliders returns the two controls that move parameters.
func (d *Projected) sliders() []Control {
	return []Control{around("Lengthscale", d.XUnit, d.Model.Values()[d.lengthscale()], 4),
		around("Noise variance", "", d.Model.Noise, 10)}
}

// readAt returns the control of the k whose numbers are read.
func (d *Projected) readAt() Control { return among("Read at k", "", float64(d.At), d.k()...) }

// k returns K as a figure draws it.
func (d *Projected) k() []float64 {
	k := make([]float64, len(d.K))
	for i, v := range d.K {
		k[i] = float64(v)
	}
	return k
}

// move returns the parameters of the model with this lengthscale and noise variance.
func (d *Projected) move(lengthscale, noise float64) []float64 {
	theta := d.Model.Values()
	theta[d.lengthscale()], theta[len(theta)-1] = lengthscale, noise
	return theta
}

func (d *Projected) check() error {
	if err := d.Model.Check(); err != nil {
		return err
	}
	if d.lengthscale() < 0 {
		return fmt.Errorf("live: %v has no lengthscale", d.Model)
	}
	if !slices.Contains(d.K, d.At) {
		return fmt.Errorf("live: k = %d is none of %v", d.At, d.K)
	}
	return nil
}

// inform computes the information where lengthscale and noise variance have these values, unless it is kept.
func (d *Directions) inform(lengthscale, noise float64) (err error) {
	theta := d.move(lengthscale, noise)
	if slices.Equal(theta, d.of) {
		return nil
	}
	d.of = nil
	if d.info, err = fisher.New(context.Background(), d.Model.WithParams(theta), gppl.Scalars(d.X)); err == nil {
		d.of = theta
	}
	return err
}

// published computes the information of the published model.
func (d *Directions) published() error {
	return d.inform(d.Model.Values()[d.lengthscale()], d.Model.Noise)
}

// all draws the projections of a design, for each k.
func (d *Directions) all(by gppl.Design) (all []*gppl.Projection, err error) {
	for _, k := range d.K {
		p, err := gppl.NewProjection(context.Background(), by, gppl.Scalars(d.X), k, seed)
		if err != nil {
			return nil, fmt.Errorf("%v, k = %d: %w", by, k, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// project draws the projections of a design that does not depend on the model, once.
func (d *Directions) project(by gppl.Design) (all []*gppl.Projection, err error) {
	name := fmt.Sprint(by)
	if d.drawn[name] == nil {
		if d.drawn == nil {
			d.drawn = map[string][]*gppl.Projection{}
		}
		if d.drawn[name], err = d.all(by); err != nil {
			return nil, err
		}
	}
	return d.drawn[name], nil
}

// nameOf returns the name of a design without its settings.
func nameOf(d gppl.Design) string { return DesignName(fmt.Sprintf("%T", d)[len("gppl."):]) }

// DesignName returns the name of a design in tables and figures: the name of its Go type, except One-hot.
func DesignName(inGo string) string {
	if inGo == "OneHot" {
		return "One-hot"
	}
	return inGo
}

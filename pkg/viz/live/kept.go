package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Kept shows how much of the information about a parameter the projections of each design keep, as a share of the information in
// the data.
type Kept struct {
	Directions
	Published []float64 `json:"published"` // share that each design keeps at At of the first parameter of the controls, in percent
}

// eigen names the top eigenvectors of the Gram matrix. They require the kernel that is to be learnt, and move with its
// lengthscale.
const eigen = "Eigen"

// fixed returns the designs that know nothing of the model.
func fixed() []gppl.Design {
	return []gppl.Design{gppl.Sphere{}, gppl.OneHot{}, gppl.Localised{}, gppl.Spectral{}}
}

// columns is a design whose directions are given; the first k are taken.
type columns struct {
	gppl.Design
	u *mat.Dense
}

func (c columns) Directions(_ context.Context, omega *mat.Dense, _ gppl.Inputs, _ *rand.Rand) error {
	omega.Copy(c.u)
	return nil
}

// Controls returns the lengthscale, the noise variance, the parameter that the information is about, and the k whose numbers are
// read.
func (e *Kept) Controls() []Control {
	return append(e.sliders(), choice("Information about", e.names(e.parameters())...), e.readAt())
}

// designs returns the projections of each design, for each k, and the names of the designs.
func (e *Kept) designs() (names []string, all [][]*gppl.Projection, err error) {
	for _, d := range fixed() {
		p, err := e.project(d)
		if err != nil {
			return nil, nil, err
		}
		names, all = append(names, nameOf(d)), append(all, p)
	}
	top := gppl.Eigen{Kernel: e.Model.WithParams(e.of).Kernel}
	u := mat.NewDense(len(e.X), slices.Max(e.K), nil)
	if err := top.Directions(context.Background(), u, gppl.Scalars(e.X), nil); err != nil {
		return nil, nil, err
	}
	p, err := e.all(columns{top, u})
	return append(names, eigen), append(all, p), err
}

// Publish computes what the figure shows at its own parameters, for the lengthscale and for the noise. It keeps the shares of the
// information about the lengthscale at At as published.
func (e *Kept) Publish() (lengthscale, noise *Shown, err error) {
	if err := e.check(); err != nil {
		return nil, nil, err
	}
	of := func(about int) (*Shown, error) {
		return e.at([]float64{e.Model.Values()[e.lengthscale()], e.Model.Noise, float64(about), float64(e.At)})
	}
	if lengthscale, err = of(0); err != nil {
		return nil, nil, err
	}
	e.Published = nil
	for _, l := range lengthscale.Layers {
		e.Published = append(e.Published, l.Y[slices.Index(e.K, e.At)])
	}
	noise, err = of(len(e.parameters()) - 1)
	return lengthscale, noise, err
}

func (e *Kept) at(values []float64) (*Shown, error) {
	about, read := int(values[2]), slices.Index(e.K, int(values[3]))
	if about < 0 || about >= len(e.parameters()) || read < 0 {
		return nil, fmt.Errorf("live: the choices %v are not possible", values[2:])
	}
	if err := e.inform(values[0], values[1]); err != nil {
		return nil, err
	}
	names, all, err := e.designs()
	if err != nil {
		return nil, err
	}
	a := e.parameters()[about]
	data := e.info.Data().At(a, a)
	shown := &Shown{By: "dense linear algebra", Readings: []Reading{{Name: "information in the data", Value: data, Digits: 3}}}
	for j, name := range names {
		line := Layer{Kind: "line", Name: name, X: e.k()}
		for i, p := range all[j] {
			left, err := e.info.Projected(context.Background(), p)
			if err != nil {
				return nil, fmt.Errorf("%s, k = %d: %w", name, e.K[i], err)
			}
			line.Y = append(line.Y, 100*left.At(a, a)/data)
		}
		shown.Layers = append(shown.Layers, line)
		shown.Readings = append(shown.Readings, Reading{Name: fmt.Sprintf("kept by %d of %s", e.K[read], name), Unit: "%",
			Value: line.Y[read], Digits: 2})
	}
	best, least := 0, 0
	for j, l := range shown.Layers {
		if l.Y[read] > shown.Layers[best].Y[read] {
			best = j
		}
		if l.Y[read] < shown.Layers[least].Y[read] {
			least = j
		}
	}
	param := e.names(e.parameters())[about]
	shown.Title = fmt.Sprintf("Of the information about the %s, %d projections keep %.0f %% (%s) to %.0f %% (%s)", param, e.K[read],
		shown.Layers[least].Y[read], names[least], shown.Layers[best].Y[read], names[best])
	shown.Caption = fmt.Sprintf("Information about the %s that k projections of %d observations keep, by design: %v, noise "+
		"variance %.3g.", param, len(e.X), e.Model.WithParams(e.of).Kernel, values[1])
	return shown, nil
}

// verify computes the published shares in two ways: from S, and from Σ, as 1 minus the share that the theorem loses.
func (e *Kept) verify() (checks []Check, err error) {
	if err := e.published(); err != nil {
		return nil, err
	}
	names, all, err := e.designs()
	if err != nil {
		return nil, err
	}
	if len(e.Published) != len(names) {
		return nil, fmt.Errorf("live: %d published shares of %d designs", len(e.Published), len(names))
	}
	a, at := e.parameters()[0], slices.Index(e.K, e.At)
	data := e.info.Data().At(a, a)
	for j, name := range names {
		p := all[j][at]
		left, err := e.info.Projected(context.Background(), p)
		if err != nil {
			return nil, err
		}
		loss, err := e.info.Loss(context.Background(), p)
		if err != nil {
			return nil, err
		}
		const allowed = 1e-6 // percent; both lose digits as v/σ² grows
		said := fmt.Sprintf("kept by %d of %s", e.At, name)
		checks = append(checks,
			newCheck(said, "%", "the information in the projections", e.Published[j], 100*left.At(a, a)/data, allowed),
			newCheck(said, "%", "the theorem's formula", e.Published[j], 100*(1-loss.Total().At(a, a)/data), allowed))
	}
	return checks, nil
}

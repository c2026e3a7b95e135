package live

import (
	"context"
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Lost shows how much of the information about a parameter projections lose: ΔI of the paper's theorem and its two terms, as
// shares of the information in the data.
type Lost struct {
	Directions
	Published float64 `json:"published"` // ΔI at At for the first parameter and design of the controls
}

// designs returns the designs that a reader chooses among, in their order.
func designs() []gppl.Design { return []gppl.Design{gppl.Sphere{}, gppl.OneHot{}, gppl.Spectral{}} }

// Controls returns the lengthscale, the noise variance, the parameter that the information is about, the design, and the k whose
// numbers are read.
func (l *Lost) Controls() []Control {
	var by []string
	for _, d := range designs() {
		by = append(by, nameOf(d))
	}
	return append(l.sliders(), choice("Information about", l.names(l.parameters())...), choice("Directions", by...), l.readAt())
}

// Publish computes what the figure shows at its own parameters, and keeps ΔI as published.
func (l *Lost) Publish() (*Shown, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	shown, err := l.at([]float64{l.Model.Values()[l.lengthscale()], l.Model.Noise, 0, 0, float64(l.At)})
	if err != nil {
		return nil, err
	}
	checks, err := l.verify()
	if err != nil {
		return nil, err
	}
	l.Published = checks[0].Found
	return shown, nil
}

func (l *Lost) at(values []float64) (*Shown, error) {
	about, by, read := int(values[2]), int(values[3]), slices.Index(l.K, int(values[4]))
	if about < 0 || about >= len(l.parameters()) || by < 0 || by >= len(designs()) || read < 0 {
		return nil, fmt.Errorf("live: the choices %v are not possible", values[2:])
	}
	if err := l.inform(values[0], values[1]); err != nil {
		return nil, err
	}
	projections, err := l.project(designs()[by])
	if err != nil {
		return nil, err
	}
	a := l.parameters()[about]
	data := l.info.Data().At(a, a)
	k := l.k()
	all, first, second := make([]float64, len(k)), make([]float64, len(k)), make([]float64, len(k))
	for i, p := range projections {
		loss, err := l.info.Loss(context.Background(), p)
		if err != nil {
			return nil, fmt.Errorf("k = %d: %w", l.K[i], err)
		}
		first[i], second[i] = 100*loss.Quadratic.At(a, a)/data, 100*loss.Cross.At(a, a)/data
		all[i] = first[i] + second[i]
	}
	part := data / 100
	param, design := l.names(l.parameters())[about], nameOf(designs()[by])
	title := fmt.Sprintf("%d %s projections lose %.0f %% of the information about the %s", l.K[read], design, all[read], param)
	switch share := first[read] / all[read]; {
	case all[read] < 0.5:
		title = fmt.Sprintf("%d %s projections lose next to nothing about the %s", l.K[read], design, param)
	case share > 0.9:
		title += ", nearly all by the first term"
	case share < 0.1:
		title += ", nearly all by the second term"
	default:
		title += fmt.Sprintf(", %.0f %% by the first term", first[read])
	}
	return &Shown{
		Title: title,
		Caption: fmt.Sprintf("Information about the %s that k %s projections of %d observations lose, and the two terms of the loss: "+
			"%v, noise variance %.3g.", param, design, len(l.X), l.Model.WithParams(l.of).Kernel, values[1]),
		By: "the theorem's formula",
		Layers: []Layer{
			{Kind: "line", Name: "lost", X: k, Y: all},
			{Kind: "line", Name: "first term, quadratic in Σ", X: k, Y: first},
			{Kind: "line", Name: "second term", X: k, Y: second},
		},
		Readings: []Reading{
			{Name: "information in the data", Value: data, Digits: 3},
			{Name: fmt.Sprintf("in %d projections", l.K[read]), Value: data - all[read]*part, Digits: 3},
			{Name: "first term of the loss", Value: first[read] * part, Digits: 3},
			{Name: "second term", Value: second[read] * part, Digits: 3},
			{Name: "share lost", Unit: "%", Value: all[read], Digits: 2},
		},
	}, nil
}

// verify computes the published ΔI in two ways: by the formula of the theorem, from Σ, and as the difference I_Y − I_Z, from S.
func (l *Lost) verify() ([]Check, error) {
	if err := l.published(); err != nil {
		return nil, err
	}
	projections, err := l.project(designs()[0])
	if err != nil {
		return nil, err
	}
	p, a := projections[slices.Index(l.K, l.At)], l.lengthscale()
	loss, err := l.info.Loss(context.Background(), p)
	if err != nil {
		return nil, err
	}
	left, err := l.info.Projected(context.Background(), p)
	if err != nil {
		return nil, err
	}
	// Both losses have fewer exact digits for larger v/σ²; relative is a share of the information in the data.
	const name, relative = "information lost about the lengthscale", 1e-8
	data := l.info.Data().At(a, a)
	return []Check{
		newCheck(name, "", "the theorem's formula", l.Published, loss.Total().At(a, a), relative*data),
		newCheck(name, "", "the difference I_Y − I_Z", l.Published, data-left.At(a, a), relative*data),
	}, nil
}

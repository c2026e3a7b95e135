package theory

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// WhiteNoise is corollary 2: white noise of variance σ² = 1 and one projection. The paper states NLL = n·PL. In truth
//
//	NLL = ½yᵀy/σ² + ½n·log 2πσ²,  n·PL = ½n·z²/σ² + ½n·log 2πσ²,
//
// which agree in expectation only: their difference has the standard deviation √(n(n−1)/2).
type WhiteNoise struct {
	N, Draws             int
	Mean, SD, ExpectedSD float64   // moments of NLL − n·PL at the true σ²
	NLL, PL              []float64 // log σ̂² under the two losses, sorted: extremes and quantiles, for a figure
	Levels               []float64 // the levels of these quantiles
	SDLogNLL, SDLogPL    float64   // standard deviations of log σ̂²
	BoundNLL, BoundPL    float64   // Cramér–Rao bounds on the standard deviations, √(2/n) and √2
	Kept                 float64   // I_Z/I_Y for log σ²
	Off                  float64   // largest difference between the formulas above and the losses of the library
}

// tiny is the noise variance of a model whose only term is White: a larger one would be confounded with it.
const tiny = 1e-12

func whiteNoise(n, draws int) (r WhiteNoise, err error) {
	rnd := rand.New(rand.NewPCG(1, 13))
	x := Times(n, float64(n), 1)
	m := gppl.Model{Kernel: gppl.White{Variance: 1}, Noise: tiny}.Fix(gppl.NoiseName)
	info, err := fisher.New(context.Background(), m, x)
	if err != nil {
		return r, err
	}
	p, err := gppl.NewProjection(context.Background(), gppl.Sphere{}, x, 1, 1)
	if err != nil {
		return r, err
	}
	iz, err := info.Projected(context.Background(), p)
	if err != nil {
		return r, err
	}
	size := float64(n)
	r = WhiteNoise{
		N: n, Draws: draws, ExpectedSD: math.Sqrt(size * (size - 1) / 2),
		BoundNLL: 1 / math.Sqrt(info.Data().At(0, 0)), BoundPL: 1 / math.Sqrt(iz.At(0, 0)),
		Kept: iz.At(0, 0) / info.Data().At(0, 0),
	}
	var difference, logNLL, logPL []float64
	y := make([]float64, n)
	constant := 0.5 * math.Log(2*math.Pi)
	for draw := range draws {
		for i := range y {
			y[i] = rnd.NormFloat64()
		}
		yy, z := floats.Dot(y, y), p.Project(y)[0]
		nll, pl := 0.5*yy+size*constant, 0.5*z*z+constant
		difference = append(difference, nll-size*pl)
		logNLL, logPL = append(logNLL, math.Log(yy/size)), append(logPL, math.Log(z*z))
		if draw < 5 {
			off, err := offLosses(m, gppl.Data{X: x, Y: y}, p, nll, pl)
			if err != nil {
				return r, err
			}
			r.Off = max(r.Off, off)
		}
	}
	r.Mean, r.SD = stat.MeanStdDev(difference, nil)
	r.SDLogNLL, r.SDLogPL = stat.StdDev(logNLL, nil), stat.StdDev(logPL, nil)
	slices.Sort(logNLL)
	slices.Sort(logPL)
	for level := 0.0025; level < 1; level += 0.005 {
		r.Levels = append(r.Levels, level)
		r.NLL = append(r.NLL, stat.Quantile(level, stat.LinInterp, logNLL, nil))
		r.PL = append(r.PL, stat.Quantile(level, stat.LinInterp, logPL, nil))
	}
	return r, nil
}

// offLosses compares values of the losses with the library's.
func offLosses(m gppl.Model, d gppl.Data, p *gppl.Projection, nll, pl float64) (float64, error) {
	exact, err := gppl.NewExact(context.Background(), m, d, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		return 0, err
	}
	projected, err := gppl.NewProjected(context.Background(), m, d, p, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		return 0, err
	}
	theta := []float64{1, tiny}
	v, err := exact.ValueGrad(context.Background(), nil, theta)
	if err != nil {
		return 0, err
	}
	w, err := projected.ValueGrad(context.Background(), nil, theta)
	return max(math.Abs(v-nll), math.Abs(w-pl)), err
}

package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
)

// The sampler runs 400 rounds after 100 that are discarded. f and the precisions forget their past within a few rounds, since no
// single precision moves f much.
const (
	burnIn = 100
	states = 400
	noises = 8 // draws of the noise of a new observation for each state
)

// sampled returns the forecast with the true parameters for Student-t noise, by a Gibbs sampler. With ε_i ~ N(0, σ²/λ_i) and
// λ_i ~ Gamma(ν/2, ν/2), it draws f given the λ, and each λ_i given f from Gamma((ν+1)/2, (ν + ε_i²/σ²)/2). It takes
// n³/3 flops a round.
func (k kind) sampled(d gppl.Data, at gppl.Inputs, seed uint64) (*draws.Mixture, error) {
	n, noise := d.Len(), k.truth.Noise
	rnd := rand.New(rand.NewPCG(seed, 78))
	kxx, kx := mat.NewDense(n, n, nil), mat.NewDense(n, at.Len(), nil)
	gppl.Covariance(kxx.RawMatrix().Data, k.truth.Kernel, d.X, d.X)
	gppl.Covariance(kx.RawMatrix().Data, k.truth.Kernel, d.X, at)
	prior := make([]float64, at.Len())
	for i := range prior {
		one := at.Slice(i, i+1)
		gppl.Covariance(prior[i:i+1], k.truth.Kernel, one, one)
	}
	y := mat.NewVecDense(n, d.Y)
	lambda := slices.Repeat([]float64{1}, n)
	forecast := &draws.Mixture{}
	for round := range burnIn + states {
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				a.SetSym(i, j, kxx.At(i, j))
			}
			a.SetSym(i, i, a.At(i, i)+noise/lambda[i])
		}
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			return nil, errors.New("the covariance is not positive definite")
		}
		if round >= burnIn {
			if err := predictState(forecast, &chol, kx, y, prior, k, rnd); err != nil {
				return nil, err
			}
		}
		// f given y by Matheron's rule: draw f and y from the prior, and correct f by how y differs from the observations.
		drawn, _, _, err := k.truth.Sample(d.X, rnd.Uint64())
		if err != nil {
			return nil, err
		}
		off, moved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		for i := range n {
			off.SetVec(i, y.AtVec(i)-drawn[i]-math.Sqrt(noise/lambda[i])*rnd.NormFloat64())
		}
		if err := chol.SolveVecTo(off, off); err != nil {
			return nil, err
		}
		moved.MulVec(kxx, off)
		for i := range n {
			e := y.AtVec(i) - drawn[i] - moved.AtVec(i)
			lambda[i] = distuv.Gamma{Alpha: 0.5 * (k.nu + 1), Beta: 0.5 * (k.nu + e*e/noise), Src: rnd}.Rand()
		}
	}
	return forecast, nil
}

// predictState adds the forecast from one state, given its Cholesky factor, for several draws of the noise.
func predictState(to *draws.Mixture, chol *mat.Cholesky, kx *mat.Dense, y *mat.VecDense, prior []float64, k kind,
	rnd *rand.Rand) error {
	var solved mat.Dense
	if err := chol.SolveTo(&solved, kx); err != nil {
		return err
	}
	mean, latent := make([]float64, len(prior)), make([]float64, len(prior))
	for i := range prior {
		mean[i] = mat.Dot(solved.ColView(i), y)
		latent[i] = prior[i] - mat.Dot(solved.ColView(i), kx.ColView(i))
	}
	for range noises {
		variances := make([]float64, len(prior))
		for i, v := range latent {
			variances[i] = v + k.truth.Noise/distuv.Gamma{Alpha: 0.5 * k.nu, Beta: 0.5 * k.nu, Src: rnd}.Rand()
		}
		to.Weights = append(to.Weights, 1/float64(states*noises))
		to.Means, to.Variances = append(to.Means, mean), append(to.Variances, variances)
	}
	return nil
}

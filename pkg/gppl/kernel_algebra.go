package gppl

import (
	"fmt"
	"math"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
)

var (
	_ Kernel                 = Sum{}
	_ capability.Reacher     = Sum{}
	_ capability.Bandlimited = Sum{}
	_ capability.Nuggeter    = Sum{}
	_ Kernel                 = Product{}
	_ capability.Reacher     = Product{}
	_ capability.Bandlimited = Product{}
	_ capability.Nuggeter    = Product{}
)

// composite is the common part of Sum and Product: their parts, whose parameters
// follow one another.
type composite struct {
	parts  []Kernel
	offset []int // offset[i] is the index of part i's first parameter; one more at the end
}

func compose(parts []Kernel, what string) composite {
	if len(parts) == 0 {
		panic("gppl: " + what + " of no kernels")
	}
	c := composite{append([]Kernel(nil), parts...), make([]int, 1, len(parts)+1)}
	for i, p := range parts {
		if p == nil {
			panic(fmt.Sprintf("gppl: %s: kernel %d is nil", what, i))
		}
		c.offset = append(c.offset, c.offset[len(c.offset)-1]+len(p.Params()))
	}
	return c
}

// Params prefixes each parameter with the name of its part: "SE.lengthscale",
// and where a name occurs twice "SE1.lengthscale", "SE2.lengthscale".
func (c composite) Params() []Param {
	count := map[string]int{}
	for _, p := range c.parts {
		count[nameOf(p)]++
	}
	seen := map[string]int{}
	var params []Param
	for _, part := range c.parts {
		name := nameOf(part)
		if count[name] > 1 {
			seen[name]++
			name = fmt.Sprint(name, seen[name])
		}
		for _, p := range part.Params() {
			p.Name = name + "." + p.Name
			params = append(params, p)
		}
	}
	return params
}

func (c composite) withParams(theta []float64, kernel string) composite {
	want(theta, c.offset[len(c.parts)], kernel)
	parts := make([]Kernel, len(c.parts))
	for i, p := range c.parts {
		parts[i] = p.WithParams(theta[c.offset[i]:c.offset[i+1]])
	}
	return composite{parts, c.offset}
}

// Sum is k₁ + k₂ + …: the covariance of a sum of independent processes. Build
// it with Add.
type Sum struct{ composite }

// Add returns the sum of the given kernels, at least one.
func Add(terms ...Kernel) Sum { return Sum{compose(terms, "sum")} }

// Terms returns the kernels that are added.
func (k Sum) Terms() []Kernel { return append([]Kernel(nil), k.parts...) }

func (k Sum) WithParams(theta []float64) Kernel { return Sum{k.withParams(theta, "Sum")} }

func (k Sum) String() string {
	var parts []string
	for _, part := range k.parts {
		parts = append(parts, part.String())
	}
	return strings.Join(parts, " + ")
}

// sum applies a linear operation (Cov or Slope) to every part and adds up.
func (k Sum) sum(dst, r []float64, apply func(Kernel, []float64, []float64)) {
	inChunks(len(r), func(from, to int, acc, part, _ []float64) {
		apply(k.parts[0], acc, r[from:to])
		for _, p := range k.parts[1:] {
			apply(p, part, r[from:to])
			dense.Add(acc, part)
		}
		copy(dst[from:to], acc)
	})
}

func (k Sum) Cov(dst, r []float64)   { k.sum(dst, r, Kernel.Cov) }
func (k Sum) Slope(dst, r []float64) { k.sum(dst, r, Kernel.Slope) }

func (k Sum) Contract(grad, w, r []float64) {
	for i, p := range k.parts {
		p.Contract(grad[k.offset[i]:k.offset[i+1]], w, r)
	}
}

// Product is k₁·k₂·…: each factor modulates the others. Build it with Mul. Only
// the product of the factors' variances is identified; fix all but one of them
// (Model.Fix) when training.
type Product struct{ composite }

// Mul returns the product of the given kernels, at least one.
func Mul(factors ...Kernel) Product { return Product{compose(factors, "product")} }

// Factors returns the kernels that are multiplied.
func (k Product) Factors() []Kernel { return append([]Kernel(nil), k.parts...) }

// redundant returns the indices, from offset on, of the variances that only scale what
// another variance scales already: within each product, the first of every factor but the
// first factor that has one.
func redundant(k Kernel, offset int) (at []int) {
	switch k := k.(type) {
	case Sum:
		for i, p := range k.parts {
			at = append(at, redundant(p, offset+k.offset[i])...)
		}
	case Axes:
		return redundant(k.kernel, offset)
	case Anisotropic:
		for _, i := range redundant(k.kernel, 0) {
			if own, is := k.param(i); is {
				at = append(at, offset+own)
			}
		}
	case Product:
		scaled := false
		for i, p := range k.parts {
			at = append(at, redundant(p, offset+k.offset[i])...)
			if own, _ := amplitudesOf(p, offset+k.offset[i]); len(own) > 0 {
				if scaled {
					at = append(at, own[0])
				}
				scaled = true
			}
		}
	}
	return at
}

func (k Product) WithParams(theta []float64) Kernel {
	return Product{k.withParams(theta, "Product")}
}

func (k Product) String() string {
	var s []string
	for _, p := range k.parts {
		if _, isSum := p.(Sum); isSum {
			s = append(s, "("+p.String()+")")
			continue
		}
		s = append(s, p.String())
	}
	return strings.Join(s, " × ")
}

func (k Product) Cov(dst, r []float64) {
	inChunks(len(r), func(from, to int, acc, tmp, _ []float64) {
		k.others(acc, tmp, r[from:to], -1)
		copy(dst[from:to], acc)
	})
}

// others sets acc to the product of the covariances of all factors but skip.
func (k Product) others(acc, tmp, r []float64, skip int) {
	for i := range acc {
		acc[i] = 1
	}
	for f, p := range k.parts {
		if f == skip {
			continue
		}
		p.Cov(tmp, r)
		floats.Mul(acc, tmp)
	}
}

// Contract uses the product rule: the weight of one factor's derivative is w
// times the covariances of the others.
func (k Product) Contract(grad, w, r []float64) {
	inChunks(len(r), func(from, to int, acc, tmp, _ []float64) {
		for f, p := range k.parts {
			k.others(acc, tmp, r[from:to], f)
			floats.Mul(acc, w[from:to])
			p.Contract(grad[k.offset[f]:k.offset[f+1]], acc, r[from:to])
		}
	})
}

func (k Product) Slope(dst, r []float64) {
	inChunks(len(r), func(from, to int, acc, tmp, sum []float64) {
		clear(sum)
		for f, p := range k.parts {
			k.others(acc, tmp, r[from:to], f)
			p.Slope(tmp, r[from:to])
			for i := range sum {
				sum[i] += acc[i] * tmp[i]
			}
		}
		copy(dst[from:to], sum)
	})
}

// What engines may know of sums and products, from what they may know of the
// parts. (Scale and Markov form belong to a term: a sum is split into terms,
// and a product has neither.)

// Reach returns the longest of the terms' reaches.
func (k Sum) Reach(eps float64) float64 {
	r := 0.0
	for _, p := range k.parts {
		r = max(r, reach(p, eps))
	}
	return r
}

// Reach returns the shortest of the factors' reaches: the product is zero where one
// factor is.
func (k Product) Reach(eps float64) float64 {
	r := math.Inf(1)
	for _, p := range k.parts {
		r = min(r, reach(p, eps))
	}
	return r
}

// Bandwidth returns the largest of the terms' bandwidths.
func (k Sum) Bandwidth(eps float64) float64 {
	var b float64
	for _, p := range k.parts {
		b = max(b, bandwidth(p, eps))
	}
	return b
}

// Bandwidth returns the sum of the factors' bandwidths: their spectra are
// convolved.
func (k Product) Bandwidth(eps float64) float64 {
	var b float64
	for _, p := range k.parts {
		b += bandwidth(p, eps)
	}
	return b
}

// Steepness is the mean of the steepnesses of the terms, weighted by their variances.
func (k Sum) Steepness(span float64) float64 {
	var s, all float64
	for _, p := range k.parts {
		v := variance(p)
		s, all = s+v*steepness(p, span), all+v
	}
	if all == 0 {
		return 0
	}
	return s / all
}

// Steepness adds the steepness of the factors up to the distance beyond which the
// product is below 1 % of k(0).
func (k Product) Steepness(span float64) float64 {
	span = min(span, reach(k, 0.01))
	var s float64
	for _, p := range k.parts {
		s += steepness(p, span)
	}
	return s
}

// Nugget returns the sum of the terms' nuggets.
func (k Sum) Nugget() (w float64) {
	for _, p := range k.parts {
		w += capability.Nugget(p)
	}
	return w
}

func (k Sum) ContractNugget(grad []float64, w float64) {
	for i, p := range k.parts {
		contractNugget(grad[k.offset[i]:k.offset[i+1]], p, w)
	}
}

// Nugget multiplies out: with δ = 1 for an observation with itself and 0
// otherwise, (S₁ + w₁δ)(S₂ + w₂δ) = S₁S₂ + δ·(w₁S₂(0) + w₂S₁(0) + w₁w₂).
func (k Product) Nugget() float64 {
	_, w := k.atZero(-1)
	return w
}

// atZero returns the variance and the nugget of the product of all factors but
// skip.
func (k Product) atZero(skip int) (signal, nugget float64) {
	signal = 1
	for f, p := range k.parts {
		if f != skip {
			s, w := variance(p), capability.Nugget(p)
			signal, nugget = signal*s, nugget*(s+w)+signal*w
		}
	}
	return signal, nugget
}

func (k Product) ContractNugget(grad []float64, w float64) {
	if k.Nugget() == 0 {
		return
	}
	for f, p := range k.parts {
		own := grad[k.offset[f]:k.offset[f+1]]
		signal, nugget := k.atZero(f)
		contractNugget(own, p, w*(signal+nugget))
		contractVariance(own, p, w*nugget)
	}
}

// Amplitudes lists the amplitudes of all terms.
func (k Sum) Amplitudes() (at []int, known bool) {
	known = true
	for i, p := range k.parts {
		more, ok := amplitudesOf(p, k.offset[i])
		at, known = append(at, more...), known && ok
	}
	return at, known
}

// Amplitudes lists the amplitudes of the first factor that has any.
func (k Product) Amplitudes() (at []int, known bool) {
	for i, p := range k.parts {
		more, ok := amplitudesOf(p, k.offset[i])
		if known = known || ok; ok && more != nil {
			return more, true
		}
	}
	return nil, known
}

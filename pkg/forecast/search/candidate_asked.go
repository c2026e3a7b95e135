package search

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// asked is the candidate of a kernel that the user named. If kernels are named, a search has no other candidates.
//
// A kernel of any form, unlike the terms of other candidates, may have an optimum at any scale and period. Its training therefore
// begins where the library's search ends (auto.FindStarts), or at start values from the data alone if that search would take more
// time than the effort allows or more than half of the memory.
type asked struct {
	byEvidence
	kernel string
}

var _ candidate = asked{}

// named is false for every name: a file describes a kernel in the same way whoever proposed it.
func (asked) named(string) bool { return false }

// grown is false: the user named the whole kernel.
func (asked) grown() bool { return false }

// propose returns the kernel or, if periods are given and the kernel has one, the kernel with each of these.
func (c asked) propose(in *task) (all []proposal, err error) {
	for _, m := range c.families(in.options.Periods) {
		if of := in.series.Counting; of != nil && !of.Varies() {
			m.Noise = NoVariation
			m = m.Fix(gppl.NoiseName)
		}
		begin, err := c.start(in, m)
		if in.ctx.Err() != nil {
			return nil, in.ctx.Err()
		}
		if err == nil { // on an error, training reports what is wrong with this kernel
			m = begin
		}
		var fixed []string
		for _, q := range m.Params() {
			if q.IsFixed() {
				fixed = append(fixed, q.Name)
			}
		}
		all = append(all, proposal{terms: SumTerms(m.Kernel), noise: m.Noise,
			fix: func(m gppl.Model) gppl.Model { return m.Fix(fixed...) }})
	}
	return all, nil
}

// families returns the models of the kernel that are searched.
func (c asked) families(periods []float64) (models []gppl.Model) {
	plain := askedModel(c.kernel)
	if len(series.PeriodsOf(plain.Kernel.Params())) != 1 || len(periods) == 0 {
		return []gppl.Model{plain}
	}
	for _, period := range periods {
		theta := plain.Values()
		var names []string
		for i, q := range plain.Params() {
			if q.Role == gppl.RolePeriod {
				theta[i], names = period, append(names, q.Name)
			}
		}
		models = append(models, plain.WithParams(theta).Fix(names...))
	}
	return models
}

// askedModel is the untrained model of a kernel.
func askedModel(kernel string) gppl.Model {
	k, err := ParseKernel(kernel)
	if err != nil { // Find has read it
		panic(err)
	}
	return gppl.Model{Kernel: k, Noise: startNoise}.FixRedundant()
}

// start returns the model where training begins, on the first scale and with the last trend of the search. Its parameters are the
// likeliest optimum in the library's search of all observations.
func (c asked) start(in *task, m gppl.Model) (gppl.Model, error) {
	v, trend := in.scales[0], in.trends[len(in.trends)-1]
	mean, err := policyMean(c.slope, trend, v.Data.X)
	if err != nil {
		return m, err
	}
	whole, n := v, len(in.series.X)
	if m.Mean = mean; in.series.Counting == nil && v.Data.Len() < n {
		if whole, err = NewYScale(in.series, max(0, n-searchedRows), n, v.log); err == nil {
			m.Mean, err = policyMean(c.slope, trend, whole.Data.X)
		}
		if err != nil {
			return m, err
		}
	}
	bytes := searchedBytes(m.Kernel, whole.Data.Len())
	if !in.plan.effort.searches(m.Kernel, whole.Data.Len()) || in.options.Memory > 0 && bytes > 0.5*in.options.Memory {
		m.Mean = mean
		return auto.StartFrom(in.ctx, m, v.Data)
	}
	found, err := auto.FindStarts(in.ctx, m, whole.Data, auto.Settings{
		Priors: PriorsOf(m, in.options.Priors, whole.Scaling.Scale), Fit: gppl.Settings{Seed: in.options.Seed},
	})
	if err != nil {
		return m, err
	}
	least := math.Inf(1)
	for i, start := range found.Models {
		if start = standardised(start, whole.Scaling.Scale/v.Scaling.Scale); i == 0 {
			m = start
		}
		start.Mean = mean
		loss, err := v.loss(in.ctx, start, 0, gppl.WithTolerance(trainTolerance))
		if err != nil {
			continue
		}
		if value, err := loss.ValueGrad(in.ctx, nil, start.Values()); err == nil && value < least {
			m, least = start, value
		}
	}
	return m, nil
}

// standardised returns the model of factor·y.
func standardised(m gppl.Model, factor float64) gppl.Model {
	theta := m.Values()
	for i, q := range m.Params() {
		if q.Unit == gppl.UnitY2 && !q.IsFixed() {
			theta[i] *= factor * factor
		}
	}
	return m.WithParams(theta)
}

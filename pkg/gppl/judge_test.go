package gppl_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// What an engine promises, and how it is held to it. This file is the one place
// where that is stated.
//
// The promise of an evaluation is, in nats, the larger of
//
//	the tolerance, 1e-8 per observation, or per projection for PL
//	LossReport.LastBound, what the engine states of this evaluation, which takes
//	yᵀA⁻¹y into account
//
// The value may err by the promise. A derivative in log θ_p may err by the
// promise times gradientFactor times slope_p, the largest of 1, |∂k/∂log θ_p|/v
// between two observations, |tr A⁻¹∂A|/n and |αᵀ∂Aα|/yᵀA⁻¹y: where a parameter moves the
// covariances fast, as a period does that fits into the range a thousand times,
// it moves their errors as fast; and what a value of size n errs by, a part of a derivative
// of size s·n errs by s times. Both may, beside that, err by relativeRounding
// of the sum of the absolute values of their terms.
//
// An evaluation that had to add jitter says so in LossReport.Jitter. It is that
// of another model, and is counted but not judged.
const (
	toleranceNats    = 1e-8
	gradientFactor   = 20
	relativeRounding = 1e-14
)

// promise returns what the report promises for an evaluation over so many
// observations or projections.
func promise(r gppl.LossReport, terms int) float64 {
	return max(toleranceNats*float64(terms), r.LastBound)
}

// verdict is how an evaluation went.
type verdict string

const (
	kept     verdict = "kept"
	exceeded verdict = "exceeded"
	jittered verdict = "jittered" // the loss reports another model
	refused  verdict = "refused"  // the engine does not take the kernel
	failed   verdict = "failed"   // an error, which is no wrong answer
	skipped  verdict = "skipped"  // too expensive, by the loss's own estimate
	notANum  verdict = "NaN"
	panicked verdict = "panic"
	hung     verdict = "hang"
)

// judgement is one evaluation against the truth.
type judgement struct {
	loss, engine string
	verdict      verdict
	value, grad  float64 // errors as ratios to what is allowed
	promise      float64
	inexact      bool
	offScale     bool // y is far off the model's scale
	detail       string
}

// offScale is the yᵀA⁻¹y per observation, 1 in the mean under the model, from
// which y counts as off the model's scale. The tables tell these cases apart:
// line searches visit them.
const offScale = 10

func (j judgement) worst() float64 { return max(j.value, j.grad) }

// judge compares an evaluation with the truth.
func judge(e evaluation, t *truth, terms int) (j judgement) {
	j.verdict, j.detail = e.verdict, e.detail
	j.offScale = t.quad > offScale*float64(terms)
	if e.verdict != kept {
		return j
	}
	j.promise = promise(e.report, terms)
	j.inexact = e.report.LastInexact > 0
	over := func(err, allowed float64) float64 {
		if math.IsNaN(err) {
			return math.Inf(1)
		}
		return math.Abs(err) / allowed
	}
	off := func(got float64, want wide) float64 { return (got - want.Hi) - want.Lo }
	j.value = over(off(e.value, t.value), j.promise+relativeRounding*t.size)
	var worst string
	for p, g := range e.grad {
		ratio := over(off(g, t.grad[p]), gradientFactor*t.slope[p]*j.promise+relativeRounding*t.gradSize[p])
		if p == 0 || ratio > j.grad {
			j.grad = ratio
			worst = fmt.Sprintf("; worst ∂%d %.10g, true %.10g, error %.3g (slope %.3g)",
				p, g, t.grad[p].Hi, off(g, t.grad[p]), t.slope[p])
		}
	}
	j.detail = fmt.Sprintf("value %.15g, true %.15g, error %.3g (promise %.3g)",
		e.value, t.value.Hi, off(e.value, t.value), j.promise) + worst
	for _, g := range append(e.grad, e.value) {
		if !numeric.IsFinite(g) {
			j.verdict = notANum
			return j
		}
	}
	switch {
	case e.report.Jitter > 0:
		j.verdict = jittered
		j.detail = fmt.Sprintf("jitter %.3g; ", e.report.Jitter) + j.detail
		j.value, j.grad = 0, 0
	case j.worst() > 1:
		j.verdict = exceeded
	}
	return j
}

// evaluation is what a loss returned: value and gradient in logs.
type evaluation struct {
	verdict verdict // kept if it returned
	value   float64
	grad    []float64
	report  gppl.LossReport
	explain string
	detail  string
}

// explained is what all losses with engines are.
type explained interface {
	gppl.Loss
	Explain() string
}

// patience is how long an evaluation may take before it counts as hung. None
// that is not skipped takes more than some seconds of a free machine.
const patience = 10 * time.Minute

// evaluate builds a loss and evaluates it at before, unless nil, and at its
// start.
func evaluate(build func() (explained, error), before []float64) evaluation {
	done := make(chan evaluation, 1)
	go func() {
		var e evaluation
		defer func() {
			if r := recover(); r != nil {
				e.verdict, e.detail = panicked, fmt.Sprint(r)
			}
			done <- e
		}()
		e = evaluateNow(build, before)
	}()
	select {
	case e := <-done:
		return e
	case <-time.After(patience):
		return evaluation{verdict: hung}
	}
}

func evaluateNow(build func() (explained, error), before []float64) (e evaluation) {
	e.verdict = kept
	loss, err := build()
	if err != nil {
		return evaluation{verdict: failed, detail: err.Error()}
	}
	theta := gppl.Values(loss.Params())
	e.grad = make([]float64, len(theta))
	if before != nil {
		before = append(slices.Clone(before), theta[len(before):]...) // inducing inputs
		_, _ = loss.ValueGrad(context.Background(), e.grad, before)   // it may fail there
	}
	e.value, err = loss.ValueGrad(context.Background(), e.grad, theta)
	e.report, e.explain = loss.Report(), loss.Explain()
	if err != nil {
		e.verdict, e.detail = failed, err.Error()
		if strings.Contains(err.Error(), "cannot take this kernel") || strings.Contains(err.Error(), "no engine") {
			e.verdict = refused
		}
		return e
	}
	for p := range e.grad {
		e.grad[p] *= theta[p]
	}
	return e
}

// tooLong is the estimate, in seconds, beyond which an engine is not forced on
// this case: four times what densely takes, and some. Every twentieth case has
// seconds, so that engines are also seen where they do not belong.
func (c *randomCase) tooLong() float64 {
	n := float64(c.data.Len())
	if c.number%20 == 19 && n > 300 {
		return 3
	}
	return 0.03 + 4*n*n*n/2e10
}

var estimateLine = regexp.MustCompile(`(\w+) +([\d.e+-]+) (µs|ms|s) an evaluation(?: after ([\d.e+-]+) (µs|ms|s) of set-up)?`)

// estimateSeconds reads from what Explain says how long an engine would take, 0
// where it says nothing.
func estimateSeconds(explain, engine string) (seconds float64) {
	for _, m := range estimateLine.FindAllStringSubmatch(explain, -1) {
		if m[1] == engine {
			seconds += unitSeconds(m[2], m[3]) + unitSeconds(m[4], m[5])
		}
	}
	return seconds
}

func unitSeconds(number, unit string) float64 {
	v, _ := strconv.ParseFloat(number, 64)
	return v * map[string]float64{"µs": 1e-6, "ms": 1e-3, "s": 1}[unit]
}

// judgeCase sends a case through the automatic choice and every engine, exact
// and, where it has a projection, projected.
func judgeCase(c *randomCase) (all []judgement, err error) {
	x := c.data.X.Coordinate(0)
	gram := newWideGram(c.model.Kernel, x)
	var exact *truth
	if len(x) > standInFrom && c.data.Errors == nil {
		exact = gram.standIn(c.model.Noise, c.data.Y)
	}
	if exact == nil {
		if exact, err = gram.exact(c.model.Noise, c.data.Errors, c.data.Y); err != nil {
			return nil, err
		}
	}
	run := func(name string, t *truth, terms int, build func(...gppl.Option) (explained, error)) {
		var explain string
		for _, engine := range append([]string{""}, gppl.Engines()...) { // the choice first, for what it explains
			var e evaluation
			nodes := engine == gppl.EngineInterpolated && len(x) >= 1500 // thirty of them, of n²k each
			if nodes || engine != "" && estimateSeconds(explain, engine) > c.tooLong() {
				e.verdict = skipped
			} else {
				var opts []gppl.Option
				if engine != "" {
					opts = append(opts, gppl.WithEngine(engine))
				}
				e = evaluate(func() (explained, error) { return build(opts...) }, c.before)
			}
			if engine == "" {
				explain = e.explain
			}
			j := judge(e, t, terms)
			j.loss, j.engine = name, engine
			if engine == "" {
				j.engine = "auto"
				j.detail = "by " + e.report.Engine + ": " + j.detail
			}
			all = append(all, j)
		}
	}
	run("exact", exact, len(x), func(o ...gppl.Option) (explained, error) {
		return gppl.NewExact(context.Background(), c.model, c.data, o...)
	})
	if z := c.inducing(); z != nil && c.data.Errors == nil {
		bound, err := vfeTruth(c.model, x, c.data.Y, z)
		if err != nil {
			return all, err
		}
		run("VFE", bound, len(x), func(o ...gppl.Option) (explained, error) {
			return gppl.NewVFE(context.Background(), c.model, c.data, gppl.Scalars(z), gppl.VFEOptions{}, o...)
		})
	}
	if c.proj == nil {
		return all, nil
	}
	projected, err := gram.projected(c.model.Noise, c.data.Y, c.proj, c.residual)
	if err != nil {
		return all, err
	}
	_, k := c.proj.Dims()
	name, build := "PL", gppl.NewProjected
	if c.residual {
		name, build = "residual", gppl.NewResidual
	}
	run(name, projected, k, func(o ...gppl.Option) (explained, error) {
		return build(context.Background(), c.model, c.data, c.proj, o...)
	})
	return all, nil
}

// standInFrom is the n from which the float64 reference may stand in.
const standInFrom = 600

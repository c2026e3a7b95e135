package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// viewed is the exact negative log likelihood of observations of several channels, with their offsets integrated out, or of
// averages over exposures (see Exact). With c and d the channels of observations i and j, its covariance is
//
//	a_c·a_d·k(τ) + (a_c·b_d − b_c·a_d)·k′(τ) − b_c·b_d·k″(τ) + σ_c²·δ_ij,  τ = x_j − x_i,
//
// where k is even in τ. A state space computes value and gradient in O(n·D³) for a state of D numbers: exactly, to rounding,
// however long an exposure is compared with the scales of the kernel. The state of each process is extended by a running
// integral for every exposure that is open at the same time: one if none overlap; more than some hundred are an error.
type viewed struct {
	model   Model
	data    Data
	line    *observed.Line
	of      []int // the channel of each observation of the line
	params  []Param
	mean    *regress.Regression // nil for a mean of zero, without channels
	exposed *exposed            // nil without exposures
	options options
	tally   *tally
	calls   *parallel.Pool[viewedCall]

	standIns []float64 // per channel, the value in place of a noise variance of 0; 0 for the others
}

// exposed describes the exposures that end at the inputs of a line.
type exposed struct {
	*statespace.Schedule
	longest float64
}

// viewedCall is the working memory of one evaluation.
type viewedCall struct {
	filter              *statespace.Filter
	linear              stateSpace
	model               Model
	channels            []Channel
	views               []statespace.View
	scale               []float64
	g, r                blas64.General
	grad                []float64 // for the parameters of the blocks and the noise
	value, slope, noise []float64 // derivatives in the parameters of the views
	least               float64   // least noise variance
	contrast            float64   // largest variance over noise in any channel
	lost                float64   // bound on the loss from omitted harmonics, in nats
	sharp               bool      // Φ and Q have all their digits
	doubled             bool      // the filter computes in double-double
	fit                 *regress.Conditioned
	recentred           blas64.General // r for the g of fit
	bound               float64        // bound on the error of the value, in nats
}

// views returns the channels of the model, or the single view of f itself.
func (m Model) views() []Channel {
	if len(m.Channels) == 0 {
		return []Channel{{Value: 1, Noise: m.Noise}}
	}
	return m.Channels
}

// newViewed returns the likelihood of checked data with channels or exposures, under a model that covers them.
func newViewed(ctx context.Context, m Model, d Data, o options) (*viewed, error) {
	start := time.Now()
	if d.X.Dim() != 1 {
		return nil, fmt.Errorf("gppl: channels and exposures are of a scalar x, and the inputs have dimension %d", d.X.Dim())
	}
	if _, err := channelBlocks(m.Kernel); err != nil {
		return nil, err
	}
	d.X = m.offsets(d)
	mean, columns, err := dataColumns(ctx, Model{Kernel: m.Kernel, Mean: m.offsetMean()}, d)
	if err != nil {
		return nil, err
	}
	l := &viewed{model: m, data: d, mean: mean, options: o, calls: new(parallel.Pool[viewedCall])}
	if d.Exposures == nil {
		l.line = observed.Sorted(d.X.at)
	} else if l.line, l.exposed, err = m.exposures(d); err != nil {
		return nil, err
	}
	l.line.SetColumns(columns)
	l.line.SetNoise(d.rowNoise())
	for i := range d.Y {
		l.of = append(l.of, d.channel(l.line.Input(i)))
	}
	views := m.views()
	l.standIns = make([]float64, len(views))
	for c := range views {
		if views[c].Noise == 0 {
			l.standIns[c] = l.line.Noise.StandIn(func(i int) bool { return l.of[i] == c })
		}
	}
	l.params = l.paramsInUnits()
	l.tally = &tally{report: LossReport{Likelihood: true, Engine: EngineStateSpace}}
	l.tally.setUp(time.Since(start))
	return l, nil
}

// offsets returns the inputs with a column for each channel, 1 at its observations.
func (m Model) offsets(d Data) Inputs {
	x := d.X
	for c := range m.Channels {
		is := make([]float64, len(d.Y))
		for i := range is {
			if d.channel(i) == c {
				is[i] = 1
			}
		}
		x = x.WithColumn(m.Channels[c].OffsetOf(), is)
	}
	return x
}

// offsetMean returns the mean of the observations: an offset for each channel, plus Mean.
func (m Model) offsetMean() Mean {
	if len(m.Channels) == 0 {
		return m.Mean
	}
	var offsets []Mean
	for _, c := range m.Channels {
		offsets = append(offsets, Regressor{c.OffsetOf()})
	}
	if m.Mean != nil {
		return AddMeans(AddMeans(offsets...), m.Mean)
	}
	return AddMeans(offsets...)
}

// paramsInUnits returns the parameters. Coefficients are trained in units that make their contribution as large as y of their
// channel.
func (l *viewed) paramsInUnits() []Param {
	params := l.model.trained()
	if len(l.model.Channels) == 0 {
		return params
	}
	kernel, n := len(l.model.Kernel.Params()), len(l.model.Channels)
	value, slope := deviations(l.model.Kernel)
	of := make([][]float64, n)
	for i, y := range l.data.Y {
		c := l.data.channel(i)
		of[c] = append(of[c], y)
	}
	for i := kernel + n; i < len(params); i++ {
		if l.exposed != nil && i >= kernel+2*n { // averages do not depend on the derivative
			params[i].Transform = transform.Fixed{}
		}
		if params[i].IsFixed() {
			continue
		}
		size, c := value, (i-kernel)%n
		if i >= kernel+2*n {
			size = slope
		}
		if unit := stat.StdDev(of[c], nil) / size; unit > 0 && numeric.IsFinite(unit) {
			params[i].Transform = transform.Units(unit)
		}
	}
	return params
}

func (l *viewed) negligible(p int, noise float64) bool {
	c := p - len(l.model.Kernel.Params())
	return c >= 0 && c < len(l.standIns) && l.line.Noise.Negligible(noise, func(i int) bool { return l.of[i] == c })
}

// Params returns the parameters of the model, with the transforms of training.
func (l *viewed) Params() []Param { return slices.Clone(l.params) }

// Model returns the model at theta.
func (l *viewed) Model(theta []float64) Model { return l.model.WithParams(theta) }

func (l *viewed) Report() LossReport { return l.tally.get() }

func (l *viewed) String() string {
	if n := len(l.model.Channels); n > 0 {
		return fmt.Sprintf("exact NLL of %d channels (n=%d)", n, l.data.Len())
	}
	return fmt.Sprintf("exact NLL of averages over exposures (n=%d)", l.data.Len())
}

func (l *viewed) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	c := l.calls.Get()
	value, err := l.evaluate(ctx, c, grad, theta)
	if err == nil {
		err = checkAnswer(l.params, value, grad, theta)
	}
	l.calls.Put(c)
	return value, err
}

// evaluate is ValueGrad with c as memory, which afterwards holds the factorisation. Where rounding in a filter of float64
// exceeds the tolerance, the filter computes in double-double.
func (l *viewed) evaluate(ctx context.Context, c *viewedCall, grad, theta []float64) (value float64, err error) {
	defer parallel.Stopped(&err)
	theta = l.positive(theta)
	if err := checkEvaluation(l.params, grad, theta); err != nil {
		return 0, err
	}
	if err := l.expand(ctx, c, theta); err != nil {
		return 0, err
	}
	n, cols := float64(l.data.Len()), l.line.Columns.Cols
	c.g, c.r, c.recentred = dense.Reshape(c.g, cols, cols), dense.Reshape(c.r, cols, cols), dense.Reshape(c.recentred, cols, cols)
	wide := c.sharp && l.bytes(&c.linear, true) <= l.options.Memory
	var allowed, most, rounding float64
	for c.doubled = wide && c.expected(n, false) > l.working()*n; ; c.doubled = true {
		err := l.factorise(c)
		if err == nil {
			err = l.complete(c)
		}
		if err != nil {
			if wide && !c.doubled { // float64 lost digits
				continue
			}
			return 0, notFactorised(c.model.Kernel, c.least, err, "gppl: statespace engine: %v", err)
		}
		form := c.form()
		size := form
		if !c.doubled { // coefficients cancel in float64
			size = dense.Spread(dense.Diagonal(c.g), c.recentred)
		}
		value = 0.5*(c.g.Data[0]+c.filter.LogDet()+n*log2Pi) + c.fit.Value()
		rounding = choice.Completed(c.expected(n, c.doubled), size, n) + choice.Summation(value, n)
		allowed, most = max(n, form), math.Inf(1)
		if l.options.posterior {
			most = sharpMean * math.Sqrt(allowed)
		}
		if !wide || c.doubled || rounding <= min(l.working()*allowed, most) {
			break
		}
	}
	c.bound = rounding
	l.tally.promise(c.bound, c.bound <= min(l.options.tolerance*allowed, most))
	if grad == nil {
		return value, nil
	}
	return value, l.gradient(c, grad, theta)
}

// positive returns theta with stand-ins for noise variances of 0 (observed.Noise.StandIn).
func (l *viewed) positive(theta []float64) []float64 {
	kernel := len(l.model.Kernel.Params())
	if len(theta) != len(l.params) || !slices.Contains(theta[kernel:][:len(l.standIns)], 0) {
		return theta
	}
	theta = slices.Clone(theta)
	for c, noise := range l.standIns {
		if theta[kernel+c] == 0 {
			theta[kernel+c] = noise
		}
	}
	return theta
}

// posteriorShare is the factor on the tolerance for a factorisation of a posterior: predictions are differences.
const posteriorShare = 1e-4

// sharpMean bounds the error of a posterior mean, in its standard deviations. The mean is linear in L⁻¹y, whose length is
// √(yᵀA⁻¹y); a relative error δ of the form changes it by some δ times that length. In random cases the error was at most a
// hundredth of this bound.
const sharpMean = 0.01

// working is the tolerance, in nats per observation, that decides how an evaluation is computed.
func (l *viewed) working() float64 {
	if l.options.posterior {
		return l.options.tolerance * posteriorShare
	}
	return l.options.tolerance
}

// expected bounds the error of a value of n observations whose form is n: rounding, relative to the variance in a channel, and
// the omitted harmonics.
func (c *viewedCall) expected(n float64, doubled bool) float64 {
	if doubled { // derivatives, whose weights of the columns are float64, err by up to twice 20 times 2⁻⁵⁰
		return n*0x1p-48*math.Sqrt(1+c.contrast) + c.lost
	}
	return n*0x1p-50*(1+c.contrast) + c.lost
}

// complete sets g and the regression.
func (l *viewed) complete(c *viewedCall) (err error) {
	if c.doubled {
		c.fit, err = l.mean.GivenDoubled(c.g, c.filter.GramDoubled())
	} else {
		c.filter.Gram(c.g)
		c.fit, err = l.mean.Given(c.g)
	}
	if err != nil {
		return err
	}
	c.fit.Root(c.r)
	copy(c.recentred.Data, c.r.Data)
	if c.doubled { // g is for y − Qγ already
		for i := 1; i < c.r.Rows; i++ {
			c.recentred.Data[i*c.recentred.Stride] = 0
		}
	}
	return nil
}

// form returns tr RᵀGR, after complete: yᵀA⁻¹y minus the part that the coefficients explain, plus one for each flat
// coefficient. In double-double the second part has a formula of its own: a sum over G would lose as many digits as the
// information about the coefficients spans decades.
func (c *viewedCall) form() float64 {
	if c.doubled {
		return c.g.Data[0] + c.fit.Determined()
	}
	return dense.Form(c.g, c.recentred)
}

// expand sets everything in c for theta except the factorisation.
func (l *viewed) expand(ctx context.Context, c *viewedCall, theta []float64) error {
	c.model = l.model.WithParams(theta)
	c.channels = c.model.views()
	if err := checkVariance(c.model.Kernel, variance(c.model.Kernel)); err != nil {
		return err
	}
	if c.filter == nil {
		c.filter = statespace.NewFilter(l.line.T, l.line.Noise.Known)
		c.linear.apart = true
	}
	c.filter.Ctx = ctx
	c.scale = dense.Resize(c.scale, len(l.of))
	least := make([]float64, len(c.channels)) // least noise variance of each channel
	for i := range least {
		least[i] = math.Inf(1)
	}
	for i, of := range l.of {
		c.scale[i] = c.channels[of].Noise * l.line.Noise.Weight(i)
		own := c.scale[i]
		if l.line.Noise.Known != nil {
			own += l.line.Noise.Known[i]
		}
		least[of] = min(least[of], own)
	}
	c.least = slices.Min(least)
	c.views = c.views[:0]
	for _, ch := range c.channels {
		c.views = append(c.views, statespace.View{Value: ch.Value, Slope: ch.Slope})
	}
	v := variance(c.model.Kernel)
	// ratio returns the largest variance over noise, over the channels, of a process with these variances of f and of f′.
	ratio := func(value, slope float64) (most float64) {
		for i, ch := range c.channels {
			most = max(most, (ch.Value*ch.Value*value+ch.Slope*ch.Slope*slope)/least[i])
		}
		return most
	}
	contrast, slope := ratio(v, 0), 0.
	for range 2 { // the second pass knows the frequencies, which the derivatives of omitted harmonics are proportional to
		if err := l.terms(c, contrast); err != nil {
			return err
		}
		fastest := 2 * c.linear.fastest()
		if fastest == 0 {
			break
		}
		slope = fastest * fastest
		contrast = ratio(v, v*slope)
	}
	curve := 0.
	for i := range c.linear.blocks {
		curve += c.linear.blocks[i].SlopeVariance()
	}
	c.contrast, c.lost = ratio(v, curve), float64(len(l.of))*ratio(c.linear.lost, c.linear.lost*slope)
	c.sharp = true
	for i := range c.linear.blocks {
		b := &c.linear.blocks[i]
		c.sharp = c.sharp && statespace.Sharp(b.Process)
		if l.exposed != nil {
			b.Process = statespace.NewExposed(b.Process, b.Params, l.exposed.Slots(), l.exposed.longest)
		}
	}
	if l.exposed != nil {
		if state, _ := c.linear.size(); state > largestState {
			return fmt.Errorf("gppl: up to %d exposures overlap: the state of %v would have %v numbers, and the limit is %d",
				l.exposed.Slots(), c.model.Kernel, state, largestState)
		}
		c.filter.SetExposures(l.exposed.Schedule)
	}
	if bytes := l.bytes(&c.linear, false); bytes > l.options.Memory {
		return &MemoryError{What: fmt.Sprintf("a state space of %d channels", len(c.channels)),
			Needed: bytes, Limit: l.options.Memory}
	}
	return nil
}

// terms expands the kernel, with as many harmonics as the tolerance requires. If their state would be too large, it takes as
// many as the limit allows, and the bound accounts for the others.
func (l *viewed) terms(c *viewedCall, contrast float64) error {
	const least = 1e-40 // the last harmonics are far below a rounding of the first, and small noise gives them weight
	for eps := max(0.1*l.working()/contrast, least); ; eps *= 16 {
		if c.linear.expand(c.model.Kernel, min(eps, mostLost)) {
			return nil
		}
		if eps >= mostLost {
			return notForChannels(c.model.Kernel)
		}
	}
}

// factorise computes the filter of c, after expand.
func (l *viewed) factorise(c *viewedCall) error {
	views := append(c.views, statespace.View{Value: 1})
	if differentiable(c.linear.blocks) {
		views = append(views, statespace.View{Slope: 1})
	}
	c.filter.SetScale(c.scale)
	c.filter.SetViews(views, l.of)
	if c.doubled {
		return c.filter.FactoriseDoubled(l.line.Columns, c.linear.blocks, 1)
	}
	return c.filter.Factorise(l.line.Columns, c.linear.blocks, 1, statespace.ByPairs)
}

// seconds estimates the time of a value and gradient at m as for blocks of any size.
func (l *viewed) seconds(m Model) float64 {
	blocks := stateSpace{apart: true}
	if !blocks.expand(m.Kernel, mostLost) {
		return math.Inf(1)
	}
	_, pairs := blocks.size()
	return float64(len(l.of)) * (anySeconds + anyPairSeconds*pairs)
}

// bytes estimates the memory of a factorisation.
func (l *viewed) bytes(blocks *stateSpace, doubled bool) float64 {
	d, pairs := blocks.size()
	steps := 0.
	for i := range blocks.blocks {
		size := float64(blocks.blocks[i].Process.Dim())
		steps += 4 * size * size
	}
	each := pairs + 3*d + 4 + steps + (d+1)*float64(l.line.Columns.Cols)
	if doubled {
		each += 2 * (d*d + d + 1 + (d+1)*float64(l.line.Columns.Cols))
	}
	return 8 * float64(len(l.of)) * each
}

// gradient sets grad, and checks it by two identities: scaling all variances, the noise and the known errors by one factor
// scales A; scaling all coefficients by the root of a factor equals scaling the variances of f by the factor.
func (l *viewed) gradient(c *viewedCall, grad, theta []float64) error {
	kernel, channels, views := len(c.model.Kernel.Params()), len(c.channels), len(c.views)+2
	c.grad = dense.Resize(c.grad, c.filter.Derivatives())
	for _, v := range []*[]float64{&c.value, &c.slope, &c.noise} {
		*v = dense.Resize(*v, views)
	}
	var known float64
	if c.doubled {
		known = c.filter.GradientDoubled(c.grad, c.fit.RootDoubled())
	} else {
		known = c.filter.Gradient(c.grad, c.r)
	}
	c.filter.ViewSlopes(c.value, c.slope, c.noise)
	blocks := c.grad[:len(c.grad)-1]
	verify.Tampered("channels", c.value)

	n, form := float64(len(l.of)), c.form()
	scaled := c.linear.scaling(blocks)
	sum, coefficients, size := scaled+known, 0., n+form+math.Abs(scaled)
	for i, ch := range c.channels {
		sum += c.noise[i]
		coefficients += c.value[i]*ch.Value + c.slope[i]*ch.Slope
		size += math.Abs(c.value[i]*ch.Value) + math.Abs(c.slope[i]*ch.Slope)
	}
	limit := 1e-8*size + gradientPromise*c.bound
	if err := errors.Join(
		verify.Near("the sum of the derivatives in the variances", sum, 0.5*(n-form), limit),
		verify.Near("the derivative in the scale of the coefficients", coefficients, 2*scaled, limit),
	); err != nil {
		return err
	}
	clear(grad)
	c.linear.contract(grad[:kernel], blocks)
	copy(grad[kernel:], c.noise[:channels])
	for p := range kernel + channels {
		grad[p] /= theta[p]
	}
	copy(grad[kernel+channels:], c.value[:channels])
	if len(grad) > kernel+2*channels {
		copy(grad[kernel+2*channels:], c.slope[:channels])
	}
	return nil
}

// conditionedAt implements regressing, for the offsets and Mean.
func (l *viewed) conditionedAt(ctx context.Context, theta []float64) (of *regress.Conditioned, err error) {
	c := l.calls.Get()
	if _, err = l.evaluate(ctx, c, nil, theta); err == nil {
		of = c.fit
	}
	l.calls.Put(c)
	return of, err
}

// exposures returns the ends of the exposures as a line, and the data of the exposures for a filter.
func (m Model) exposures(d Data) (*observed.Line, *exposed, error) {
	for _, c := range m.Channels {
		if c.Slope != 0 {
			return nil, nil, fmt.Errorf("gppl: channel %q sees the derivative of f, and exposures see f alone", c.Name)
		}
	}
	e, err := observed.ExposuresOf(d.X.at, d.Exposures)
	if err != nil {
		return nil, nil, fmt.Errorf("gppl: %w", err)
	}
	return &e.Line, &exposed{statespace.NewSchedule(e.Origin, e.Starts, e.Ends, e.Lengths), slices.Max(d.Exposures)}, nil
}

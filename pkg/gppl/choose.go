package gppl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/projected-likelihood/gppl/internal/timeline"
)

// chooser chooses the engine of every evaluation of a loss, or of one term of it:
// the cheapest that keeps the tolerance, then, where its answer fails a check or
// promises too little, the next. It is safe for concurrent use.
type chooser struct {
	options
	limit   float64 // nats that the error may reach
	names   []string
	leftOut uint // engines whose gradient Fit found wrong

	mu   sync.Mutex
	used []int     // evaluations by each engine
	last selection // the last evaluation, for Explain
}

// selection is the choice for one evaluation.
type selection struct {
	candidates []forecast
	failed     uint // engines that were tried in vain
	chosen     int
	fallbacks  int
	lastErr    error   // of the last engine that failed
	nats       float64 // what the value may err by
	allowed    float64 // and what it is allowed to
}

func newChooser(o options, limit float64, names []string) *chooser {
	return &chooser{options: o, limit: limit, names: names, used: make([]int, len(names)), last: selection{chosen: -1}}
}

// without returns a chooser that never takes engine i, and forgets what it used.
func (c *chooser) without(i int) *chooser {
	d := c.fresh()
	d.leftOut |= 1 << i
	return d
}

// fresh returns a chooser that has been asked nothing yet.
func (c *chooser) fresh() *chooser {
	d := newChooser(c.options, c.limit, c.names)
	d.leftOut = c.leftOut
	return d
}

// begin prepares a selection among the forecasts that are then to be set.
func (c *chooser) begin(s *selection) {
	s.candidates = slices.Grow(s.candidates[:0], len(c.names))[:len(c.names)]
	s.failed, s.chosen, s.fallbacks, s.lastErr, s.nats, s.allowed = 0, -1, 0, nil, 0, 0
}

// next returns the cheapest candidate that keeps the tolerance and has not failed. If
// none keeps it, next returns the cheapest of those that are about as exact as the most
// exact one; −1 if none is left.
func (c *chooser) next(s *selection) int {
	usable := func(i int) bool {
		return s.candidates[i].reason == (reason{}) && (s.failed|c.leftOut)&(1<<i) == 0 && (c.engine == "" || c.engine == c.names[i])
	}
	limit := math.Inf(1)
	for i, f := range s.candidates {
		if usable(i) {
			limit = min(limit, f.err)
		}
	}
	limit = max(c.limit, 8*limit)
	best := -1
	for i, f := range s.candidates {
		if usable(i) && f.err <= limit && (best < 0 || f.cost() < s.candidates[best].cost()) {
			best = i
		}
	}
	return best
}

// outcome holds what is known only after an evaluation, not from its forecast.
type outcome struct {
	value  float64
	terms  float64 // of the likelihood: observations or projections
	form   float64 // yᵀA⁻¹y
	size   float64 // the forms that cancel in it, and in what the mean adds (see spread)
	extra  float64 // what the value may err by beyond the forecast
	shared float64 // the part of it that any engine would have
}

// evaluate lets engines attempt an evaluation until one succeeds within the tolerance,
// or as exactly as any engine can. The successful attempt is the last.
func (c *chooser) evaluate(s *selection, attempt func(i int) (outcome, error)) error {
	coarse := -1 // an engine whose value may err by too much, but there was none better
	for {
		i := c.next(s)
		if i < 0 {
			i = coarse
		}
		if i < 0 {
			return c.refused(s)
		}
		o, err := attempt(i)
		if err != nil {
			s.lastErr = err
			if i == coarse {
				return err
			}
			s.failed |= 1 << i
			s.fallbacks++
			continue
		}
		s.chosen = i
		s.promise(c, o)
		if i != coarse && c.better(s, o) {
			s.failed |= 1 << i
			s.fallbacks++
			coarse = i
			continue
		}
		c.record(s)
		return nil
	}
}

// promise sets what the value may err by, given the quadratic form yᵀA⁻¹y of it. A
// forecast is made for a form of one per term, as the model expects; the form
// itself errs in proportion, by a relative perturbation of A, as do those of the columns of a mean. The tolerance is per
// term or, where the form is larger than their number, relative to it: y is then
// off the model's scale.
func (s *selection) promise(c *chooser, o outcome) {
	s.nats = completed(s.candidates[s.chosen].err, o.size, o.terms) + o.extra + summation(o.value, o.terms)
	s.allowed = c.limit * max(1, o.form/o.terms)
}

// withinTolerance reports whether the promise keeps the tolerance.
func (s *selection) withinTolerance() bool { return s.nats <= s.allowed }

// better reports whether, for a value with too large an error bound, another candidate
// promises an eighth of that bound.
func (c *chooser) better(s *selection, o outcome) bool {
	if s.withinTolerance() {
		return false
	}
	failed := s.failed
	s.failed |= 1 << s.chosen
	i := c.next(s)
	s.failed = failed
	return i >= 0 && 8*(completed(s.candidates[i].err, o.size, o.terms)+o.shared) < s.nats
}

// completed returns a forecast's error bound once the quadratic form yᵀA⁻¹y is known. The forecast err assumes
// a form of one per term, the expectation under the model: half of err is the error of log|A|, half that of
// the form, which grows with the form itself. The factor 2·form/terms − 1, instead of (1 + form/terms)/2, is
// four times that growth: where y is far from the model's scale, 2.2 times was measured, for a y that
// alternates.
func completed(err, form, terms float64) float64 { return err * max(1, 2*form/terms-1) }

// summation is the rounding error of a sum of that many terms.
func summation(value, terms float64) float64 { return 16 * 0x1p-53 * max(math.Abs(value), terms) }

// record keeps the selection, to explain it, and counts it.
func (c *chooser) record(s *selection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(s)
	if s.chosen >= 0 {
		c.used[s.chosen]++
	}
}

// settle keeps a selection, already counted, whose promise was made afterwards.
func (c *chooser) settle(s *selection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(s)
}

func (c *chooser) keep(s *selection) {
	candidates := append(c.last.candidates[:0], s.candidates...)
	c.last = *s
	c.last.candidates = candidates
}

// refused returns the error if no engine is left: a Refusal, or the error of the last
// engine that failed.
func (c *chooser) refused(s *selection) error {
	c.record(s)
	if s.lastErr != nil {
		return s.lastErr
	}
	if i := slices.Index(c.names, c.engine); i >= 0 {
		return &Refusal{c.engine, s.candidates[i].why(), c.short(s)}
	}
	if c.engine != "" {
		return &Refusal{Engine: c.engine, Reason: "it is not for this loss and these inputs, which have " + strings.Join(c.names, ", ")}
	}
	return &Refusal{Reason: s.candidates[len(s.candidates)-1].why(), Memory: c.short(s)}
}

// short returns the error of the engine that would take the least memory among those that might be chosen and lack it, nil if
// none does.
func (c *chooser) short(s *selection) (least *MemoryError) {
	for i, f := range s.candidates {
		mayBe := (c.engine == "" || c.engine == c.names[i]) && c.leftOut&(1<<i) == 0
		if mayBe && f.bytes > c.memory && (least == nil || f.bytes < least.Needed) {
			least = &MemoryError{What: "the " + c.names[i] + " engine", Needed: f.bytes, Limit: c.memory}
		}
	}
	return least
}

// why says why a candidate was not taken.
func (f forecast) why() string {
	if f.reason != (reason{}) {
		return f.reason.String()
	}
	return fmt.Sprintf("it predicts an error of %v nats in %v seconds", f.err, f.cost())
}

// engines names those that were used, the most used first.
func (c *chooser) engines() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	order := timeline.Range(0, len(c.names))
	slices.SortStableFunc(order, func(a, b int) int { return c.used[b] - c.used[a] })
	var used []string
	for _, i := range order {
		if c.used[i] > 0 {
			used = append(used, c.names[i])
		}
	}
	return strings.Join(used, ", ")
}

// leaveOut returns a chooser without the engine of the last evaluation, and the
// name of that engine; nil where no other could take its place.
func (c *chooser) leaveOut() (*chooser, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.last
	if s.chosen < 0 {
		return nil, ""
	}
	s.failed = 1 << s.chosen
	if c.next(&s) < 0 {
		return nil, ""
	}
	return c.without(s.chosen), c.names[s.chosen]
}

// explain says what was considered at the last evaluation and why.
func (c *chooser) explain(b *strings.Builder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(b, "tolerance %.2g nats", c.limit)
	if c.engine != "" {
		fmt.Fprintf(b, ", engine %s forced", c.engine)
	}
	b.WriteString("\n")
	for i, f := range c.last.candidates {
		mark := "  "
		if i == c.last.chosen {
			mark = "→ "
		}
		fmt.Fprintf(b, "%s%-13s", mark, c.names[i])
		if f.reason != (reason{}) {
			fmt.Fprintf(b, "no: %s\n", f.reason)
			continue
		}
		fmt.Fprintf(b, "%s an evaluation", timeline.Seconds(f.seconds))
		if math.IsInf(f.setup, 1) {
			b.WriteString(" once as many were made nearby as its set-up takes")
		} else if f.setup > 0 {
			fmt.Fprintf(b, " after %s of set-up", timeline.Seconds(f.setup))
		}
		fmt.Fprintf(b, ", %s", formatBytes(f.bytes))
		fmt.Fprintf(b, ", error at most %.1g nats", f.err)
		if f.err > c.limit {
			b.WriteString(": not exact enough")
		} else if i == c.last.chosen && !c.last.withinTolerance() {
			fmt.Fprintf(b, ", with these observations %.1g", c.last.nats)
		}
		if c.used[i] > 0 {
			fmt.Fprintf(b, "; did %d evaluations", c.used[i])
		}
		b.WriteString("\n")
	}
}

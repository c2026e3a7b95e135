package gppl

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// choice keeps what was chosen, to explain it.
type choice struct {
	options
	limit      float64 // nats that the error may reach
	names      []string
	candidates []forecast
	chosen     int
	used       []int // evaluations by each engine
	last       struct {
		nats, limit float64 // what the last value may err by, and was allowed to
	}
	fallbacks int // evaluations where an engine failed, and how many a report has
	noted     int
	lastErr   error
}

func newChoice(o options, limit float64, names []string) choice {
	return choice{options: o, limit: limit, names: names, candidates: make([]forecast, len(names)), used: make([]int, len(names)), chosen: -1}
}

// next returns the cheapest candidate that keeps the tolerance and is not among
// the failed, or, where none does, the cheapest of those that are about as exact
// as can be; −1 if none is left.
func (c *choice) next(failed uint) int {
	usable := func(i int) bool {
		return c.candidates[i].reason == (reason{}) && failed&(1<<i) == 0 && (c.engine == "" || c.engine == c.names[i])
	}
	limit := math.Inf(1)
	for i, f := range c.candidates {
		if usable(i) {
			limit = min(limit, f.err)
		}
	}
	limit = max(c.limit, 8*limit)
	best := -1
	for i, f := range c.candidates {
		if usable(i) && f.err <= limit && (best < 0 || f.cost() < c.candidates[best].cost()) {
			best = i
		}
	}
	return best
}

// refused says why no engine is left: a Refusal, or what the last one failed of.
func (c *choice) refused() error {
	if c.lastErr != nil {
		return c.lastErr
	}
	if i := slices.Index(c.names, c.engine); i >= 0 {
		return &Refusal{c.engine, c.why(i)}
	}
	if c.engine != "" {
		return &Refusal{c.engine, "it is not for this loss and these inputs, which have " + strings.Join(c.names, ", ")}
	}
	return &Refusal{Reason: c.why(len(c.candidates) - 1)}
}

// why says why candidate i was not taken.
func (c *choice) why(i int) string {
	f := c.candidates[i]
	if f.reason != (reason{}) {
		return f.reason.String()
	}
	return fmt.Sprintf("it predicts an error of %v nats in %v seconds", f.err, f.cost())
}

// checkVariance is an error unless the kernel has a prior variance: a positive
// finite number.
func checkVariance(k Kernel) error {
	if v := variance(k) + Nugget(k); !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("gppl: the prior variance of %v is %v: a parameter is too small or too large to compute with", k, v)
	}
	return nil
}

// failed notes that engine i could not do what it was chosen for.
func (c *choice) failed(i int, err error) {
	c.lastErr = err
	c.fallbacks++
}

// took notes that engine i did an evaluation.
func (c *choice) took(i int) {
	c.chosen = i
	c.used[i]++
}

// engines names those that were used, the most used first.
func (c *choice) engines() string {
	order := make([]int, len(c.names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return c.used[b] - c.used[a] })
	var used []string
	for _, i := range order {
		if c.used[i] > 0 {
			used = append(used, c.names[i])
		}
	}
	return strings.Join(used, ", ")
}

// bound returns the error promised for the last value, and whether it keeps the
// tolerance.
func (c *choice) bound() (nats float64, kept bool) {
	if c.chosen < 0 {
		return 0, true
	}
	return c.last.nats, c.last.nats <= c.last.limit
}

// promise sets what the last value may err by, given the quadratic form yᵀA⁻¹y
// of it. A forecast is made for a form of one per term, as the model expects; the
// form itself errs in proportion, by a relative perturbation of A. extra is what
// the engine adds to that. The tolerance is per term or, where the form is larger
// than their number, relative to it: y is then off the model's scale.
func (c *choice) promise(form, extra, value, terms float64) {
	c.last.nats = completed(c.candidates[c.chosen].err, form, terms) + extra + summation(value, terms)
	c.last.limit = c.limit * max(1, form/terms)
}

// explain says what was considered at the last evaluation and why.
func (c *choice) explain(b *strings.Builder) {
	fmt.Fprintf(b, "tolerance %.2g nats", c.limit)
	if c.engine != "" {
		fmt.Fprintf(b, ", engine %s forced", c.engine)
	}
	b.WriteString("\n")
	for i, f := range c.candidates {
		mark := "  "
		if i == c.chosen {
			mark = "→ "
		}
		fmt.Fprintf(b, "%s%-13s", mark, c.names[i])
		if f.reason != (reason{}) {
			fmt.Fprintf(b, "no: %s\n", f.reason)
			continue
		}
		fmt.Fprintf(b, "%s an evaluation", duration(f.seconds))
		if math.IsInf(f.setup, 1) {
			b.WriteString(" once as many were made nearby as its set-up takes")
		} else if f.setup > 0 {
			fmt.Fprintf(b, " after %s of set-up", duration(f.setup))
		}
		fmt.Fprintf(b, ", error at most %.1g nats", f.err)
		if f.err > c.limit {
			b.WriteString(": not exact enough")
		} else if nats, kept := c.bound(); i == c.chosen && !kept {
			fmt.Fprintf(b, ", with these observations %.1g", nats)
		}
		if c.used[i] > 0 {
			fmt.Fprintf(b, "; did %d evaluations", c.used[i])
		}
		b.WriteString("\n")
	}
}

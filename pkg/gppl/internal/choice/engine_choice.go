package choice

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// Chooser chooses the engine of every evaluation of a loss, or of one term of it: the cheapest that keeps the tolerance, and
// the next if its answer fails a check or its error bound is too large. It is safe for concurrent use.
type Chooser struct {
	Limits
	Limit   float64 // bound on the error, in nats
	Names   []string
	LeftOut uint // engines whose gradient Fit found wrong

	mu   sync.Mutex
	used []int     // evaluations by each engine
	last Selection // the last evaluation, for Explain
}

// Selection is the choice for one evaluation.
type Selection struct {
	Candidates []Estimate
	Failed     uint // engines whose attempts failed
	Chosen     int
	Fallbacks  int
	LastErr    error   // error of the last engine that failed
	Nats       float64 // error bound of the value
	Allowed    float64 // largest error bound allowed
}

// New returns a chooser among the engines with the given names; limit bounds their errors in nats.
func New(o Limits, limit float64, names []string) *Chooser {
	return &Chooser{Limits: o, Limit: limit, Names: names, used: make([]int, len(names)), last: Selection{Chosen: -1}}
}

// Fresh returns a copy of the chooser without its record of evaluations.
func (c *Chooser) Fresh() *Chooser {
	d := New(c.Limits, c.Limit, c.Names)
	d.LeftOut = c.LeftOut
	return d
}

// Begin prepares a selection among estimates, which the caller sets next.
func (c *Chooser) Begin(s *Selection) {
	s.Candidates = slices.Grow(s.Candidates[:0], len(c.Names))[:len(c.Names)]
	s.Failed, s.Chosen, s.Fallbacks, s.LastErr, s.Nats, s.Allowed = 0, -1, 0, nil, 0, 0
}

// Next returns the cheapest candidate that keeps the tolerance and has not failed. If none keeps it, Next returns the cheapest
// of those about as exact as the most exact one; −1 if none is left.
func (c *Chooser) Next(s *Selection) int {
	usable := func(i int) bool {
		return !s.Candidates[i].Reason.Given() && (s.Failed|c.LeftOut)&(1<<i) == 0 && (c.Engine == "" || c.Engine == c.Names[i])
	}
	limit := math.Inf(1)
	for i, f := range s.Candidates {
		if usable(i) {
			limit = min(limit, f.Err)
		}
	}
	limit = max(c.Limit, 8*limit)
	best := -1
	for i, f := range s.Candidates {
		if usable(i) && f.Err <= limit && (best < 0 || f.Cost() < s.Candidates[best].Cost()) {
			best = i
		}
	}
	return best
}

// Outcome holds the results of an evaluation that its estimate did not know.
type Outcome struct {
	Value  float64
	Terms  float64 // number of terms of the likelihood: observations or projections
	Form   float64 // yᵀA⁻¹y
	Size   float64 // sum of the forms that cancel in Form and in the mean's part (see spread)
	Extra  float64 // error bound in addition to the estimate
	Shared float64 // part of Extra that any engine would have
}

// Evaluate lets engines attempt an evaluation until one succeeds within the tolerance,
// or as exactly as any engine can. The successful attempt is the last.
func (c *Chooser) Evaluate(s *Selection, attempt func(i int) (Outcome, error)) error {
	coarse := -1 // an engine whose error bound is too large, kept in case none is better
	for {
		i := c.Next(s)
		if i < 0 {
			i = coarse
		}
		if i < 0 {
			return c.refuse(s)
		}
		o, err := attempt(i)
		if err != nil {
			s.LastErr = err
			if i == coarse {
				return err
			}
			s.Failed |= 1 << i
			s.Fallbacks++
			continue
		}
		s.Chosen = i
		s.promise(c, o)
		if i != coarse && c.better(s, o) {
			s.Failed |= 1 << i
			s.Fallbacks++
			coarse = i
			continue
		}
		c.record(s)
		return nil
	}
}

// promise sets the error bound of the value, given its quadratic form yᵀA⁻¹y. An Estimate assumes a form of one per term,
// which the model expects. The error of the form is proportional to it, by a relative perturbation of A, as are the errors of
// the forms of a mean's columns. The tolerance is per term or, where the form exceeds the number of terms, relative to the
// form: y is then off the model's scale.
func (s *Selection) promise(c *Chooser, o Outcome) {
	s.Nats = s.Candidates[s.Chosen].Completed(o.Size, o.Form, o.Terms) + o.Extra + Summation(o.Value, o.Terms)
	s.Allowed = c.Limit * max(1, o.Form/o.Terms)
}

// WithinTolerance reports whether the error bound keeps the tolerance.
func (s *Selection) WithinTolerance() bool { return s.Nats <= s.Allowed }

// better reports whether, for a value with too large an error bound, another candidate's bound is at most an eighth of it.
func (c *Chooser) better(s *Selection, o Outcome) bool {
	if s.WithinTolerance() {
		return false
	}
	failed := s.Failed
	s.Failed |= 1 << s.Chosen
	i := c.Next(s)
	s.Failed = failed
	return i >= 0 && 8*(s.Candidates[i].Completed(o.Size, o.Form, o.Terms)+o.Shared) < s.Nats
}

// Completed returns an estimate's error bound once the quadratic form yᵀA⁻¹y is known. The estimate err assumes a form of one
// per term, the expectation under the model: one half of err is the error of log|A|, the other the error of the form, which
// grows with the form itself. The factor 2·form/terms − 1, instead of (1 + form/terms)/2, is four times that growth: where y
// is far from the model's scale, 2.2 times was measured, for a y that alternates.
func Completed(err, form, terms float64) float64 { return err * max(1, 2*form/terms-1) }

// Completed returns the error bound of an estimate once the form, and the size of the terms that cancel in it, are known.
func (f Estimate) Completed(size, form, terms float64) float64 {
	return Completed(f.Err-f.Moved, size, terms) + Completed(f.Moved, form, terms)
}

// Summation bounds the rounding error of a sum with the given value and number of terms.
func Summation(value, terms float64) float64 { return 16 * 0x1p-53 * max(math.Abs(value), terms) }

// record keeps the selection for Explain, and counts it.
func (c *Chooser) record(s *Selection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(s)
	if s.Chosen >= 0 {
		c.used[s.Chosen]++
	}
}

// Last returns the last evaluation.
func (c *Chooser) Last() Selection {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.last
	s.Candidates = slices.Clone(s.Candidates)
	return s
}

// Settle keeps a selection, already counted, whose error bound was set afterwards.
func (c *Chooser) Settle(s *Selection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(s)
}

// keep keeps a selection, under the lock.
func (c *Chooser) keep(s *Selection) {
	candidates := append(c.last.Candidates[:0], s.Candidates...)
	c.last = *s
	c.last.Candidates = candidates
}

// refuse returns the error if no engine is left: a Refused, or the error of the last engine that failed.
func (c *Chooser) refuse(s *Selection) error {
	c.record(s)
	if s.LastErr != nil {
		return s.LastErr
	}
	if i := slices.Index(c.Names, c.Engine); i >= 0 {
		return &Refused{c.Engine, s.Candidates[i].why(), c.short(s)}
	}
	if c.Engine != "" {
		return &Refused{Engine: c.Engine, Why: "it is not for this loss and these inputs, which have " + strings.Join(c.Names, ", ")}
	}
	return &Refused{Why: s.Candidates[len(s.Candidates)-1].why(), Memory: c.short(s)}
}

// short returns the engine that would take the least memory among the engines that lack memory only, nil if there is none.
func (c *Chooser) short(s *Selection) (least *Shortage) {
	for i, f := range s.Candidates {
		mayBe := (c.Engine == "" || c.Engine == c.Names[i]) && c.LeftOut&(1<<i) == 0
		if mayBe && f.Bytes > c.Memory && (least == nil || f.Bytes < least.Needed) {
			least = &Shortage{c.Names[i], f.Bytes, c.Memory}
		}
	}
	return least
}

// why says why a candidate was not chosen.
func (f Estimate) why() string {
	if f.Reason.Given() {
		return f.Reason.String()
	}
	return fmt.Sprintf("it predicts an error of %v nats in %v seconds", f.Err, f.Cost())
}

// Engines names the engines used, the most used first.
func (c *Chooser) Engines() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	order := timeline.Range(0, len(c.Names))
	slices.SortStableFunc(order, func(a, b int) int { return c.used[b] - c.used[a] })
	var used []string
	for _, i := range order {
		if c.used[i] > 0 {
			used = append(used, c.Names[i])
		}
	}
	return strings.Join(used, ", ")
}

// LeaveOut returns a chooser without the engine of the last evaluation, and the name of that engine; nil if no other could
// replace it.
func (c *Chooser) LeaveOut() (*Chooser, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.last
	if s.Chosen < 0 {
		return nil, ""
	}
	s.Failed = 1 << s.Chosen
	if c.Next(&s) < 0 {
		return nil, ""
	}
	without := c.Fresh()
	without.LeftOut |= 1 << s.Chosen
	return without, c.Names[s.Chosen]
}

// Explain describes the candidates of the last evaluation, and why one was chosen.
func (c *Chooser) Explain(b *strings.Builder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(b, "tolerance %.2g nats", c.Limit)
	if c.Engine != "" {
		fmt.Fprintf(b, ", engine %s forced", c.Engine)
	}
	b.WriteString("\n")
	for i, f := range c.last.Candidates {
		mark := "  "
		if i == c.last.Chosen {
			mark = "→ "
		}
		fmt.Fprintf(b, "%s%-13s", mark, c.Names[i])
		if f.Reason.Given() {
			fmt.Fprintf(b, "no: %s\n", f.Reason)
			continue
		}
		fmt.Fprintf(b, "%s an evaluation", timeline.Seconds(f.Seconds))
		if math.IsInf(f.Setup, 1) {
			b.WriteString(" after repeated evaluations nearby")
		} else if f.Setup > 0 {
			fmt.Fprintf(b, " after %s of set-up", timeline.Seconds(f.Setup))
		}
		fmt.Fprintf(b, ", %s", text.Bytes(f.Bytes))
		fmt.Fprintf(b, ", error at most %.1g nats", f.Err)
		if f.Err > c.Limit {
			b.WriteString(": not exact enough")
		} else if i == c.last.Chosen && !c.last.WithinTolerance() {
			fmt.Fprintf(b, ", with these observations %.1g", c.last.Nats)
		}
		if c.used[i] > 0 {
			fmt.Fprintf(b, "; did %d evaluations", c.used[i])
		}
		b.WriteString("\n")
	}
}

// A Refused is the error if no engine, or not the only one allowed, supports a model.
type Refused struct {
	Engine string // the only engine allowed; "" for any
	Why    string
	Memory *Shortage // smallest memory of an engine, if the limit of memory stands in its way; else nil
}

// Shortage is an engine whose memory would exceed the limit.
type Shortage struct {
	Engine        string
	Needed, Limit float64
}

func (e *Refused) Error() string { return e.Why }

package choice_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
)

var names = []string{"slow", "fast", "rough"}

const limit = 1e-6 // nats

func chooser(l choice.Limits) *choice.Chooser {
	if l.Memory == 0 {
		l.Memory = math.Inf(1)
	}
	if l.Seconds == 0 {
		l.Seconds = math.Inf(1)
	}
	return choice.New(l, limit, names)
}

// begun has an exact engine that is slow, one that is fast after a set-up, and a faster one whose error is above the limit.
func begun(c *choice.Chooser, s *choice.Selection) {
	c.Begin(s)
	for i, f := range []choice.Estimate{{Seconds: 1, Bytes: 100, Err: 1e-9}, {Seconds: 0.1, Setup: 3, Bytes: 1000, Err: 1e-8},
		{Seconds: 0.01, Bytes: 10, Err: 1e-4}} {
		s.Candidates[i] = c.Limited(f)
	}
}

func TestNext(t *testing.T) {
	for what, c := range map[string]struct {
		limits choice.Limits
		spoil  func(c *choice.Chooser, s *choice.Selection)
		want   int
	}{
		"the cheapest that is exact enough": {want: 1},
		"a set-up counts by its share": {spoil: func(_ *choice.Chooser,
			s *choice.Selection) {
			s.Candidates[1].Setup = 28 * choice.EvaluationsAhead
		}, want: 0},
		"one that failed is not asked again": {spoil: func(_ *choice.Chooser, s *choice.Selection) { s.Failed = 1 << 1 }, want: 0},
		"nor is one that was left out":       {spoil: func(c *choice.Chooser, _ *choice.Selection) { c.LeftOut = 1 << 1 }, want: 0},
		"none keeps the limit: the most exact": {spoil: func(_ *choice.Chooser, s *choice.Selection) { s.Failed = 1<<0 | 1<<1 },
			want: 2},
		"about as exact, and cheaper": {spoil: func(_ *choice.Chooser, s *choice.Selection) {
			s.Candidates[0].Err,
				s.Candidates[1].Err = 2e-5, 1e-2
		}, want: 2},
		"only one may be chosen":                {limits: choice.Limits{Engine: "rough"}, want: 2},
		"memory":                                {limits: choice.Limits{Memory: 500}, want: 0},
		"time":                                  {limits: choice.Limits{Seconds: 0.15}, want: 2},
		"nothing is left":                       {limits: choice.Limits{Memory: 5}, want: -1},
		"the only one that may does not fit in": {limits: choice.Limits{Engine: "fast", Memory: 500}, want: -1},
	} {
		ch, s := chooser(c.limits), new(choice.Selection)
		if begun(ch, s); c.spoil != nil {
			c.spoil(ch, s)
		}
		if got := ch.Next(s); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}

// evaluate returns which engines were asked, where the named ones fail or err by more than they promised.
func evaluate(c *choice.Chooser, s *choice.Selection, fail, coarse string) (asked string, err error) {
	begun(c, s)
	err = c.Evaluate(s, func(i int) (choice.Outcome, error) {
		asked += names[i][:1]
		o := choice.Outcome{Value: 1, Terms: 10, Form: 10, Size: 10}
		if strings.Contains(fail, names[i]) {
			return o, errors.New(names[i] + " failed")
		}
		if strings.Contains(coarse, names[i]) {
			o.Extra = 1e-3
		}
		return o, nil
	})
	return asked, err
}

func TestEvaluate(t *testing.T) {
	for _, c := range []struct {
		fail, coarse, asked string
		chosen, fallbacks   int
		within              bool
	}{
		{"", "", "f", 1, 0, true},
		{"fast", "", "fs", 0, 1, true},
		{"fast slow", "", "fsr", 2, 2, false},
		{"", "fast", "fs", 0, 1, true},              // the error exceeds its bound, and another engine is exact
		{"slow rough", "fast", "fsrf", 1, 3, false}, // nobody else can: back to it
		{"", "fast slow", "fsr", 2, 2, false},       // the rough engine is better than both
	} {
		s := new(choice.Selection)
		ch := chooser(choice.Limits{})
		asked, err := evaluate(ch, s, c.fail, c.coarse)
		if err != nil || asked != c.asked || s.Chosen != c.chosen || s.Fallbacks != c.fallbacks || s.WithinTolerance() != c.within {
			t.Errorf("%+v: asked %s, chose %d after %d, within %v (%.2g of %.2g), %v",
				c, asked, s.Chosen, s.Fallbacks, s.WithinTolerance(), s.Nats, s.Allowed, err)
		}
	}
	s := new(choice.Selection)
	begun(chooser(choice.Limits{}), s) // far from the model's scale, the tolerance is relative to the form
	if err := chooser(choice.Limits{}).Evaluate(s, func(int) (choice.Outcome, error) {
		return choice.Outcome{Terms: 10, Form: 500,
			Size: 500}, nil
	}); err != nil || math.Abs(s.Allowed-50*limit) > 1e-12 || s.Nats < 99*1e-8 {
		t.Errorf("%v nats of %v allowed, %v", s.Nats, s.Allowed, err)
	}
	if _, err := evaluate(chooser(choice.Limits{}), s, "slow fast rough", ""); err == nil || err.Error() != "rough failed" {
		t.Errorf("all fail: %v", err)
	}
}

// TestBetter: where a value errs by more than is allowed, another engine is asked only if it promises less than an eighth of
// that.
func TestBetter(t *testing.T) {
	for _, c := range []struct {
		promised       float64
		asked          string
		chosen, fallen int
	}{{1.1e-3 / 8, "f", 1, 0}, {0.9e-3 / 8, "fs", 0, 1}} {
		ch, s, asked := chooser(choice.Limits{}), new(choice.Selection), ""
		begun(ch, s)
		s.Candidates[0].Err, s.Candidates[2] = c.promised, choice.Cannot("no")
		err := ch.Evaluate(s, func(i int) (choice.Outcome, error) {
			asked += names[i][:1]
			return choice.Outcome{Value: 1, Terms: 10, Form: 10, Size: 10, Extra: []float64{0, 1e-3}[i]}, nil
		})
		if err != nil || asked != c.asked || s.Chosen != c.chosen || s.Fallbacks != c.fallen || s.WithinTolerance() {
			t.Errorf("%.3g promised: asked %s, chose %d after %d, %v", c.promised, asked, s.Chosen, s.Fallbacks, err)
		}
	}
}

// TestAgain: an engine that is gone back to, since no other can, and fails then, ends the evaluation.
func TestAgain(t *testing.T) {
	c, s, asked := chooser(choice.Limits{}), new(choice.Selection), ""
	begun(c, s)
	err := c.Evaluate(s, func(i int) (choice.Outcome, error) {
		if asked += names[i][:1]; len(asked) == 1 {
			return choice.Outcome{Terms: 10, Form: 10, Size: 10, Extra: 1e-3}, nil
		}
		if len(asked) > 4 {
			t.Fatalf("asked %s: it never ends", asked)
		}
		return choice.Outcome{}, errors.New(names[i] + " failed")
	})
	if asked != "fsrf" || err == nil || err.Error() != "fast failed" {
		t.Errorf("asked %s: %v", asked, err)
	}
}

// TestRefused: the error says why, for the engine that is forced, and how much memory would do.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		limits         choice.Limits
		engine, reason string
		needed         float64
	}{
		{choice.Limits{Memory: 5}, "", "GB", 10},
		{choice.Limits{Engine: "fast", Memory: 500}, "fast", "GB", 1000},
		{choice.Limits{Engine: "slow", Seconds: 0.5}, "slow", "1 s", 0},
		{choice.Limits{Engine: "other"}, "other", "slow, fast, rough", 0},
	} {
		_, err := evaluate(chooser(c.limits), new(choice.Selection), "", "")
		var r *choice.Refused
		if !errors.As(err, &r) || r.Engine != c.engine || !strings.Contains(r.Why, c.reason) || (r.Memory != nil) != (c.needed > 0) ||
			r.Memory != nil && r.Memory.Needed != c.needed {
			t.Errorf("%+v: %v", c.limits, err)
		}
	}
}

// TestExplain: what was used is named, the most used first; a copy begins afresh, and keeps what is left out.
func TestExplain(t *testing.T) {
	c, s := chooser(choice.Limits{}), new(choice.Selection)
	if other, name := c.LeaveOut(); other != nil || name != "" {
		t.Error("an engine is left out before any was used")
	}
	for _, fail := range []string{"", "fast", "fast"} {
		if _, err := evaluate(c, s, fail, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Engines(); got != "slow, fast" {
		t.Errorf("used: %q", got)
	}
	var b strings.Builder
	c.Explain(&b)
	for _, want := range []string{"tolerance 1e-06 nats\n", "→ slow", "did 2 evaluations", "3 s of set-up", "not exact enough"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if last := c.Last(); last.Chosen != 0 || len(last.Candidates) != len(names) {
		t.Errorf("the last evaluation: %+v", last)
	}
	other, name := c.LeaveOut()
	if name != "slow" || other.LeftOut != 1 || other.Engines() != "" || other.Fresh().LeftOut != 1 || c.LeftOut != 0 {
		t.Errorf("%s is left out: %b, %b", name, other.LeftOut, c.LeftOut)
	}
	if asked, err := evaluate(other, s, "fast", ""); asked != "fr" || err != nil {
		t.Errorf("without slow: asked %s, %v", asked, err)
	}
}

func TestEstimate(t *testing.T) {
	if f := choice.Cannot("no"); !f.Reason.Given() || f.Within(0).Reason.String() != "no" {
		t.Errorf("a reason is replaced: %v", f.Within(0).Reason)
	}
	if got := choice.Because("%.2g of them", 3).String(); got != "3 of them" {
		t.Error(got)
	}
	// A form far above one per term errs in proportion; one below costs nothing.
	for form, want := range map[float64]float64{0: 2, 10: 2, 100: 2 * 19} {
		if got := choice.Completed(2, form, 10); got != want {
			t.Errorf("form %v: %v, want %v", form, got, want)
		}
	}
	// What comes of another A grows with the form, what rounding leaves with the size of what cancels.
	if got := (choice.Estimate{Err: 5, Moved: 3}).Completed(100, 20, 10); got != 2*19+3*3 {
		t.Errorf("a moved estimate: %v", got)
	}
	if choice.Summation(-1000, 10) != choice.Summation(1, 1000) {
		t.Error("a sum is rounded by its value or by its terms, whichever is more")
	}
}

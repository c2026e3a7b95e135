package gppl_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

var (
	randomCases = flag.Int("cases", 0, "TestRandomCases: how many `cases` of all sizes; 0 is a short set of small ones")
	randomFrom  = flag.Int("from", 0, "TestRandomCases: the `number` of the first case")
	randomTime  = flag.Duration("budget", 0, "TestRandomCases: begin no further case after this `time`; 0 is no limit")
)

// promisesKept says whether the engines keep all promises of the short set.
// While it is false, what they exceed is listed and the test is skipped.
const promisesKept = true

// TestRandomCases holds value and gradient of every engine, and of the automatic
// choice, to the double-double reference over random cases. In full, and one
// case by itself:
//
//	go test ./pkg/gppl -run TestRandomCases -cases 10000 -timeout 3h -v
//	go test ./pkg/gppl -run TestRandomCases -cases 1 -from 1234 -v
func TestRandomCases(t *testing.T) {
	t.Parallel()
	count, largest := *randomCases, 0
	if count == 0 {
		count, largest = testkit.Size(25, 80, 200), testkit.Size(100, 300, 300)
	}
	began := time.Now()
	s := judgeAll(*randomFrom, count, largest)
	t.Logf("%d cases in %.0f s\n%s", s.cases, time.Since(began).Seconds(), s.tables())
	if count == 1 {
		for _, j := range s.all {
			t.Logf("%s %s: %s, value %.3g, gradient %.3g of what is allowed\n%s", j.loss, j.engine, j.verdict, j.value, j.grad, j.detail)
		}
	}
	for _, err := range s.beyond {
		t.Log(err)
	}
	if len(s.beyond) > 1+s.cases/100 {
		t.Errorf("%d of %d cases are beyond the reference", len(s.beyond), s.cases)
	}
	for _, err := range s.errors {
		t.Error(err)
	}
	bad := s.bad()
	for _, line := range bad {
		t.Log(line)
	}
	if len(bad) > 0 {
		if !promisesKept && largest > 0 {
			t.Skip("promisesKept is false: see above for what is exceeded")
		}
		t.Fail()
	}
}

// summary is all judgements of a run.
type summary struct {
	cases  int
	all    []judged
	beyond []error // cases that the reference cannot decide
	errors []error
}

// judged is a judgement with its case.
type judged struct {
	judgement
	number int
	about  string
}

// judgeAll judges the first count cases from number from on that have no more
// than largest observations, on all processors.
func judgeAll(from, count, largest int) *summary {
	var s summary
	var lock sync.Mutex
	var next, done atomic.Int64
	began := time.Now()
	next.Store(int64(from))
	var group sync.WaitGroup
	work := func() {
		defer group.Done()
		for *randomTime == 0 || time.Since(began) < *randomTime {
			c := takeCase(&next, &done, from, count, largest)
			if c == nil {
				return
			}
			js, err := judgeCase(c)
			lock.Lock()
			s.cases++
			switch {
			case errors.Is(err, errBeyondReference):
				s.beyond = append(s.beyond, fmt.Errorf("%v: %w", c, err))
			case err != nil:
				s.errors = append(s.errors, fmt.Errorf("%v: %w", c, err))
			}
			for _, j := range js {
				s.all = append(s.all, judged{j, c.number, c.String()})
			}
			if s.cases%200 == 0 && count > 200 {
				fmt.Fprintf(os.Stderr, "%d of %d cases after %.0f s\n%s\n%s\n", s.cases, count, time.Since(began).Seconds(), s.tables(),
					strings.Join(s.bad(), "\n"))
			}
			lock.Unlock()
		}
	}
	for range runtime.GOMAXPROCS(0) {
		group.Add(1)
		go work()
	}
	group.Wait()
	slices.SortStableFunc(s.all, func(a, b judged) int { return cmp.Compare(a.number, b.number) })
	return &s
}

// takeCase returns the next case, nil at the end.
func takeCase(next, done *atomic.Int64, from, count, largest int) *randomCase {
	for {
		number := int(next.Add(1)) - 1
		if largest == 0 && number >= from+count {
			return nil
		}
		c := newRandomCase(number, largest)
		if c == nil {
			continue
		}
		if done.Add(1) > int64(count) {
			return nil
		}
		return c
	}
}

// tables tells the cases with y on the model's scale from the others.
func (s *summary) tables() string {
	return fmt.Sprintf("y on the model's scale (yᵀA⁻¹y ≤ %d n):\n%s\ny off it:\n%s", offScale, s.table(false), s.table(true))
}

// table has one line for each loss and engine.
func (s *summary) table(offScale bool) string {
	type row struct {
		count                     map[verdict]int
		value, grad               int
		worstValue, worstGradient float64
		inexact                   int
	}
	rows := map[string]*row{}
	var names []string
	for _, j := range s.all {
		if j.offScale != offScale {
			continue
		}
		name := j.loss + "\t" + j.engine
		r := rows[name]
		if r == nil {
			r = &row{count: map[verdict]int{}}
			rows[name] = r
			names = append(names, name)
		}
		r.count[j.verdict]++
		if j.verdict != kept && j.verdict != exceeded {
			continue
		}
		if j.value > 1 {
			r.value++
		}
		if j.grad > 1 {
			r.grad++
		}
		if j.inexact {
			r.inexact++
		}
		r.worstValue, r.worstGradient = max(r.worstValue, j.value), max(r.worstGradient, j.grad)
	}
	slices.Sort(names)
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "loss\tengine\tjudged\texceeded\tby value\tby gradient\tworst value\tworst"+
		" gradient\tinexact\tjittered\trefused\tfailed\tskipped\tNaN\tpanic\thang\t")
	for _, name := range names {
		r := rows[name]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.2g\t%.2g\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name,
			r.count[kept]+r.count[exceeded], r.count[exceeded], r.value, r.grad, r.worstValue, r.worstGradient, r.inexact,
			r.count[jittered], r.count[refused], r.count[failed], r.count[skipped], r.count[notANum], r.count[panicked], r.count[hung])
	}
	w.Flush()
	return b.String()
}

// scaleOf says whether y is on the model's scale.
func scaleOf(j judged) string {
	if j.offScale {
		return "off scale"
	}
	return "of the model"
}

// bad lists wrong answers, NaN, panics and hangs, the worst of each engine
// first, ten of each.
func (s *summary) bad() (lines []string) {
	wrong := slices.Clone(s.all)
	wrong = slices.DeleteFunc(wrong, func(j judged) bool {
		return !slices.Contains([]verdict{exceeded, notANum, panicked, hung}, j.verdict)
	})
	slices.SortStableFunc(wrong, func(a, b judged) int {
		return cmp.Or(cmp.Compare(scaleOf(a), scaleOf(b)), cmp.Compare(a.loss, b.loss), cmp.Compare(a.engine, b.engine),
			-cmp.Compare(rank(a), rank(b)))
	})
	same := 0
	for i, j := range wrong {
		if same++; i == 0 || wrong[i-1].loss != j.loss || wrong[i-1].engine != j.engine || wrong[i-1].offScale != j.offScale {
			same = 1
		}
		if same <= 10 {
			lines = append(lines, fmt.Sprintf("y %s, %s %s: %s by %.3g (value %.3g, gradient %.3g)\n  %s\n  %s",
				scaleOf(j), j.loss, j.engine, j.verdict, j.worst(), j.value, j.grad, j.about, j.detail))
		}
	}
	return lines
}

// rank sorts results that are not numbers before results that are wrong numbers.
func rank(j judged) float64 {
	if j.verdict != exceeded {
		return math.Inf(1)
	}
	return j.worst()
}

// allKept judges the short set of cases from a number on, and fails the test for what is exceeded.
func allKept(t *testing.T, from int) *summary {
	t.Parallel()
	s := judgeAll(from, testkit.Size(25, 100, 400), testkit.Size(100, 200, 300))
	t.Logf("%d cases\n%s", s.cases, s.tables())
	for _, err := range s.errors {
		t.Error(err)
	}
	for _, line := range s.bad() {
		t.Error(line)
	}
	return s
}

// TestRandomLinear is TestRandomCases for kernels that are linear stochastic differential equations. One case by itself:
//
//	go test ./pkg/gppl -run TestRandomCases -cases 1 -from 1099511627781 -v
func TestRandomLinear(t *testing.T) {
	s := allKept(t, linearFrom)
	if !slices.ContainsFunc(s.all, func(j judged) bool { return j.engine == gppl.EngineStateSpace }) {
		t.Error("the state-space engine took no case")
	}
}

// TestRandomErrors is TestRandomCases for observations with known errors, beside which the noise may vanish. One case by itself:
//
//	go test ./pkg/gppl -run TestRandomCases -cases 1 -from 2199023255555 -v
func TestRandomErrors(t *testing.T) {
	s := allKept(t, knownFrom)
	if inexact := len(slices.DeleteFunc(slices.Clone(s.all),
		func(j judged) bool { return !j.inexact || j.engine != "auto" })); inexact > s.cases/4 {
		t.Errorf("%d of %d cases are called inexact", inexact, s.cases)
	}
}

// TestFormerExceptions judges cases in which an error was once larger than promised: what was found in
// long runs of TestRandomCases stays looked at.
func TestFormerExceptions(t *testing.T) {
	t.Parallel()
	for _, number := range []int{
		4108, 5771, 5720, // derivatives: what αᵀ∂Aα adds
		5718, 30617, // PL, raw projections: the condition of ΩᵀΩ, with and without a signal
		22713, // VFE: an inducing input at 1.7e9
		71976, // VFE: inducing inputs close for differences of the reference, y far off scale
	} {
		s := judgeAll(number, 1, 0)
		for _, err := range s.errors {
			t.Error(err)
		}
		for _, line := range s.bad() {
			t.Error(line)
		}
	}
}

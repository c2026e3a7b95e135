package ledger

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/experiment"
)

const results = "../../../notebooks/results"

var stored = sync.OnceValues(func() (*experiment.Evidence, error) { return experiment.LoadEvidence(results) })

// evidence returns the stored evidence. A test that changes it takes a copy (copied).
func evidence(t *testing.T) *experiment.Evidence {
	t.Helper()
	return testkit.Must(stored())(t)
}

// TestLedger compares the committed ledger with what follows from the stored results: every row, with its status, numbers and
// reasons. If they differ by intent, go run ./measure/ledger -write updates it.
func TestLedger(t *testing.T) {
	text := testkit.Must(os.ReadFile(filepath.Join(results, "ledger.json")))(t)
	var kept struct {
		Summary string
		Rows    []Row
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	rows := Of(evidence(t))
	if diff := cmp.Diff(kept.Rows, rows); diff != "" {
		t.Errorf("ledger.json (−) is not what follows from the stored results (+): go run ./measure/ledger -write\n%s", diff)
	}
	if kept.Summary != Summary(rows) {
		t.Errorf("%q, want %q", kept.Summary, Summary(rows))
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.ID] || r.ID == "" {
			t.Errorf("row %q is there twice", r.ID)
		}
		seen[r.ID] = true
		if r.Group == "" || r.Claim == "" || r.Published == "" || r.Notebook == "" || !slices.Contains(Statuses, r.Status) {
			t.Errorf("row %q lacks something: %+v", r.ID, r)
		}
		if _, err := os.Stat(filepath.Join(results, "..", r.Notebook+".ipynb")); err != nil {
			t.Errorf("row %q: %v", r.ID, err)
		}
		if r.Status != Reproduced && r.Why == "" {
			t.Errorf("row %q is %s, and does not say why", r.ID, r.Status)
		}
		if r.Status != NotRun && (r.Rule == "" || r.Overturn == "" || r.Ours == "") {
			t.Errorf("row %q (%s) does not say what was found, what decides, or what would overturn it", r.ID, r.Status)
		}
		if strings.Contains(r.Ours+r.Why+r.Rule, "{") || strings.Contains(r.Ours, "NaN") || strings.Contains(r.Ours, "%!") {
			t.Errorf("row %q is not filled in: %+v", r.ID, r)
		}
	}
}

// TestPages compares the documents that are made from the rows, and what the README says, with the stored results, and counts the
// words of the article.
func TestPages(t *testing.T) {
	rows := Of(evidence(t))
	for name, made := range map[string]func([]Row) (string, error){"reproduction.md": Article, "errata.md": ErrataPage} {
		want, got := testkit.Must(made(rows))(t), testkit.Must(os.ReadFile("../../../docs/"+name))(t)
		if diff := cmp.Diff(string(got), want); diff != "" {
			t.Errorf("docs/%s is not what follows from the stored results: go run ./measure/ledger -article docs\n%s", name, diff)
		}
	}
	const most = 2500 // words that a reader takes ten minutes for
	if n := len(strings.Fields(strings.ReplaceAll(testkit.Must(Article(rows))(t), "|", ""))); n > most {
		t.Errorf("docs/reproduction.md has %d words, more than %d", n, most)
	}
	readme := testkit.Must(os.ReadFile("../../../README.md"))(t)
	if flat := strings.Join(strings.Fields(string(readme)), " "); !strings.Contains(flat, Summary(rows)) {
		t.Errorf("the README should say %q", Summary(rows))
	}
}

// TestStatements checks that every claim has a rule and every rule a claim, with no verdict that there is not.
func TestStatements(t *testing.T) {
	if len(judges) != len(statements) {
		t.Errorf("%d rules for %d claims", len(judges), len(statements))
	}
	for _, s := range statements {
		if judges[s.ID] == nil || s.Claim == "" || s.Where == "" || s.Rule == "" || s.Overturn == "" {
			t.Errorf("claim %q lacks its rule or its text", s.ID)
		}
		for status := range s.Why {
			if !slices.Contains(Statuses, status) {
				t.Errorf("claim %q has a reason for %q", s.ID, status)
			}
		}
	}
	of := map[string]bool{}
	for _, x := range errata {
		of[x.ID] = true
		measured := (effects[x.ID] != nil) != (x.Rows != nil) // by one of the two
		if measured != strings.Contains(x.Effect, "{found}") {
			t.Errorf("erratum %q: its effect and what measures it do not fit", x.ID)
		}
	}
	for id := range effects {
		if !of[id] {
			t.Errorf("%q measures no erratum", id)
		}
	}
}

// TestCovers checks that every number that the paper prints has a row, and that times have one for each pair.
func TestCovers(t *testing.T) {
	e := evidence(t)
	want := map[string]int{Table1: 5, Table2: 12, Table3: 8, Figure3: len(e.Published.E2), Times: 24}
	got := map[string]int{}
	for _, r := range Of(e) {
		got[r.Group]++
	}
	for group, n := range want {
		if got[group] != n {
			t.Errorf("%s has %d rows, want %d", group, got[group], n)
		}
	}
}

// TestFurther: of samples that are normal, and of such with one wild value in ten, the interval holds a further draw about as
// often as it says; a single outlier moves no verdict.
func TestFurther(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 67))
	for _, n := range []int{6, 10, 20, 40} {
		for _, wild := range []int{0, n / 10} {
			inside, draws := 0, testkit.Size(20_000, 4000, 4000)
			for range draws {
				v := make([]float64, n)
				for i := range v {
					if v[i] = rnd.NormFloat64(); i < wild {
						v[i] *= 1000
					}
				}
				x := rnd.NormFloat64()
				if test := further(x, v, false); (test.P >= level) == (test.Lo <= x && x <= test.Hi) && test.P >= level {
					inside++
				} else if test.P >= level {
					t.Fatalf("p = %v, and %v is outside [%v, %v]", test.P, x, test.Lo, test.Hi)
				}
			}
			if share := float64(inside) / float64(draws); share < 0.935 || share > 0.99 {
				t.Errorf("%d draws, %d of them wild: the interval holds %.1f %% of further ones", n, wild, 100*share)
			}
		}
	}
}

// TestVerdicts gives numbers and claims that a test accepts, cannot decide, and rejects.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		test Test
		want Status
	}{
		{Test{P: 0.5, Adjusted: 1, Lo: 1, Hi: 9}, Reproduced},
		{Test{P: 0.5, Adjusted: 1, Lo: 1, Hi: 11}, Undecided},
		{Test{P: 1e-9, Adjusted: 1e-8, Lo: 1, Hi: 11}, Undecided}, // no verdict from a wide interval, either way
		{Test{P: 0.5, Adjusted: 1, Lo: -1, Hi: 3}, Undecided},
		{Test{P: 0.04, Adjusted: 1, Lo: 1, Hi: 2}, Undecided},
		{Test{P: 0.06, Adjusted: 1, Lo: 1, Hi: 2}, Reproduced},
		{Test{P: 0.9, Adjusted: 1, Claim: true, Support: 0.06}, Undecided},
		{Test{P: 0.9, Adjusted: 1, Claim: true, Support: 0.04}, Reproduced},
		{Test{P: 1e-3, Adjusted: 0.06, Claim: true, Support: 1}, Undecided},
		{Test{P: 1e-6, Adjusted: 0.04, Lo: 1, Hi: 2}, NotReproduced},
		{Test{P: 0.9, Adjusted: 1, Claim: true, Support: 0.2}, Undecided},
		{Test{P: 1, Adjusted: 1, Claim: true}, Reproduced},
		{Test{P: 0.01, Adjusted: 0.2, Claim: true, Support: 1}, Undecided},
		{Test{P: 0.001, Adjusted: 0.02, Claim: true, Support: 1}, NotReproduced},
	} {
		if got, _ := c.test.verdict(); got != c.want {
			t.Errorf("%+v is %s, want %s", c.test, got, c.want)
		}
	}
	rows := []Row{{Test: &Test{P: 0.9, Claim: true}, Status: Corrected}, {Test: &Test{P: 0.9, Claim: true, Support: 0.2}, Status: Corrected},
		{Test: &Test{P: 0.001, Claim: true, Support: 1}, Status: Corrected}, {Test: &Test{P: 0.9, Claim: true}, Status: NotReproduced},
		{Test: &Test{P: 0.9, Lo: 1, Hi: 2}, Status: Corrected}}
	settle(rows)
	for i, want := range []Status{Corrected, Undecided, NotReproduced, NotReproduced, Corrected} {
		if rows[i].Status != want {
			t.Errorf("row %d, with a rule's verdict and a test's, is %s, want %s", i, rows[i].Status, want)
		}
	}
	if rows[2].Test.Adjusted != 0.005 {
		t.Errorf("p = 0.001 among 5 is corrected to %g", rows[2].Test.Adjusted)
	}
}

// TestRests gives a claim that rests on two others all verdicts of these.
func TestRests(t *testing.T) {
	for _, c := range []struct{ a, b, want Status }{
		{Reproduced, Reproduced, Reproduced}, {Reproduced, Corrected, Corrected}, {Reproduced, Undecided, Undecided},
		{Reproduced, NotReproduced, NotReproduced}, {Undecided, NotReproduced, NotReproduced}, {Reproduced, NotRun, NotRun},
	} {
		r := Row{ID: "both"}
		if r.rests([]Row{{ID: "a", Status: c.a}, {ID: "b", Status: c.b}}, []string{"a", "b"}); r.Status != c.want {
			t.Errorf("%s and %s make %s, want %s", c.a, c.b, r.Status, c.want)
		}
	}
}

// TestSigns compares the sign test and Student's t with tables.
func TestSigns(t *testing.T) {
	if got := signs(5, 20); math.Abs(got.P-0.02069) > 1e-5 || math.Abs(got.Support-0.99409) > 1e-5 {
		t.Errorf("5 wins of 20: %+v", got)
	}
	if got := below([]float64{1, 2, 3, 4, 5}, 0); math.Abs(got.P-0.00662) > 1e-4 {
		t.Errorf("a mean of 3 with standard error 0.707: %+v", got)
	}
	if got := all(signs(4, 20), signs(5, 20)); math.Abs(got.P-2*signs(4, 20).P) > 1e-12 || got.Support != signs(4, 20).Support {
		t.Errorf("both: %+v", got)
	}
	for _, c := range []struct{ mean, p, support float64 }{{4, 0.0066, 0.9934}, {-4, 0.0066, 0.9934}, {0, 0.8850, 0.1150}} {
		s := sample{1: c.mean - 2, 2: c.mean - 1, 3: c.mean, 4: c.mean + 1, 5: c.mean + 2} // standard error 0.7071
		if got := within(s, 1); math.Abs(got.P-c.p) > 1e-4 || math.Abs(got.Support-c.support) > 1e-3 {
			t.Errorf("a mean of %g within 1: %+v", c.mean, got)
		}
	}
	if got := either(signs(4, 20), signs(5, 20)); got.P != signs(5, 20).P || got.Support != signs(4, 20).Support {
		t.Errorf("either: %+v", got)
	}
}

// TestMost: a draw on which one of two parts could not be compared counts neither for a claim nor against it.
func TestMost(t *testing.T) {
	var r Row
	got := r.most("both", sample{1: -1, 2: -1, 3: -1}, sample{1: -1, 2: 1})
	if r.Ours != ", both 1 of 2" || got.N != 2 || got.P != signs(1, 2).P {
		t.Errorf("one draw with both, one with half, one without a comparison: %q, %+v", r.Ours, got)
	}
}

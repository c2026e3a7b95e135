package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackward: ages are refused with advice on what to type. If they are turned, fit, gppl predict and gppl update go on in
// time, and later rows have the column that the file had.
func TestBackward(t *testing.T) {
	dir := t.TempDir()
	ages := func(header string, order func(i int) int) string {
		return put(t, dir, "ages.csv", made(header, 40, func(i int) string { return fmt.Sprintf("%d,%.3f", 10*order(i), observed(order(i))) }))
	}
	rising, falling := func(i int) int { return i }, func(i int) int { return 39 - i }
	for _, c := range []struct {
		header  string
		order   func(i int) int
		refused bool
	}{
		{"kyr BP,d18O", rising, true}, {"Age (ka),d18O", rising, true}, {"age,d18O", falling, true},
		{"years before present,d18O", falling, true}, {"age,weight", rising, false}, {"depth,d18O", falling, false},
	} {
		code, _, said := gppl("compare", ages(c.header, c.order), "--kernel", "SE", "-q")
		if refused := strings.Contains(said, "--backward takes −x"); refused != c.refused || refused != (code == exitFailed) {
			t.Errorf("%s: exit %d: %s", c.header, code, said)
		}
	}
	path, model := ages("age_BP,d18O", rising), filepath.Join(dir, "m.json")
	must(t, "compare", path, "--kernel", "SE", "--time", "number", "-q")
	fit, _ := must(t, "fit", path, "--backward", "--kernel", "SE", "--origins", "0", "--forecast", "2", "--model", model, "-q")
	predict, _ := must(t, "predict", model, "--forecast", "1")
	update, _ := must(t, "update", model, put(t, dir, "new.csv", "age_BP,d18O\n-10,3\n-20,4\n"))
	for said, want := range map[string]string{fit: "from -390 to 0, 10 apart", predict: "−age_BP,mean", update: "2 of d18O, from 10 to 20"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	if _, _, said := gppl("fit", put(t, dir, "d.csv", "t,y\n2024-01-01,1\n2024-01-02,3\n2024-01-03,2\n2024-01-04,3\n2024-01-05,3\n"),
		"--backward"); !strings.Contains(said, "--backward is about numbers, and x are dates") {
		t.Error(said)
	}
}

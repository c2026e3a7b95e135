package exhibit

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/experiment/theory"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// stored returns the outcomes that come with the project, whether or not their recording is here.
func stored(t *testing.T, name string) []experiment.Outcome {
	t.Helper()
	t.Setenv("GPPL_SCALE", "")
	t.Chdir("../../../notebooks")
	trials, ok := experiment.Named(name, scales.Full)
	if !ok {
		t.Fatalf("no experiment %q", name)
	}
	all, err := experiment.Stored(name, trials)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func published(t *testing.T) experiment.Published {
	t.Helper()
	p, err := experiment.LoadPublished()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var notANumber = regexp.MustCompile(`NaN|[+−-]?Inf\b|%!`)

// checkTable checks the number of rows, that no cell is NaN, and some texts.
func checkTable(t *testing.T, table *viz.Table, rows int, want ...string) {
	t.Helper()
	if len(table.Rows) < rows {
		t.Errorf("%s: %d rows, want %d", table.Caption, len(table.Rows), rows)
	}
	h, err := table.HTML()
	if err != nil {
		t.Fatalf("%s: %v", table.Caption, err)
	}
	if bad := notANumber.FindString(string(h)); bad != "" {
		t.Errorf("%s: has %s:\n%s", table.Caption, bad, table)
	}
	for _, w := range want {
		if !strings.Contains(string(h), w) {
			t.Errorf("%s: %q is missing:\n%s", table.Caption, w, table)
		}
	}
}

// checkFigure checks that a figure has a caption and some texts, and that it can be drawn.
func checkFigure(t *testing.T, f *viz.Figure, err error, want ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	h, err := f.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range append(want, "<figcaption") {
		if !strings.Contains(string(h), w) {
			t.Errorf("figure %q: %q is missing", f.Title, w)
		}
	}
}

// partly returns the outcomes of an experiment that may be incompletely stored.
func partly(t *testing.T, name string) []experiment.Outcome {
	t.Helper()
	t.Setenv("GPPL_SCALE", "")
	store, err := experiment.OpenStore(experiment.StorePath(scales.Full, "../../../notebooks", name))
	if err != nil {
		t.Fatal(err)
	}
	return store.Outcomes()
}

func TestE1(t *testing.T) {
	notebook := partly(t, "e1-notebook")
	all, p := stored(t, "e1"), published(t)
	checkTable(t, E1Protocols(all), 9, "Directions whose signal is above the noise, at lengthscale 20: 63 of 1000.")
	f, err := E1Strips(all, p)
	checkFigure(t, f, err, "nats")
	checkTable(t, Table1Notebook(notebook, p), 6)
	checkTable(t, E1Options(notebook), 7)
	checkTable(t, E1Variance(notebook), 4)
	checkTable(t, E1Precision(notebook), 4)
	f, err = E1NotebookStrips(notebook, p)
	checkFigure(t, f, err, "Diamonds")
	f, err = Figure2(notebook)
	checkFigure(t, f, err, "published")
}

// TestTablesFollow changes where one loss ended, and checks that every table that shows it changes: a table with the right number
// of rows may still show the numbers of another loss.
func TestTablesFollow(t *testing.T) {
	p := published(t)
	both, all := []string{experiment.VFE, experiment.PL}, []string{experiment.ML, experiment.VFE, experiment.PL}
	for _, c := range []struct {
		name, store string
		table       func([]experiment.Outcome) *viz.Table
		losses      []string
	}{
		{"E1Protocols", "e1", E1Protocols, all},
		{"Table1Notebook", "e1-notebook", func(o []experiment.Outcome) *viz.Table { return Table1Notebook(o, p) }, all},
		{"E1Options", "e1-notebook", E1Options, both},
		{"E1Precision", "e1-notebook", E1Precision, both},
		{"E2Table", "e2", func(o []experiment.Outcome) *viz.Table { return E2Table(o, p) }, all},
		{"E2Single", "e2", func(o []experiment.Outcome) *viz.Table { return E2Single(o, p) }, []string{experiment.VFE}},
		{"Table2", "sunspots", func(o []experiment.Outcome) *viz.Table { return Table2(o, p) }, all},
		{"VFEVariants", "sunspots", func(o []experiment.Outcome) *viz.Table { return VFEVariants(o, p) }, []string{experiment.VFE}},
		{"SunspotsPL", "sunspots", SunspotsPL, []string{experiment.PL}},
		{"SunspotsWhittle", "sunspots", SunspotsWhittle, append([]string{experiment.Whittle}, all...)},
		{"SunspotsExact", "sunspots", func(o []experiment.Outcome) *viz.Table { return SunspotsExact(o, p) }, []string{experiment.PL}},
	} {
		stored := partly(t, c.store)
		before := html(t, c.table(stored))
		for _, loss := range c.losses {
			moved := slices.Clone(stored)
			for i := range moved {
				if moved[i].Trial.Loss == loss {
					moved[i].NLL += 777
				}
			}
			if html(t, c.table(moved)) == before {
				t.Errorf("%s does not move with the NLL of %s", c.name, loss)
			}
		}
	}
}

func html(t *testing.T, table *viz.Table) string {
	t.Helper()
	h, err := table.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

// TestFigure1 draws Figure 1 from small spectra.
func TestFigure1(t *testing.T) {
	t.Setenv("GPPL_SCALE", "smoke")
	r, err := theory.Spectrum(scales.Smoke, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Figure1(r)
	checkFigure(t, f, err, "Repulsive")
	f, err = TraceAgainstError(r.Cases[0])
	checkFigure(t, f, err, "Eigen leaves the smallest trace", "Sphere")
}

// TestLeading wants the powers in the caption to be one and two.
func TestLeading(t *testing.T) {
	r, err := theory.Theorem(scales.Smoke)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Leading(r)
	checkFigure(t, f, err, "with the power 1.00 of the trace", "with the power 2.00")
}

func TestFound(t *testing.T) {
	t.Chdir("../../../notebooks")
	table, err := found("results", "steps", "theorem")
	if err != nil {
		t.Fatal(err)
	}
	checkTable(t, table, 2)
	first := table.Rows[0]
	if first[0] != viz.Status("reproduced") || !regexp.MustCompile(`E1 \d+, \d+, \d+`).MatchString(first[2].([]string)[1]) {
		t.Errorf("found %q", table.Rows)
	}
	if _, err := found("results", "no-such-row"); err == nil || !strings.Contains(err.Error(), `no row "no-such-row"`) {
		t.Errorf("of a row that is not there: %v", err)
	}
}

func TestE2(t *testing.T) {
	all, p := stored(t, "e2"), published(t)
	checkTable(t, E2Table(all, p), 18, "191 of 500")
	checkTable(t, E2Single(all, p), 1, "10394")
	for _, protocol := range []string{experiment.Paper, experiment.GPPL} {
		f, err := Figure3(all, p, protocol)
		checkFigure(t, f, err, "nats")
	}
	f, err := E2Strips(all)
	checkFigure(t, f, err, "nats")
}

func TestSunspots(t *testing.T) {
	all, p := stored(t, "sunspots"), published(t)
	checkTable(t, Table2(all, p), 4, "1549.12", "1432.675", "1531.907")
	checkTable(t, VFEVariants(all, p), 4)
	checkTable(t, SunspotsPL(all), 4)
	checkTable(t, SunspotsExact(all, p), 4, "1595.472381", "1932.05649820")
	checkTable(t, SunspotsWhittle(all), 20, "20 of 20")
	f, err := SunspotsStrips(all, p)
	checkFigure(t, f, err, "nats")
}

func TestEEG(t *testing.T) {
	all := stored(t, "eeg")
	checkTable(t, Table3(all, published(t), "another recording"), 4, "another recording", "0.397")
	missing := slices.Clone(all[:1])
	missing[0].MSE, missing[0].Error = nil, "not run"
	checkTable(t, Table3(missing, published(t), "another recording"), 1, "not run")
	f, err := EEGErrors(all, "another recording")
	checkFigure(t, f, err, "another recording", "Laplace")

	// What is stored about the recording agrees, to its digits, with what is computed from it.
	kept, err := Sample(all)
	if err != nil {
		t.Fatal(err)
	}
	f, err = kept.Figure()
	checkFigure(t, f, err, "eeg_burst_eg.edf")
	if said := strings.Join(kept.Said(), " "); !strings.Contains(said, "eeg_burst_eg.edf") || !strings.Contains(said, "273 of the 2000") {
		t.Errorf("said: %s", said)
	}
	computed, err := sampled(all)
	if err != nil {
		t.Log("compared with nothing:", err)
		return
	}
	text, err := os.ReadFile("results/eeg-sample.json")
	if err != nil {
		t.Fatal(err)
	}
	var read EEGSample
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(computed, read, cmpopts.EquateApprox(1e-5, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

// TestSunspotsStored: notebook 02 shows the stored results on the paper's series, as the paper's Table 2 has them.
func TestSunspotsStored(t *testing.T) {
	const results = "../../../notebooks/results"
	f, err := SunspotsDraws(results)
	checkFigure(t, f, err, "series, from stored results", "over 30 draws", "PL, converged")
	table, err := SunspotsLearnt(results)
	if err != nil {
		t.Fatal(err)
	}
	checkTable(t, table, 4, "1549.119", "1549.120", "1691.999")
	if _, err := SunspotsDraws(t.TempDir()); err == nil {
		t.Error("nothing is stored, and no error says so")
	}
}

func TestAccurate(t *testing.T) {
	all := stored(t, "accurate")
	checkTable(t, AccurateTable(all), 16)
	checkTable(t, AccurateSunspots(all), 4, "1549.119")
	checkTable(t, Calibration(all), 3)
	checkTable(t, Speed(all), 2)
	checkTable(t, AccurateTrace(all), 2)
	f, err := AccurateStrips(all)
	checkFigure(t, f, err, "nats")
}

func TestCurves(t *testing.T) {
	all := stored(t, "curves")
	f, err := ExcessCurves(all)
	checkFigure(t, f, err, "nats")
	f, err = ExcessAgainstTime(all)
	checkFigure(t, f, err, "nats")
}

// TestMisfit makes the tables that are computed when they are shown.
func TestMisfit(t *testing.T) {
	t.Setenv("GPPL_SCALE", "smoke")
	for _, table := range []func(scales.Scale) (*viz.Table, error){Efficiency, Misfits} {
		made, err := table(scales.Smoke)
		if err != nil {
			t.Fatal(err)
		}
		checkTable(t, made, 3)
	}
}

package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// notebookFolder is the folder of the notebooks, relative to this package.
const notebookFolder = "../../notebooks"

// withRecordings returns the trials of the named experiment that need a recording.
func withRecordings(t *testing.T, name string, scale scales.Scale) (some []Trial) {
	t.Helper()
	trials, ok := Named(name, scale)
	if !ok {
		t.Fatalf("no experiment %q", name)
	}
	for _, x := range trials {
		if x.Source.Name != "draw" {
			some = append(some, x)
		}
	}
	if len(some) == 0 {
		t.Fatalf("%s needs no recording", name)
	}
	return some
}

// TestKnownRecordings: the fingerprints match the recordings, where these are available, and every trial that needs one is stored
// under them at both scales: nothing that a notebook shows is lost with the recording.
func TestKnownRecordings(t *testing.T) {
	for source, want := range known {
		if got, err := source.fingerprint(); err == nil && got != want {
			recording, _ := Recording()
			if source.Name != "eeg" || strings.Contains(recording.Name, "not the paper's") {
				t.Errorf("%+v has the fingerprint %s, not %s", source, got, want)
			}
		}
	}
	for _, name := range []string{"sunspots", "eeg", "accurate"} {
		for scale, path := range map[scales.Scale]string{
			scales.Full: filepath.Join(notebookFolder, "results", name+".jsonl"), scales.Smoke: filepath.Join(notebookFolder, "results", "smoke", name+".jsonl"),
		} {
			store := open(t, path)
			missing := 0
			for _, x := range withRecordings(t, name, scale) {
				key, err := x.keyOf(known[x.Source])
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := store.entries[key]; !ok && !(scale == scales.Full && x.slow()) {
					missing++
				}
			}
			if missing > 0 {
				t.Errorf("%s: %d results are not stored. At full scale --fresh computes them; at smoke scale, with the recordings, "+
					"GPPL_SCALE=smoke scripts/reproduce.sh --only 07,08,09 --numbers accept stores them", path, missing)
			}
		}
	}
}

// lonely enters a folder of notebooks that no recording can be found from, with a copy of the stored results.
func lonely(t *testing.T, scale scales.Scale) {
	t.Helper()
	stored, err := filepath.Abs(filepath.Join(notebookFolder, "results"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "results"), os.DirFS(stored)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv(dataset.EnvDir, "")
	t.Setenv(dataset.EnvOffline, "1")
	t.Setenv("GPPL_SCALE", string(scale))
	forget := func() {
		loaded.Clear()
		fingerprints.Clear()
		Recording = findRecording()
	}
	forget()
	t.Cleanup(forget)
}

// TestWithoutRecordings: without a recording, stored results are shown, even with GPPL_FRESH, a line says so, and the files of
// results stay as they are.
func TestWithoutRecordings(t *testing.T) {
	for _, fresh := range []string{"", "1"} {
		for _, scale := range []scales.Scale{scales.Full, scales.Smoke} {
			for _, name := range []string{"sunspots", "eeg", "accurate"} {
				t.Run(name+" "+string(scale)+" "+fresh, func(t *testing.T) {
					trials := withRecordings(t, name, scale)
					lonely(t, scale)
					t.Setenv("GPPL_FRESH", fresh)
					path := StorePath(scale, ".", name)
					before, _ := os.ReadFile(path)
					if scale == scales.Full { // the store has draws as well, which Tidy would drop
						all, _ := Named(name, scale)
						trials = all
					}
					if name != "accurate" || fresh == "" { // else the draws would be computed
						if err := RunNamed(t.Context(), name, trials, quiet); err != nil {
							t.Fatal(err)
						}
					}
					if after, _ := os.ReadFile(path); string(after) != string(before) {
						t.Errorf("%s has %d bytes, %d before", path, len(after), len(before))
					}
					all, err := Stored(name, trials)
					if err != nil {
						t.Fatal(err)
					}
					lost := 0
					for _, o := range all {
						if o.Trial.Source.Name != "draw" {
							lost++
						}
						if o.Key == "" && !o.Trial.slow() {
							t.Errorf("%v is not stored", o.Trial)
						}
					}
					line := NotRecomputed("07", all)
					for _, want := range []string{"Not recomputed: ", map[bool]string{true: "neither eeg27.edf nor eeg_burst_eg.edf is here", false: "SN_m_tot_V2.0.csv is not here"}[name == "eeg"], "scripts/reproduce.sh --only 07"} {
						if lost == 0 || !strings.Contains(line, want) {
							t.Errorf("%d are of recordings; %q does not say %q", lost, line, want)
						}
					}
				})
			}
		}
	}
}

// A trial whose recording cannot be had and that is not stored is an error that says where the recording was looked for.
func TestWithoutRecordingsNorResults(t *testing.T) {
	trials := withRecordings(t, "sunspots", scales.Full)[:3]
	lonely(t, scales.Full)
	if err := os.RemoveAll("results"); err != nil {
		t.Fatal(err)
	}
	err := RunNamed(t.Context(), "sunspots", trials, quiet)
	if err == nil || !strings.Contains(err.Error(), "SN_m_tot_V2.0.csv not found") {
		t.Errorf("%v: want an error that names the recording", err)
	}
}

// TestOtherRecording: the results in the repository are shown beside another recording too, such as one whose last months the publisher
// has revised, and a line says so. GPPL_FRESH computes with what is here.
func TestOtherRecording(t *testing.T) {
	trials := withRecordings(t, "sunspots", scales.Full)
	lonely(t, scales.Full)
	var text strings.Builder
	for i := range 3319 {
		fmt.Fprintf(&text, "%d;%02d;%.3f;%d;5;20;1\n", 1749+i/12, 1+i%12, 1749+(float64(i)+0.5)/12, 50+i%97)
	}
	if err := os.MkdirAll("data", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("data", dataset.SunspotsFile.Name), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := trials[0].Source.unavailable(); err != nil {
		t.Fatal(err)
	}
	if err := RunNamed(t.Context(), "sunspots", trials, quiet); err != nil {
		t.Fatal(err)
	}
	all, err := Stored("sunspots", trials)
	if err != nil {
		t.Fatal(err)
	}
	if line := NotRecomputed("07", all); !strings.Contains(line, "another recording") || !strings.Contains(line, "--fresh") {
		t.Errorf("%q does not say that the results are of another recording", line)
	}
	store := open(t, StorePath(scales.Full, ".", "sunspots"))
	stop, cancel := context.WithCancel(t.Context())
	cancel()
	var last Progress[Trial]
	fresh := paperSurvey(store, trials, time.Now(), func(Trial) bool { return false })
	fresh.Progress = func(p Progress[Trial]) { last = p }
	_, err = fresh.Run(stop, trials)
	if err == nil || last.Stored != 0 {
		t.Errorf("%v, %d of %d are taken from the store in spite of GPPL_FRESH", err, last.Stored, last.Total)
	}
}

// TestKept: what is computed is stored, and what is stored is returned where nothing can be computed.
func TestKept(t *testing.T) {
	type shown struct{ X Numbers }
	lonely(t, scales.Full)
	can := func(v float64) func() (shown, error) {
		return func() (shown, error) { return shown{Numbers{v, 2}}, nil }
	}
	cannot := func() (shown, error) { return shown{}, os.ErrNotExist }
	for _, scale := range []scales.Scale{scales.Full, scales.Smoke} {
		if _, err := Kept("tide", scale, cannot); err != os.ErrNotExist {
			t.Errorf("%v: want why it cannot be computed", err)
		}
		if v, err := Kept("tide", scale, can(1.23456789)); err != nil || v.X[0] != 1.23456789 {
			t.Errorf("%v, %v", v, err)
		}
		if scale == scales.Smoke { // what scripts/reproduce.sh --numbers accept does
			if err := os.Rename(filepath.Join("out", "smoke-tide.json"), filepath.Join("results", "smoke", "tide.json")); err != nil {
				t.Fatal(err)
			}
		}
		v, err := Kept("tide", scale, cannot)
		if diff := cmp.Diff(shown{Numbers{1.23457, 2}}, v); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
	for _, c := range []struct {
		fresh string
		want  float64
	}{{"", 1.23457}, {"1", 7}} {
		t.Setenv("GPPL_FRESH", c.fresh)
		if _, err := Kept("tide", scales.Full, can(7)); err != nil {
			t.Fatal(err)
		}
		if v, err := Kept("tide", scales.Full, cannot); err != nil || v.X[0] != c.want {
			t.Errorf("GPPL_FRESH=%q: %v, %v; want %v", c.fresh, v, err, c.want)
		}
	}
}

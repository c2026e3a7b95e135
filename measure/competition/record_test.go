package competition

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Groups that were run again take the place of their former results, in the order of Names; the others stay.
func TestStoreResults(t *testing.T) {
	folder := t.TempDir()
	summary := func(group string, mase float64) Summary {
		return Summary{Group: group, Series: 1, Own: Scores{MASE: mase}}
	}
	detail := func(group, id string, mase float64) Detail { return Detail{Group: group, ID: id, MASE: mase} }
	if err := StoreResults(folder, []Summary{summary("m4-hourly", 1), summary("m3-yearly", 2)},
		[]Detail{detail("m4-hourly", "H1", 1), detail("m3-yearly", "N1", 2), detail("m3-yearly", "N3", 2)}); err != nil {
		t.Fatal(err)
	}
	if err := StoreResults(folder, []Summary{summary("m3-yearly", 3), summary("m3-other", 4)},
		[]Detail{detail("m3-yearly", "N1", 3), detail("m3-other", "N5", 4)}); err != nil {
		t.Fatal(err)
	}
	got, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := &Record{
		Groups: []Summary{summary("m3-yearly", 3), summary("m3-other", 4), summary("m4-hourly", 1)},
		Series: []Detail{detail("m3-yearly", "N1", 3), detail("m3-other", "N5", 4), detail("m4-hourly", "H1", 1)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

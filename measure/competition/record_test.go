package competition

import (
	"strings"
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

// TestStored: the stored results of all models are of the same series. By seasonal naive, the results of pretrained models are of
// the publishers' series, except for the yearly series of tourism.
func TestStored(t *testing.T) {
	r, err := Read("../forecasting")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Groups) != len(Names()) || len(r.Models()) == 0 {
		t.Errorf("%d groups, models %v", len(r.Groups), r.Models())
	}
	for _, g := range r.Groups {
		for _, model := range r.Models() {
			if one, ok := r.Rival(g.Group, model); !ok || one.Series != g.Series {
				t.Errorf("%s: %s forecast %d series of %d", g.Group, model, one.Series, g.Series)
			}
		}
	}
	if _, ok := r.Rival("m3-yearly", "luck"); ok {
		t.Error("there is no model of luck")
	}
	for _, score := range []string{"MASE", "WQL"} {
		all, err := r.Standings(score)
		if err != nil || len(all) == 0 {
			t.Fatal(err)
		}
		for _, s := range all {
			yearly := s.Group == "tourism-yearly"
			if (s.Models == 0) != yearly || strings.Contains(s.Note, s.Group) != yearly {
				t.Errorf("%s, %s: %d models; %s", score, s.Group, s.Models, s.Note)
			}
			if !yearly && (s.Models < 9 || s.Better > s.Models || s.Best > s.Median) {
				t.Errorf("%s: %+v", score, s)
			}
		}
	}
	if _, err := r.Standings("sMAPE"); err == nil {
		t.Error("nobody publishes sMAPE")
	}
}

package experiment

import "testing"

// TestWritten reads outcomes that commit 58032895 stored, of each file in notebooks/results, and a line that was cut off. The trials of
// draws, whose keys need no recording, must still be found.
func TestWritten(t *testing.T) {
	s := open(t, "testdata/written.jsonl")
	outcomes := s.Outcomes()
	if len(outcomes) != 21 || s.stale != 1 {
		t.Errorf("%d outcomes and %d lines cut off, want 21 and 1", len(outcomes), s.stale)
	}
	draws := 0
	for _, o := range outcomes {
		if o.Trial.Source.Name != "draw" {
			continue
		}
		draws++
		if found, ok := s.Get(o.Trial); !ok || found.NLL != o.NLL {
			t.Errorf("%v is no longer found under its key %s", o.Trial, o.Key)
		}
	}
	if draws < 10 {
		t.Errorf("%d outcomes are of draws", draws)
	}
}

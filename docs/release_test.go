package docs_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleaseNotes: the notes of a version are its section of CHANGELOG.md, and a version without one is an error.
func TestReleaseNotes(t *testing.T) {
	script := filepath.Join(root, "scripts", "release-notes.sh")
	notes, err := exec.CommandContext(t.Context(), script, "vUnreleased").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, notes)
	}
	text := documents(t)["CHANGELOG.md"]
	_, section, _ := strings.Cut(text, "\n## Unreleased\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if string(notes) != strings.TrimRight(section, "\n")+"\n" {
		t.Errorf("the notes are %d bytes long, and the section of CHANGELOG.md %d", len(notes), len(section))
	}
	if out, err := exec.CommandContext(t.Context(), script, "v0.0.1").CombinedOutput(); err == nil || !strings.Contains(string(out), "## 0.0.1") {
		t.Errorf("a version that is not there: %v, %s", err, out)
	}
}

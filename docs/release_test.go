package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// latest is the heading of a version in CHANGELOG.md; the first heading is the latest.
var latest = regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$`)

// TestReleaseNotes: the notes of a version are its section of CHANGELOG.md, and a version without one is an error.
func TestReleaseNotes(t *testing.T) {
	text := documents(t)["CHANGELOG.md"]
	version := latest.FindStringSubmatch(text)
	if version == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	script := filepath.Join(root, "scripts", "release-notes.sh")
	notes, err := exec.CommandContext(t.Context(), script, "v"+version[1]).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, notes)
	}
	_, section, _ := strings.Cut(text, "\n"+version[0]+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if string(notes) != strings.TrimRight(section, "\n")+"\n" {
		t.Errorf("the notes are %d bytes long, and the section of CHANGELOG.md %d", len(notes), len(section))
	}
	if out, err := exec.CommandContext(t.Context(), script, "v0.0.1").CombinedOutput(); err == nil || !strings.Contains(string(out), "## 0.0.1") {
		t.Errorf("a version that is not there: %v, %s", err, out)
	}
}

// TestCitation: CITATION.cff has the latest version and its date, and the description of an archive says what CITATION.cff does.
func TestCitation(t *testing.T) {
	version := latest.FindStringSubmatch(documents(t)["CHANGELOG.md"])
	text, err := os.ReadFile(filepath.Join(root, "CITATION.cff"))
	if err != nil {
		t.Fatal(err)
	}
	field := func(name string) string {
		found := regexp.MustCompile(`(?m)^` + name + `: "?([^"\n]*)"?$`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("CITATION.cff has no %s", name)
		}
		return string(found[1])
	}
	if field("version") != version[1] || field("date-released") != version[2] {
		t.Errorf("CITATION.cff is of %s, %s; CHANGELOG.md has %s, %s", field("version"), field("date-released"), version[1], version[2])
	}
	text2, err := os.ReadFile(filepath.Join(root, ".zenodo.json"))
	if err != nil {
		t.Fatal(err)
	}
	var archive struct {
		Title, License string
		Creators       []struct{ Name string }
		Keywords       []string
	}
	if err := json.Unmarshal(text2, &archive); err != nil {
		t.Fatal(err)
	}
	if archive.Title != field("title") || archive.License != field("license") || len(archive.Creators) != 1 || !strings.Contains(string(text), archive.Creators[0].Name) {
		t.Errorf(".zenodo.json describes %+v, not what CITATION.cff does", archive)
	}
	for _, word := range archive.Keywords {
		if !strings.Contains(string(text), "  - "+word+"\n") {
			t.Errorf("%q is no keyword of CITATION.cff", word)
		}
	}
}

package experiment

import (
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
)

// commit names the commit of the running code, twelve digits, with a "+" if the tree was changed: as Go built it, or, since go run
// leaves that out, as git says of the current folder. It is empty where neither knows.
var commit = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		set := map[string]string{}
		for _, s := range info.Settings {
			set[s.Key] = s.Value
		}
		if revision := set["vcs.revision"]; len(revision) >= 12 {
			return revision[:12] + map[string]string{"true": "+"}[set["vcs.modified"]]
		}
	}
	revision, err := exec.Command("git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(revision))
})

package experiment

import (
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
)

// commit is the commit of the running code, twelve digits, with a "+" if the tree was changed. It comes from Go's build
// information or, since go run leaves that out, from git in the current folder. It is empty if neither knows.
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
	revision, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil || len(revision) < 12 {
		return ""
	}
	changed, err := exec.Command("git", "diff-index", "HEAD").Output()
	if err != nil {
		return ""
	}
	return string(revision[:12]) + strings.Repeat("+", min(len(changed), 1))
})

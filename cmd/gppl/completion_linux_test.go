package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCompletion completes in a bash without the package bash-completion.
func TestCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	script, _ := must(t, "completion", "bash")
	for _, test := range []struct{ line, want string }{
		{"gppl bac", "backtest"},
		{"gppl fit --regr", "--regressor"},
		{"gppl predict --fut", "--future"},
	} {
		words := strings.Fields(test.line)
		c := exec.Command(bash, "--norc", "-c", `gppl() { "$SELF" "$@"; }
`+script+`
COMP_WORDS=(`+test.line+`); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); __gppl_bash_autocomplete gppl `+words[len(words)-1]+` x; printf '%s ' "${COMPREPLY[@]}"`)
		c.Env = append(os.Environ(), asProgram+"=1", "SELF="+os.Args[0])
		out, err := c.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != test.want {
			t.Errorf("%s: %q, want %q (%v)", test.line, got, test.want, err)
		}
	}
	for shell, want := range map[string]string{"zsh": "#compdef gppl", "fish": "complete -c gppl",
		"pwsh": "Register-ArgumentCompleter"} {
		if script, _ := must(t, "completion", shell); !strings.Contains(script, want) {
			t.Errorf("%s: %s", shell, script)
		}
	}
	if help, _ := must(t, "--help"); !strings.Contains(help, "completion ") {
		t.Error("the command for completion is not in the help")
	}
}

func TestVersion(t *testing.T) {
	if out, _ := must(t, "--version"); !strings.HasPrefix(out, "gppl version ") || len(strings.Fields(out)) < 3 {
		t.Errorf("%q", out)
	}
}

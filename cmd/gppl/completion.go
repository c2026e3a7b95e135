package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v3"
)

// bareBash lets the script for bash do without the package bash-completion, one of whose functions it calls: it sets the variables
// that it is asked for.
const bareBash = `declare -F _get_comp_words_by_ref >/dev/null || _get_comp_words_by_ref() {
  cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=("${COMP_WORDS[@]}") cword="${COMP_CWORD}"
}

`

// configureCompletion shows the command that writes scripts for shells.
func configureCompletion(c *cli.Command) {
	c.Hidden = false
	c.Usage = "write a script for bash, zsh, fish or pwsh that completes commands and flags"
	for _, shell := range c.Commands {
		if shell.Name != "bash" {
			continue
		}
		write := shell.Action
		shell.Action = func(ctx context.Context, c *cli.Command) error {
			if _, err := io.WriteString(c.Root().Writer, bareBash); err != nil {
				return err
			}
			return write(ctx, c)
		}
	}
}

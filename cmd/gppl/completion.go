package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v3"
)

// bareBash lets the script for bash work without the package bash-completion: it defines the function that the script calls.
const bareBash = `declare -F _get_comp_words_by_ref >/dev/null || _get_comp_words_by_ref() {
  cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=("${COMP_WORDS[@]}") cword="${COMP_CWORD}"
}

`

// configureCompletion lists the command that writes scripts for shells, and adds bareBash to the script for bash.
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

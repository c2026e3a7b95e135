package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/text"
)

// invalidValue and unknownFlag match errors of package cli, which name functions of Go instead of the expected value.
var (
	invalidValue = regexp.MustCompile(`^invalid value (".*") for flag -(\S+): (.*)$`)
	unknownFlag  = regexp.MustCompile(`^flag provided but not defined: -(\S+)$`)
)

// retired maps flags of the release before this one to what replaced them.
var retired = map[string]string{
	"channel":      "Data.WithChannels and Model.Channels of the library model several channels (notebook 14)",
	"channel-view": "the Values and Slopes of Model.Channels of the library say how channels see the function (notebook 14)",
	"share":        "gppl.NewPanel of the library learns parameters that several series have in common (notebook 16)",
	"resume":       "gppl sum each file by itself, and gppl merge what is there: a run that was interrupted repeats one file",
	"max-exact":    "the search takes the exact likelihood of any number of rows where it has the time (--budget)",
	"exposure":     "Data.WithExposures of the library models averages over exposures (notebook 14)",
}

// flagNames returns the long names of the flags of a command.
func flagNames(c *cli.Command) (names []string) {
	for _, f := range c.Flags {
		names = append(names, f.Names()[0])
	}
	return names
}

// flagError rewrites an error of package cli about flags: it says what the flag takes, which of the names was probably meant, or
// which of all commands has it.
func flagError(err error, names []string, all []*cli.Command) error {
	message := err.Error()
	if found := unknownFlag.FindStringSubmatch(message); found != nil {
		unknown := dashes(found[1]) + found[1]
		if instead, ok := retired[found[1]]; ok {
			return fmt.Errorf("there is no flag %s any more: %s", unknown, instead)
		}
		if near := text.Nearest(found[1], names); len(found[1]) > 1 && near != "" && text.Distance(found[1], near) <= 2 {
			return fmt.Errorf("there is no flag %s: did you mean %s%s?", unknown, dashes(near), near)
		}
		for _, c := range all {
			if len(found[1]) > 1 && slices.Contains(flagNames(c), found[1]) {
				return fmt.Errorf("there is no flag %s here: gppl %s has it", unknown, c.Name)
			}
		}
		return fmt.Errorf("there is no flag %s", unknown)
	}
	found := invalidValue.FindStringSubmatch(message)
	if found == nil {
		return err
	}
	want := ""
	switch reason := found[3]; {
	case strings.Contains(reason, "out of range"):
		want = "a number that is not so large"
	case strings.Contains(reason, "ParseInt"):
		want = "a whole number"
	case strings.Contains(reason, "ParseUint"):
		want = "a whole number from 0"
	case strings.Contains(reason, "ParseFloat"):
		want = "a number"
	case strings.HasPrefix(reason, "time: "):
		want = "a time with its unit, such as 10s or 5m"
	case reason == "parse error":
		want = "true, false or no value"
	default:
		return err
	}
	return errors.New(dashes(found[2]) + found[2] + " " + found[1] + ": it takes " + want)
}

// dashes returns - for a flag of one letter, otherwise --.
func dashes(name string) string {
	if len(name) == 1 {
		return "-"
	}
	return "--"
}

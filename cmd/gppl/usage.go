package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// The errors of package cli about flags, which name functions of Go instead of the expected value.
var (
	invalidValue = regexp.MustCompile(`^invalid value (".*") for flag -(\S+): (.*)$`)
	unknownFlag  = regexp.MustCompile(`^flag provided but not defined: -(\S+)$`)
)

// flagError rewrites an error of package cli about flags so that it says what the flag takes.
func flagError(err error) error {
	text := err.Error()
	if found := unknownFlag.FindStringSubmatch(text); found != nil {
		return fmt.Errorf("there is no flag %s%s", dashes(found[1]), found[1])
	}
	found := invalidValue.FindStringSubmatch(text)
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

func dashes(name string) string {
	if len(name) == 1 {
		return "-"
	}
	return "--"
}

package main

import (
	"strings"

	"github.com/urfave/cli/v3"
)

// listFlag is a repeatable flag whose values may contain commas, as names of columns do.
type listFlag = cli.FlagBase[[]string, cli.NoConfig, listValue]

// listOf returns the values of a listFlag.
func listOf(c *cli.Command, name string) []string {
	values, _ := c.Value(name).([]string)
	return values
}

type listValue struct {
	to  *[]string
	set bool
}

func (listValue) Create(value []string, to *[]string, _ cli.NoConfig) cli.Value {
	*to = append([]string(nil), value...)
	return &listValue{to: to}
}

func (listValue) ToString(value []string) string { return strings.Join(value, ", ") }

func (v *listValue) Set(text string) error {
	if !v.set {
		*v.to, v.set = nil, true
	}
	*v.to = append(*v.to, text)
	return nil
}

func (v *listValue) Get() any { return *v.to }

func (v *listValue) String() string {
	if v.to == nil {
		return ""
	}
	return strings.Join(*v.to, ", ")
}

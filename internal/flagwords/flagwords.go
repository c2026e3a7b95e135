// Package flagwords translates messages of the packages into the words of commands: messages name settings as fields of options,
// such as CSVOptions.Missing or ReadOptions.Time: "number", where a user of a command types --missing or --time number.
package flagwords

import (
	"regexp"
	"strings"
)

// flags are the flags of the commands that read files, by the field of the options.
var flags = map[string]string{
	"X": "--x", "Y": "--y", "Comma": "--comma", "DecimalComma": "--decimal-comma", "DecimalPoint": "--decimal-point",
	"NoHeader": "--no-header", "Missing": "--missing",
	"Time": "--time", "Future": "--future", "Log": "--log", "By": "--by", "Keys": "--by", "Pooled": "--by none",
	"Likelihood": "--likelihood", "Shifts": "--shifts", "Size": "--size COLUMN", "YError": "--y-error", "Bounds": "--bounds",
	"Holidays": "--holidays",
}

var setting = regexp.MustCompile(`\b(?:CSVOptions|ReadOptions|Options)\.([A-Z]\w*)(: ("[^"]*"|-?[\d.e+]+|…))?`)

// All is Of of each of some messages.
func All(messages []string) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = Of(m)
	}
	return out
}

// Of returns a message with flags for settings. A setting that no flag stands for stays as it is.
func Of(message string) string {
	message = strings.ReplaceAll(message, "give a SumsRange or a SumsHeader",
		"say --from, --to, --centre and --largest, or --like FILE.sums")
	return setting.ReplaceAllStringFunc(message, func(named string) string {
		m := setting.FindStringSubmatch(named)
		flag, known := flags[m[1]]
		if !known {
			return named
		}
		if m[3] != "" {
			value := m[3]
			if !strings.Contains(value, " ") { // a shell needs no quotation marks
				value = strings.Trim(value, `"`)
			}
			flag += " " + value
		}
		return flag
	})
}

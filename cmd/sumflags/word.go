package sumflags

import (
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// settingFlags maps fields of options, which messages of the packages name, to flags of gppl and gppl-beam.
var settingFlags = map[string]string{
	"X": "--x", "Y": "--y", "Comma": "--comma", "DecimalComma": "--decimal-comma", "DecimalPoint": "--decimal-point",
	"NoHeader": "--no-header", "Missing": "--missing", "Time": "--time", "Future": "--future", "Log": "--log", "By": "--by",
	"Keys": "--by", "Pooled": "--by none", "Likelihood": "--likelihood", "Shifts": "--shifts", "Size": "--size",
	"YError": "--y-error", "Bounds": "--bounds", "Backward": "--backward",
	"Range": "--from, --to, --centre and --largest", "Header": "--like FILE.sums",
}

// Word returns the flag of a setting, with its value as a shell reads it. A setting without a flag keeps its name in Go.
func Word(s dataset.Setting) string {
	flag, known := settingFlags[s.Field]
	switch value := strconv.Quote(s.Value); {
	case !known:
		return s.String()
	case s.Value == "":
		return flag
	case strings.Contains(s.Value, " "):
		return flag + " " + value
	default: // a shell needs no quotation marks
		return flag + " " + value[1:len(value)-1]
	}
}

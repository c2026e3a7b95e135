// Package machine describes what there is to compute with: processors, memory, and the signals that end a command.
package machine

import (
	"os"
	"runtime"
	"strings"
	"sync"
)

// CPU returns the processor's model, or its architecture if the system does not tell.
var CPU = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	return model(string(text))
})

// model finds the first model in what /proc/cpuinfo says.
func model(text string) string {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

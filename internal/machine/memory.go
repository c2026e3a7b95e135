package machine

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// unknownMemory is what Memory supposes where nothing tells.
const unknownMemory = 4 << 30

// Memory returns how many bytes this process may still take: the least of what the machine has available, what the control groups of
// the process leave, and what its limits of address space and of data (ulimit -v, ulimit -d) leave. It reads files of Linux; where
// there are none, it returns 4 GB. A limit of the runtime (GOMEMLIMIT) counts everywhere.
func Memory() float64 {
	return min(memory(os.DirFS("/")), float64(debug.SetMemoryLimit(-1)))
}

// memory is Memory by the files of a system.
func memory(root fs.FS) float64 {
	least := math.Inf(1)
	if free, ok := field(root, "proc/meminfo", "MemAvailable:"); ok {
		least = min(least, 1024*free)
	}
	for limit, used := range map[string]string{"Max address space": "VmSize:", "Max data size": "VmData:"} {
		if most, ok := field(root, "proc/self/limits", limit); ok {
			taken, _ := field(root, "proc/self/status", used)
			least = min(least, max(0, most-1024*taken))
		}
	}
	least = min(least, controlled(root))
	if math.IsInf(least, 1) {
		return unknownMemory
	}
	return least
}

// controlled is what the control groups of the process and those above them leave, +Inf if there are none. Files that are cached and
// not in use do not count as taken.
func controlled(root fs.FS) float64 {
	least := math.Inf(1)
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		base, limit, usage, cached := "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
		if parts[0] != "0" { // version 1
			if !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
			base, limit, usage, cached = "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		}
		for group := strings.Trim(path.Clean("/"+parts[2]), "/"); ; group = strings.TrimPrefix(path.Dir("/"+group), "/") {
			dir := path.Join(base, group)
			if most, ok := field(root, path.Join(dir, limit), ""); ok {
				used, _ := field(root, path.Join(dir, usage), "")
				idle, _ := field(root, path.Join(dir, "memory.stat"), cached+" ")
				least = min(least, max(0, most-max(0, used-idle)))
			}
			if group == "" {
				break
			}
		}
	}
	return least
}

// field returns the first number after a word at the beginning of a line of a file; false if there is none, as for unlimited.
func field(root fs.FS, file, word string) (float64, bool) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, word); found {
			for _, text := range strings.Fields(rest)[:min(1, len(strings.Fields(rest)))] {
				v, err := strconv.ParseFloat(text, 64)
				return v, err == nil
			}
		}
	}
	return 0, false
}

package machine

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// unknownMemory is what Memory supposes where nothing tells.
const unknownMemory = 4 << 30

// Memory returns how many bytes this process may still take. Shared is what it shares with other processes: the least of what the
// machine has available and what the control groups of the process leave. Own is what its own limits leave: of address space and
// of data (ulimit -v, ulimit -d), and of the runtime (GOMEMLIMIT); +Inf without limits. It reads files of Linux; without them,
// shared is 4 GB.
func Memory() (shared, own float64) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	// Address space that counts as taken, and that the heap can use.
	idle := math.Ceil(float64(stats.HeapSys)/arena)*arena - float64(stats.HeapInuse)
	shared, own = memory(os.DirFS("/"), idle)
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		own = min(own, float64(limit))
	}
	return shared, own
}

// The heap grows by arenas of address space. slack is what a process takes of it beside its data: the last arena is partly empty.
const (
	arena = 64 << 20
	slack = arena
)

// dense is the share of an address space that data can fill: a large array needs a gap as long as itself, and freed memory lies
// between memory in use. With all of it, gppl ran out of memory at 50 MB with 88 MB in use, where 200 MB had been left to it.
const dense = 0.5

// memory is Memory by the files of a system, with a number of bytes that the heap has reserved and does not use.
func memory(root fs.FS, idle float64) (shared, own float64) {
	shared, own = math.Inf(1), math.Inf(1)
	if free, ok := field(root, "proc/meminfo", "MemAvailable:"); ok {
		shared = 1024 * free
	}
	for limit, used := range map[string]string{"Max address space": "VmSize:", "Max data size": "VmData:"} {
		if most, ok := field(root, "proc/self/limits", limit); ok {
			taken, _ := field(root, "proc/self/status", used)
			own = min(own, dense*max(0, most-1024*taken+idle-slack))
		}
	}
	if shared = min(shared, controlled(root)); math.IsInf(shared, 1) {
		shared = unknownMemory
	}
	return shared, own
}

// controlled is what the control groups of the process and those above them leave, +Inf if there are none. Cached files that are
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
			if numbers := strings.Fields(rest); len(numbers) > 0 {
				v, err := strconv.ParseFloat(numbers[0], 64)
				return v, err == nil
			}
		}
	}
	return 0, false
}

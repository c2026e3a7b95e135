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

// unknownMemory is the memory, in bytes, that Memory assumes if the system does not report it.
const unknownMemory = 4 << 30

// dense is the share of an address space that data can fill: a large array needs a gap as long as itself, and freed memory lies
// between memory in use. With all of it, gppl ran out of memory at 50 MB with 88 MB in use, where 200 MB had been left to it.
const dense = 0.5

// Memory returns how many bytes this process may still take. shared is the part shared with other processes: the memory that the
// machine has available or, if less, that the control groups of the process leave. own is the part that its own limits leave, on
// address space (ulimit -v) and on the runtime (GOMEMLIMIT); +Inf without limits. It reads files of Linux; without them, shared
// is 4 GB.
func Memory() (shared, own float64) {
	shared, own = memory(os.DirFS("/"))
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		own = min(own, float64(limit))
	}
	return shared, own
}

// memory does as Memory by the files of a system. Cached files that are not in use do not count as taken in a group.
func memory(root fs.FS) (shared, own float64) {
	shared, own = math.Inf(1), math.Inf(1)
	if free, ok := field(root, "proc/meminfo", "MemAvailable:"); ok {
		shared = 1024 * free
	}
	if most, ok := field(root, "proc/self/limits", "Max address space"); ok {
		taken, _ := field(root, "proc/self/status", "VmSize:")
		own = dense * max(0, most-1024*taken)
	}
	const groups = "sys/fs/cgroup"
	text, _ := fs.ReadFile(root, "proc/self/cgroup") // has a line such as 0::/a/b
	_, name, _ := strings.Cut(string(text), "0::")
	name, _, _ = strings.Cut(name, "\n")
	for dir := path.Join(groups, path.Clean("/"+name)); strings.HasPrefix(dir, groups); dir = path.Dir(dir) {
		if most, ok := field(root, dir+"/memory.max", ""); ok {
			used, _ := field(root, dir+"/memory.current", "")
			idle, _ := field(root, dir+"/memory.stat", "inactive_file ")
			shared = min(shared, max(0, most-max(0, used-idle)))
		}
	}
	if math.IsInf(shared, 1) {
		shared = unknownMemory
	}
	return shared, own
}

// field returns the first number after a word at the beginning of a line of a file; false if there is none, as for unlimited.
func field(root fs.FS, file, word string) (float64, bool) {
	text, _ := fs.ReadFile(root, file)
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

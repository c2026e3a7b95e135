package machine

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestMemory(t *testing.T) {
	files := func(pairs ...string) fstest.MapFS {
		root := fstest.MapFS{}
		for i := 0; i < len(pairs); i += 2 {
			root[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		}
		return root
	}
	inf := math.Inf(1)
	const limits = "Max data size             unlimited            unlimited            bytes     \nMax address space        " +
		" 2048000000           unlimited            bytes     \n"
	const status = "Name:\tgppl\nVmSize:\t 1000000 kB\nVmData:\t  100000 kB\n"
	const info = "MemTotal:  32000000 kB\nMemFree: 9 kB\nMemAvailable:   16000000 kB\n"
	for _, c := range []struct {
		name        string
		root        fstest.MapFS
		shared, own float64
	}{
		{"no files", files(), unknownMemory, inf},
		{"the machine", files("proc/meminfo", info), 16384000000, inf},
		{"ulimit -v", files("proc/meminfo", info, "proc/self/limits", limits, "proc/self/status", status), 16384000000,
			dense * (2048000000 - 1024000000)},
		{"above the limit already", files("proc/self/limits", "Max address space  5 5 bytes\n", "proc/self/status", status), unknownMemory, 0},
		{"a group", files("proc/meminfo", info, "proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "3000000000\n",
			"sys/fs/cgroup/a/b/memory.current", "1500000000\n", "sys/fs/cgroup/a/b/memory.stat",
			"anon 1\ninactive_file 500000000\n"), 2e9, inf},
		{"the group above", files("proc/meminfo", info, "proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "max\n",
			"sys/fs/cgroup/a/memory.max", "1000000000\n", "sys/fs/cgroup/a/memory.current", "1\n"), 999999999, inf},
		{"beside groups of version 1", files("proc/self/cgroup", "5:cpu,cpuacct:/x\n0::/a\n", "sys/fs/cgroup/a/memory.max", "7000\n"), 7000, inf},
		{"the root of a container", files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "1000\n"), 1000, inf},
		{"nonsense", files("proc/self/cgroup", "hello\n", "proc/meminfo", "MemAvailable:\n"), unknownMemory, inf},
	} {
		if shared, own := memory(c.root); shared != c.shared || own != c.own {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, shared, own, c.shared, c.own)
		}
	}
	if shared, own := Memory(); !(shared > 0) || !(own > 0) {
		t.Errorf("this machine: %v, %v", shared, own)
	}
}

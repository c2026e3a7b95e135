package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
)

// rowsFile writes n rows of a noisy wave to a file.
func rowsFile(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("x,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%.3f\n", i, math.Sin(0.01*float64(i))+0.3*math.Sin(1e3*math.Sqrt(float64(i))))
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// namedKernels are all kernels that have a name in the shell, and sums and products for every kind of engine.
var namedKernels = slices.Concat([]string{"auto"}, search.KernelNames(), search.Auto, []string{
	"SE * Periodic", "Matern32 * Periodic", "Matern52 * Cosine", "SHO + Matern32", "Rotation + SE", "SHO * SHO", "RQ * Periodic",
	"ChangePoint(SE, Matern32)",
})

// oneLine checks that a command was refused with one line that contains a text.
func oneLine(t *testing.T, code, want int, stderr, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(strings.Split(stderr, "\nTry gppl")[0]), "\n")
	if code != want || len(lines) != 1 || !strings.Contains(stderr, text) {
		t.Errorf("exit code %d, %q: want %d and one line with %q", code, stderr, want, text)
	}
}

// TestMemoryRefuses gives every command less memory than its file needs.
func TestMemoryRefuses(t *testing.T) {
	path := rowsFile(t, 1000000)
	for _, kernel := range namedKernels {
		var stdout, stderr bytes.Buffer
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		code := run(t.Context(), []string{"gppl", "fit", path, "-q", "--kernel", kernel, "--memory", "50MB"}, &stdout, &stderr)
		runtime.ReadMemStats(&after)
		oneLine(t, code, exitFailed, stderr.String(), "and the limit is 50 MB")
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 20e6 {
			t.Errorf("%s: %d bytes were allocated to refuse", kernel, allocated)
		}
	}
	large := func(name, begins string) string {
		path := put(t, t.TempDir(), name, begins)
		if err := os.Truncate(path, 1e8); err != nil {
			t.Fatal(err)
		}
		return path
	}
	model, added := large("a.json", "{"), large("a.sums", "GPPLSUMS")
	sums := filepath.Join(t.TempDir(), "many.sums")
	must(t, "sum", rowsFile(t, 100), "--lengthscale", "0.005", "-o", sums, "-q")
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"sum", path, "-o", filepath.Join(t.TempDir(), "a.sums"), "--lengthscale", "5", "--memory", "20MB"}, exitFailed,
			"and the limit is 20 MB"},
		{[]string{"predict", model, "--memory", "40MB"}, exitFailed, "and the limit is 40 MB"},
		{[]string{"merge", added, sums, "-o", filepath.Join(t.TempDir(), "a.sums"), "--memory", "20MB"}, exitFailed,
			"and the limit is 20 MB"},
		{[]string{"info", added, "--memory", "20MB"}, exitFailed, "and the limit is 20 MB"},
		{[]string{"info", path, "--memory", "20MB"}, exitFailed, "this is no file of sums"},
		{[]string{"predict", path, "--memory", "40MB"}, exitFailed, "this is not a saved analysis"},
		{[]string{"sum", path, "--like", added, "-o", filepath.Join(t.TempDir(), "a.sums"), "--memory", "20MB"}, exitFailed,
			"and the limit is 20 MB"},
		{[]string{"fit", sums, "--memory", "20MB"}, exitFailed, "and the limit is 20 MB"},
		{[]string{"fit", sums, "--forecast", "1000001"}, exitUsage, "--forecast 1000001: at most 1000000"},
		{[]string{"predict", path, "--forecast", "1000000001"}, exitUsage, "--forecast 1000000001: at most 1000000"},
		{[]string{"fit", path, "--forecast", "1000000001"}, exitUsage, "--forecast 1000000001: at most 1000000"},
		{[]string{"backtest", path, "--forecast", "1000000001"}, exitUsage, "--forecast 1000000001: at most 1000000"},
		{[]string{"fit", path, "--memory", "lots"}, exitUsage, "--memory lots"},
		{[]string{"fit", path, "--memory", "-1"}, exitUsage, "--memory -1"},
		{[]string{"fit", path, "--memory", "1kB"}, exitUsage, "gppl itself takes"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"gppl"}, c.args...), &stdout, &stderr)
		oneLine(t, code, c.code, stderr.String(), c.text)
	}
}

// TestEndless reads what never ends, as each file that is read whole: it is refused at the limit of memory.
func TestEndless(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skip(err)
	}
	path, out := put(t, t.TempDir(), "a.csv", made("t,y,p", 40,
		func(i int) string { return fmt.Sprintf("%d,%.3f,1.%d", i, observed(i), i%7) })), filepath.Join(t.TempDir(), "out")
	model := filepath.Join(t.TempDir(), "m.json")
	must(t, "fit", path, "--kernel", "SE", "--origins", "0", "--model", model, "-q")
	for _, args := range [][]string{
		{"info", endless}, {"merge", endless, "-o", out}, {"sum", path, "--like", endless, "-o", out}, {"predict", endless},
		{"update", endless, path}, {"update", model, endless},
		{"fit", endless}, {"compare", endless}, {"sum", endless, "-o", out},
		{"sum", endless, "--from", "0", "--to", "9", "--centre", "0", "--largest", "9", "-o", out},
		{"fit", path, "--regressor", "p", "--future", endless},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), slices.Concat([]string{"gppl"}, args, []string{"--memory", "60MB"}), &stdout, &stderr)
		oneLine(t, code, exitFailed, stderr.String(), endless)
	}
}

// programText is the resident memory of a process that the Go runtime does not manage: the pages of the program's file.
const programText = 20 << 20

// TestMemoryStays runs the program itself, as a process of its own, within a limit that suffices: it stays below.
func TestMemoryStays(t *testing.T) {
	if runtime.GOOS != "linux" || os.Getenv("GPPL_LONG") == "" {
		t.Skip("it builds the program and takes minutes: GPPL_LONG=1")
	}
	program := filepath.Join(t.TempDir(), "gppl")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	path := rowsFile(t, 100000)
	// Go reserves 1.8 GB of address space: of what is left, half suffices.
	if out, err := exec.Command("sh", "-c", fmt.Sprintf("ulimit -v 2000000; %s fit %s -q --budget 5s", program,
		rowsFile(t, 30000))).CombinedOutput(); err != nil {
		t.Errorf("ulimit -v: %v: %s", err, out[:min(len(out), 300)])
	}
	file := rowsFile(t, 200000)
	long := exec.Command(program, "fit", file, "-q", "--budget", "5s", "--memory", "120MB")
	if out, err := long.CombinedOutput(); err != nil || machine.Peak(long.ProcessState) > 120e6+programText {
		t.Errorf("--memory 120MB: %d bytes, %v: %s", machine.Peak(long.ProcessState), err, out[:min(len(out), 300)])
	}
	short := exec.Command(program, "fit", file, "-q", "--budget", "5s", "--memory", "50MB")
	if out, err := short.CombinedOutput(); err == nil {
		t.Errorf("--memory 50MB: %s", out[:min(len(out), 300)])
	} else {
		oneLine(t, short.ProcessState.ExitCode(), exitFailed, string(out), "and the limit is 50 MB")
	}
	for _, kernel := range namedKernels {
		for _, limit := range []string{"", "ulimit -v 2000000; "} { // kB
			script := fmt.Sprintf(`%s%s fit %s -q --kernel '%s' --budget 5s --memory 300MB`, limit, program, path, kernel)
			cmd := exec.Command("sh", "-c", script)
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), "goroutine") || strings.Contains(string(out), "fatal error") {
				t.Errorf("%s: %s", script, out[:min(len(out), 300)])
			}
			if err != nil {
				oneLine(t, 1, exitFailed, string(out), ":")
			}
			if peak := machine.Peak(cmd.ProcessState); peak > 330e6 {
				t.Errorf("%s: took %d bytes", script, peak)
			}
		}
	}
}

// A batch shares the limit: what does not fit beside the others runs alone.
func TestMemoryBatch(t *testing.T) {
	small, large := rowsFile(t, 60), rowsFile(t, 200000)
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"gppl", "fit", small, large, "-q", "--memory", "40MB"}, &stdout, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "1 of 2 series failed") ||
		!strings.Contains(stdout.String(), "the limit is 40 MB") {
		t.Errorf("exit code %d, %s\n%s", code, &stderr, &stdout)
	}
}

// TestBounds asks for more than can be done: it is refused at once.
func TestBounds(t *testing.T) {
	path := rowsFile(t, 100)
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"--starts", "1"}, exitUsage, "--starts is for sums"},
		{[]string{"--kernel", strings.Repeat("SE + ", 2999) + "SE"}, exitUsage, "more than 64 terms"},
		{[]string{"--kernel", strings.Repeat("SE * ", 2999) + "SE"}, exitUsage, "more than 64 terms"},
		{[]string{"--kernel", "ChangePoint(" + strings.Repeat("SE + ", 40) + "SE, " + strings.Repeat("SE + ", 40) + "SE)"}, exitUsage,
			"more than 64 terms"},
		{[]string{"--kernel", strings.Repeat("SE, ", 2999) + "SE"}, exitUsage, "3000 kernels to compare: at most 64"},
		{[]string{"--levels", "50"}, exitUsage, "--levels are of the bands in the csv file that --out names"},
	} {
		var stdout, stderr bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		code := run(ctx, append([]string{"gppl", "fit", path, "-q"}, c.args...), &stdout, &stderr)
		cancel()
		oneLine(t, code, c.code, stderr.String(), c.text)
	}
	// The least search is done within any budget.
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"gppl", "fit", path, "-q", "--kernel", "SE + LocPer", "--budget", "1us",
		"--origins", "0"}, &stdout, &stderr); code != exitOK {
		t.Errorf("exit code %d, %s", code, &stderr)
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProgram makes the test binary the program itself.
const asProgram = "GPPL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A program that a signal ends has the signal's exit code, even if it waits for a file that never comes, and leaves no file
// behind.
func TestSignals(t *testing.T) {
	for _, test := range []struct {
		signal  syscall.Signal
		code    int
		message string
		args    []string
	}{
		{syscall.SIGINT, 130, "gppl: interrupted\n", []string{"predict", "PIPE", "--out", "OUT"}},
		{syscall.SIGTERM, 143, "gppl: terminated\n", []string{"predict", "PIPE", "--at", "3", "--json"}},
		{syscall.SIGINT, 130, "gppl: interrupted\n", []string{"fit", "PIPE", "--model", "OUT"}},
		{syscall.SIGTERM, 143, "gppl: terminated\n", []string{"compare", "PIPE"}},
	} {
		dir := t.TempDir()
		pipe := filepath.Join(dir, "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skip("no named pipes: ", err)
		}
		for i, a := range test.args {
			switch a {
			case "PIPE":
				test.args[i] = pipe
			case "OUT":
				test.args[i] = filepath.Join(dir, "out")
			}
		}
		c := exec.Command(os.Args[0], test.args...)
		c.Env = append(os.Environ(), asProgram+"=1")
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the program has opened it to read
		if err != nil {
			t.Fatal(err)
		}
		c.Process.Signal(test.signal)
		c.Wait()
		w.Close()
		left, _ := os.ReadDir(dir)
		if code := c.ProcessState.ExitCode(); code != test.code || stderr.String() != test.message || stdout.Len() > 0 ||
			len(left) != 1 {
			t.Errorf("gppl %q: exit %d, want %d; %d files; %q %q", test.args, code, test.code, len(left), stdout.String(), stderr.String())
		}
	}
}

// A device or a pipe is written to, not replaced: root's --out /dev/null must not make a file of the device.
func TestOutputToPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes: ", err)
	}
	read := make(chan []byte)
	go func() {
		b, _ := os.ReadFile(pipe)
		read <- b
	}()
	if code, _, stderr := gppl("fit", neutral(t, plain), "--kernel", "SE", "-q", "--forecast", "3", "--out", pipe); code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	info, err := os.Lstat(pipe)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe was replaced: %v", err)
	}
	if b := <-read; bytes.Count(b, []byte("\n")) != 4 {
		t.Errorf("read %q", b)
	}
}

// A signal ends a program that waits for the reader of a pipe, for any of its outputs, or for the writer of one that it reads
// besides its argument.
func TestSignalsAtPipes(t *testing.T) {
	for _, args := range []string{
		"fit a.csv --kernel SE --origins 0 --model there --out PIPE",
		"fit a.csv --kernel SE --origins 0 --model there --figure PIPE.svg",
		"predict m.json --out PIPE", "data sunspots --offline --out PIPE", "sum a.csv -o PIPE", "merge a.sums -o PIPE",
		"info PIPE", "sum PIPE -o x.sums", "sum PIPE --from 0 --to 30 --centre 3 --largest 9 -o x.sums",
		"sum a.csv --like PIPE -o x.sums", "merge a.sums PIPE -o x.sums",
		"predict r.json --future PIPE", "update m.json PIPE --model x.json", "update PIPE a.csv", "update m.json b.csv --model PIPE",
		"fit a.csv --regressor p --future PIPE",
	} {
		dir := t.TempDir()
		t.Chdir(dir)
		put(t, dir, "a.csv", made("t,y,p", 24, func(i int) string { return fmt.Sprintf("%d,%.3f,1.%d", i, observed(i), i%7) }))
		put(t, dir, "b.csv", "t,y\n24,1\n")
		must(t, "sum", "a.csv", "-o", "a.sums", "-q")
		must(t, "fit", "a.csv", "--kernel", "SE", "--origins", "0", "--model", "m.json", "-q")
		must(t, "fit", "a.csv", "--kernel", "SE", "--origins", "0", "--regressor", "p", "--model", "r.json", "-q")
		before := len(contents(t, dir))
		for _, name := range []string{"PIPE", "PIPE.svg"} {
			if err := syscall.Mkfifo(name, 0o600); err != nil {
				t.Skip("no named pipes: ", err)
			}
		}
		c := exec.Command(os.Args[0], strings.Fields(args)...)
		c.Env = append(os.Environ(), asProgram+"=1")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for range 200 { // it waits, or has not come so far: the signal must end it in any case
			if _, err := os.Stat("there"); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		c.Process.Signal(syscall.SIGTERM)
		err := c.Wait()
		if code := c.ProcessState.ExitCode(); code != 143 && !strings.Contains(fmt.Sprint(err), "terminated") &&
			!strings.Contains(stderr.String(), "not found") {
			t.Errorf("gppl %s: %v: %s", args, err, stderr.String())
		}
		os.Remove("there")
		if after := contents(t, dir); len(after) != before {
			t.Errorf("gppl %s leaves %d files, there were %d", args, len(after), before)
		}
	}
}

// Output that cannot be written to standard output is an error, whatever it is.
func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	dir := t.TempDir()
	t.Chdir(dir)
	put(t, dir, "a.csv", plain)
	must(t, "fit", "a.csv", "--kernel", "SE", "--origins", "0", "--model", "m.json", "-q")
	must(t, "sum", "a.csv", "-o", "a.sums", "-q")
	for _, args := range []string{
		"--help", "-h", "help", "--version", "-v", "fit --help", "help fit", "data --help", "completion bash", "completion zsh", "data",
		"data sunspots --offline", "info a.sums",
		"predict m.json", "predict m.json --json", "predict m.json --out p.csv", "update m.json a.csv", "update m.json a.csv --json",
		"fit a.csv --kernel SE --origins 0", "fit a.csv a.csv --kernel SE --origins 0",
		"compare a.csv --kernel SE", "backtest a.csv --kernel SE", "sum a.csv -o b.sums", "merge a.sums -o b.sums", "fit a.sums",
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), append([]string{"gppl"}, strings.Fields(args)...), full, &stderr); code != exitFailed {
			t.Errorf("gppl %s > /dev/full: exit %d: %s", args, code, stderr.String())
		}
	}
}

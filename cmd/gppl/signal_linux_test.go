package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// asProgram makes the test binary the program itself.
const asProgram = "GPPL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A program that a signal ends says so by its exit code, although it waits for a file that never comes, and leaves no file behind.
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
		if code := c.ProcessState.ExitCode(); code != test.code || stderr.String() != test.message || stdout.Len() > 0 || len(left) != 1 {
			t.Errorf("gppl %q: exit %d, want %d; %d files; %q %q", test.args, code, test.code, len(left), stdout.String(), stderr.String())
		}
	}
}

// What is no regular file is written to, not replaced: a root's --out /dev/null must not make a file of the device.
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

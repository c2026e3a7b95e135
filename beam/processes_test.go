//go:build unix

package gpplbeam

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
)

// roleVariable makes this test's own program play another role: prism, on the port that portVariable names, or a pool of workers,
// on any port if it names none.
const (
	roleVariable = "GPPL_BEAM_ROLE"
	portVariable = "GPPL_BEAM_PORT"
)

// play plays a role until standard input ends.
func play(role string) {
	beam.Init()
	ctx := context.Background()
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
	}
	switch role {
	case "prism":
		var port int
		_, err := fmt.Sscan(os.Getenv(portVariable), &port)
		fail(err)
		_, err = prism.CreateJobServer(ctx, prism.Options{Port: port})
		fail(err)
		fmt.Println(net.JoinHostPort("localhost", fmt.Sprint(port)))
	case "workers":
		var port int
		if text := os.Getenv(portVariable); text != "" {
			_, err := fmt.Sscan(text, &port)
			fail(err)
		}
		pool, err := extworker.StartLoopback(ctx, port)
		fail(err)
		fmt.Println(pool.EnvironmentConfig(ctx))
	}
	var b [1]byte
	os.Stdin.Read(b[:])
	os.Exit(0)
}

// start starts a process in a role, which ends with the test, and returns its address.
func start(t *testing.T, role, port string) (process *os.Process, address string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), roleVariable+"="+role, portVariable+"="+port)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		c.Stderr = os.Stderr
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		c.Process.Kill()
		c.Wait()
	})
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", role, err)
	}
	return c.Process, strings.TrimSpace(address)
}

// elsewhere sends the jobs of a test to a prism and to workers in separate processes.
func elsewhere(t *testing.T) (workers *os.Process) {
	t.Helper()
	free, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	free.Close()
	for _, option := range []*string{jobopts.Endpoint, jobopts.EnvironmentType, jobopts.EnvironmentConfig, jobopts.WorkerBinary} {
		before := *option
		t.Cleanup(func() { *option = before })
	}
	// These workers have the program already. The file sent along is ignored; without it one would be compiled.
	*jobopts.WorkerBinary = filepath.Join(t.TempDir(), "worker")
	put(t, *jobopts.WorkerBinary, "none")
	_, *jobopts.Endpoint = start(t, "prism", port)
	workers, *jobopts.EnvironmentConfig = start(t, "workers", "")
	*jobopts.EnvironmentType = "EXTERNAL"
	return workers
}

// wholeSums returns the expected bytes.
func wholeSums(t *testing.T) []byte {
	t.Helper()
	dir := shards(t, "whole.csv")
	out := filepath.Join(dir, "all.sums")
	if err := run(t, out, Options{Header: header(t)}, filepath.Join(dir, "whole.csv")); err != nil {
		t.Fatal(err)
	}
	return bytesOf(t, out)
}

// TestProcesses runs prism in one process and the workers in another.
func TestProcesses(t *testing.T) {
	want := wholeSums(t)
	elsewhere(t)
	dir := shards(t, "c.csv", "a.csv", "b.csv")
	out := filepath.Join(dir, "all.sums")
	if err := run(t, out, Options{Header: header(t)}, filepath.Join(dir, "*.csv")); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, out), want) {
		t.Error("other bytes")
	}
}

// killInTheMiddle makes a pipeline read three files with workers in separate processes, and kills these when half of one file,
// which is a pipe, is read. It then replaces the pipe with the complete file.
func killInTheMiddle(t *testing.T, job func(dir, out string) error) (out string, ended chan error) {
	t.Helper()
	workers := elsewhere(t)
	dir := shards(t, "a.csv", "b.csv", "c.csv")
	slow := filepath.Join(dir, "b.csv")
	text := bytesOf(t, slow)
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(slow, 0o600); err != nil {
		t.Skip(err)
	}
	pipe, err := os.OpenFile(slow, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	out = filepath.Join(dir, "all.sums")
	ended = make(chan error, 1)
	go func() { ended <- job(dir, out) }()
	// A pipe holds 64 kB: once more than that is written, the worker has read some of it.
	half := bytes.Repeat(text[:len(text)/2], 1+400000/len(text))
	if err := pipe.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := pipe.Write(half); err != nil {
		t.Fatal(err)
	}
	if err := workers.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	put(t, slow, string(text))
	return out, ended
}

// wait returns how a job ended.
func wait(t *testing.T, ended chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the job did not end")
		return nil
	}
}

// TestKilledWorker kills the workers in the middle of a file and replaces them: the job is sent again and gives the bytes of an
// undisturbed one.
func TestKilledWorker(t *testing.T) {
	want := wholeSums(t)
	replaced, told := make(chan bool), make(chan error, 9)
	again := Again{
		Attempts: 3,
		Lost:     func(attempt int, err error) { told <- fmt.Errorf("attempt %d: %w", attempt, err) },
		Wait: func(ctx context.Context, _ int) error {
			select {
			case <-replaced:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}
	job := func(dir, out string) error {
		return runAgain(t, again, out, Options{Header: header(t)}, filepath.Join(dir, "*.csv"))
	}
	out, ended := killInTheMiddle(t, job)
	select {
	case err := <-told:
		t.Log(err)
	case err := <-ended:
		t.Fatalf("the job ended: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("no word of lost workers")
	}
	if _, err := os.Stat(out); err == nil {
		t.Fatal("an output though the job was not done")
	}
	_, *jobopts.EnvironmentConfig = start(t, "workers", "")
	close(replaced)
	if err := wait(t, ended); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, out), want) {
		t.Error("other bytes")
	}
	if len(told) > 0 {
		t.Errorf("more than one attempt was lost: %v", <-told)
	}
}

// TestKilledWorkerCommand does the same with the command itself: new workers start at the address of those that were killed.
func TestKilledWorkerCommand(t *testing.T) {
	want := wholeSums(t)
	command := filepath.Join(t.TempDir(), "gppl-beam")
	if text, err := exec.Command("go", "build", "-o", command, "./cmd/gppl-beam").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var stderr bytes.Buffer
	out, ended := killInTheMiddle(t, func(dir, out string) error {
		like := filepath.Join(dir, "like.sums")
		put(t, like, string(want))
		c := exec.Command(command, "--input", filepath.Join(dir, "*.csv"), "--output", out, "--like", like, "--runner=prism",
			"--endpoint", *jobopts.Endpoint,
			"--environment_type=EXTERNAL", "--environment_config", *jobopts.EnvironmentConfig, "--worker_binary", *jobopts.WorkerBinary)
		c.Stderr = &stderr
		return c.Run()
	})
	_, port, err := net.SplitHostPort(strings.TrimPrefix(*jobopts.EnvironmentConfig, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	start(t, "workers", port) // within the two seconds that the command waits
	if err := wait(t, ended); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if told := stderr.String(); !strings.Contains(told, "a worker was lost, and with it attempt 1 of 3") ||
		strings.Contains(told, "attempt 2 of 3") {
		t.Errorf("said %s", told)
	}
	if !bytes.Equal(bytesOf(t, out), want) {
		t.Error("other bytes")
	}
}

// TestKilledWorkerOnce: with one attempt the job fails, and leaves nothing behind.
func TestKilledWorkerOnce(t *testing.T) {
	job := func(dir, out string) error {
		return run(t, out, Options{Header: header(t)}, filepath.Join(dir, "*.csv"))
	}
	out, ended := killInTheMiddle(t, job)
	err := wait(t, ended)
	if err == nil || !lostWorker(err) {
		t.Errorf("%v, want that a worker was lost", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an output though the job was not done")
	}
}

// TestNotAgain: an error that a step of the pipeline returns is final. Only a lost worker starts the job again.
func TestNotAgain(t *testing.T) {
	elsewhere(t)
	dir := shards(t, "a.csv", "b.csv")
	again := Again{Attempts: 3, Lost: func(_ int, err error) {
		t.Errorf("an error of the pipeline was treated as a lost worker: %v",
			err)
	}}
	err := runAgain(t, again, filepath.Join(dir, "all.sums"), Options{Header: header(t), Strict: true}, filepath.Join(dir, "*.csv"))
	if err == nil || !strings.Contains(err.Error(), "wet") {
		t.Errorf("%v, want the bad row", err)
	}
	err = runAgain(t, again, filepath.Join(dir, "all.sums"), Options{Header: header(t)}, filepath.Join(dir, "none*.csv"))
	if err == nil {
		t.Error("no error without files")
	}
	t.Log(err)
}

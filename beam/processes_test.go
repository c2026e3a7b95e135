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

// roleVariable makes this test's own program play another part: prism, on the port that portVariable has, or a pool of workers.
const (
	roleVariable = "GPPL_BEAM_ROLE"
	portVariable = "GPPL_BEAM_PORT"
)

// play plays a part until standard input ends.
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
		pool, err := extworker.StartLoopback(ctx, 0)
		fail(err)
		fmt.Println(pool.EnvironmentConfig(ctx))
	}
	var b [1]byte
	os.Stdin.Read(b[:])
	os.Exit(0)
}

// start starts a process in a part, which ends with the test, and returns its address.
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

// elsewhere sends the jobs of a test to a prism and to workers that are processes of their own.
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
	// These workers have the program. What is sent along is not looked at, and would else be compiled for it.
	*jobopts.WorkerBinary = filepath.Join(t.TempDir(), "worker")
	put(t, *jobopts.WorkerBinary, "none")
	_, *jobopts.Endpoint = start(t, "prism", port)
	workers, *jobopts.EnvironmentConfig = start(t, "workers", "")
	*jobopts.EnvironmentType = "EXTERNAL"
	return workers
}

// wholeSums are the bytes that are wanted.
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

// TestKilledWorker kills the workers when half of a file is read. Prism does not repeat what was lost, as Flink and Dataflow do: there
// must be no output, and the same bytes once the job is sent again.
func TestKilledWorker(t *testing.T) {
	want := wholeSums(t)
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
	out := filepath.Join(dir, "all.sums")
	ended := make(chan error, 1)
	go func() { ended <- run(t, out, Options{Header: header(t)}, filepath.Join(dir, "*.csv")) }()
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
	select {
	case err := <-ended:
		if err == nil {
			t.Error("no error though the workers were killed")
		}
		t.Logf("the job ended: %v", err)
	case <-time.After(30 * time.Second):
		t.Error("the job did not end")
	}
	if _, err := os.Stat(out); err == nil {
		t.Fatal("an output though the job was not done")
	}
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	put(t, slow, string(text))
	elsewhere(t)
	if err := run(t, out, Options{Header: header(t)}, filepath.Join(dir, "*.csv")); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, out), want) {
		t.Error("other bytes")
	}
}

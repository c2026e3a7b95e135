//go:build unix

package viz

import (
	"encoding/gob"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

func TestOutsideNotebook(t *testing.T) {
	if inNotebook() {
		t.Skip("run by GoNB")
	}
	f := Must(Curves(CurvesOptions{Frame: frame(""), Curves: []Curve{{Y: []float64{1, 2}}}}))
	if shown, err := Show(f); shown || err != nil {
		t.Errorf("Show: %v, %v", shown, err)
	}
	if shown, err := ShowTable(&Table{}); shown || err != nil {
		t.Errorf("ShowTable: %v, %v", shown, err)
	}
	if showHTML("x") || Note("x") {
		t.Error("shown nowhere")
	}
}

// TestCheck checks that a cell that fails says why in one line, and ends as failed.
func TestCheck(t *testing.T) {
	problem := errors.New("line 4: not a number")
	if os.Getenv("GPPL_TEST_CELL") != "" {
		screen.on = func() bool { return true }
		Check(nil)
		Must(0, problem)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCheck$")
	cmd.Env = append(os.Environ(), "GPPL_TEST_CELL=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || stderr.String() != problem.Error()+"\n" {
		t.Errorf("a failing cell ends with %v and says %q", err, stderr.String())
	}
	defer func() {
		if recover() == nil {
			t.Error("outside a notebook it does not panic")
		}
	}()
	Check(problem)
}

// TestGoNB runs this test binary as GoNB runs a cell, with named pipes, and reads what arrives.
func TestGoNB(t *testing.T) {
	if os.Getenv(protocol.GONB_PIPE_ENV) != "" {
		cell()
		return
	}
	dir := t.TempDir()
	to, from := filepath.Join(dir, "to"), filepath.Join(dir, "from")
	for _, p := range []string{to, from} {
		if err := syscall.Mkfifo(p, 0o600); err != nil {
			t.Skipf("no named pipes here: %v", err)
		}
	}
	// Both ends of each, so that opening does not wait for the other side.
	in, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	back, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()

	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGoNB$")
	cmd.Env = append(os.Environ(), protocol.GONB_PIPE_ENV+"="+to, protocol.GONB_PIPE_BACK_ENV+"="+from)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := in.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Logf("no deadline: %v", err)
	}
	ack := gob.NewEncoder(back)
	syncs, ended := 0, false
	var got []string
	ids := map[string]int{}
	for d := gob.NewDecoder(in); ; {
		var m protocol.DisplayData
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if sync, ok := m.Data[protocol.MIMECommValue].(protocol.CommValue); ok {
			syncs++
			if err := ack.Encode(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: sync.Value}); err != nil {
				t.Fatal(err)
			}
			if ended {
				break
			}
			continue
		}
		s, _ := m.Data[protocol.MIMETextHTML].(string)
		ended = s == "<p>end</p>"
		if m.DisplayID != "" {
			ids[m.DisplayID]++
		}
		got = append(got, s)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if syncs != len(got) {
		t.Errorf("%d displays were waited for, of %d", syncs, len(got))
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{"<figure", "</svg>", "<table", "<em>", "&lt;b&gt;", "10/10 · 100 %", "failed: broken"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q did not arrive", want)
		}
	}
	if len(ids) != 2 {
		t.Errorf("two bars in the places %v", ids)
	}
	for id, n := range ids {
		if n > 4 {
			t.Errorf("%s was drawn %d times: not throttled", id, n)
		}
	}
}

func cell() {
	_, _ = Show(Must(Curves(CurvesOptions{Frame: frame("f"), Curves: []Curve{{Y: []float64{1, 2}}}})))
	_, _ = ShowTable(results())
	showHTML("<em>x</em>")
	Note("<b>")
	bar := NewProgress("good", 10)
	for range 10 {
		bar.Add(1)
	}
	bar.Done()
	bad := NewProgress("bad", 10)
	bad.Fail(errors.New("broken"))
	Note("end")
}

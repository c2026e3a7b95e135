package viz

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func drawLine(v float64) (*Figure, error) {
	return Curves(CurvesOptions{Frame: Frame{Title: fmt.Sprintf("at %.4g", v), XLabel: "x", YLabel: "y"}, Curves: []Curve{{Y: []float64{v, 1}}}})
}

// TestHeadless checks that without a reader a control draws once and does not wait.
func TestHeadless(t *testing.T) {
	drawn := 0
	draw := func(v float64) (*Figure, error) {
		drawn++
		return drawLine(v)
	}
	if err := Slide(SliderOptions{From: 1, To: 10, Start: 2}, draw); err != nil || drawn != 1 {
		t.Errorf("Slide: %v, drawn %d times", err, drawn)
	}
	if err := Select(SelectOptions{Options: []string{"a", "b"}, Start: 1}, func(i int) (*Figure, error) { return draw(float64(i)) }); err != nil || drawn != 2 {
		t.Errorf("Select: %v, drawn %d times", err, drawn)
	}
	if err := Slide(SliderOptions{From: 1, To: 10, Start: 20}, draw); err == nil {
		t.Error("a start beyond the range is no error")
	}
	if err := Select(SelectOptions{}, nil); err == nil {
		t.Error("a selection of nothing is no error")
	}
}

// reader is one who looks at a notebook, moves a control and sees what is shown.
type reader struct {
	moves   chan int
	closed  bool
	silent  bool // the browser never answers
	updates chan string
	notes   []string
	options []string
}

// newReader puts a reader in the place of GoNB.
func newReader(t *testing.T) *reader {
	t.Setenv(envInteractive, "1")
	was, waited := screen, patience
	t.Cleanup(func() { screen, patience = was, waited })
	r := &reader{moves: make(chan int), updates: make(chan string, 10)}
	control := func() moves {
		if r.silent {
			select {}
		}
		return moves{r.moves, func() { r.closed = true }}
	}
	screen.on = func() bool { return true }
	screen.html = func(s string) { r.notes = append(r.notes, s) }
	screen.update = func(_, s string) { r.updates <- s }
	screen.newID = func() string { return "id" }
	screen.slider = func(_, start int) moves { return control() }
	screen.choice = func(options []string, _ int) moves {
		r.options = options
		return control()
	}
	return r
}

// sees waits for the next picture and checks that it has a text.
func (r *reader) sees(t *testing.T, want string) {
	t.Helper()
	select {
	case s := <-r.updates:
		if !strings.Contains(s, want) {
			t.Fatalf("want %q in %s", want, s)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("%q is never shown", want)
	}
}

// stop presses the stop button, which sends an interrupt, and returns what the cell ends with. The cell must be waiting.
func (r *reader) stop(t *testing.T, end <-chan error) error {
	t.Helper()
	me, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := me.Signal(os.Interrupt); err != nil {
		t.Skipf("no interrupts here: %v", err)
	}
	return <-end
}

func TestSlideFollows(t *testing.T) {
	r := newReader(t)
	end := make(chan error)
	go func() {
		end <- Slide(SliderOptions{Name: "noise <b>", From: 1, To: 100, Start: 10.1, Idle: time.Hour}, func(v float64) (*Figure, error) {
			if v > 99 {
				return nil, errors.New("too <much>")
			}
			return drawLine(v)
		})
	}()
	r.sees(t, "noise &lt;b&gt;: 10.1")
	r.moves <- 0
	r.sees(t, "noise &lt;b&gt;: 1<")
	r.moves <- 100
	r.sees(t, "too &lt;much&gt;")
	r.moves <- 101 // from a browser that is mistaken
	r.moves <- 50  // where it started
	r.sees(t, "noise &lt;b&gt;: 10.1")
	if err := r.stop(t, end); err != nil || !r.closed {
		t.Errorf("stopped: error %v, closed %v", err, r.closed)
	}
}

func TestSelectFollows(t *testing.T) {
	r := newReader(t)
	end := make(chan error)
	go func() {
		end <- Select(SelectOptions{Name: "k", Options: []string{"10", "<20>"}, Start: 1, Idle: time.Hour}, func(i int) (*Figure, error) {
			return drawLine(float64(i))
		})
	}()
	r.sees(t, "k: &lt;20&gt;")
	r.moves <- 0
	r.sees(t, "k: 10")
	if err := r.stop(t, end); err != nil || len(r.options) != 2 {
		t.Errorf("error %v, options %q", err, r.options)
	}
}

// TestRest checks that a cell ends when nothing has been moved for a while.
func TestRest(t *testing.T) {
	r := newReader(t)
	if err := Slide(SliderOptions{Name: "v", From: 1, To: 2, Start: 1, Idle: time.Millisecond}, drawLine); err != nil || !r.closed {
		t.Errorf("error %v, closed %v", err, r.closed)
	}
	r.sees(t, "v: 1")
}

// TestNobodyThere checks that a cell ends if no browser answers.
func TestNobodyThere(t *testing.T) {
	r := newReader(t)
	r.silent, patience = true, time.Millisecond
	if err := Slide(SliderOptions{Name: "v", From: 1, To: 2, Start: 1}, drawLine); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(r.notes, " "); !strings.Contains(all, "no browser") {
		t.Errorf("nothing is said of it: %s", all)
	}
}

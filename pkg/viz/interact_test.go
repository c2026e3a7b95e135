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
	return Curves(CurvesOptions{Frame: Frame{Title: fmt.Sprintf("at %.4g", v), XLabel: "x", YLabel: "y"},
		Curves: []Curve{{Y: []float64{v, 1}}}})
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
	if err := Select(SelectOptions{Options: []string{"a", "b"}, Start: 1},
		func(i int) (*Figure, error) { return draw(float64(i)) }); err != nil || drawn != 2 {
		t.Errorf("Select: %v, drawn %d times", err, drawn)
	}
	if err := Slide(SliderOptions{From: 1, To: 10, Start: 20}, draw); err == nil {
		t.Error("a start beyond the range is no error")
	}
	if err := Select(SelectOptions{}, nil); err == nil {
		t.Error("a selection of nothing is no error")
	}
}

// reader simulates a person at a notebook who moves a control and sees what is shown.
type reader struct {
	moves   chan move
	number  int // number of the latest move
	closed  bool
	updates chan string
	notes   []string
	states  []string
}

// newReader replaces GoNB by a reader.
func newReader(t *testing.T) *reader {
	t.Setenv(envInteractive, "1")
	was, waited, left := screen, patience, untouched
	t.Cleanup(func() { screen, patience, untouched = was, waited, left })
	r := &reader{moves: make(chan move), updates: make(chan string, 10)}
	screen.on = func() bool { return true }
	screen.html = func(s string) { r.notes = append(r.notes, s) }
	screen.update = func(id, s string) {
		if strings.HasSuffix(id, "_state") {
			r.states = append(r.states, s)
			return
		}
		r.updates <- s
	}
	screen.newID = func() string { return "id" }
	screen.listen = func(string) (<-chan move, func()) { return r.moves, func() { r.closed = true } }
	screen.connect = func() {}
	return r
}

// move moves the control as its script does; the first move repeats the current position.
func (r *reader) move(step int) {
	r.moves <- move{r.number, step}
	r.number++
}

// ended reports whether the last state of the control is that it has ended.
func (r *reader) ended() bool {
	return len(r.states) > 0 && strings.Contains(r.states[len(r.states)-1], "data-ended")
}

// sees waits for the next figure and checks that it contains a text.
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

// stop presses the stop button, which sends an interrupt, and returns the result of the cell. The cell must be waiting.
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
		end <- Slide(SliderOptions{Name: "noise <b>", From: 1, To: 100, Start: 10.1, Idle: time.Hour},
			func(v float64) (*Figure, error) {
				if v > 99 {
					return nil, errors.New("too <much>")
				}
				return drawLine(v)
			})
	}()
	r.sees(t, "noise &lt;b&gt;: 10.1")
	r.move(50)
	r.move(0)
	r.sees(t, "noise &lt;b&gt;: 1<")
	r.move(100)
	r.sees(t, "too &lt;much&gt;")
	r.move(101)           // a faulty browser sends a place out of range
	r.moves <- move{1, 0} // sent again, because the answer was late
	r.move(50)            // it started at 50
	r.sees(t, "noise &lt;b&gt;: 10.1")
	if err := r.stop(t, end); err != nil || !r.closed || !r.ended() {
		t.Errorf("stopped: error %v, closed %v, ended %v", err, r.closed, r.ended())
	}
	if shown := strings.Join(r.notes, ""); !strings.Contains(shown,
		`aria-label="noise &lt;b&gt;" min="0" max="100" value="50" disabled>`) ||
		!strings.Contains(shown, "id = 'gppl_control_id', address = '/gppl/gppl_control_id'") {
		t.Errorf("the slider is %s", shown)
	}
	// The state after each move precedes its figure: the script sends a move until it reads its number.
	for i, want := range []string{`data-number="-1"`, `data-number="0"`, `data-number="1"`, `data-number="2"`,
		`data-number="4"`, `data-number="4" data-ended`} {
		if i >= len(r.states) || !strings.Contains(r.states[i], want) {
			t.Fatalf("word %d of %q has no %s", i, r.states, want)
		}
	}
}

func TestSelectFollows(t *testing.T) {
	r := newReader(t)
	end := make(chan error)
	go func() {
		end <- Select(SelectOptions{Name: "k", Options: []string{"10", "<20>"}, Start: 1, Idle: time.Hour},
			func(i int) (*Figure, error) {
				return drawLine(float64(i))
			})
	}()
	r.sees(t, "k: &lt;20&gt;")
	r.move(1)
	r.move(0)
	r.sees(t, "k: 10")
	if err := r.stop(t, end); err != nil || !strings.Contains(strings.Join(r.notes, ""),
		`<option value="0">10</option><option value="1" selected>&lt;20&gt;</option>`) {
		t.Errorf("error %v, shown %q", err, r.notes)
	}
}

// TestRest checks that a cell ends if nothing has been moved for a while, or if nothing was ever touched, and that its control
// then shows that the cell has ended.
func TestRest(t *testing.T) {
	for _, touched := range []bool{false, true} {
		r := newReader(t)
		idle := time.Hour
		if touched {
			idle = time.Millisecond
		} else {
			untouched = time.Millisecond
		}
		end := make(chan error)
		go func() { end <- Slide(SliderOptions{Name: "v", From: 1, To: 2, Start: 1, Idle: idle}, drawLine) }()
		r.move(0)
		if err := <-end; err != nil || !r.closed || !r.ended() {
			t.Errorf("touched %v: error %v, closed %v, ended %v", touched, err, r.closed, r.ended())
		}
		r.sees(t, "v: 1")
	}
}

// TestNobodyThere checks that a cell ends if no browser answers.
func TestNobodyThere(t *testing.T) {
	r := newReader(t)
	patience = time.Millisecond
	if err := Slide(SliderOptions{Name: "v", From: 1, To: 2, Start: 1}, drawLine); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(r.notes, " "); !strings.Contains(all, "no browser") || !r.ended() {
		t.Errorf("nothing is said of it: %s", all)
	}
}

package viz

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"math"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui/comms"
)

// envInteractive is the environment variable that, if it is 1 (as scripts/lab.sh sets it), lets cells wait for a reader to move a
// slider. Without it, as in a run without a browser, they draw once and end.
const envInteractive = "GPPL_INTERACTIVE"

// interactive reports whether there is a notebook and a reader to wait for.
func interactive() bool { return inNotebook() && os.Getenv(envInteractive) == "1" }

// SliderOptions describe a slider over positive values, on a logarithmic scale.
type SliderOptions struct {
	Name     string // name of the value, with its unit
	From, To float64
	Start    float64
	Idle     time.Duration // the cell ends this long after the last move; zero means two minutes
}

// Slide draws a figure for the start value. In a notebook with a reader (GPPL_INTERACTIVE=1) it shows a slider above the figure
// and redraws the figure at each value to which it is moved. The cell ends when the slider has not moved for SliderOptions.Idle,
// when the cell is stopped, or when nobody has touched the slider for twenty seconds, so that running all cells does not block
// the kernel. The slider of a cell that has ended says so, and does not move. It returns an error if the range is not positive or
// empty, or if draw returns one at the start; a later error is shown in place of the figure.
func Slide(o SliderOptions, draw func(value float64) (*Figure, error)) error {
	if !(o.From > 0 && o.From < o.To) || !(o.Start >= o.From && o.Start <= o.To) || math.IsInf(o.To, 0) {
		return fmt.Errorf("viz: a slider from %g to %g that starts at %g", o.From, o.To, o.Start)
	}
	const steps = 100
	start := int(math.Round(steps * math.Log(o.Start/o.From) / math.Log(o.To/o.From)))
	value := func(step int) float64 {
		if step == start {
			return o.Start
		}
		return o.From * math.Pow(o.To/o.From, float64(step)/steps)
	}
	return interact(interaction{
		start: start, steps: steps + 1, idle: o.Idle,
		control: func(id string) string {
			return fmt.Sprintf(`<input type="range" id="%s" aria-label="%s" min="0" max="%d" value="%d" disabled>`, id,
				html.EscapeString(o.Name), steps, start)
		},
		says: func(step int) string { return fmt.Sprintf("%s: %.4g", o.Name, value(step)) },
		draw: func(step int) (*Figure, error) { return draw(value(step)) },
	})
}

// SelectOptions describe a menu from which the reader chooses one of several texts.
type SelectOptions struct {
	Name    string // name of the choice, such as "kernel"
	Options []string
	Start   int           // index of the option chosen at first
	Idle    time.Duration // the cell ends this long after the last choice; zero means two minutes
}

// Select draws a figure for the first choice. In a notebook with a reader (GPPL_INTERACTIVE=1) it shows the options above the
// figure and redraws the figure for each option that is chosen, as [Slide] does for a value. It returns an error if the first
// choice does not exist, or if draw returns one for it.
func Select(o SelectOptions, draw func(option int) (*Figure, error)) error {
	if o.Start < 0 || o.Start >= len(o.Options) {
		return fmt.Errorf("viz: a selection of %d options that starts at option %d", len(o.Options), o.Start)
	}
	return interact(interaction{
		start: o.Start, steps: len(o.Options), idle: o.Idle,
		control: func(id string) string {
			var b strings.Builder
			fmt.Fprintf(&b, `<select id="%s" aria-label="%s" disabled>`, id, html.EscapeString(o.Name))
			for i, name := range o.Options {
				chosen := ""
				if i == o.Start {
					chosen = " selected"
				}
				fmt.Fprintf(&b, `<option value="%d"%s>%s</option>`, i, chosen, html.EscapeString(name))
			}
			return b.String() + "</select>"
		},
		says: func(step int) string { return o.Name + ": " + o.Options[step] },
		draw: draw,
	})
}

// move is a move of a control: its number, counted by the page from 0 at the start, and the step.
type move struct{ number, step int }

// interaction is a control with steps 0 to steps − 1, and what is shown for each.
type interaction struct {
	start, steps int
	idle         time.Duration
	control      func(id string) string // returns its element, which is disabled until the page and the program are connected
	says         func(step int) string
	draw         func(step int) (*Figure, error)
}

var (
	patience = 20 * time.Second // time that the browser has to answer
	// untouched is how long a cell waits for the first touch. A cell of GoNB is a program, and blocks the kernel until it ends.
	untouched = 20 * time.Second
	reconnect = 5 * time.Second // time between checks of GoNB's connection, which it renews if the page is gone
)

//go:embed control.js
var controlScript string

func interact(a interaction) error {
	first, err := a.draw(a.start)
	if err != nil {
		return err
	}
	if !interactive() {
		_, err := Show(first)
		return err
	}
	if a.idle == 0 {
		a.idle = 2 * time.Minute
	}
	id := "gppl_control_" + screen.newID()
	steps, unlisten := screen.listen("/gppl/" + id)
	defer unlisten()
	script := strings.NewReplacer("{{ID}}", id, "{{ADDRESS}}", "/gppl/"+id).Replace(controlScript)
	showHTML(template.HTML(a.control(id) + "<script>" + script + "</script>"))
	state := func(number int, ended bool, says string) {
		screen.update(id+"_state", controlState(id, number, ended, says))
	}
	state(-1, false, "Waiting for the page to answer …")
	latest := -1
	defer func() {
		state(latest, true, "This control has ended, and the kernel is free. Run its cell again to move it.")
	}()
	if err := update(id, first, a.says(a.start)); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1) // the notebook's stop button interrupts the program
	signal.Notify(stop, os.Interrupt)
	defer signal.Stop(stop)
	see := time.NewTicker(reconnect)
	defer see.Stop()
	end := time.NewTimer(patience)
	defer end.Stop()
	shown, touched := a.start, false
	for {
		select {
		case <-stop:
			return nil
		case <-see.C:
			screen.connect()
		case <-end.C:
			if latest < 0 {
				Note("The control does not answer: no browser is looking at this notebook.")
			}
			return nil
		case m := <-steps:
			if m.step < 0 || m.step >= a.steps || m.number <= latest {
				continue
			}
			latest = m.number
			if touched = touched || latest > 0; touched {
				end.Reset(a.idle)
				state(latest, false, fmt.Sprintf("The stop button (■) ends this cell and frees the kernel; so do %s "+
					"without a move.", a.idle.Round(time.Second)))
			} else {
				end.Reset(min(untouched, a.idle))
				state(latest, false, fmt.Sprintf("Move it within %s: then this cell ends, and frees the kernel.", untouched))
			}
			if m.step == shown {
				continue
			}
			shown = m.step
			f, err := a.draw(m.step)
			if err == nil {
				err = update(id, f, a.says(m.step))
			}
			if err != nil {
				screen.update(id, paragraph(a.says(m.step))+paragraph(err.Error()))
			}
		}
	}
}

// controlState returns what the program tells the script of the control: the number of the latest move that it received, and
// whether it has ended.
func controlState(id string, number int, ended bool, says string) string {
	is := ""
	if ended {
		is = " data-ended"
	}
	return fmt.Sprintf(`<p data-gppl-control="%s" data-number="%d"%s role="status">%s</p>`, id, number, is, escape(says))
}

// update replaces the figure on display.
func update(id string, f *Figure, says ...string) error {
	h, err := f.HTML()
	if err != nil {
		return err
	}
	screen.update(id, notebookHead+paragraph(says...)+string(h)) // each figure needs style and script: the whole output is replaced
	return nil
}

// gonbListen returns the moves that the page sends to an address, and a function that stops listening. Only the latest move
// waits.
func gonbListen(address string) (<-chan move, func()) {
	steps := make(chan move, 1)
	var mu sync.Mutex
	latest := -1 // GoNB delivers each message in its own goroutine
	id := comms.Subscribe(address, func(_, text string) {
		var m move
		if _, err := fmt.Sscan(text, &m.number, &m.step); err != nil {
			return // the message is not from the script
		}
		mu.Lock()
		defer mu.Unlock()
		if m.number <= latest {
			return
		}
		latest = m.number
		select {
		case <-steps:
		default:
		}
		steps <- m
	})
	return steps, func() { comms.Unsubscribe(id) }
}

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

// envInteractive is the environment variable that, set to 1 (as scripts/lab.sh does), lets cells wait for a
// reader who moves a slider. Without it, as in a run without a browser, they draw once and end.
const envInteractive = "GPPL_INTERACTIVE"

// interactive reports whether there is a notebook and a reader to wait for.
func interactive() bool { return inNotebook() && os.Getenv(envInteractive) == "1" }

// SliderOptions describe a slider over positive values, on a logarithmic scale.
type SliderOptions struct {
	Name     string // of the value, with its unit
	From, To float64
	Start    float64
	Idle     time.Duration // time after a move after which the cell ends; zero means two minutes
}

// Slide draws a figure for the start value. If [Interactive], it shows a slider above the figure, and draws the figure again
// at every value that the slider is moved to, until the slider has not moved for SliderOptions.Idle or the cell is stopped; if nobody has
// touched it after twenty seconds, the cell ends as well, so that running all cells gives the kernel back. The slider of a cell that has
// ended says so, and does not move.
// It returns an error if the range is not positive or empty, or if draw returns one at the start; a later error is shown
// instead of the figure.
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
			return fmt.Sprintf(`<input type="range" id="%s" aria-label="%s" min="0" max="%d" value="%d" disabled>`, id, html.EscapeString(o.Name), steps, start)
		},
		says: func(step int) string { return fmt.Sprintf("%s: %.4g", o.Name, value(step)) },
		draw: func(step int) (*Figure, error) { return draw(value(step)) },
	})
}

// SelectOptions describe a choice among a few things.
type SelectOptions struct {
	Name    string // of what is chosen
	Options []string
	Start   int           // the option chosen at first
	Idle    time.Duration // time after a choice after which the cell ends; zero means two minutes
}

// Select draws a figure for the first choice. If [Interactive], it shows the list of options above the figure, and draws the
// figure again for every option that is chosen, as [Slide] does for a value. It returns an error if the first choice does not
// exist, or if draw returns one for it.
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

// move is one of a control's: its number, counted by the page from 0 at the start, and the step.
type move struct{ number, step int }

// interaction is a control and what follows its steps, 0 to steps − 1.
type interaction struct {
	start, steps int
	idle         time.Duration
	control      func(id string) string // its element, which cannot be moved until the page and the program have met
	says         func(step int) string
	draw         func(step int) (*Figure, error)
}

var (
	patience = 20 * time.Second // how long the browser may take to answer
	// untouched is how long a cell waits for the first touch. A cell of GoNB is a program, and the kernel waits until it ends.
	untouched = 20 * time.Second
	reconnect = 5 * time.Second // how often GoNB is asked to see to its connection, which it makes anew if the page is gone
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
	stop := make(chan os.Signal, 1) // the stop button of the notebook
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
				state(latest, false, fmt.Sprintf("The stop button (■) ends this cell and frees the kernel; so do %s without a move.", a.idle.Round(time.Second)))
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

// controlState is the word of the program on its control: the number of the latest move that it has, and whether it has ended. The script of
// the control reads it.
func controlState(id string, number int, ended bool, says string) string {
	is := ""
	if ended {
		is = " data-ended"
	}
	return fmt.Sprintf(`<p data-gppl-control="%s" data-number="%d"%s role="status">%s</p>`, id, number, is, escape(says))
}

// update puts a figure where the one before it stands.
func update(id string, f *Figure, says ...string) error {
	h, err := f.HTML()
	if err != nil {
		return err
	}
	screen.update(id, notebookHead+paragraph(says...)+string(h)) // replaced as a whole, so style and script are in each
	return nil
}

// gonbListen returns the moves that the page sends to an address, of which only the latest waits, and what ends that.
func gonbListen(address string) (<-chan move, func()) {
	steps := make(chan move, 1)
	var mu sync.Mutex
	latest := -1 // GoNB delivers each message in a goroutine of its own
	id := comms.Subscribe(address, func(_, text string) {
		var m move
		if _, err := fmt.Sscan(text, &m.number, &m.step); err != nil {
			return // not of the script
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

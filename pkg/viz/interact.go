package viz

import (
	"fmt"
	"html"
	"math"
	"os"
	"os/signal"
	"time"

	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/widgets"
)

// envInteractive is the environment variable that, set to 1 (as scripts/lab.sh does), lets cells wait for a
// reader who moves a slider. Without it, as in a run without a browser, they draw once and end.
const envInteractive = "GPPL_INTERACTIVE"

// interactive reports whether there is a notebook and a reader to wait for.
func interactive() bool { return InNotebook() && os.Getenv(envInteractive) == "1" }

// SliderOptions describe a slider over positive values, on a logarithmic scale.
type SliderOptions struct {
	Name     string // of the value, with its unit
	From, To float64
	Start    float64
	Idle     time.Duration // time without a move after which the cell ends; zero means two minutes
}

// Slide draws a figure for the start value. If [Interactive], it shows a slider above the figure, and draws the figure again
// at every value that the slider is moved to, until the slider has not moved for SliderOptions.Idle or the cell is stopped.
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
	show := screen.slider
	return interact(interaction{
		start: start, steps: steps + 1, idle: o.Idle,
		control: func() moves { return show(steps, start) },
		says:    func(step int) string { return fmt.Sprintf("%s: %.4g", o.Name, value(step)) },
		draw:    func(step int) (*Figure, error) { return draw(value(step)) },
	})
}

// SelectOptions describe a choice among a few things.
type SelectOptions struct {
	Name    string // of what is chosen
	Options []string
	Start   int           // the option chosen at first
	Idle    time.Duration // time without a choice after which the cell ends; zero means two minutes
}

// Select draws a figure for the first choice. If [Interactive], it shows the list of options above the figure, and draws the
// figure again for every option that is chosen, as [Slide] does for a value. It returns an error if the first choice does not
// exist, or if draw returns one for it.
func Select(o SelectOptions, draw func(option int) (*Figure, error)) error {
	if o.Start < 0 || o.Start >= len(o.Options) {
		return fmt.Errorf("viz: a selection of %d options that starts at option %d", len(o.Options), o.Start)
	}
	show := screen.choice
	return interact(interaction{
		start: o.Start, steps: len(o.Options), idle: o.Idle,
		control: func() moves { return show(o.Options, o.Start) },
		says:    func(step int) string { return o.Name + ": " + o.Options[step] },
		draw:    draw,
	})
}

// moves are the steps to which a reader moves a control.
type moves struct {
	C     <-chan int
	close func()
}

// interaction is a control and what follows its steps, 0 to steps − 1.
type interaction struct {
	start, steps int
	idle         time.Duration
	control      func() moves // shows it, and waits for the browser to answer
	says         func(step int) string
	draw         func(step int) (*Figure, error)
}

// patience is how long the browser may take to answer.
var patience = 10 * time.Second

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
	ready := make(chan moves, 1)
	go func() { ready <- a.control() }()
	id := "gppl_interact_" + screen.newID()
	// A cell of GoNB is a program, and the kernel waits until it ends: it cannot be given back before that.
	hint := fmt.Sprintf("The stop button (■) ends this cell and frees the kernel; so does %s without a move.", a.idle.Round(time.Second))
	if err := update(id, first, a.says(a.start), hint); err != nil {
		return err
	}
	var steps moves
	select {
	case steps = <-ready:
		defer steps.close()
	case <-time.After(patience):
		Note("The control does not answer: no browser is looking at this notebook.")
		return nil
	}
	stop := make(chan os.Signal, 1) // the stop button of the notebook
	signal.Notify(stop, os.Interrupt)
	defer signal.Stop(stop)
	for {
		select {
		case <-stop:
			return nil
		case step := <-steps.C:
			if step < 0 || step >= a.steps {
				continue
			}
			f, err := a.draw(step)
			if err == nil {
				err = update(id, f, a.says(step), hint)
			}
			if err != nil {
				screen.update(id, paragraph(a.says(step))+paragraph(err.Error()))
			}
		case <-time.After(a.idle):
			return nil
		}
	}
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

// GoNB's widgets. Done, which puts one on the page, waits for the browser to answer.

func gonbSlider(steps, start int) moves {
	return listen(widgets.Slider(0, steps, start).Done().Listen())
}

func gonbChoice(options []string, start int) moves {
	escaped := make([]string, len(options))
	for i, o := range options {
		escaped[i] = html.EscapeString(o) // GoNB writes them as they are
	}
	return listen(widgets.Select(escaped).SetDefault(start).Done().Listen())
}

func listen(c *comms.AddressChan[int]) moves {
	c = c.LatestOnly()
	return moves{c.C, c.Close}
}

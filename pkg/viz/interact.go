package viz

import (
	"fmt"
	"html"
	"math"
	"os"
	"time"

	"github.com/janpfeifer/gonb/gonbui/widgets"
)

// EnvInteractive is the environment variable that, set to 1, lets cells wait for a reader who moves a slider. Without it, as
// in a run without a browser, they draw once and end.
const EnvInteractive = "GPPL_INTERACTIVE"

// Interactive reports whether there is a notebook and a reader to wait for.
func Interactive() bool { return InNotebook() && os.Getenv(EnvInteractive) == "1" }

// SliderOptions describe a slider over positive values, on a logarithmic scale.
type SliderOptions struct {
	Name     string // of the value, with its unit
	From, To float64
	Start    float64
	Idle     time.Duration // without a move, after which the cell ends; zero means five minutes
}

// Slide draws a figure at the start and, where [Interactive], below a slider and again at every value that it is moved to,
// until it has not been moved for a while. It returns an error if the range is not positive or empty, or draw returns one at
// the start; a later one is shown in place of the figure.
func Slide(o SliderOptions, draw func(value float64) (*Figure, error)) error {
	if !(o.From > 0 && o.From < o.To) || !(o.Start >= o.From && o.Start <= o.To) || math.IsInf(o.To, 0) {
		return fmt.Errorf("viz: a slider from %g to %g that starts at %g", o.From, o.To, o.Start)
	}
	if o.Idle == 0 {
		o.Idle = 5 * time.Minute
	}
	const steps = 100
	value := func(step int) float64 { return o.From * math.Pow(o.To/o.From, float64(step)/steps) }
	start := int(math.Round(steps * math.Log(o.Start/o.From) / math.Log(o.To/o.From)))

	first, err := draw(o.Start)
	if err != nil {
		return err
	}
	if !Interactive() {
		_, err := Show(first)
		return err
	}
	id := "gppl_slide_" + screen.newID()
	Note(o.Name)
	moves := make(chan int, 1)
	var end func()
	ready := make(chan struct{})
	go func() { // Done waits for the browser to answer
		listen := widgets.Slider(0, steps, start).Done().Listen().LatestOnly()
		end = listen.Close
		go func() {
			for step := range listen.C {
				moves <- step
			}
		}()
		ready <- struct{}{}
	}()
	if err := update(id, o.Name, o.Start, first); err != nil {
		return err
	}
	select {
	case <-ready:
		defer end()
	case <-time.After(10 * time.Second):
		Note("The slider does not answer: no browser is looking at this notebook.")
		return nil
	}
	for {
		select {
		case step := <-moves:
			v := value(step)
			f, err := draw(v)
			if err == nil {
				err = update(id, o.Name, v, f)
			}
			if err != nil {
				screen.update(id, paragraph(err.Error()))
			}
		case <-time.After(o.Idle):
			return nil
		}
	}
}

// update puts a figure where the one before it stands.
func update(id, name string, value float64, f *Figure) error {
	h, err := f.HTML()
	if err != nil {
		return err
	}
	screen.update(id, paragraph(fmt.Sprintf("%s: %.4g", name, value))+string(h))
	return nil
}

func paragraph(text string) string { return "<p>" + html.EscapeString(text) + "</p>" }

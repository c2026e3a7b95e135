package viz

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock is a time that tests set.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func TestProgressTerminal(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(1000, 0)}
	p := newProgress("fit", 100, &out, true, c.now)
	for range 50 {
		c.advance(20 * time.Millisecond)
		p.Add(1)
	}
	if n := strings.Count(out.String(), "\r"); n > 12 {
		t.Errorf("%d pictures in a second", n)
	}
	if !strings.Contains(out.String(), "50/100 · 50 % · 1.0 s · about 1.0 s left") {
		t.Errorf("got %q", out.String())
	}
	p.Message("a long message that will have gone\nby the end %d", 1)
	c.advance(time.Second)
	p.Set(60)
	p.Message("")
	p.Done()
	p.Done()
	p.Add(1)
	last := out.String()[strings.LastIndex(out.String(), "\r"):]
	if !strings.Contains(last, "100/100 · 100 % · 2.0 s") || !strings.HasSuffix(last, "\n") {
		t.Errorf("the last line is %q", last)
	}
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("more than one line: %q", out.String())
	}
	if len([]rune(last)) < 79 { // spaces overwrite the previous line
		t.Errorf("the last line does not cover the one before: %q", last)
	}
}

func TestProgressLog(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(1000, 0)}
	p := newProgress("fit", 0, &out, false, c.now)
	for range 1000 {
		c.advance(25 * time.Millisecond)
		p.Add(1)
	}
	p.Fail(errors.New("out of memory"))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || strings.Contains(out.String(), "\r") {
		t.Errorf("25 s make these lines: %q", lines)
	}
	if last := lines[len(lines)-1]; last != "fit: 1000 steps · 25 s · failed: out of memory" {
		t.Errorf("got %q", last)
	}
}

func TestProgressHTML(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	p := newProgress("<script>", 4, io.Discard, false, c.now)
	p.Message("<b>")
	p.Set(9) // beyond the end
	for _, s := range []string{p.html(), func() string { p.Fail(errors.New("<i>")); return p.html() }()} {
		if strings.Contains(s, "<script") || strings.Contains(s, "<b>") || strings.Contains(s, "<i>") {
			t.Errorf("not escaped: %s", s)
		}
		if !strings.Contains(s, "width:100.0%") {
			t.Errorf("beyond the end: %s", s)
		}
	}
}

func TestProgressConcurrent(t *testing.T) {
	var out bytes.Buffer
	p := NewProgressTo(&out, "fit", 8000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				p.Add(1)
				p.Message("x")
			}
		})
	}
	wg.Wait()
	p.Done()
	if !strings.Contains(out.String(), "8000/8000") {
		t.Errorf("got %q", out.String())
	}
	var none *Progress
	none.Add(1)
	none.Message("x")
	none.Fail(nil)
	none.Done()
}

func BenchmarkProgressAdd(b *testing.B) {
	p := NewProgressTo(io.Discard, "fit", b.N)
	for b.Loop() {
		p.Add(1)
	}
}

package forecast

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/must"
)

// channelsOf reads channels of a file with the given rows.
func channelsOf(t *testing.T, n int, row func(i int) string) *Channels {
	t.Helper()
	var b strings.Builder
	b.WriteString("day,value,error,by\n")
	for i := range n {
		b.WriteString(row(i) + "\n")
	}
	path := filepath.Join(t.TempDir(), "channels.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return must.Get(ReadChannels(path, "by", "", ReadOptions{YError: "error"}))(t)
}

// TestChannelsBacktest: the verdict is use for two instruments that observe one sinusoid, and do not use for a sinusoid forced on
// a random walk; a channel that begins late is forecast from its third observation on.
func TestChannelsBacktest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	wave := func(i int, late int) string {
		at := i % 2
		if i < late {
			at = 0
		}
		return fmt.Sprintf("%d,%.4f,0.1,%s", i, 4*math.Sin(float64(i)/5)+[]float64{10, -20}[at]+0.2*rnd.NormFloat64(),
			[]string{"north", "south"}[at])
	}
	walk := 0.
	for name, c := range map[string]struct {
		channels *Channels
		kernel   string
		origins  int
		want     Word
	}{
		"waves": {channelsOf(t, 160, func(i int) string { return wave(i, 0) }), "Matern52", 0, Use},
		"late":  {channelsOf(t, 200, func(i int) string { return wave(i, 150) }), "Matern52", 0, Use},
		"walk": {channelsOf(t, 300, func(i int) string {
			walk += rnd.NormFloat64()
			return fmt.Sprintf("%d,%.4f,0.01,%s", i, walk, []string{"a", "b"}[i%2])
		}), "Cosine", 16, DoNotUse},
	} {
		a := must.Get(FitChannels(t.Context(), c.channels, ChannelOptions{Kernels: []string{c.kernel}, Views: []string{"same"}}))(t)
		if !a.Testable(BacktestOptions{Horizon: 8}) {
			t.Fatalf("%s: not testable", name)
		}
		trust, err := a.Backtest(t.Context(), BacktestOptions{Horizon: 8, Origins: c.origins})
		if err != nil {
			t.Fatal(name, err)
		}
		if trust.Word != c.want || trust.Horizon != 8 || len(trust.Past) != trust.Origins ||
			c.want == Use && (trust.Relative > 0.6 || trust.Coverage < 0.8) {
			t.Errorf("%s: %s, %+v", name, trust.Verdict, trust)
		}
		if name == "late" && trust.Origins < 3 {
			t.Errorf("%s: %d origins", name, trust.Origins)
		}
		before := must.Get(a.Forecast(4))(t)
		if a.Calibrate(&Trust{Widen: 2}); true {
			after := must.Get(a.Forecast(4))(t)
			if r := after[1].Noisy[3] / before[1].Noisy[3]; math.Abs(r-4) > 1e-12 || after[1].Mean[3] != before[1].Mean[3] {
				t.Errorf("%s: twice as wide bands have %v times the variance", name, r)
			}
		}
		if fit := a.Best().Model.Channels[0].Noise; before[0].Noisy[0]-before[0].Latent[0] < fit {
			t.Errorf("%s: a new observation has the noise %v, its channel %v", name, before[0].Noisy[0]-before[0].Latent[0], fit)
		}
	}
}

// TestChannelsKnownIn: what is known in a window has its observations alone, without channels that have too few.
func TestChannelsKnownIn(t *testing.T) {
	c := channelsOf(t, 12, func(i int) string {
		return fmt.Sprintf("%d,%d,%g,%s", i, i*i, 1+float64(i)/10, []string{"a", "b", "c"}[min(2, i%4)])
	})
	past := must.Get(c.knownIn(Window{0, 10}))(t)
	if len(past.Names) != 3 || len(past.Of) != 10 || past.Series.Errors[9] != 1.9 {
		t.Errorf("%+v", past)
	}
	past = must.Get(c.knownIn(Window{0, 8}))(t)
	if len(past.Names) != 1 || past.Names[0] != "c" || len(past.Series.X) != 4 || past.Series.X[3] != 7 ||
		past.Series.Errors[1] != 1.3 || past.Of[2] != 0 {
		t.Errorf("%+v, %+v", past, past.Series)
	}
	if _, err := c.knownIn(Window{0, 4}); err == nil {
		t.Error("no channel has three observations, and they are modelled")
	}
}

// TestChannelsStored: a stored model predicts like the saved one; a changed byte, and impossible contents, are refused.
func TestChannelsStored(t *testing.T) {
	c := channelsOf(t, 60, func(i int) string {
		return fmt.Sprintf("%d,%.4f,0.1,%s", i, math.Sin(float64(i)/4)+float64(i%2), []string{"a", "b"}[i%2])
	})
	a := must.Get(FitChannels(t.Context(), c, ChannelOptions{Kernels: []string{"Matern32"}}))(t)
	a.Widen = 1.5
	var file bytes.Buffer
	if err := a.Encode(&file); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.json")
	load := func(text string) (*ChannelAnalysis, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadChannels(path, math.Inf(1))
	}
	b := must.Get(load(file.String()))(t)
	want, got := must.Get(a.Forecast(5))(t), must.Get(b.Forecast(5))(t)
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%+v, saved as %+v", got, want)
	}
	if _, err := Load(path); !errors.Is(err, ErrChannels) {
		t.Errorf("read as an analysis: %v", err)
	}
	for old, now := range map[string]string{`"y":[0,`: `"y":[1,`, `"view":"same"`: `"view":"sane"`} {
		if _, err := load(strings.Replace(file.String(), old, now, 1)); strings.Contains(file.String(), old) &&
			(err == nil || !strings.Contains(err.Error(), "damaged")) {
			t.Errorf("%s: %v", now, err)
		}
	}
	plain := strings.Split(file.String(), `,"checksum"`)[0] + "}" // as files without a checksum are
	for old, now := range map[string]string{`"channel":[0,1`: `"channel":[0,2`, `"name":"b"`: `"name":"a"`,
		`"version":1`: `"version":2`, `"x":[0,1,2`: `"x":[1,0,2`, `"errors":[0.1`: `"errors":[-1`, `"widen":1.5`: `"widen":-1`} {
		if !strings.Contains(plain, old) {
			t.Errorf("no %s in %.300s", old, plain)
		}
		if _, err := load(strings.Replace(plain, old, now, 1)); err == nil {
			t.Errorf("%s was read", now)
		}
	}
}

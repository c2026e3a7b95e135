package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// TestChannelsBacktest: the past of two instruments that see one sinusoid says use; that of a sinusoid forced on a random walk says do not use; a
// channel that begins late is forecast from where it has three observations.
func TestChannelsBacktest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	wave := func(i int, late int) string {
		at := i % 2
		if i < late {
			at = 0
		}
		return fmt.Sprintf("%d,%.4f,0.1,%s", i, 4*math.Sin(float64(i)/5)+[]float64{10, -20}[at]+0.2*rnd.NormFloat64(), []string{"north", "south"}[at])
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
		if trust.Word != c.want || trust.Horizon != 8 || len(trust.Past) != trust.Origins || c.want == Use && (trust.Relative > 0.6 || trust.Coverage < 0.8) {
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
	if len(past.Names) != 1 || past.Names[0] != "c" || len(past.Series.X) != 4 || past.Series.X[3] != 7 || past.Series.Errors[1] != 1.3 || past.Of[2] != 0 {
		t.Errorf("%+v, %+v", past, past.Series)
	}
	if _, err := c.knownIn(Window{0, 4}); err == nil {
		t.Error("no channel has three observations, and they are modelled")
	}
}

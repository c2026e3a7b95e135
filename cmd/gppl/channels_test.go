package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/report"
)

// TestChannelsInTheShell fits two instruments of one quantity, writes all files, and refuses flags that channels do not take in
// one line.
func TestChannelsInTheShell(t *testing.T) {
	dir := t.TempDir()
	path := put(t, dir, "rv.csv", made("day,rv,err,tel", 80, func(i int) string {
		x := float64(i) + 0.4*math.Sin(17*float64(i*i))
		return fmt.Sprintf("%.4f,%.4f,0.1,%s", x, 4*math.Sin(x/5)+[]float64{10, -20}[i%2]+0.3*math.Sin(13*float64(i*i)),
			[]string{"north", "=south"}[i%2])
	}))
	out, parts, figure := filepath.Join(dir, "out.csv"), filepath.Join(dir, "parts.csv"), filepath.Join(dir, "f.svg")
	code, stdout, stderr := gppl("fit", path, "--channel", "tel", "--y-error", "err", "--kernel", "Matern32, Laplace", "--forecast",
		"5", "--out", out, "--components", parts, "--figure", figure, "--json", "-q")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var got report.ChannelsJSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Channels) != 2 || got.Kernel != "Matern32" || len(got.Candidates) != 5 || len(got.Forecast["north"]) != 5 {
		t.Fatalf("%+v", got)
	}
	if d := got.Channels[0].Offset - got.Channels[1].Offset; math.Abs(d-30) > 0.5 {
		t.Errorf("offsets differ by %v, want 30", d)
	}
	for file, want := range map[string]string{out: "day,tel,mean,", parts: "day,tel,rv,mean,", figure: "<svg"} {
		b, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(b), want) || strings.Contains(string(b), ",=south") {
			t.Errorf("%s: %v\n%.200s", file, err, b)
		}
	}
	page := filepath.Join(dir, "r.html")
	code, stdout, stderr = gppl("fit", path, "--channel", "tel", "--kernel", "Matern32", "--channel-view", "same", "-q",
		"--forecast", "6", "--report", page, "--out", out, "--levels", "50,95", "--origins", "3")
	if code != exitOK || !strings.HasPrefix(stdout, "You can use this forecast") &&
		!strings.HasPrefix(stdout, "This forecast is untested: the past of 80") || !strings.Contains(stdout, "Forecasts of the past") ||
		!strings.Contains(stdout, "y = f + offset") || !strings.Contains(stdout, "north") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	for file, wants := range map[string][]string{page: {"Forecasts of the past", "What each tel sees", "Channels: y = f + offset",
		"north", "Models compared"}, out: {"lower_95,upper_95,lower_50,upper_50\n"}} {
		b, err := os.ReadFile(file)
		for _, want := range wants {
			if err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%s: %v, no %q", file, err, want)
			}
		}
	}
	if stdout, _ := must(t, "fit", path, "--channel", "tel", "--kernel", "Matern32", "--channel-view", "same", "-q", "--origins",
		"0"); !strings.HasPrefix(stdout, "This forecast is untested: it was not compared with the past.") {
		t.Errorf("%s", stdout)
	}
	model, again := filepath.Join(dir, "m.json"), filepath.Join(dir, "again.csv")
	must(t, "fit", path, "--channel", "tel", "--kernel", "Matern32", "-q", "--forecast", "6", "--origins", "0", "--model", model,
		"--out", out, "--levels", "50")
	if stdout, _ := must(t, "predict", model, "--forecast", "6", "--levels", "50", "--out", again, "-q"); stdout != "" {
		t.Errorf("predict -q: %s", stdout)
	}
	first, err := os.ReadFile(out)
	second, problem := os.ReadFile(again)
	if err != nil || problem != nil || string(first) != string(second) || !strings.Contains(string(first), "lower_50") {
		t.Errorf("fit forecasts\n%s, predict\n%s", first, second)
	}
	if stdout, _ := must(t, "predict", model, "--at", "100"); strings.Count(stdout, "\n") != 3 {
		t.Errorf("%s", stdout)
	}
	for _, args := range [][]string{{"predict", model, "--until", "3"}, {"update", model, path}} {
		if code, _, stderr := gppl(args...); code == exitOK || !strings.Contains(stderr, "several channels") {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
	few := put(t, dir, "few.csv", made("t,y,c", 26, func(i int) string {
		return fmt.Sprintf("%d,%.3f,%c", i, math.Sin(float64(i*i)), 'a'+i%8)
	}))
	code, stdout, stderr = gppl("fit", few, "--channel", "c", "--kernel", "Matern32", "--channel-view", "same")
	if code != exitOK || !strings.HasPrefix(stdout, "This forecast is untested: it was not compared with the past.") ||
		!strings.Contains(stderr, "no test of the past: ") {
		t.Errorf("channels that are too short to test: exit %d, %s%s", code, stdout, stderr)
	}
	five := put(t, dir, "five.csv", "t,y\n1,1\n2,3\n3,2\n4,5\n5,4.5\n")
	if code, stdout, stderr := gppl("fit", five, "--robust", "--budget", "1s"); code != exitOK ||
		!strings.Contains(stderr, "no test of the past: ") || !strings.Contains(stdout, "Forecast of y") {
		t.Errorf("a series that is too short to test with --robust: exit %d, %s%s", code, stdout, stderr)
	}
	bare := put(t, dir, "bare.csv", made("0,5,A", 30, func(i int) string {
		return fmt.Sprintf("%d,%.3f,%s", i+1, math.Sin(float64(i)), []string{"A", "B"}[i%2])
	}))
	if stdout, _ := must(t, "fit", bare, "--no-header", "--channel", "3", "--kernel", "Matern32", "--channel-view", "same",
		"-q"); !strings.Contains(stdout, "2 channels, by column 3.") {
		t.Errorf("%s", stdout)
	}
	even := put(t, dir, "lc.csv", made("t,flux,length", 60, func(i int) string {
		return fmt.Sprintf("%d,%.4f,%g", i, math.Sin(float64(i)/3)+0.1*math.Sin(13*float64(i*i)), []float64{0.5, 0.9}[i%2])
	}))
	for _, exposure := range []string{"0.5", "length"} {
		stdout, _ := must(t, "fit", even, "--exposure", exposure, "--kernel", "Matern32", "-q", "--forecast", "3")
		if !strings.Contains(stdout, "averages over exposures of") || !strings.Contains(stdout, "y = f + offset") {
			t.Errorf("--exposure %s: %s", exposure, stdout)
		}
	}
	for flags, want := range map[string]string{
		"--exposure 0.5":                                           "--exposure needs named kernels",
		"--exposure 3 --kernel SHO":                                "overlap",
		"--exposure nothing --kernel SHO":                          "nothing",
		"--exposure 0.1 --kernel SHO --channel-view derivative":    "averages over exposures see no derivative",
		"--channel tel":                                            "--channel needs named kernels",
		"--channel tel --kernel SE":                                "channels do not take SE",
		"--channel tel --kernel Laplace --channel-view derivative": "sees the derivative of f",
		"--channel tel --kernel SHO --trend linear":                "--trend does not go with --channel",
		"--channel tel --kernel SHO --holdout 79":                  "too few to hold out 79",
		"--channel tel --kernel SHO --channel-view both":           "--channel-view \"both\"",
		"--channel tel --kernel SHO --y rv --y err":                "--channel takes one --y",
		"--channel nothing --kernel SHO":                           "nothing",
		"--channel rv --kernel SHO":                                "rv",
		"--channel tel --kernel SHO " + path:                       "takes one csv file",
		"--channel-view same":                                      "--channel-view is of channels",
		"--channel tel --kernel Matern32 --last 5":                 "channel \"",
	} {
		code, stdout, stderr := gppl(append([]string{"fit", path, "-q"}, strings.Fields(flags)...)...)
		if code == exitOK || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s%s, want %s", flags, code, stdout, stderr, want)
		}
	}
}

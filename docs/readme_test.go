package docs_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Example_e1 is the README's first example, with the checks of errors that it leaves out.
func Example_e1() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	ctx := context.Background()
	truth := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 20}, Noise: 0.1}
	series, _, _, err := dataset.Synthetic{Model: truth, N: 1000, Seed: 1}.Draw()
	check(err)
	data, err := gppl.NewData(gppl.Scalars(series.X), series.Y)
	check(err)
	start := gppl.PaperModel(gppl.SE{})                                  // or gppl.Matern52{}, gppl.RQ{}, a kernel of your own
	omega, err := gppl.NewProjection(ctx, gppl.Sphere{}, data.X, 100, 1) // k = 100 random directions, seed 1
	check(err)
	inducing, err := data.X.KMeans(ctx, 100, 1) // m = 100 inducing inputs
	check(err)
	ml, err := gppl.NewExact(ctx, start, data)
	check(err)
	vfe, err := gppl.NewVFE(ctx, start, data, inducing, gppl.VFEOptions{})
	check(err)
	pl, err := gppl.NewProjected(ctx, start, data, omega)
	check(err)
	for _, loss := range []gppl.Loss{ml, vfe, pl} {
		result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{Stop: gppl.StopBelow(0.01)}) // the paper's rule
		check(err)
		nll, err := ml.ValueGrad(ctx, nil, result.Model.Values())
		check(err)
		fmt.Printf("%v: %.1f nats, lengthscale and noise variance %.2g\n", loss, nll, result.Model.Values()[1:])
	}
	// Output:
	// exact NLL (n=1000): 381.4 nats, lengthscale and noise variance [18 0.098]
	// VFE (n=1000, m=100): 381.4 nats, lengthscale and noise variance [18 0.098]
	// PL (n=1000, k=100, Sphere): 404.0 nats, lengthscale and noise variance [13 0.08]
}

// fiveLines is the README's second example, with the checks of errors that it leaves out.
func fiveLines(ctx context.Context) (*forecast.Forecast, *forecast.Decomposition, error) {
	series := dataset.CO2()
	a, err := forecast.FitValues(ctx, series.X, series.Y, nil, forecast.Options{}) // nil, or the known errors of y
	if err != nil {
		return nil, nil, err
	}
	ahead, err := a.Forecast(ctx, 104) // the next 104 steps: two years of weeks
	if err != nil {
		return nil, nil, err
	}
	parts, err := a.Decompose(ctx, 104) // trend, seasons and the rest, which add up to the median
	if err != nil {
		return nil, nil, err
	}
	fmt.Println(a.Kernel(), ahead.Median, ahead.Lower, ahead.Upper, parts.Names, parts.Columns)
	return ahead, parts, nil
}

// TestReadmeExamples compares the Go of the README with Example_e1 and fiveLines line for line, so that it compiles and runs.
func TestReadmeExamples(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	comment := regexp.MustCompile(`\s*//.*`)
	var have []string
	for _, line := range strings.Split(string(source), "\n") {
		have = append(have, strings.TrimSpace(comment.ReplaceAllString(line, "")))
	}
	code := blocks(string(readme), "go")
	for example, name := range []string{"Example_e1", "fiveLines"} {
		at := slices.IndexFunc(have, func(line string) bool { return strings.HasPrefix(line, "func "+name+"(") })
		for _, line := range strings.Split(strings.TrimSpace(code[example]), "\n") {
			want := strings.TrimSpace(comment.ReplaceAllString(line, ""))
			for at < len(have) && have[at] != want {
				at++
			}
			if at == len(have) {
				t.Fatalf("the README's line %q is not in %s, or not in this place", want, name)
			}
		}
	}
	if testing.Short() {
		t.Skip("the example trains a model")
	}
	ahead, parts, err := fiveLines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range ahead.Median {
		at, sum := len(parts.X)-len(ahead.X)+i, 0.0
		for _, column := range parts.Columns {
			sum += column[at]
		}
		if parts.X[at] != ahead.X[i] || math.Abs(sum-want) > 1e-9*want || math.Abs(want-375) > 10 {
			t.Fatalf("%d steps ahead, CO₂ is %v ppm, and its parts add up to %v", i+1, want, sum)
		}
	}
}

// TestReadmeFit: gppl fit begins and ends with the lines that the README shows, numbers to 1e-4 and half of their last digit, and
// forecasts.md shows the same beginning.
func TestReadmeFit(t *testing.T) {
	pages := documents(t)
	found := regexp.MustCompile("(?s)```sh\ngo run (\\./cmd/gppl fit [^\n]*)\n```\n.*?```\n(.*?)```").FindStringSubmatch(pages["README.md"])
	if found == nil {
		t.Fatal("the README has no gppl fit with what it prints")
	}
	begin, end, hasGap := strings.Cut(found[2], "…\n")
	if !hasGap {
		t.Fatal("the README does not say with … where lines are left out")
	}
	if !strings.Contains(pages["docs/forecasts.md"], "```\n"+begin+"```\n") {
		t.Errorf("forecasts.md does not show the README's\n%s", begin)
	}
	if testing.Short() {
		t.Skip("the command trains models")
	}
	report := filepath.Join(t.TempDir(), "report.html")
	args := strings.Fields(strings.Replace(found[1], "report.html", report, 1))
	command := exec.CommandContext(t.Context(), "go", append([]string{"run"}, args...)...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	printed := strings.Split(strings.TrimSpace(strings.Replace(string(out), report, "report.html", 1)), "\n")
	first, last := strings.Split(strings.TrimSpace(begin), "\n"), strings.Split(strings.TrimSpace(end), "\n")
	if len(printed) < len(first)+len(last) {
		t.Fatalf("the command prints only\n%s", out)
	}
	for i, line := range append(first, last...) {
		got := printed[i]
		if i >= len(first) {
			got = printed[len(printed)-len(last)+i-len(first)]
		}
		if !testkit.Alike(line, strings.TrimSpace(got), 1e-4) {
			t.Errorf("the README has the line %q, and the command prints %q", line, got)
		}
	}
}

// cells returns the cells of a line of a table; another line is one cell.
func cells(line string) (out []string) {
	row := strings.TrimSpace(line)
	for _, c := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|") {
		out = append(out, strings.TrimSpace(c))
	}
	return out
}

// TestReadmeSpeeds: the times and ratios of the README are those that measure/performance wrote into performance.md.
func TestReadmeSpeeds(t *testing.T) {
	pages := documents(t)
	_, table, found := strings.Cut(pages["docs/performance.md"], "measure/performance: against n -->")
	if !found {
		t.Fatal("performance.md has no block about n")
	}
	table, _, _ = strings.Cut(table, "<!-- end -->")
	var head []string
	measured := map[string][]string{} // a row by its n
	for line := range strings.Lines(table) {
		switch row := cells(line); {
		case row[0] == "n":
			head = row
		case len(row) > 1:
			measured[row[0]] = row
		}
	}
	var ratios []string // ratios at n = 4000
	readme := strings.Join(strings.Fields(pages["README.md"]), " ")
	for _, row := range []struct{ name, column string }{
		{"exact, Matérn 3/2", "Exact NLL, Matérn 3/2"}, {"exact, SE", "Exact NLL, SE"}, {"PL, SE", "PL, SE"},
	} {
		c := slices.Index(head, row.column)
		if c < 0 {
			t.Fatalf("performance.md has no column %q among %q", row.column, head)
		}
		want := "| " + row.name + " |"
		for _, n := range []string{"1000", "4000", "100000"} {
			if len(measured[n]) <= c+1 {
				t.Fatalf("performance.md has no row of n = %s", n)
			}
			took, _, _ := strings.Cut(measured[n][c], ",") // the engine follows
			want += " " + took + " |"
		}
		if !strings.Contains(readme, want) {
			t.Errorf("the README should have the row\n%s", want)
		}
		ratios = append(ratios, strings.TrimSuffix(measured["4000"][c+1], " ×"))
	}
	if want := fmt.Sprintf("that is %s, %s and %s times faster than dense algebra", ratios[0], ratios[1], ratios[2]); !strings.Contains(readme, want) {
		t.Errorf("the README should say %q", want)
	}
}

// TestReadmePeers: the README's table of other libraries has the versions, times and ratios that scripts/peers.py wrote into
// performance.md.
func TestReadmePeers(t *testing.T) {
	pages := documents(t)
	_, table, found := strings.Cut(pages["docs/performance.md"], "scripts/peers.py: peers -->")
	if !found {
		t.Fatal("performance.md has no block about peers")
	}
	table, _, _ = strings.Cut(table, "Growth with *T*/*l*")
	_, ours, _ := strings.Cut(pages["README.md"], "Beside other libraries")
	ours, _, _ = strings.Cut(ours, "`python3 scripts/peers.py`")
	n := regexp.MustCompile(`\*n\* = (\d+)`).FindStringSubmatch(ours)
	if n == nil {
		t.Fatal("the README does not say at which n")
	}
	measured := map[string]map[string]string{} // a library's time or ratio, by kernel
	var head []string
	for line := range strings.Lines(table) {
		row := cells(line)
		switch {
		case len(row) < 5:
		case row[0] == "kernel":
			head = row
		case row[1] == n[1]:
			for i := 3; i < len(row); i++ { // behind kernel, n and T/l
				value, _, _ := strings.Cut(row[i], ",") // the engine follows
				if measured[head[i]] == nil {
					measured[head[i]] = map[string]string{}
				}
				measured[head[i]][row[0]] = value
			}
		}
	}
	version := regexp.MustCompile(` \d+(\.\d+)+`)
	var kernels []string
	seen := 0
	for line := range strings.Lines(ours) {
		row := cells(line)
		switch {
		case len(row) < 3 || strings.HasPrefix(row[0], "---"):
		case row[0] == "":
			kernels = row[1:]
		default:
			seen++
			name, _, _ := strings.Cut(row[0], " (")
			if v := version.FindString(name); v != "" {
				name = strings.Replace(name, v, "", 1)
				library, _, _ := strings.Cut(name, ",")
				if !strings.Contains(table, strings.ToLower(library)+v+",") {
					t.Errorf("performance.md was not measured with %s%s", library, v)
				}
			}
			for i, kernel := range kernels {
				if row[1+i] != measured[name][kernel] {
					t.Errorf("the README has %q for %s with %s, performance.md %q", row[1+i], name, kernel, measured[name][kernel])
				}
			}
		}
	}
	if seen != len(measured) {
		t.Errorf("the README's table has %d libraries, performance.md %d at n = %s", seen, len(measured), n[1])
	}
}

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
	"strconv"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// tenLines is the README's example, with the checks of errors that it leaves out.
func tenLines(ctx context.Context) (*gppl.Result, []float64, error) {
	series, scaling := dataset.CO2().Standardize()
	data, err := gppl.NewData(gppl.Scalars(series.X), series.Y)
	if err != nil {
		return nil, nil, err
	}
	model := gppl.Model{Kernel: gppl.Add(gppl.SE{Variance: 1, Lengthscale: 30}, gppl.Periodic{Variance: 0.1, Lengthscale: 1, Period: 1}), Noise: 0.1}.Fix("Periodic.period")
	omega, err := gppl.NewProjection(gppl.Sphere{}, data.X, 300, 1) // 300 directions, seed 1
	if err != nil {
		return nil, nil, err
	}
	loss, err := gppl.NewProjected(model, data, omega) // or NewExact, NewVFE
	if err != nil {
		return nil, nil, err
	}
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{}) // L-BFGS to a vanishing gradient
	if err != nil {
		return nil, nil, err
	}
	posterior, err := gppl.NewPosterior(result.Model, data)
	if err != nil {
		return nil, nil, err
	}
	mean, variance := posterior.Noisy(gppl.Scalars([]float64{2002, 2003, 2004}))
	ppm := scaling.Values(nil, mean)
	fmt.Println(result, ppm, scaling.Variances(nil, variance))
	return result, ppm, nil
}

// TestReadmeExample: the README's Go is that of tenLines, line for line, so that it
// compiles; and it runs.
func TestReadmeExample(t *testing.T) {
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
	code := blocks(string(readme), "go")[0]
	at := 0
	for _, line := range strings.Split(strings.TrimSpace(code), "\n") {
		want := strings.TrimSpace(comment.ReplaceAllString(line, ""))
		for at < len(have) && have[at] != want {
			at++
		}
		if at == len(have) {
			t.Fatalf("the README's line %q is not in tenLines, or not in this place", want)
		}
	}
	if testing.Short() {
		t.Skip("the example trains a model")
	}
	result, ppm, err := tenLines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != gppl.Converged {
		t.Errorf("%v", result)
	}
	for _, v := range ppm {
		if math.Abs(v-375) > 10 {
			t.Errorf("CO₂ of 2002 to 2004 is predicted as %v ppm", ppm)
		}
	}
}

// TestReadmeFit: the lines below the README's gppl fit are those that it prints, numbers to 1e-4 and half of their last digit.
func TestReadmeFit(t *testing.T) {
	if testing.Short() {
		t.Skip("the command trains models")
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```sh\ngo run (\\./cmd/gppl fit [^\n]*)\n```\n.*?```\n(.*?)```").FindStringSubmatch(string(readme))
	if found == nil {
		t.Fatal("the README has no gppl fit with what it prints")
	}
	args := strings.Fields(strings.Replace(found[1], "report.html", filepath.Join(t.TempDir(), "report.html"), 1))
	command := exec.CommandContext(t.Context(), "go", append([]string{"run"}, args...)...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(found[2]), "\n") {
		if line != "…" && !slices.ContainsFunc(strings.Split(string(out), "\n"), func(printed string) bool { return sameLine(line, strings.TrimSpace(printed)) }) {
			t.Errorf("the README has the line %q, and the command prints\n%s", line, out)
		}
	}
}

// sameLine reports whether two lines differ in the last digits of their numbers at most.
func sameLine(a, b string) bool {
	number := regexp.MustCompile(`\d+\.\d+`)
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	others := number.FindAllString(b, -1)
	for i, text := range number.FindAllString(a, -1) {
		v, _ := strconv.ParseFloat(text, 64)
		w, _ := strconv.ParseFloat(others[i], 64)
		digit := math.Pow10(-len(text[strings.Index(text, ".")+1:]))
		if math.Abs(v-w) > 1e-4*v+0.51*digit {
			return false
		}
	}
	return true
}

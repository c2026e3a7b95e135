package docs_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/theory"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// shown prints what a cell shows as a table, a row a line.
const shown = `
func shownTable(t *viz.Table) (bool, error) {
	for _, row := range t.Rows {
		line, err := json.Marshal(row)
		if err != nil {
			return false, err
		}
		os.Stdout.Write(append(append([]byte("row "), line...), '\n'))
	}
	return true, nil
}
`

// rows executes cells of a notebook as Go, without Jupyter, in a folder with the stored results, after replacing texts in them.
// It returns the rows of the tables that they show.
func rows(t *testing.T, name string, ids []string, replaced map[string]string) (all [][]any) {
	t.Helper()
	cells, at := notebook(t, filepath.Join(root, "notebooks", name+".ipynb"))
	for from, to := range replaced {
		found := 0
		for i := range cells {
			found += strings.Count(cells[i], from)
			cells[i] = strings.ReplaceAll(cells[i], from, to)
		}
		if found != 1 {
			t.Fatalf("%s has %q %d times, want once", name, from, found)
		}
	}
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "viz.ShowTable(", "shownTable(")
	}
	main := "import (\n\t\"encoding/json\"\n)\n" + shown + "\nfunc main() {\n"
	for _, id := range ids {
		i, ok := at[id]
		if !ok {
			t.Fatalf("%s has no cell %q", name, id)
		}
		main += fmt.Sprintf("\tcell%d()\n", i)
	}
	command := exec.Command(build(t, map[string]string{name: program("main", append(cells, main+"}\n"))}))
	command.Dir = t.TempDir()
	results, err := filepath.Abs(filepath.Join(root, "notebooks", "results"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(command.Dir, "results"), os.DirFS(results)); err != nil {
		t.Fatal(err)
	}
	command.Env = append(os.Environ(), "GPPL_SCALE=full")
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, problems.String())
	}
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "row "); ok {
			var row []any
			if err := json.Unmarshal([]byte(text), &row); err != nil {
				t.Fatal(err)
			}
			all = append(all, row)
		}
	}
	return all
}

// A lesson is a cell in which readers change something.
type lesson struct {
	notebook string
	cells    []string          // ids of the cells to execute
	change   map[string]string // texts in the cells, and what replaces them
	want     func(*testing.T) [][]any
	always   bool // at usual size, too
}

// TestLessons changes one constant of a cell, and wants the numbers that the library gives with that setting.
func TestLessons(t *testing.T) {
	for _, l := range lessons {
		if !l.always && testkit.Quick() {
			continue
		}
		t.Run(l.notebook, func(t *testing.T) {
			want := l.want(t) // which skips the test if it needs a recording that is not here
			got := rows(t, l.notebook, l.cells, l.change)
			for _, w := range want {
				if !slices.ContainsFunc(got, func(g []any) bool { return sameRow(g, w) }) {
					t.Errorf("with %v no row is %v; there are\n%v", l.change, w, got)
				}
			}
			if len(want) == 0 {
				t.Error("nothing is compared")
			}
		})
	}
}

// anything in a row that is wanted stands for any cell, such as a time.
type anything struct{}

// sameRow compares the texts and the numbers of a row that a notebook shows with those that are wanted.
func sameRow(got, want []any) bool {
	if len(got) != len(want) {
		return false
	}
	for i, w := range want {
		switch w := w.(type) {
		case anything:
		case float64:
			g, ok := got[i].(float64)
			if !ok || math.Abs(g-w) > 1e-6*max(1, math.Abs(w)) {
				return false
			}
		default:
			if got[i] != w {
				return false
			}
		}
	}
	return true
}

var lessons = []lesson{
	{"05-E1", []string{"one"}, map[string]string{"const k, m = 100, 100": "const k, m = 60, 100"},
		func(t *testing.T) [][]any { return e1(t, gppl.SE{}, gppl.Sphere{}, 60) }, true},
	{"05-E1", []string{"survey"}, map[string]string{"const draws = 20": "const draws = 1"}, func(t *testing.T) [][]any { return storedE1(t) }, false},
	{"05-E1", []string{"one"}, nil, func(t *testing.T) [][]any { return storedE1(t) }, false},
	{"05-E1", []string{"one"}, map[string]string{"gppl.Kernel = gppl.SE{} ": "gppl.Kernel = gppl.Matern52{} "},
		func(t *testing.T) [][]any { return e1(t, gppl.Matern52{}, gppl.Sphere{}, 100) }, false},
	{"05-E1", []string{"one"}, map[string]string{"gppl.Design = gppl.Sphere{}": "gppl.Design = gppl.Spectral{}"},
		func(t *testing.T) [][]any { return e1(t, gppl.SE{}, gppl.Spectral{}, 100) }, false},
	{"06-E2", []string{"one"}, map[string]string{"n                  = 1000 ": "n                  = 500 "},
		func(t *testing.T) [][]any { return e2(t, 500, gppl.Settings{MaxIterations: 250}) }, false},
	{"06-E2", []string{"one"}, map[string]string{"gppl.PaperModel(kernel), optimiser": "gppl.PaperModel(kernel), paperAdam"},
		func(t *testing.T) [][]any {
			return e2(t, 1000, gppl.Settings{Method: gppl.AdamRate(0.01), MaxIterations: 2001, MaxEvaluations: 2001, Stop: gppl.StopBelow(1e-3), GradientTolerance: -1})
		}, false},
	{"07-E3-sunspots", []string{"one"}, map[string]string{"k, m = 100, 100": "k, m = 60, 100"}, func(t *testing.T) [][]any { return sunspots(t, 60) }, false},
	{"07-E3-sunspots", []string{"omega"}, nil, func(t *testing.T) [][]any { return authorsOmega(t) }, false},
	{"08-E3-EEG", []string{"one"}, map[string]string{"n    = 2000": "n    = 1000"}, func(t *testing.T) [][]any { return eeg(t, 1000) }, false},
	{"03-theorem", []string{"code-6"}, map[string]string{"n, k  = 150, 30": "n, k  = 150, 50"}, func(t *testing.T) [][]any { return theorem(t, 50) }, false},
	{"04-spectrum", []string{"one"}, map[string]string{"n, k  = 500, 25 ": "n, k  = 500, 40 "}, func(t *testing.T) [][]any { return spectrum(t, 40) }, false},
	{"17-whittle", []string{"train"}, map[string]string{"n     = 1024 ": "n     = 301 "}, func(t *testing.T) [][]any { return whittle(t, 301) }, true},
}

var names = []string{"ML", "VFE", "PL"}

// syntheticData returns count of the points of a draw of SE.
func syntheticData(t *testing.T, lengthscale, noise float64, of, count int, seed uint64) gppl.Data {
	truth := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: lengthscale}, Noise: noise}
	all, _, _, err := dataset.Synthetic{Model: truth, N: of, Seed: seed}.Draw()
	if err != nil {
		t.Fatal(err)
	}
	train := rand.New(rand.NewPCG(seed, 5)).Perm(of)[:count]
	slices.Sort(train)
	s := all.Select(train)
	return testkit.Must(gppl.NewData(gppl.Scalars(s.X), s.Y))(t)
}

// learnt trains a loss, and returns its columns in the notebooks: the exact NLL, the noise variance, evaluations.
func learnt(t *testing.T, loss gppl.Loss, exact *gppl.Exact, s gppl.Settings) (nll, noise, evaluations float64) {
	s.NoStandardErrors = true
	r := testkit.Must(gppl.Fit(context.Background(), loss, nil, s))(t)
	nll = testkit.Must(exact.ValueGrad(context.Background(), nil, r.Model.Values()))(t)
	return nll, r.Model.Noise, float64(r.Evaluations)
}

// e1 is the paper's E1 on its first draw.
func e1(t *testing.T, kernel gppl.Kernel, design gppl.Design, k int) (want [][]any) {
	ctx := context.Background()
	d := syntheticData(t, 20, 0.1, 2000, 1000, 1)
	model := gppl.PaperModel(kernel)
	exact := testkit.Must(gppl.NewExact(ctx, model, d))(t)
	z := testkit.Must(d.X.KMeans(ctx, 100, 1))(t)
	omega := testkit.Must(gppl.NewProjection(ctx, design, d.X, k, 1))(t)
	losses := []gppl.Loss{exact, testkit.Must(gppl.NewVFE(ctx, model, d, z, gppl.VFEOptions{}))(t), testkit.Must(gppl.NewProjected(ctx, model, d, omega))(t)}
	for i, s := range []gppl.Settings{ // in the order of the notebook: a loss remembers what saves time, and its last digits follow
		{Method: gppl.BFGS, MaxIterations: 50, GradientTolerance: -1, Stop: gppl.StopBelow(1e-2)},
		{Method: gppl.AdamRate(0.1), MaxIterations: 2000, MaxEvaluations: 2000, GradientTolerance: -1, Stop: gppl.StopBelow(1e-2)},
	} {
		for j, loss := range losses {
			nll, noise, evaluations := learnt(t, loss, exact, s)
			want = append(want, []any{[]string{"BFGS", "Adam"}[i], names[j], anything{}, nll, anything{}, anything{}, noise, evaluations, anything{}, anything{}})
		}
	}
	return want
}

// storedE1 returns the stored results of the first draw of E1 with the settings of the text.
func storedE1(t *testing.T) (want [][]any) {
	store := testkit.Must(experiment.OpenStore(filepath.Join(root, "notebooks", "results", "e1.jsonl")))(t)
	for _, o := range store.Outcomes() {
		if x := o.Trial; x.Protocol == experiment.Paper && x.Source.Seed == 1 && x.Authors == (experiment.Authors{}) {
			noise := o.Theta[len(o.Theta)-1]
			want = append(want, []any{x.Optimiser.Method, x.Loss, anything{}, o.NLL, anything{}, anything{}, noise, anything{}, anything{}, anything{}}) // another machine may take a step more
		}
	}
	return want
}

// e2 is the paper's E2 on its first draw with the noise variance of the text and k = m = 100.
func e2(t *testing.T, n int, s gppl.Settings) (want [][]any) {
	ctx := context.Background()
	d := syntheticData(t, 5, 0.1, 4000, n, 1)
	model := gppl.PaperModel(gppl.SE{})
	exact := testkit.Must(gppl.NewExact(ctx, model, d))(t)
	z := testkit.Must(d.X.KMeans(ctx, 100, 1))(t)
	omega := testkit.Must(gppl.NewProjection(ctx, gppl.Sphere{}, d.X, 100, 1))(t)
	for i, loss := range []gppl.Loss{exact, testkit.Must(gppl.NewVFE(ctx, model, d, z, gppl.VFEOptions{}))(t), testkit.Must(gppl.NewProjected(ctx, model, d, omega))(t)} {
		nll, noise, evaluations := learnt(t, loss, exact, s)
		order := any(100.0)
		if i == 0 {
			order = nil
		}
		want = append(want, []any{float64(n), names[i], order, nll, anything{}, noise, evaluations, anything{}})
	}
	return want
}

// sunspots is the paper's E3 with SE.
func sunspots(t *testing.T, k int) (want [][]any) {
	ctx := context.Background()
	s, err := dataset.Sunspots(ctx, dataset.Options{Offline: true})
	if err != nil {
		t.Skip(err)
	}
	z, _ := s.Standardize()
	d := testkit.Must(gppl.NewData(gppl.Scalars(z.X), z.Y))(t)
	model := gppl.PaperModel(gppl.SE{})
	exact := testkit.Must(gppl.NewExact(ctx, model, d))(t)
	inducing := testkit.Must(d.X.KMeans(ctx, 100, 1))(t)
	omega := testkit.Must(gppl.NewProjection(ctx, gppl.Sphere{}, d.X, k, 1))(t)
	for i, loss := range []gppl.Loss{exact, testkit.Must(gppl.NewVFE(ctx, model, d, inducing, gppl.VFEOptions{}))(t), testkit.Must(gppl.NewProjected(ctx, model, d, omega))(t)} {
		nll, noise, evaluations := learnt(t, loss, exact, gppl.Settings{Method: gppl.AdamRate(0.25), MaxIterations: 2001, MaxEvaluations: 2001, Stop: gppl.StopBelow(1e-3), GradientTolerance: -1})
		want = append(want, []any{names[i], anything{}, nll, noise, evaluations, anything{}, anything{}})
	}
	return want
}

// authorsOmega is where PL starts in the authors' code, to the digits that it prints.
func authorsOmega(t *testing.T) [][]any {
	if _, err := dataset.Sunspots(context.Background(), dataset.Options{Offline: true}); err != nil {
		t.Skip(err)
	}
	theirs := testkit.Must(experiment.LoadPublished())(t).Seed55.Of["SE"]
	store := testkit.Must(experiment.OpenStore(filepath.Join(root, "notebooks", "results", "sunspots.jsonl")))(t)
	ours := experiment.Where(store.Outcomes(), experiment.NotebookPL("SE"))[0]
	if math.Abs(ours.Start-theirs.Start) > 1e-4 {
		t.Errorf("PL starts at %v, theirs at %v", ours.Start, theirs.Start)
	}
	return [][]any{{"here", ours.Start, float64(theirs.Stop), anything{}}, {"their code, seed 55, run by itself", theirs.Start, float64(theirs.Stop), theirs.NLL}}
}

// eeg is the paper's E3 with Laplace on n points, by experiment's own sample of the recording.
func eeg(t *testing.T, n int) (want [][]any) {
	ctx := context.Background()
	s, err := experiment.Source{Name: "eeg", N: n, Seed: 1}.Load()
	if err != nil {
		t.Skip(err)
	}
	model := gppl.PaperModel(gppl.Laplace{})
	exact := testkit.Must(gppl.NewExact(ctx, model, s.Train))(t)
	inducing := testkit.Must(s.Train.X.KMeans(ctx, 100, 1))(t)
	omega := testkit.Must(gppl.NewProjection(ctx, gppl.Sphere{}, s.Train.X, 100, 1))(t)
	for i, loss := range []gppl.Loss{exact, testkit.Must(gppl.NewVFE(ctx, model, s.Train, inducing, gppl.VFEOptions{}))(t), testkit.Must(gppl.NewProjected(ctx, model, s.Train, omega))(t)} {
		r := testkit.Must(gppl.Fit(ctx, loss, nil, gppl.Settings{MaxIterations: 40, NoStandardErrors: true}))(t)
		mean, _ := testkit.Must2(testkit.Must(gppl.NewPosterior(ctx, r.Model, s.Train))(t).Latent(ctx, gppl.Scalars(s.X)))(t)
		off, all := 0.0, 0.0
		for j, y := range s.Y {
			off += (y - mean[j]) * (y - mean[j])
			all += y * y
		}
		want = append(want, []any{names[i], off / all, testkit.Must(exact.ValueGrad(ctx, nil, r.Model.Values()))(t), anything{}, anything{}, anything{}})
	}
	return want
}

// theorem has the information and the two terms of its loss by package fisher, which uses other formulas.
func theorem(t *testing.T, k int) (want [][]any) {
	ctx, x := context.Background(), theory.Times(150, 75, 1)
	info := testkit.Must(fisher.New(ctx, gppl.Model{Kernel: gppl.SE{Variance: 5, Lengthscale: 10}, Noise: 0.1}, x))(t)
	p := testkit.Must(gppl.NewProjection(ctx, gppl.Sphere{}, x, k, 1))(t)
	seen, loss := testkit.Must(info.Projected(ctx, p))(t), testkit.Must(info.Loss(ctx, p))(t)
	for i, param := range info.Params() {
		all, first, second := info.Data().At(i, i), loss.Quadratic.At(i, i), loss.Cross.At(i, i)
		want = append(want, []any{param.Name, all, seen.At(i, i), first, second, first + second, all - seen.At(i, i), (first + second) / all})
	}
	return want
}

// whittle is what the Whittle and the exact likelihood learn from a draw of SE on a step of 1.
func whittle(t *testing.T, n int) (want [][]any) {
	ctx := context.Background()
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	truth := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}
	d := gppl.Data{X: gppl.Scalars(x), Y: testkit.Must(truth.Sample(ctx, gppl.Scalars(x), 1))(t).Y}
	start := truth.WithParams([]float64{2, 10, 0.2})
	a := testkit.Must(gppl.Fit(ctx, testkit.Must(gppl.NewWhittle(ctx, start, d, gppl.WhittleOptions{}))(t), nil, gppl.Settings{}))(t)
	b := testkit.Must(gppl.Fit(ctx, testkit.Must(gppl.NewExact(ctx, start, d))(t), nil, gppl.Settings{}))(t)
	for i, p := range a.Params {
		want = append(want, []any{p.Name, truth.Values()[i], p.Value, p.StdErrLog, b.Params[i].Value, b.Params[i].StdErrLog})
	}
	return want
}

// spectrum returns the remaining trace as package fisher computes it, with ε as the noise variance of a model.
func spectrum(t *testing.T, k int) (want [][]any) {
	ctx, x, kernel := context.Background(), theory.Times(500, 250, 1), gppl.SE{Variance: 5, Lengthscale: 10}
	for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Localised{}} {
		p := testkit.Must(gppl.NewProjection(ctx, design, x, k, 1))(t)
		omega := testkit.Must(p.Omega(ctx))(t)
		cov := make([]float64, 500*500)
		if err := gppl.Covariance(ctx, cov, kernel, x, x); err != nil {
			t.Fatal(err)
		}
		var s mat.Dense
		s.Product(omega.T(), mat.NewDense(500, 500, cov), omega)
		info := testkit.Must(fisher.New(ctx, gppl.Model{Kernel: kernel, Noise: 1e-3 * mat.Trace(&s) / float64(k)}, x))(t)
		_, latent := testkit.Must2(info.ConditionalTrace(ctx, p))(t)
		want = append(want, []any{design.String(), latent, latent / 2500, anything{}})
	}
	return want
}

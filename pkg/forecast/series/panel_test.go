package series_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestReadPanel wants each series of a long table as it is read from a file of its own, regressors and their future included.
func TestReadPanel(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, lines []string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stores := []string{"north", "../south", "=1+1\x1b"}
	long, ahead := []string{"day,store,y,p"}, []string{"day,store,p"}
	own, future := map[string][]string{}, map[string][]string{}
	for i := range 31 {
		for k, store := range stores {
			y := fmt.Sprintf("%d,%d", (i*i+k)%17+3, (i*7+k)%5)
			if i == 4*k+1 {
				y = fmt.Sprintf(",%d", k) // no y
			}
			long = append(long, fmt.Sprintf("2024-01-%02d,%s,%s", i+1, store, y))
			own[store] = append(own[store], fmt.Sprintf("2024-01-%02d,%s", i+1, y))
			if i < 3 {
				ahead = append(ahead, fmt.Sprintf("2024-02-%02d,%s,%d", i+1, store, i+k))
				future[store] = append(future[store], fmt.Sprintf("2024-02-%02d,%d", i+1, i+k))
			}
		}
	}
	long = append(long, "2024-01-01,few,1,2", "2024-01-01,none,,2")
	path := write("long.csv", long)
	o := series.ReadOptions{Y: "y", Regressors: []string{"p"}, By: []string{"store"}, Future: write("ahead.csv", ahead)}
	members, err := series.ReadPanel(t.Context(), path, o)
	if err != nil || len(members) != len(stores)+2 {
		t.Fatalf("%d members: %v", len(members), err)
	}
	for k, store := range stores {
		m := members[k]
		if m.Err != nil || m.Key[0] != store {
			t.Fatalf("%q: %v", m.Key, m.Err)
		}
		want, err := series.Read(t.Context(), write("own.csv", append([]string{"day,y,p"}, own[store]...)),
			series.ReadOptions{Regressors: []string{"p"}, Future: write("future.csv", append([]string{"day,p"}, future[store]...))})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, m.Series, cmpopts.IgnoreUnexported(series.Series{}, series.Axis{}),
			cmpopts.IgnoreFields(series.Source{}, "File", "SHA256", "Columns", "Part")); diff != "" {
			t.Errorf("%q: %s", store, diff)
		}
		if part := m.Series.Source.Part; part != store {
			t.Errorf("%q is part %q", store, part)
		}
	}
	for i, want := range []string{`store "few": 1 observation is too few`, `store "none": 0 observations are too few`} {
		if m := members[len(stores)+i]; m.Err == nil || !strings.Contains(m.Err.Error(), want) || m.Series != nil {
			t.Errorf("%q: %v", m.Key, m.Err)
		}
	}
	// Read refuses the table, unless it is told to pool.
	_, err = series.Read(t.Context(), path, series.ReadOptions{Y: "y"})
	if err == nil || !strings.Contains(err.Error(), `tells their rows apart ("north", "../south", "=1+1\x1b", …). ReadOptions.By: "store" makes a series of each`) {
		t.Error(err)
	}
	if s, err := series.Read(t.Context(), path, series.ReadOptions{Y: "y", Pooled: true}); err != nil || len(s.X) != 3*30+1 {
		t.Errorf("%v: %v", s, err)
	}
	o.By = []string{"y"}
	if _, err := series.ReadPanel(t.Context(), path, o); err == nil ||
		!strings.Contains(err.Error(), `column 3 ("y") is y and cannot tell series apart too`) {
		t.Error(err)
	}
}

// TestTwoKeysAtOnce: a file of several stations and elements, as GHCN's for a year, is refused with all columns that
// tell its series apart, though no column of numbers is named.
func TestTwoKeysAtOnce(t *testing.T) {
	var rows []string
	for day := 1; day <= 9; day++ {
		for _, key := range []string{"US1,2019010%d,TMAX,5%[1]d", "US1,2019010%d,TMIN,1%[1]d", "US2,2019010%d,TMAX,6%[1]d",
			"US2,2019010%d,TMIN,2%[1]d"} {
			rows = append(rows, fmt.Sprintf(key, day)+",,W")
		}
	}
	path := filepath.Join(t.TempDir(), "2019.csv")
	if err := os.WriteFile(path, []byte(strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `the columns 1 and 3 tell their rows apart ("US1", "US2", …). ReadOptions.By: "1" ReadOptions.By: "3" makes a series of each`
	if _, err := series.Read(t.Context(), path, series.ReadOptions{X: "2", Y: "4"}); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if members, err := series.ReadPanel(t.Context(), path, series.ReadOptions{By: []string{"1", "3"}}); err != nil || len(members) != 4 ||
		members[3].Series.Y[8] != 29 {
		t.Errorf("%v: %v", members, err)
	}
}

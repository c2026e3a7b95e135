package auto_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// filled sets every exported field at v that is zero, in structs and slices all the way down, to something that is not: a field
// that a file leaves out then differs when it is read. It leaves models, kernels, transforms and matrices as they are.
func filled(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	switch v.Interface().(type) {
	case gppl.Model, transform.Transform, *mat.Dense:
		if v.IsZero() {
			t.Fatalf("%s must be given", name)
		}
		return
	case time.Duration:
		v.SetInt(int64(1500 * time.Millisecond))
		return
	}
	if v.Type() == reflect.TypeFor[gppl.Prior]() && v.IsNil() {
		v.Set(reflect.ValueOf(prior.Gamma{Shape: 2, Rate: 3}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			t.Fatalf("%s must be given", name)
		}
		filled(t, v.Elem(), name)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				filled(t, v.Field(i), name+"."+f.Name)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			filled(t, v.Index(i), name)
		}
	default:
		if !v.IsZero() {
			return
		}
		switch {
		case v.CanInt():
			v.SetInt(1)
		case v.CanUint():
			v.SetUint(7)
		case v.CanFloat():
			v.SetFloat(0.625)
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.Kind() == reflect.String:
			v.SetString("some " + name)
		default:
			t.Fatalf("%s is a %v, which this test does not know how to fill", name, v.Type())
		}
	}
}

// sameResult compares all fields of results, but for the gradient that a StartResult keeps to itself.
var sameResult = cmp.Options{
	cmp.Comparer(func(a, b gppl.Model) bool { return a.String() == b.String() && cmp.Equal(a.Params(), b.Params()) }),
	cmp.Comparer(func(a, b *mat.Dense) bool { return a == b || a != nil && b != nil && mat.Equal(a, b) }),
	cmp.Comparer(func(a, b *gppl.Projection) bool {
		return a == b || a != nil && b != nil && sameOmega(a, b) &&
			a.Orthonormal == b.Orthonormal && a.Design == b.Design && a.Seed == b.Seed
	}),
	cmpopts.IgnoreUnexported(gppl.StartResult{}),
	cmpopts.EquateNaNs(),
}

func TestAutoResultFile(t *testing.T) {
	d := drawn(t, 300, 20)
	r := testkit.Must(auto.Fit(context.Background(), gppl.PaperModel(gppl.SE{}), d, auto.Settings{Projected: true}))(t)
	if r.Projection == nil || len(r.Steps) == 0 {
		t.Fatalf("no projection or no steps: %v", r)
	}
	r.Steps[0].StdErrLog = []float64{math.Inf(1), 1, math.Inf(-1)}
	r.Steps[0].Gain = math.NaN()
	r.Starts = append(r.Starts, gppl.StartResult{Value: math.Inf(1)})
	filled(t, reflect.ValueOf(r), "AutoResult")

	path := filepath.Join(t.TempDir(), "auto.json")
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	got := testkit.Must(auto.LoadResult(path))(t)
	if diff := cmp.Diff(r, got, sameResult); diff != "" {
		t.Errorf("saved (−) and loaded (+) differ:\n%s", diff)
	}
	plain := testkit.Must(store.Load(path))(t)
	if diff := cmp.Diff(r.Result, plain, sameResult); diff != "" {
		t.Errorf("saved (−) and loaded as a Result (+) differ:\n%s", diff)
	}
	// The loaded result continues as the saved one does.
	n, k := got.Projection.Dims()
	a, b := testkit.Must(r.Projection.Extend(t.Context(), d.X, k+9))(t), testkit.Must(got.Projection.Extend(t.Context(), d.X, k+9))(t)
	if _, more := b.Dims(); n != d.Len() || more <= k || !mat.Equal(testkit.Must(a.Omega(t.Context()))(t), testkit.Must(b.Omega(t.Context()))(t)) {
		t.Errorf("extended from %d to %d columns, or to others than before", k, more)
	}

	// By value, as by pointer.
	value, pointer := testkit.Must(json.Marshal(*r))(t), testkit.Must(json.Marshal(r))(t)
	if string(value) != string(pointer) {
		t.Errorf("by value:\n%.200s\nby pointer:\n%.200s", value, pointer)
	}
	if b, err := json.Marshal(auto.Result{}); err == nil {
		t.Errorf("no result is written as %s", b)
	}
	whole := string(pointer)
	for name, text := range map[string]string{
		"a Result":        string(testkit.Must(json.Marshal(store.Result{Result: r.Result}))(t)),
		"truncated":       whole[:len(whole)/2],
		"unknown field":   strings.Replace(whole, `"Why"`, `"Whyever"`, 1),
		"more directions": strings.Replace(whole, `"Observations":300`, `"Observations":301`, 1),
		"other length":    strings.Replace(whole, `"Omega":"`, `"Omega":"AAAAAAAAAAAA`, 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := auto.LoadResult(path); err == nil || text == whole {
			t.Errorf("%s: no error, got %v", name, got)
		}
	}
}

func TestResultFileIsWhole(t *testing.T) {
	d := drawn(t, 60, 5)
	r := testkit.Must(gppl.Fit(context.Background(), testkit.Must(gppl.NewExact(t.Context(), gppl.PaperModel(gppl.SE{}), d))(t), nil,
		gppl.Settings{Starts: 2, MaxEvaluations: 20}))(t)
	filled(t, reflect.ValueOf(r), "Result")
	var got store.Result
	if err := json.Unmarshal(testkit.Must(json.Marshal(store.Result{Result: r}))(t), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got.Result, sameResult); diff != "" {
		t.Errorf("written (−) and read (+) differ:\n%s", diff)
	}
}

func sameOmega(a, b *gppl.Projection) bool {
	one, err := a.Omega(context.Background())
	two, wrong := b.Omega(context.Background())
	return err == nil && wrong == nil && mat.Equal(one, two)
}

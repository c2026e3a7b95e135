package store_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// TestChannelsStored: a model of channels comes back as it was, with what is fixed.
func TestChannelsStored(t *testing.T) {
	m := gppl.Model{Kernel: gppl.SHO{Variance: 1, Period: 5, Quality: 2}, Mean: gppl.Regressor{Name: "orbit"}, Channels: []gppl.Channel{
		{Name: "index", Value: 1, Noise: 0.1}, {Name: "velocity", Value: -0.4, Slope: 2, Noise: 0.2}}}.Fix("value of index", "slope of index")
	b, err := json.Marshal(store.Model{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	var back store.Model
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if got, want := back.Params(), m.Params(); !reflect.DeepEqual(got, want) {
		t.Errorf("parameters %+v, want %+v", got, want)
	}
	if back.String() != m.String() {
		t.Errorf("%v, want %v", back, m)
	}
}

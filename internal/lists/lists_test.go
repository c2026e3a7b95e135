package lists

import (
	"slices"
	"strconv"
	"testing"
)

func TestOf(t *testing.T) {
	if got := Of(3, strconv.Itoa); !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("Of: %v", got)
	}
}

func TestMap(t *testing.T) {
	if got := Map([]int{3, 1}, strconv.Itoa); !slices.Equal(got, []string{"3", "1"}) {
		t.Errorf("Map: %v", got)
	}
	if got := Map([]int{}, strconv.Itoa); got != nil {
		t.Errorf("Map of none: %#v, want nil", got)
	}
}

func TestCount(t *testing.T) {
	if n := Count([]int{3, 1, 4, 1}, func(v int) bool { return v == 1 }); n != 2 {
		t.Errorf("Count: %d, want 2", n)
	}
}

func TestWhereAndPlaces(t *testing.T) {
	odd := func(v int) bool { return v%2 == 1 }
	if got := Where([]int{3, 4, 1}, odd); !slices.Equal(got, []int{3, 1}) {
		t.Errorf("Where: %v", got)
	}
	if got := Places([]int{3, 4, 1}, odd); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("Places: %v", got)
	}
	if some, at := Where([]int{4}, odd), Places([]int{4}, odd); some != nil || at != nil {
		t.Errorf("of none: %#v, %#v, want nil", some, at)
	}
}

package sums_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/testsums"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

func marshal(t testing.TB, s *sums.Sums) []byte {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSumsBits wants identical files from random splits in random orders, of 1 to 64
// shards that 1 to 4 goroutines fill, shards that went through files among them.
func TestSumsBits(t *testing.T) {
	t.Parallel()
	trials := testkit.Size(60, 300, 1000)
	rnd := rand.New(rand.NewPCG(5, 5))
	headers := []sums.Header{testsums.Header(t, testsums.Plain), testsums.Header(t, testsums.Weighted)}
	add := func(s *sums.Sums, x, y, w []float64) error {
		if s.Header().LargestWeight > 0 {
			return s.AddWeighted(x, y, w)
		}
		return s.Add(x, y)
	}
	for trial := range trials {
		n := 1 + rnd.IntN(3000)
		if trial%50 == 0 {
			n = 20000 // a chunk for several processors
		}
		x, y, w := testsums.Series(uint64(trial), n)
		h := headers[trial%2]
		whole := testkit.Must(sums.New(h))(t)
		if err := add(whole, x, y, w); err != nil {
			t.Fatal(err)
		}
		want := marshal(t, whole)

		rnd.Shuffle(n, func(i, j int) { x[i], x[j], y[i], y[j], w[i], w[j] = x[j], x[i], y[j], y[i], w[j], w[i] })
		shards := make([]*sums.Sums, 1+rnd.IntN(64))
		workers := 1 + rnd.IntN(4)
		var wait sync.WaitGroup
		for g := range workers {
			wait.Go(func() {
				for k := g; k < len(shards); k += workers {
					s, err := sums.New(h)
					from, to := n*k/len(shards), n*(k+1)/len(shards)
					middle := (from + to) / 2
					if err == nil {
						err = add(s, x[from:middle], y[from:middle], w[from:middle])
					}
					if err == nil {
						err = add(s, x[middle:to], y[middle:to], w[middle:to])
					}
					if err != nil {
						t.Error(err)
					}
					shards[k] = s
				}
			})
		}
		wait.Wait()
		rnd.Shuffle(len(shards), func(i, j int) { shards[i], shards[j] = shards[j], shards[i] })
		for len(shards) > 1 { // a random tree
			i := rnd.IntN(len(shards) - 1)
			into, from := shards[i], shards[len(shards)-1]
			if rnd.IntN(4) == 0 {
				read := new(sums.Sums)
				if err := read.UnmarshalBinary(marshal(t, from)); err != nil {
					t.Fatal(err)
				}
				from = read
			}
			if err := into.Merge(from); err != nil {
				t.Fatal(err)
			}
			shards = shards[:len(shards)-1]
		}
		if !bytes.Equal(marshal(t, shards[0]), want) {
			t.Fatalf("trial %d: %d observations: other bytes", trial, n)
		}
		if shards[0].Len() != n {
			t.Fatalf("%d observations, want %d", shards[0].Len(), n)
		}
	}
}

// TestSumsProcessors wants a chunk to have the same bytes on any number of processors.
func TestSumsProcessors(t *testing.T) {
	x, y, _ := testsums.Series(1, 50000)
	h := testsums.Header(t, testsums.Plain)
	var want []byte
	for _, procs := range []int{1, 2, 3, 8} {
		before := runtime.GOMAXPROCS(procs)
		s := testkit.Must(sums.New(h))(t)
		err := s.Add(x, y)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if got := marshal(t, s); want == nil {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("other bytes on %d processors", procs)
		}
	}
}

// TestSumsSubtract: subtracting a part leaves the sums of the rest.
func TestSumsSubtract(t *testing.T) {
	x, y, _ := testsums.Series(2, 5000)
	h := testsums.Header(t, testsums.Plain)
	all, part, rest := testkit.Must(sums.New(h))(t), testkit.Must(sums.New(h))(t), testkit.Must(sums.New(h))(t)
	for _, c := range []struct {
		s        *sums.Sums
		from, to int
	}{{all, 0, 5000}, {part, 1000, 1700}, {rest, 0, 1000}, {rest, 1700, 5000}} {
		if err := c.s.Add(x[c.from:c.to], y[c.from:c.to]); err != nil {
			t.Fatal(err)
		}
	}
	copied := all.Clone()
	if err := all.Subtract(part); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(marshal(t, all), marshal(t, rest)) {
		t.Error("all less a part is not the rest")
	}
	if err := all.Merge(part); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(marshal(t, all), marshal(t, copied)) {
		t.Error("the part put back is not all")
	}
	before := marshal(t, rest)
	for name, o := range map[string]*sums.Sums{"too many": all, "not among them": part} {
		if err := rest.Subtract(o); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			t.Log(err)
		}
	}
	if !bytes.Equal(marshal(t, rest), before) {
		t.Error("a refused subtraction changed the sums")
	}
}

// TestSumsBadObservations wants errors with index and value, and nothing added.
func TestSumsBadObservations(t *testing.T) {
	plain, weighted := testsums.New(t, testsums.Plain), testsums.New(t, testsums.Weighted)
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		s       *sums.Sums
		t, y, w float64
		want    string
	}{
		{plain, -0.001, 3, 0, "observation 2: t = -0.001 is not within [0, 100]"},
		{plain, 100.001, 3, 0, "observation 2: t = 100.001"},
		{plain, nan, 3, 0, "observation 2: t = NaN"},
		{plain, inf, 3, 0, "observation 2: t = +Inf"},
		{plain, 1, 11.5, 0, "observation 2: y = 11.5 is not within 8 of 3"},
		{plain, 1, -5.5, 0, "observation 2: y = -5.5"},
		{plain, 1, nan, 0, "observation 2: y = NaN"},
		{plain, 1, -inf, 0, "observation 2: y = -Inf"},
		{weighted, 1, 3, 0, "observation 2: the weight 0 is not within (0, 2]"},
		{weighted, 1, 3, -1, "the weight -1"},
		{weighted, 1, 3, 2.5, "the weight 2.5"},
		{weighted, 1, 3, nan, "the weight NaN"},
		{weighted, nan, 3, 1, "t = NaN"},
	} {
		before := marshal(t, c.s)
		x, y, w := []float64{1, 2, c.t, 4}, []float64{3, 3, c.y, 3}, []float64{1, 1, c.w, 1}
		var err error
		if c.s == plain {
			err = c.s.Add(x, y)
		} else {
			err = c.s.AddWeighted(x, y, w)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("t=%v y=%v w=%v: %v, want %q", c.t, c.y, c.w, err, c.want)
		}
		if !bytes.Equal(marshal(t, c.s), before) {
			t.Errorf("t=%v y=%v w=%v: something was added", c.t, c.y, c.w)
		}
	}
	if err := plain.AddWeighted([]float64{1}, []float64{3}, []float64{1}); err == nil {
		t.Error("weights are added to sums without")
	}
	if err := weighted.Add([]float64{1}, []float64{3}); err == nil {
		t.Error("observations without weights are added to sums with")
	}
}

// TestSumsBadShards makes shards that must not be merged: each an error that says what
// is wrong, and the sums stay as they were.
func TestSumsBadShards(t *testing.T) {
	h := testsums.Header(t, testsums.Plain)
	good := testkit.Must(sums.New(h))(t)
	x, y, w := testsums.Series(4, 500)
	if err := good.Add(x, y); err != nil {
		t.Fatal(err)
	}
	file := marshal(t, good)
	resealed := func(change func(b []byte) []byte) []byte { // checksums that fit
		b := change(bytes.Clone(file))
		table := crc64.MakeTable(crc64.ECMA)
		binary.LittleEndian.PutUint64(b[144:], crc64.Checksum(b[:144], table))
		binary.LittleEndian.PutUint64(b[len(b)-8:], crc64.Update(crc64.Checksum(b[:144], table), table, b[152:len(b)-8]))
		return b
	}
	flip := func(bit int) []byte {
		b := bytes.Clone(file)
		b[bit/8] ^= 1 << (bit % 8)
		return b
	}
	put := func(at int, v uint64, size int) func([]byte) []byte {
		return func(b []byte) []byte {
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], v)
			copy(b[at:at+size], word[:])
			return b
		}
	}
	other := func(change func(*sums.Header)) []byte {
		changed := h
		change(&changed)
		s := testkit.Must(sums.New(changed))(t)
		var err error
		if changed.LargestWeight > 0 {
			err = s.AddWeighted(x, y, w)
		} else {
			err = s.Add(x, y)
		}
		if err != nil {
			t.Fatal(err)
		}
		return marshal(t, s)
	}
	// The same observations but for one more, and so integers of as many bytes.
	otherHeader := other(func(*sums.Header) { x, y, w = append(x, 50), append(y, 3), append(w, 1) })[:152]
	x, y, w = x[:500], y[:500], w[:500]
	cases := []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "the file is empty"},
		{"a csv file", []byte("t,y\n1,2\n"), "no file of sums"},
		{"three bytes", file[:3], "cut short: 3 bytes"},
		{"nine bytes", file[:9], "cut short: 9 bytes"},
		{"half a header", file[:100], "cut short: 100 bytes of a header of 152"},
		{"half", file[:len(file)/2], fmt.Sprintf("cut short: %d bytes of %d", len(file)/2, len(file))},
		{"without its last byte", file[:len(file)-1], "cut short"},
		{"two files in one", append(bytes.Clone(file), file...), "bytes after its end"},
		{"a newline added", append(bytes.Clone(file), '\n'), "1 bytes after its end"},
		{"a bit of the magic", flip(3), "no file of sums"},
		{"a bit of the version", flip(8*8 + 3), "version 9"},
		{"a bit of the header", flip(8*20 + 5), "the header is damaged"},
		{"a bit of n", flip(8*90 + 1), "the header is damaged"},
		{"a bit of the grid", flip(8*len(file)/2 + 1), "the file is damaged"},
		{"the header of another file", append(bytes.Clone(otherHeader), file[152:]...), "the file is damaged"},
		{"a bit of the checksum", flip(8*len(file) - 3), "the file is damaged"},
		{"version 2", resealed(put(8, 2, 2)), "version 2 of the format, and this program reads version 1"},
		{"a mean basis", resealed(put(10, 3, 2)), "a mean basis of 3 columns"},
		{"a period of NaN", resealed(put(40, math.Float64bits(math.NaN()), 8)), "Period = NaN"},
		{"no range", resealed(put(24, math.Float64bits(-1), 8)), "Hi = -1"},
		{"a scale of 3", resealed(put(56, math.Float64bits(3), 8)), "Largest = 3: want a power of two"},
		{"a million frequencies more", resealed(put(12, 1<<30, 4)), "Highest = 1073741824"},
		{"another grid", resealed(put(76, 17, 4)), "17 under a window"},
		{"integers of 40 bytes", resealed(put(84, 40, 1)), "integers of 40"},
		{"wide integers", resealed(func(b []byte) []byte {
			at := 152 + 16*0 // E all in one byte more than it needs
			e, f := int(b[84]), int(b[85])
			count := int(binary.LittleEndian.Uint32(b[80:]))
			b[84]++
			wide := bytes.Clone(b[:at])
			for i := range count {
				wide = append(append(wide, b[at+i*e:at+(i+1)*e]...), 0)
			}
			return append(append(wide, b[at+count*e:at+count*(e+f)]...), make([]byte, 8)...)
		}), "bytes, where"},
		{"no observations", resealed(put(88, 0, 8)), "0 observations with other sums"},
		{"2^63 observations", resealed(put(88, 1<<63, 8)), "the file is wrong: 9223372036854775808 observations"},
		{"weights without weights", resealed(put(128, 5, 8)), "logarithms of weights, and no weights"},
		{"as many as can be counted", resealed(put(88, math.MaxInt64, 8)), "more than can be counted"},
		{"another range", other(func(h *sums.Header) { h.Hi += 1 }), "headers differ: Hi is 100 and 101"},
		{"another period", other(func(h *sums.Header) { h.Period += 1 }), "headers differ: Period is 216 and 217"},
		{"another origin", other(func(h *sums.Header) { h.Origin -= 1 }), "headers differ: Origin is"},
		{"another resolution", other(func(h *sums.Header) { h.Highest++ }), "headers differ: Highest is"},
		{"another centre", other(func(h *sums.Header) { h.Centre = 2.5 }), "headers differ: Centre is 3 and 2.5"},
		{"another scale", other(func(h *sums.Header) { h.Largest = 16 }), "headers differ: Largest is 8 and 16"},
		{"mixed weights", other(func(h *sums.Header) { h.LargestWeight = 2 }), "headers differ: LargestWeight is 0 and 2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			shard := testkit.Must(sums.New(h))(t)
			err := shard.UnmarshalBinary(c.file)
			if err == nil {
				err = good.Merge(shard)
			} else if shard.Len() != 0 || !bytes.Equal(marshal(t, shard), marshal(t, testkit.Must(sums.New(h))(t))) {
				t.Error("a file that was refused changed the sums")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if !bytes.Equal(marshal(t, good), file) {
				t.Fatal("something was merged")
			}
		})
	}
	t.Logf("%d kinds", len(cases))
}

// TestSumsEveryBit flips each bit of a file in turn: none goes unnoticed.
func TestSumsEveryBit(t *testing.T) {
	s := testsums.New(t, sums.Range{Hi: 1, Shortest: 0.3, Largest: 4})
	x, y := []float64{0.2, 0.9}, []float64{1, -3}
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	file := marshal(t, s)
	for bit := range 8 * len(file) {
		file[bit/8] ^= 1 << (bit % 8)
		if err := new(sums.Sums).UnmarshalBinary(file); err == nil {
			t.Fatalf("bit %d of byte %d is of no account", bit%8, bit/8)
		}
		file[bit/8] ^= 1 << (bit % 8)
	}
}

// TestSumsMoments compares what is known without a likelihood.
func TestSumsMoments(t *testing.T) {
	x, y, _ := testsums.Series(6, 4000)
	s := testsums.New(t, testsums.Plain)
	if lo, hi := s.Extent(); !math.IsNaN(lo) || !math.IsNaN(hi) || !math.IsNaN(s.Mean()) {
		t.Errorf("no observations from %v to %v, of mean %v", lo, hi, s.Mean())
	}
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	lo, hi := slices.Min(x), slices.Max(x)
	if a, b := s.Extent(); !(a <= lo && lo-a < 0.1 && b >= hi && b-hi < 0.1) {
		t.Errorf("extent %v … %v, want %v … %v", a, b, lo, hi)
	}
	var mean, squares float64
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		squares += (v - mean) * (v - mean) / float64(len(y))
	}
	if math.Abs(s.Mean()-mean) > 1e-13 || math.Abs(s.Variance()-squares) > 1e-12 {
		t.Errorf("mean %v and variance %v, want %v and %v", s.Mean(), s.Variance(), mean, squares)
	}
}

func TestNewPlan(t *testing.T) {
	for _, c := range []struct {
		change func(*sums.Range)
		want   string
	}{
		{func(r *sums.Range) { r.Hi = 0 }, "empty"},
		{func(r *sums.Range) { r.Hi = math.NaN() }, "Hi = NaN"},
		{func(r *sums.Range) { r.Lo = math.Inf(-1) }, "Lo = -Inf"},
		{func(r *sums.Range) { r.Largest = 0 }, "Largest = 0"},
		{func(r *sums.Range) { r.Largest = 1e300 }, "Largest"},
		{func(r *sums.Range) { r.Shortest = -1 }, "Shortest = -1"},
		{func(r *sums.Range) { r.Shortest = 1e-9 }, "the shortest that can be resolved is"},
		{func(r *sums.Range) { r.Longest = 0.1 }, "Longest = 0.1 is less"},
	} {
		r := testsums.Plain
		c.change(&r)
		if _, err := sums.NewPlan(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	for _, r := range []sums.Range{testsums.Plain, {Lo: -1e9, Hi: 1e9, Shortest: 1e8, Longest: 1.2e8, Largest: 1e-30},
		{Lo: 1, Hi: 1 + 1e-6, Largest: 3e30}} {
		p, err := sums.NewPlan(r)
		if err != nil {
			t.Errorf("%+v: %v", r, err)
			continue
		}
		shortest, longest := p.Header.Lengthscales()
		if want := r.Shortest; want > 0 && !(shortest <= want) || r.Longest > 0 && !(longest >= 0.999*r.Longest) {
			t.Errorf("%+v: lengthscales from %v to %v", r, shortest, longest)
		}
		t.Log(p)
	}
}

// TestSumsDates keeps in a file that inputs are dates, which are written as such, and refuses to merge sums if only some have
// dates.
func TestSumsDates(t *testing.T) {
	h := testsums.Header(t, sums.Range{Lo: 1577836800, Hi: 1577836800 + 864000, Largest: 8, Dates: true})
	s := testkit.Must(sums.New(h))(t)
	if err := s.Add([]float64{1577836800, 1577836800 + 86400}, []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	var read sums.Sums
	if err := read.UnmarshalBinary(marshal(t, s)); err != nil || !read.Header().Dates {
		t.Errorf("%+v, %v", read.Header(), err)
	}
	if err := s.Add([]float64{1577836800 - 1}, []float64{1}); err == nil ||
		!strings.Contains(err.Error(), "2019-12-31T23:59:59Z is not within [2020-01-01, 2020-01-11]") {
		t.Errorf("%v", err)
	}
	h.Dates = false
	if err := read.Merge(testkit.Must(sums.New(h))(t)); err == nil || !strings.Contains(err.Error(), "Dates is true and false") {
		t.Errorf("%v", err)
	}
	if numbers := h.Place(1577836800); numbers != "1.5778368e+09" {
		t.Error(numbers)
	}
}

package sums_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc64"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/testsums"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// FuzzSums reads files whose checksums are right: none makes it panic, and what it reads it writes again.
func FuzzSums(f *testing.F) {
	for _, r := range []sums.Range{{Hi: 1, Shortest: 0.3, Largest: 4}, {Hi: 1, Shortest: 0.3, Largest: 4, LargestWeight: 2}} {
		s := testsums.New(f, r)
		f.Add(marshal(f, s))
		if r.LargestWeight > 0 {
			if err := s.AddWeighted([]float64{0.2, 0.9}, []float64{1, -3}, []float64{2, 0.1}); err != nil {
				f.Fatal(err)
			}
		} else if err := s.Add([]float64{0.2, 0.9}, []float64{1, -3}); err != nil {
			f.Fatal(err)
		}
		f.Add(marshal(f, s))
	}
	table := crc64.MakeTable(crc64.ECMA)
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) < 160 {
			return
		}
		file = bytes.Clone(file)
		if binary.LittleEndian.Uint32(file[12:]) > 5000 { // frequencies: memory
			return
		}
		header := crc64.Checksum(file[:144], table)
		binary.LittleEndian.PutUint64(file[144:], header)
		binary.LittleEndian.PutUint64(file[len(file)-8:], crc64.Update(header, table, file[152:len(file)-8]))
		s := new(sums.Sums)
		if err := s.UnmarshalBinary(file); err != nil {
			return
		}
		if again := marshal(t, s); !bytes.Equal(again, file) {
			t.Errorf("%d bytes were read, %d others are written", len(file), len(again))
		}
		s.Mean()
		s.Extent()
		_ = s.Plan().String()
		if err := s.Merge(s.Clone()); err != nil {
			return
		}
		if err := s.Subtract(s.Clone()); err != nil {
			t.Error(err)
		}
	})
}

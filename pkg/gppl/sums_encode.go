package gppl

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"math"
	"math/bits"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/exactsums"
)

// A file of sums, version 1. Integers are little-endian, in two's complement.
//
//	0    8  "GPPLSUMS"
//	8    2  version, 1
//	10   2  columns of the mean basis, 0 so far
//	12   4  Highest
//	16  56  Lo, Hi, Origin, Period, Centre, Largest, LargestWeight
//	72  12  grid points on the circle, under a window, and in the file
//	84   2  bytes of an integer of E, which has no sign, and of one of F
//	86   1  1 if inputs are dates, 0 if not or if the file does not say
//	87   1  0
//	88   8  n
//	96  32  Σ w·v²
//	128 16  Σ log w
//	144  8  CRC-64 (ECMA) of all that precedes
//	152     the grid of E, then that of F
//	end  8  CRC-64 of all that precedes but for the other CRC: a CRC of what ends with its
//	        own CRC is a constant, and would not tell one header from another
//
// Everything follows from the header and the observations, the widths of integers being
// the least that hold them all: equal sums have equal files.
const (
	sumsVersion  = 1
	headerBytes  = 152
	datesByte    = 86
	fileOverhead = headerBytes + 8
)

// SumsMagic are the first bytes of what [Sums.MarshalBinary] returns.
const SumsMagic = "GPPLSUMS"

var (
	_ encoding.BinaryMarshaler   = (*Sums)(nil)
	_ encoding.BinaryUnmarshaler = (*Sums)(nil)

	crcTable = crc64.MakeTable(crc64.ECMA)
)

// MarshalBinary returns the bytes of a file: the same for the same observations, however
// they were added.
func (s *Sums) MarshalBinary() ([]byte, error) {
	h, p := s.header, s.plan
	le := binary.LittleEndian
	cells := s.sum.Cells
	e, f := sumWidths(cells)
	b := make([]byte, 0, fileOverhead+p.Count()*(e+f))
	b = append(b, SumsMagic...)
	b = le.AppendUint16(b, sumsVersion)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint32(b, uint32(h.Highest))
	for _, v := range h.floats() {
		b = le.AppendUint64(b, math.Float64bits(v))
	}
	for _, v := range []int{p.Size(), p.Width(), p.Count()} {
		b = le.AppendUint32(b, uint32(v))
	}
	b = append(b, byte(e), byte(f), 0, 0)
	if h.Dates {
		b[datesByte] = 1
	}
	b = le.AppendUint64(b, s.sum.N)
	for _, v := range s.sum.YY {
		b = le.AppendUint64(b, v)
	}
	for _, v := range s.sum.LogW {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint64(b, crc64.Checksum(b, crcTable))
	for column, width := range []int{e, f} {
		for i := 2 * column; i < len(cells); i += exactsums.Words {
			var word [16]byte
			le.PutUint64(word[:], cells[i])
			le.PutUint64(word[8:], cells[i+1])
			b = append(b, word[:width]...)
		}
	}
	return le.AppendUint64(b, sumsChecksum(b)), nil
}

// floats returns the numbers of the header in the order of the file.
func (h SumsHeader) floats() [7]float64 {
	return [...]float64{h.Lo, h.Hi, h.Origin, h.Period, h.Centre, h.Largest, h.LargestWeight}
}

// sumsChecksum returns the checksum of all but the last 8 bytes of a file.
func sumsChecksum(b []byte) uint64 {
	return crc64.Update(crc64.Checksum(b[:headerBytes-8], crcTable), crcTable, b[headerBytes:])
}

// sumWidths returns the least number of bytes that hold every integer of E and of F.
func sumWidths(cells []uint64) (e, f int) {
	var eb, fb int // bits
	for i := 0; i < len(cells); i += exactsums.Words {
		eb = max(eb, bitLength(cells[i], cells[i+1]))
		lo, hi := cells[i+2], cells[i+3]
		if hi>>63 == 1 {
			lo, hi = ^lo, ^hi
		}
		if cells[i+2]|cells[i+3] != 0 {
			fb = max(fb, bitLength(lo, hi)+1)
		}
	}
	return (eb + 7) / 8, (fb + 7) / 8
}

func bitLength(lo, hi uint64) int {
	if hi != 0 {
		return 64 + bits.Len64(hi)
	}
	return bits.Len64(lo)
}

// UnmarshalBinary sets s to what MarshalBinary wrote. The error says what is wrong with
// the bytes: not sums, another version, truncated or damaged. s is then unchanged.
func (s *Sums) UnmarshalBinary(b []byte) error {
	read, err := decodeSums(b)
	if err != nil {
		return fmt.Errorf("gppl: Sums: %w", err)
	}
	*s = *read
	return nil
}

func decodeSums(b []byte) (*Sums, error) {
	le := binary.LittleEndian
	switch {
	case len(b) == 0:
		return nil, errors.New("the file is empty")
	case len(b) < len(SumsMagic) && string(b) == SumsMagic[:len(b)]:
		return nil, fmt.Errorf("the file is cut short: %d bytes", len(b))
	case len(b) < len(SumsMagic) || string(b[:len(SumsMagic)]) != SumsMagic:
		return nil, fmt.Errorf("this is no file of sums: it does not begin with %q", SumsMagic)
	case len(b) < 10:
		return nil, fmt.Errorf("the file is cut short: %d bytes", len(b))
	}
	if v := le.Uint16(b[8:]); v != sumsVersion {
		return nil, fmt.Errorf("version %d of the format, and this program reads version %d", v, sumsVersion)
	}
	if len(b) < headerBytes {
		return nil, fmt.Errorf("the file is cut short: %d bytes of a header of %d", len(b), headerBytes)
	}
	if got, want := crc64.Checksum(b[:headerBytes-8], crcTable), le.Uint64(b[headerBytes-8:]); got != want {
		return nil, fmt.Errorf("the header is damaged: its checksum is %016x, and %016x was written", got, want)
	}
	if columns := le.Uint16(b[10:]); columns != 0 {
		return nil, fmt.Errorf("the sums have a mean basis of %d columns, which this program does not read", columns)
	}
	var v [7]float64
	for i := range v {
		v[i] = math.Float64frombits(le.Uint64(b[16+8*i:]))
	}
	s, err := NewSums(SumsHeader{
		Highest: int(le.Uint32(b[12:])),
		Lo:      v[0], Hi: v[1], Origin: v[2], Period: v[3], Centre: v[4], Largest: v[5], LargestWeight: v[6], Dates: b[datesByte] == 1,
	})
	if err != nil {
		return nil, fmt.Errorf("the header is wrong: %w", err)
	}
	for i, kept := range s.header.floats() {
		if math.Float64bits(kept) != math.Float64bits(v[i]) {
			return nil, fmt.Errorf("the header is wrong: it has %v, and %v is written for it", v[i], kept)
		}
	}
	p := s.plan
	size, width, count := int(le.Uint32(b[72:])), int(le.Uint32(b[76:])), int(le.Uint32(b[80:]))
	if size != p.Size() || width != p.Width() || count != p.Count() {
		return nil, fmt.Errorf("the grid has %d of %d points with %d under a window, where this program has %d, %d and %d", count, size, width, p.Count(), p.Size(), p.Width())
	}
	e, f := int(b[84]), int(b[85])
	if e > 16 || f > 16 || b[datesByte] > 1 || b[datesByte+1] != 0 {
		return nil, fmt.Errorf("the header is wrong: integers of %d and %d bytes", e, f)
	}
	switch want := fileOverhead + count*(e+f); {
	case len(b) < want:
		return nil, fmt.Errorf("the file is cut short: %d bytes of %d", len(b), want)
	case len(b) > want:
		return nil, fmt.Errorf("the file has %d bytes after its end: %d, not %d", len(b)-want, len(b), want)
	}
	if got, want := sumsChecksum(b[:len(b)-8]), le.Uint64(b[len(b)-8:]); got != want {
		return nil, fmt.Errorf("the file is damaged: its checksum is %016x, and %016x was written", got, want)
	}
	s.sum.N = le.Uint64(b[88:])
	for i := range s.sum.YY {
		s.sum.YY[i] = le.Uint64(b[96+8*i:])
	}
	for i := range s.sum.LogW {
		s.sum.LogW[i] = le.Uint64(b[128+8*i:])
	}
	cells, rest := s.sum.Cells, b[headerBytes:]
	for column, width := range []int{e, f} {
		for i := 2 * column; i < len(cells); i += exactsums.Words {
			var word [16]byte
			copy(word[:], rest[:width])
			if column == 1 && width > 0 && rest[width-1]>>7 == 1 {
				for j := width; j < len(word); j++ {
					word[j] = 0xff
				}
			}
			rest = rest[width:]
			cells[i], cells[i+1] = le.Uint64(word[:]), le.Uint64(word[8:])
		}
	}
	return s, s.verify(e, f)
}

// verify is an error if no observations have these sums.
func (s *Sums) verify(e, f int) error {
	if we, wf := sumWidths(s.sum.Cells); e != we || f != wf {
		return fmt.Errorf("the file is wrong: integers of %d and %d bytes, where %d and %d do", e, f, we, wf)
	}
	if s.sum.N > mostObservations {
		return fmt.Errorf("the file is wrong: %d observations", s.sum.N)
	}
	nothing := e == 0 && f == 0 && s.sum.YY == [4]uint64{} && s.sum.LogW == [2]uint64{}
	if s.sum.N == 0 && !nothing || s.sum.N > 0 && e == 0 {
		return fmt.Errorf("the file is wrong: %d observations with other sums", s.sum.N)
	}
	if s.header.LargestWeight == 0 && s.sum.LogW != [2]uint64{} {
		return errors.New("the file is wrong: logarithms of weights, and no weights")
	}
	return nil
}

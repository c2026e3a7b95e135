package exactsums

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"math"
	"math/bits"
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
//	86   1  1 if inputs are dates, 2 if they are dates without a time zone, 0 if not or if the file does not say
//	87   1  0
//	88   8  n
//	96  32  Σ w·v²
//	128 16  Σ log w
//	144  8  CRC-64 (ECMA) of all that precedes
//	152     the grid of E, then the grid of F
//	end  8  CRC-64 of all that precedes but for the other CRC: a CRC of what ends with its
//	        own CRC is a constant, and would not tell one header from another
//
// Everything follows from the header and the observations, and integers have the least width that holds them all: equal sums
// have equal files.
const (
	version     = 1
	headerBytes = 152
	datesByte   = 86
	// Overhead is the number of bytes of a file beside its integers.
	Overhead = headerBytes + 8
)

// Magic are the first bytes of a file.
const Magic = "GPPLSUMS"

// MostPoints keeps N an int, far below the 2⁶⁴ points that the integers can hold.
const MostPoints = math.MaxInt64

var crcTable = crc64.MakeTable(crc64.ECMA)

// Header holds a file's plan: the numbers Lo, Hi, Origin, Period, Centre, Largest and LargestWeight, and whether inputs are
// dates.
type Header struct {
	Highest int
	Numbers [7]float64
	Dates   bool
	Local   bool // dates have no time zone
}

// Encode returns the bytes of a file: the same for the same points, however they were added.
func Encode(h Header, p *Plan, s *Sum) []byte {
	le := binary.LittleEndian
	e, f := widths(s.Cells)
	b := make([]byte, 0, Overhead+p.Count()*(e+f))
	b = append(b, Magic...)
	b = le.AppendUint16(b, version)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint32(b, uint32(h.Highest))
	for _, v := range h.Numbers {
		b = le.AppendUint64(b, math.Float64bits(v))
	}
	for _, v := range []int{p.Size(), p.Width(), p.Count()} {
		b = le.AppendUint32(b, uint32(v))
	}
	b = append(b, byte(e), byte(f), 0, 0)
	if h.Dates {
		b[datesByte] = 1
	}
	if h.Dates && h.Local {
		b[datesByte] = 2
	}
	b = le.AppendUint64(b, s.N)
	for _, v := range s.YY {
		b = le.AppendUint64(b, v)
	}
	for _, v := range s.LogW {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint64(b, crc64.Checksum(b, crcTable))
	for column, width := range []int{e, f} {
		for i := 2 * column; i < len(s.Cells); i += Words {
			var word [16]byte
			le.PutUint64(word[:], s.Cells[i])
			le.PutUint64(word[8:], s.Cells[i+1])
			b = append(b, word[:width]...)
		}
	}
	return le.AppendUint64(b, checksum(b))
}

// checksum returns the checksum of all but the last 8 bytes of a file.
func checksum(b []byte) uint64 {
	return crc64.Update(crc64.Checksum(b[:headerBytes-8], crcTable), crcTable, b[headerBytes:])
}

// widths returns the least number of bytes that hold every integer of E and of F.
func widths(cells []uint64) (e, f int) {
	var eb, fb int // bits
	for i := 0; i < len(cells); i += Words {
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

// ReadHeader returns the header of a file. Its error says what is wrong with the bytes: no sums, another version, cut short,
// damaged.
func ReadHeader(b []byte) (h Header, err error) {
	le := binary.LittleEndian
	switch {
	case len(b) == 0:
		return h, errors.New("the file is empty")
	case len(b) < len(Magic) && string(b) == Magic[:len(b)]:
		return h, fmt.Errorf("the file is cut short: %d bytes", len(b))
	case len(b) < len(Magic) || string(b[:len(Magic)]) != Magic:
		return h, fmt.Errorf("this is no file of sums: it does not begin with %q", Magic)
	case len(b) < 10:
		return h, fmt.Errorf("the file is cut short: %d bytes", len(b))
	}
	if v := le.Uint16(b[8:]); v != version {
		return h, fmt.Errorf("version %d of the format, and this program reads version %d", v, version)
	}
	if len(b) < headerBytes {
		return h, fmt.Errorf("the file is cut short: %d bytes of a header of %d", len(b), headerBytes)
	}
	if got, want := crc64.Checksum(b[:headerBytes-8], crcTable), le.Uint64(b[headerBytes-8:]); got != want {
		return h, fmt.Errorf("the header is damaged: its checksum is %016x, and %016x was written", got, want)
	}
	if columns := le.Uint16(b[10:]); columns != 0 {
		return h, fmt.Errorf("the sums have a mean basis of %d columns, which this program does not read", columns)
	}
	h.Highest, h.Dates, h.Local = int(le.Uint32(b[12:])), b[datesByte] > 0, b[datesByte] == 2
	for i := range h.Numbers {
		h.Numbers[i] = math.Float64frombits(le.Uint64(b[16+8*i:]))
	}
	return h, nil
}

// Decode returns the sum in a file for the plan in its header. Its error says what is wrong with the rest of the file.
func Decode(b []byte, p *Plan) (*Sum, error) {
	le := binary.LittleEndian
	size, width, count := int(le.Uint32(b[72:])), int(le.Uint32(b[76:])), int(le.Uint32(b[80:]))
	if size != p.Size() || width != p.Width() || count != p.Count() {
		return nil, fmt.Errorf("the grid has %d of %d points with %d under a window, where this program has %d, %d and %d",
			count, size, width, p.Count(), p.Size(), p.Width())
	}
	e, f := int(b[84]), int(b[85])
	if e > 16 || f > 16 || b[datesByte] > 2 || b[datesByte+1] != 0 {
		return nil, fmt.Errorf("the header is wrong: integers of %d and %d bytes", e, f)
	}
	switch want := Overhead + count*(e+f); {
	case len(b) < want:
		return nil, fmt.Errorf("the file is cut short: %d bytes of %d", len(b), want)
	case len(b) > want:
		return nil, fmt.Errorf("the file has %d bytes after its end: %d, not %d", len(b)-want, len(b), want)
	}
	if got, want := checksum(b[:len(b)-8]), le.Uint64(b[len(b)-8:]); got != want {
		return nil, fmt.Errorf("the file is damaged: its checksum is %016x, and %016x was written", got, want)
	}
	s := p.New()
	s.N = le.Uint64(b[88:])
	for i := range s.YY {
		s.YY[i] = le.Uint64(b[96+8*i:])
	}
	for i := range s.LogW {
		s.LogW[i] = le.Uint64(b[128+8*i:])
	}
	cells, rest := s.Cells, b[headerBytes:]
	for column, width := range []int{e, f} {
		for i := 2 * column; i < len(cells); i += Words {
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
	if err := p.verify(s, e, f); err != nil {
		return nil, err
	}
	return s, nil
}

// verify returns an error if no points have these sums.
func (p *Plan) verify(s *Sum, e, f int) error {
	if we, wf := widths(s.Cells); e != we || f != wf {
		return fmt.Errorf("the file is wrong: integers of %d and %d bytes, where %d and %d do", e, f, we, wf)
	}
	if s.N > MostPoints {
		return fmt.Errorf("the file is wrong: %d observations", s.N)
	}
	nothing := e == 0 && f == 0 && s.YY == [4]uint64{} && s.LogW == [2]uint64{}
	if s.N == 0 && !nothing || s.N > 0 && e == 0 {
		return fmt.Errorf("the file is wrong: %d observations with other sums", s.N)
	}
	if p.units.Weight == 0 && s.LogW != [2]uint64{} {
		return errors.New("the file is wrong: logarithms of weights, and no weights")
	}
	return nil
}

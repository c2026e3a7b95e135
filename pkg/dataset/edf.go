package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// EDF is an open recording in the European Data Format (EDF, or EDF+ without gaps): a header, then data records of equal
// duration, each holding the samples of every signal in turn. The header is in memory; samples are read when asked for.
//
// Reference: B. Kemp et al., A simple format for exchange of digitized polygraphic recordings, Electroencephalography and
// Clinical Neurophysiology 82 (1992); B. Kemp and J. Olivan, European data format 'plus', Clinical Neurophysiology 114 (2003).
type EDF struct {
	Patient        string
	Recording      string
	Start          time.Time // local time of the recording, stored as UTC; zero if the header has no valid date
	Records        int       // number of data records
	RecordDuration float64   // seconds
	Signals        []EDFSignal

	r          io.ReaderAt
	file       *os.File // file that OpenEDF opened; nil after ReadEDF
	headerSize int64    // bytes
	recordSize int64    // bytes
	gaps       bool     // the records do not follow one another in time (EDF+D)
}

// EDFSignal is the description of one signal in the header.
type EDFSignal struct {
	Label       string // name, such as "EEG F3-Ref"
	Transducer  string
	Dimension   string // physical unit, such as "uV"
	PhysicalMin float64
	PhysicalMax float64
	DigitalMin  int // stored number that stands for PhysicalMin
	DigitalMax  int
	Prefilter   string

	SamplesPerRecord int
	Samples          int     // number of samples in the whole recording
	Rate             float64 // Hz; 0 if the records have no duration
	Annotations      bool    // this is an EDF+ signal that holds text, not samples

	offset int64 // bytes of a record before its samples
}

const (
	edfFixed     = 256 // bytes of header before the signals
	edfPerSignal = 256 // bytes of header for each signal
)

// OpenEDF opens an EDF file and reads its header. The caller must Close it.
func OpenEDF(path string) (*EDF, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	var e *EDF
	if err == nil {
		e, err = readEDF(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("dataset: EDF %s: %w", path, err)
	}
	e.file = f
	return e, nil
}

// ReadEDF reads the header of the EDF recording in the first size bytes of r, which must stay open while samples are read.
//
// A number of records of -1, which recorders write at the start of a recording, is replaced by the number that size
// allows. A recording shorter than its header says is an error; bytes beyond it are ignored. ReadEDF panics if r is nil or
// size is negative.
func ReadEDF(r io.ReaderAt, size int64) (*EDF, error) {
	if r == nil {
		panic("dataset: ReadEDF: r is nil")
	}
	if size < 0 {
		panic(fmt.Sprintf("dataset: ReadEDF: size = %d is negative", size))
	}
	e, err := readEDF(r, size)
	if err != nil {
		return nil, fmt.Errorf("dataset: EDF: %w", err)
	}
	return e, nil
}

// Close closes the file that OpenEDF opened; after ReadEDF it does nothing.
func (e *EDF) Close() error {
	if e.file == nil {
		return nil
	}
	return e.file.Close()
}

// Labels returns the labels of the signals in the file's order, without annotation signals.
func (e *EDF) Labels() []string {
	var labels []string
	for _, s := range e.Signals {
		if !s.Annotations {
			labels = append(labels, s.Label)
		}
	}
	return labels
}

// Series returns the whole of the signal with the given label; see SeriesRange.
func (e *EDF) Series(label string) (Series, error) {
	s, err := e.signal(label)
	if err != nil {
		return Series{}, e.errorf("%w", err)
	}
	return e.SeriesRange(label, 0, s.Samples)
}

// SeriesRange returns the samples from, …, to-1 of the signal with the given label: X in seconds since the start of the
// recording, Y in the signal's Dimension, by the header's scaling
//
//	y = PhysicalMin + (stored - DigitalMin)·(PhysicalMax - PhysicalMin)/(DigitalMax - DigitalMin).
//
// Only the bytes of these samples are read. It is an error if there is no such signal, or more than one, if the range is not
// within the signal or empty, if the header gives no usable scaling or duration, or if the records have gaps in time (EDF+D).
func (e *EDF) SeriesRange(label string, from, to int) (Series, error) {
	sig, err := e.signal(label)
	if err != nil {
		return Series{}, e.errorf("%w", err)
	}
	fail := func(format string, args ...any) (Series, error) {
		return Series{}, e.errorf("signal %s: %w", quoted(sig.Label), fmt.Errorf(format, args...))
	}
	if e.gaps {
		return fail("the recording has gaps in time (EDF+D), so its samples are not evenly spaced; not supported")
	}
	if from < 0 || to <= from || to > sig.Samples {
		return fail("samples %d to %d asked for; it has %d", from, to, sig.Samples)
	}
	gain, err := sig.gain()
	if err != nil {
		return fail("%w", err)
	}
	seconds := func(i int) float64 { return float64(i) * e.RecordDuration / float64(sig.SamplesPerRecord) }
	if last := seconds(to); e.RecordDuration == 0 || math.IsInf(last, 0) {
		return fail("a record duration of %g s gives no times", e.RecordDuration)
	}

	x, y := make([]float64, 0, to-from), make([]float64, 0, to-from)
	buf := make([]byte, 2*min(sig.SamplesPerRecord, to-from))
	for i := from; i < to; {
		record, first := i/sig.SamplesPerRecord, i%sig.SamplesPerRecord
		chunk := buf[:2*min(sig.SamplesPerRecord-first, to-i)]
		at := e.headerSize + int64(record)*e.recordSize + sig.offset + 2*int64(first)
		if err := readFullAt(e.r, chunk, at); err != nil {
			return fail("data record %d: %w", record+1, err)
		}
		for ; len(chunk) > 0; chunk = chunk[2:] {
			stored := int16(binary.LittleEndian.Uint16(chunk))
			x = append(x, seconds(i))
			y = append(y, sig.PhysicalMin+(float64(stored)-float64(sig.DigitalMin))*gain)
			i++
		}
	}
	s := Series{
		Name: sig.Label, X: x, Y: y, XName: "time", XUnit: "s", YName: sig.Label, YUnit: sig.Dimension,
	}
	if e.file != nil {
		s.Source = e.file.Name()
	}
	return s, nil
}

func (e *EDF) errorf(format string, args ...any) error {
	where := ""
	if e.file != nil {
		where = " " + e.file.Name()
	}
	return fmt.Errorf("dataset: EDF%s: %w", where, fmt.Errorf(format, args...))
}

// signal returns the only signal of samples with this label.
func (e *EDF) signal(label string) (EDFSignal, error) {
	isIt := func(s EDFSignal) bool { return s.Label == label && !s.Annotations }
	i := slices.IndexFunc(e.Signals, isIt)
	if i < 0 {
		return EDFSignal{}, fmt.Errorf("no signal %s; there are %q", quoted(label), e.Labels())
	}
	if slices.IndexFunc(e.Signals[i+1:], isIt) >= 0 {
		return EDFSignal{}, fmt.Errorf("more than one signal is labelled %s", quoted(label))
	}
	return e.Signals[i], nil
}

// gain returns the physical size of one digital step. Physical maximum and minimum may be exchanged (a signal stored upside
// down), digital ones may not.
func (s EDFSignal) gain() (float64, error) {
	if s.DigitalMin >= s.DigitalMax {
		return 0, fmt.Errorf("digital minimum %d is not below digital maximum %d", s.DigitalMin, s.DigitalMax)
	}
	gain := (s.PhysicalMax - s.PhysicalMin) / (float64(s.DigitalMax) - float64(s.DigitalMin))
	if gain == 0 {
		return 0, fmt.Errorf("physical minimum and maximum are both %g", s.PhysicalMin)
	}
	// Samples may lie outside the digital range; if the ends of 16 bits map to finite numbers, all do.
	for _, end := range []float64{math.MinInt16, math.MaxInt16} {
		if v := s.PhysicalMin + (end-float64(s.DigitalMin))*gain; !numeric.IsFinite(v) {
			return 0, fmt.Errorf("physical range %g to %g is too wide", s.PhysicalMin, s.PhysicalMax)
		}
	}
	return gain, nil
}

func readEDF(r io.ReaderAt, size int64) (*EDF, error) {
	if size < edfFixed {
		return nil, fmt.Errorf("%d bytes are too few for a header of %d", size, edfFixed)
	}
	fixed := make([]byte, edfFixed)
	if err := readFullAt(r, fixed, 0); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	h := edfFields{rest: fixed}
	switch version := h.text(8); {
	case strings.HasSuffix(version, "BIOSEMI"):
		return nil, errors.New("this is BDF, with 24-bit samples, not EDF")
	case version != "0":
		return nil, fmt.Errorf("not an EDF file: version %s, want \"0\"", quoted(version))
	}
	e := &EDF{r: r}
	e.Patient = h.text(80)
	e.Recording = h.text(80)
	e.Start = edfTime(h.text(8), h.text(8))
	headerSize := h.int("header bytes", 8)
	e.gaps = strings.HasPrefix(h.text(44), "EDF+D")
	records := h.int("number of data records", 8)
	e.RecordDuration = h.float("record duration", 8)
	signals := h.int("number of signals", 4)
	switch {
	case h.err != nil:
		return nil, fmt.Errorf("header: %w", h.err)
	case signals < 0:
		return nil, fmt.Errorf("header: %d signals", signals)
	case records < -1:
		return nil, fmt.Errorf("header: %d data records", records)
	case e.RecordDuration < 0:
		return nil, fmt.Errorf("header: record duration %g s is negative", e.RecordDuration)
	case headerSize != edfFixed+signals*edfPerSignal:
		return nil, fmt.Errorf("header: %d bytes claimed, but %d signals take %d", headerSize, signals, edfFixed+signals*edfPerSignal)
	case size < int64(headerSize):
		return nil, fmt.Errorf("truncated: a header of %d bytes in a file of %d", headerSize, size)
	}
	e.headerSize = int64(headerSize)

	per := make([]byte, signals*edfPerSignal)
	if err := readFullAt(r, per, edfFixed); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if err := e.readSignals(per, signals); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}

	// From here on every count is backed by bytes that the file has. Counts are compared by division, since the product of the
	// header's numbers may overflow.
	body := size - e.headerSize
	var fit int64
	if e.recordSize > 0 {
		fit = body / e.recordSize
	}
	if records == -1 {
		records = int(min(fit, math.MaxInt32))
	}
	if e.recordSize > 0 && int64(records) > fit {
		return nil, fmt.Errorf("truncated: the header says %d data records of %d bytes, the file has %.1f",
			records, e.recordSize, float64(body)/float64(e.recordSize))
	}
	e.Records = records
	for i := range e.Signals {
		s := &e.Signals[i]
		s.Samples = s.SamplesPerRecord * records
		if e.RecordDuration > 0 {
			s.Rate = float64(s.SamplesPerRecord) / e.RecordDuration
		}
	}
	return e, nil
}

// readSignals parses the part of the header that describes the signals: each field for all signals, then the next field.
func (e *EDF) readSignals(header []byte, n int) error {
	e.Signals = make([]EDFSignal, n)
	h := edfFields{rest: header}
	each := func(set func(s *EDFSignal)) {
		for i := range e.Signals {
			h.where = fmt.Sprintf("signal %d: ", i+1)
			// Annotation signals are text: writers fill their ranges carelessly, and nothing here uses them.
			h.lenient = e.Signals[i].Annotations
			set(&e.Signals[i])
		}
	}
	each(func(s *EDFSignal) {
		s.Label = h.text(16)
		s.Annotations = s.Label == "EDF Annotations"
	})
	each(func(s *EDFSignal) { s.Transducer = h.text(80) })
	each(func(s *EDFSignal) { s.Dimension = h.text(8) })
	each(func(s *EDFSignal) { s.PhysicalMin = h.float("physical minimum", 8) })
	each(func(s *EDFSignal) { s.PhysicalMax = h.float("physical maximum", 8) })
	each(func(s *EDFSignal) { s.DigitalMin = h.int("digital minimum", 8) })
	each(func(s *EDFSignal) { s.DigitalMax = h.int("digital maximum", 8) })
	each(func(s *EDFSignal) { s.Prefilter = h.text(80) })
	each(func(s *EDFSignal) {
		h.lenient = false // strict even for annotations: this number says where the other signals are
		s.SamplesPerRecord = h.int("samples per record", 8)
		if s.SamplesPerRecord < 0 {
			h.fail("samples per record", "%d is negative", s.SamplesPerRecord)
		}
		s.offset = e.recordSize
		e.recordSize += 2 * int64(s.SamplesPerRecord)
	})
	return h.err
}

// edfFields takes fields of fixed width from a header, one after another, and keeps the first error.
type edfFields struct {
	rest    []byte
	where   string // prefix of the name of a field in an error
	lenient bool   // a number that cannot be read is 0, not an error
	err     error
}

func (h *edfFields) text(width int) string {
	raw := h.rest[:width]
	h.rest = h.rest[width:]
	text := string(raw) // the format is ASCII, but some recorders write "µV"
	if !utf8.ValidString(text) {
		text, _ = charmap.Windows1252.NewDecoder().String(text)
	}
	return strings.Trim(text, " \x00")
}

func (h *edfFields) int(field string, width int) int {
	text := h.text(width)
	v, err := strconv.Atoi(text)
	if err != nil {
		h.fail(field, "%s is not an integer", quoted(text))
		return 0
	}
	return v
}

func (h *edfFields) float(field string, width int) float64 {
	v, err := ParseNumber(h.text(width))
	if err != nil {
		h.fail(field, "%w", err)
	}
	return v
}

func (h *edfFields) fail(field, format string, args ...any) {
	if h.err == nil && !h.lenient {
		h.err = fmt.Errorf("%s%s: %w", h.where, field, fmt.Errorf(format, args...))
	}
}

// edfTime reads dd.mm.yy and hh.mm.ss; the years run from 1985 to 2084. It returns the zero Time without a date, as in many
// anonymised files.
func edfTime(date, clock string) time.Time {
	t, err := time.Parse("02.01.06 15.04.05", date+" "+clock)
	if err != nil {
		return time.Time{}
	}
	if t.Year() < 1985 {
		t = t.AddDate(100, 0, 0)
	}
	return t
}

// readFullAt fills b from offset at; fewer bytes are an error.
func readFullAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil // io.EOF may come with the last byte
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// edfSpec describes an EDF file to write. Header fields are texts, so that wrong ones can be written.
type edfSpec struct {
	version  string // "0"
	patient  string
	date     string
	reserved string
	header   string // claimed bytes; "": the right number
	records  string // claimed number of records; "": the number in data
	duration string // "1"
	count    string // claimed number of signals; "": the right one
	signals  []edfSignalSpec
	data     [][][]int16 // record, signal, sample
}

type edfSignalSpec struct {
	label, dimension               string
	physMin, physMax, dMin, dMax   string
	samples                        string
	transducer, prefilter, padding string
}

// bytes writes the file.
func (f edfSpec) bytes() []byte {
	var b bytes.Buffer
	field := func(text, otherwise string, width int) {
		if text == "" {
			text = otherwise
		}
		fmt.Fprintf(&b, "%-*s", width, text)
		b.Truncate(b.Len() - max(0, len(text)-width))
	}
	n := len(f.signals)
	field(f.version, "0", 8)
	field(f.patient, "X", 80)
	field("Startdate 02-MAR-2009", "", 80)
	field(f.date, "02.03.09", 8)
	field("14.15.16", "", 8)
	field(f.header, strconv.Itoa(256+256*n), 8)
	field(f.reserved, "", 44)
	field(f.records, strconv.Itoa(len(f.data)), 8)
	field(f.duration, "1", 8)
	field(f.count, strconv.Itoa(n), 4)
	each := func(width int, text func(edfSignalSpec) string) {
		for _, s := range f.signals {
			field(text(s), "", width)
		}
	}
	each(16, func(s edfSignalSpec) string { return s.label })
	each(80, func(s edfSignalSpec) string { return s.transducer })
	each(8, func(s edfSignalSpec) string { return s.dimension })
	each(8, func(s edfSignalSpec) string { return s.physMin })
	each(8, func(s edfSignalSpec) string { return s.physMax })
	each(8, func(s edfSignalSpec) string { return s.dMin })
	each(8, func(s edfSignalSpec) string { return s.dMax })
	each(80, func(s edfSignalSpec) string { return s.prefilter })
	each(8, func(s edfSignalSpec) string { return s.samples })
	each(32, func(s edfSignalSpec) string { return s.padding })
	for _, record := range f.data {
		for _, samples := range record {
			binary.Write(&b, binary.LittleEndian, samples)
		}
	}
	return b.Bytes()
}

// twoSignals is a recording of 3 records of 2 s: "slow", 2 samples a record, and "fast", 4, with the text of EDF+ between.
func twoSignals() edfSpec {
	f := edfSpec{
		duration: "2",
		reserved: "EDF+C",
		signals: []edfSignalSpec{
			{label: "slow", dimension: "degC", physMin: "-10", physMax: "10", dMin: "-100", dMax: "100", samples: "2"},
			{label: "EDF Annotations", physMin: "", physMax: "x", dMin: "", dMax: "", samples: "3"},
			{label: "fast", dimension: "\xb5V", physMin: "1", physMax: "-1", dMin: "0", dMax: "4", samples: "4",
				transducer: "AgAgCl electrode", prefilter: "HP:0.1Hz"},
		},
	}
	for r := range int16(3) {
		f.data = append(f.data, [][]int16{{10 * r, 10*r + 5}, {0x302b, 0x1414, 0}, {0, 1, 2, r}})
	}
	return f
}

func readSpec(t *testing.T, f edfSpec) *EDF {
	t.Helper()
	raw := f.bytes()
	e, err := ReadEDF(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestReadEDFHeader(t *testing.T) {
	e := readSpec(t, twoSignals())
	want := &EDF{
		Patient: "X", Recording: "Startdate 02-MAR-2009",
		Start:   time.Date(2009, 3, 2, 14, 15, 16, 0, time.UTC),
		Records: 3, RecordDuration: 2,
		Signals: []EDFSignal{
			{Label: "slow", Dimension: "degC", PhysicalMin: -10, PhysicalMax: 10, DigitalMin: -100, DigitalMax: 100,
				SamplesPerRecord: 2, Samples: 6, Rate: 1},
			{Label: "EDF Annotations", SamplesPerRecord: 3, Samples: 9, Rate: 1.5, Annotations: true},
			{Label: "fast", Transducer: "AgAgCl electrode", Dimension: "µV", PhysicalMin: 1, PhysicalMax: -1, DigitalMax: 4,
				Prefilter: "HP:0.1Hz", SamplesPerRecord: 4, Samples: 12, Rate: 2},
		},
	}
	if diff := cmp.Diff(want, e, cmpopts.IgnoreUnexported(EDF{}, EDFSignal{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := e.Labels(), []string{"slow", "fast"}; !slices.Equal(got, want) {
		t.Errorf("Labels() = %q, want %q", got, want)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestEDFSeries(t *testing.T) {
	e := readSpec(t, twoSignals())
	slow, err := e.Series("slow")
	if err != nil {
		t.Fatal(err)
	}
	want := Series{
		Name: "slow", XName: "time", XUnit: "s", YName: "slow", YUnit: "degC",
		X: []float64{0, 1, 2, 3, 4, 5}, Y: []float64{0, 0.5, 1, 1.5, 2, 2.5},
	}
	if diff := cmp.Diff(want, slow, cmpopts.EquateApprox(0, 1e-15)); diff != "" {
		t.Errorf("slow (-want +got):\n%s", diff)
	}
	// Upside down: physical maximum below minimum, y = 1 - stored/2.
	fast, err := e.Series("fast")
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, .5, 0, 1, 1, .5, 0, .5, 1, .5, 0, 0}; !slices.Equal(fast.Y, want) {
		t.Errorf("fast.Y = %v, want %v", fast.Y, want)
	}
	// A range is the same part of the whole, wherever it begins and ends.
	for from := range fast.Len() {
		for to := from + 1; to <= fast.Len(); to++ {
			part, err := e.SeriesRange("fast", from, to)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fast.Slice(from, to), part); diff != "" {
				t.Fatalf("[%d, %d) (-want +got):\n%s", from, to, diff)
			}
		}
	}
}

// countingReader counts the bytes that are read.
type countingReader struct {
	io.ReaderAt
	bytes int
}

func (c *countingReader) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.bytes += n
	return n, err
}

func TestEDFReadsOnlyWhatIsAsked(t *testing.T) {
	raw := twoSignals().bytes()
	r := &countingReader{ReaderAt: bytes.NewReader(raw)}
	e, err := ReadEDF(r, int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	r.bytes = 0
	if _, err := e.SeriesRange("fast", 3, 6); err != nil {
		t.Fatal(err)
	}
	if r.bytes != 2*3 {
		t.Errorf("3 samples took %d bytes, want 6", r.bytes)
	}
}

func TestEDFTolerated(t *testing.T) {
	for name, change := range map[string]func(*edfSpec){
		"number of records unknown": func(f *edfSpec) { f.records = "-1" },
		"plain EDF":                 func(f *edfSpec) { f.reserved = "" },
		"no date":                   func(f *edfSpec) { f.date = "00.00.00" },
		"padded with zero bytes":    func(f *edfSpec) { f.records = "3\x00\x00" },
	} {
		t.Run(name, func(t *testing.T) {
			f := twoSignals()
			change(&f)
			e := readSpec(t, f)
			if s, err := e.Series("slow"); err != nil || s.Len() != 6 {
				t.Errorf("%d samples, error %v", s.Len(), err)
			}
			if f.date != "" && !e.Start.IsZero() {
				t.Errorf("Start = %v, want zero", e.Start)
			}
		})
	}
	t.Run("more bytes than records", func(t *testing.T) {
		raw := append(twoSignals().bytes(), 1, 2, 3)
		e, err := ReadEDF(bytes.NewReader(raw), int64(len(raw)))
		if err != nil || e.Records != 3 {
			t.Errorf("%d records, error %v", e.Records, err)
		}
	})
	t.Run("cut while the number of records is unknown", func(t *testing.T) {
		f := twoSignals()
		f.records = "-1"
		raw := f.bytes()
		e, err := ReadEDF(bytes.NewReader(raw), int64(len(raw)-1))
		if err != nil || e.Records != 2 {
			t.Errorf("%d records, error %v", e.Records, err)
		}
	})
	t.Run("years after 2068", func(t *testing.T) {
		if got := edfTime("01.01.84", "00.00.00").Year(); got != 2084 {
			t.Errorf("year 84 is %d, want 2084", got)
		}
		if got := edfTime("01.01.85", "00.00.00").Year(); got != 1985 {
			t.Errorf("year 85 is %d, want 1985", got)
		}
	})
}

func TestReadEDFErrors(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*edfSpec)
		want   string
	}{
		"not EDF":             {func(f *edfSpec) { f.version = "%PDF-1.7" }, "not an EDF file"},
		"BDF":                 {func(f *edfSpec) { f.version = "\xffBIOSEMI" }, "BDF"},
		"header size":         {func(f *edfSpec) { f.header = "512" }, "512 bytes claimed"},
		"records":             {func(f *edfSpec) { f.records = "many" }, `number of data records: "many"`},
		"records negative":    {func(f *edfSpec) { f.records = "-2" }, "-2 data records"},
		"too many records":    {func(f *edfSpec) { f.records = "99999999" }, "truncated: the header says 99999999 data records"},
		"duration":            {func(f *edfSpec) { f.duration = "NaN" }, `record duration: "NaN"`},
		"duration negative":   {func(f *edfSpec) { f.duration = "-1" }, "negative"},
		"signals negative":    {func(f *edfSpec) { f.count = "-1" }, "-1 signals"},
		"signals too many":    {func(f *edfSpec) { f.count, f.header = "9999", "2560000" }, "truncated: a header of 2560000"},
		"physical minimum":    {func(f *edfSpec) { f.signals[2].physMin = "Inf" }, `signal 3: physical minimum: "Inf"`},
		"digital maximum":     {func(f *edfSpec) { f.signals[0].dMax = "" }, `signal 1: digital maximum: ""`},
		"samples per record":  {func(f *edfSpec) { f.signals[1].samples = "" }, "signal 2: samples per record"},
		"samples negative":    {func(f *edfSpec) { f.signals[1].samples = "-3" }, "signal 2: samples per record: -3 is negative"},
		"samples beyond size": {func(f *edfSpec) { f.signals[0].samples = "99999999" }, "truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			f := twoSignals()
			test.change(&f)
			raw := f.bytes()
			_, err := ReadEDF(bytes.NewReader(raw), int64(len(raw)))
			mustFail(t, err, "dataset: EDF", test.want)
		})
	}
}

// However short a recording is cut, it is an error and not a shorter recording.
func TestReadEDFTruncated(t *testing.T) {
	raw := twoSignals().bytes()
	for n := range raw {
		if _, err := ReadEDF(bytes.NewReader(raw[:n]), int64(n)); err == nil {
			t.Fatalf("no error when cut to %d of %d bytes", n, len(raw))
		}
	}
	// The file may also shrink after its size was taken.
	e, err := ReadEDF(bytes.NewReader(raw[:len(raw)-1]), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Series("fast")
	mustFail(t, err, "data record 3", io.ErrUnexpectedEOF.Error())
	_, err = ReadEDF(bytes.NewReader(nil), 1000)
	mustFail(t, err, "header", io.ErrUnexpectedEOF.Error())
}

func TestEDFSeriesErrors(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(*edfSpec)
		label    string
		from, to int
		want     string
	}{
		"lacking":            {nil, "EEG F3-Ref", 0, 1, `no signal "EEG F3-Ref"; there are ["slow" "fast"]`},
		"annotations":        {nil, "EDF Annotations", 0, 1, "no signal"},
		"label twice":        {func(f *edfSpec) { f.signals[2].label = "slow" }, "slow", 0, 1, "more than one signal"},
		"before the start":   {nil, "slow", -1, 1, "samples -1 to 1 asked for; it has 6"},
		"past the end":       {nil, "slow", 0, 7, "samples 0 to 7"},
		"empty range":        {nil, "slow", 2, 2, "samples 2 to 2"},
		"gaps":               {func(f *edfSpec) { f.reserved = "EDF+D" }, "slow", 0, 1, "gaps"},
		"digital range":      {func(f *edfSpec) { f.signals[0].dMax = "-100" }, "slow", 0, 1, "digital minimum -100"},
		"physical range":     {func(f *edfSpec) { f.signals[0].physMax = "-10" }, "slow", 0, 1, "both -10"},
		"physical too wide":  {func(f *edfSpec) { f.signals[0].physMax = "1e308" }, "slow", 0, 1, "too wide"},
		"no duration":        {func(f *edfSpec) { f.duration = "0" }, "slow", 0, 1, "record duration"},
		"duration too large": {func(f *edfSpec) { f.duration = "1e308" }, "slow", 0, 6, "record duration"},
		"no records":         {func(f *edfSpec) { f.data = nil }, "slow", 0, 1, "it has 0"},
	} {
		t.Run(name, func(t *testing.T) {
			f := twoSignals()
			if test.change != nil {
				test.change(&f)
			}
			_, err := readSpec(t, f).SeriesRange(test.label, test.from, test.to)
			mustFail(t, err, "dataset: EDF", test.want)
		})
	}
}

func TestOpenEDF(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.edf")
	if err := os.WriteFile(path, twoSignals().bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := OpenEDF(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Series("slow")
	if err != nil || s.Source != path {
		t.Errorf("Source = %q, error %v", s.Source, err)
	}
	_, err = e.Series("none")
	mustFail(t, err, path, `"none"`)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("0       "+strings.Repeat(" ", 300)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = OpenEDF(path)
	mustFail(t, err, path, "header bytes")
	_, err = OpenEDF(path + ".none")
	mustFail(t, err, path)
	_, err = OpenEDF(filepath.Dir(path))
	mustFail(t, err, "not a regular file")
}

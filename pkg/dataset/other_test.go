package dataset

import (
	"bytes"
	"compress/gzip"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestOtherTexts refuses texts of programs that are no tables, and runs the command of the advice, where there is one and its program is installed: what it writes is
// read, with the times and values wanted.
func TestOtherTexts(t *testing.T) {
	command := regexp.MustCompile(`(?:(sed|awk|jq|cut) .* )FILE`)
	for name, c := range map[string]struct {
		text, want string
		x1, y1     float64 // of the last row
	}{
		"InfluxDB":       {"weather,location=us temperature=5.5 1704067200000000000\nweather,location=us temperature=6.5 1704070800000000000\n", "line protocol of InfluxDB", 1704070800, 6.5},
		"fields":         {"m,a=b hum=1i,temp=5 1704067200000000000\nm,a=b hum=2i,temp=6 1704067260000000000\n", "writes times and hum as csv", 1704067260, 2},
		"InfluxDB, JSON": {`{"results":[{"series":[{"name":"m","columns":["time","v"],"values":[["2024-01-01T00:00:00Z",5],["2024-01-01T01:00:00Z",6]]}]}]}`, "first series of InfluxDB", 1704070800, 6},
		"Open-Meteo":     {`{"latitude":52.5,"hourly_units":{"time":"iso8601","temperature_2m":"C"},"hourly":{"time":["2024-01-01T00:00","2024-01-01T01:00"],"temperature_2m":[5,6.5]}}`, "writes temperature_2m as csv", 1704070800, 6.5},
		"a sheet":        {`{"range":"A1:B3","values":[["date","v"],["2024-01-01","5"],["2024-01-02","6"]]}`, "jq -r '.values[]", 1704153600, 6},
		"Prometheus":     {`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1704067200,"5.5"],[1704067260,"6.5"]]}]}}`, "jq -r '.data", 1704067260, 6.5},
		"JSON lines":     {"{\"ts\":\"2024-01-01T00:00:00Z\",\"value\":5.5}\n{\"ts\":\"2024-01-01T01:00:00Z\",\"value\":6.5}\n", "jq -rs", 1704070800, 6.5},
		"a JSON array":   {"[\n {\"ts\": 1704067200, \"v\": 5.5},\n {\"ts\": 1704070800, \"v\": 6.5}\n]\n", "jq -r '(.[0]", 1704070800, 6.5},
		"other JSON":     {"{\"t\": [0, 1], \"y\": [1, 2]}\n", "this is JSON, not csv: convert it", 0, 0},
		"BODC":           {"Port: P001\n  Cycle    Date      Time    ASLVBG02   Residual  \n Number yyyy mm dd hh mi ssf         f          f \n     1) 2024/01/01 00:00:00    -2.3400     -0.6600 \n     2) 2024/01/01 01:00:00     2.8580M    -0.0427M\n", "tides of the BODC", 1704070800, 2.858},
		"Tektronix":      {"Record Length,2.5e+03,,0.1,  -0.66,\nSample Interval,1e-04,,0.2,   0.05,\nTrigger Point,1.25e+03,,0.3,  1.05,\n", "Tektronix", 0.3, 1.05},
		"Rigol":          {"X,CH1,Start,Increment,\nSequence,VOLT,1.0e+00,5.0e-01\n0,1.5,,\n1,2.5,,\n", "with the step in its second line", 1.5, 2.5},
		"Netatmo":        {"Name;Lat;Lon;ModuleName\n\"Home\";\"52.5\";\"13.4\";\"Indoor\"\nTimestamp;\"Timezone : UTC\";T;H\n1704067200;\"2024/01/01 00:00:00\";5;45\n1704070800;\"2024/01/01 01:00:00\";6;45\n", "sed 1,2d FILE", 1704070800, 6},
		"seasons":        {" SEAS  YR   TOTAL   ANOM\n  DJF 2024   26.1   0.5\n  JFM 2024   26.2   -0.5\n", "DJF is January", 1706745600, -0.5},
		"ping":           {"PING a (1.1.1.1) 56(84) bytes of data.\n64 bytes from 1.1.1.1: icmp_seq=1 ttl=117 time=5.5 ms\n64 bytes from 1.1.1.1: icmp_seq=3 ttl=117 time=6.5 ms\n", "what ping writes", 3, 6.5},
		"sar":            {"Linux 5.15.0 (host) \t01/01/2024 \t_x86_64_\t(4 CPU)\n\n12:00:01 AM     CPU     %user\n", "sadf -d", 0, 0},
		"a web server":   {"10.0.0.1 - - [01/Jan/2024:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n", "uniq -c counts those of each day", 0, 0},
		"date":           {"Mon Jan  1 00:00:00 CET 2024  5.5\nMon Jan  1 01:00:00 CET 2024  6.5\n", "as the program date writes them", 1704070800, 6.5},
		"rrdtool":        {"                          temp\n\n1704067200: 5.5000000000e+00\n1704070800: 6.5000000000e+00\n", "what rrdtool fetch writes", 1704070800, 6.5},
		"Yahoo":          {`{"chart":{"result":[{"meta":{"symbol":"X"},"timestamp":[1704067200,1704070800],"indicators":{"quote":[{"close":[5,6.5]}]}}]}}`, "writes times and prices", 1704070800, 6.5},
		"Garmin":         {"Time,Weight,Change,BMI,\n\" Jan 2, 2024\",\n6:49 AM,78.8 kg,0.1 kg,24.5,\n\" Jan 1, 2024\",\n6:30 PM,79.8 kg,0.1 kg,24.5,\n", "list of weights of Garmin", 1704133800, 79.8},
		"GHCN-Daily":     {"USW00094728201801TMAX   93  W  105  W-9999   \n", "fixed width (.dly)", 0, 0},
		"DATEV":          {"\"EXTF\";700;21;\"Buchungsstapel\"\n", "a day and a month and no year", 0, 0},
		"samples":        {"TIMESERIES IU_ANMO_00_BHZ_R, 12 samples, 20 sps, 2024-01-01T00:00:00.000000, SLIST, INTEGER, Counts\n1\t2\t3\n", "TSPAIR", 0, 0},
		"a page":         {"<table><tr><td>1</td></tr></table>", "saved as csv from a spreadsheet", 0, 0},
	} {
		_, _, err := readCSV(strings.NewReader(c.text), CSVOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m := command.FindStringSubmatch(err.Error())
		if c.x1 == 0 {
			continue
		}
		if m == nil {
			t.Errorf("%s: no command in %q", name, err)
			continue
		}
		if _, missing := exec.LookPath(m[1]); missing != nil {
			t.Logf("%s: %v", name, missing)
			continue
		}
		run := exec.Command("sh", "-c", strings.TrimSuffix(m[0], "FILE"))
		run.Stdin = strings.NewReader(c.text)
		text, err := run.Output()
		if err != nil {
			t.Errorf("%s: %s: %v", name, m[0], err)
			continue
		}
		s, _, err := readCSV(bytes.NewReader(text), CSVOptions{Seconds: true, NumberDates: true, PassLabels: true})
		if last := s.Len() - 1; err != nil || s.X[last] != c.x1 || s.Y[last] != c.y1 {
			t.Errorf("%s: %q is read as %v, %v", name, text, s, err)
		}
	}
}

// TestGzip reads a compressed table, and refuses one that was cut off.
func TestGzip(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte("\xef\xbb\xbft;y\n1;2,5\n2;3,5\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{packed.Len(): "", packed.Len() - 4: "was cut off", 4: "cannot be unpacked"} {
		s, _, err := readCSV(bytes.NewReader(packed.Bytes()[:n]), CSVOptions{})
		if want != "" {
			mustFail(t, err, want)
		} else if err != nil || s.Len() != 2 || s.Y[1] != 3.5 {
			t.Errorf("%v, %v", s, err)
		}
	}
}

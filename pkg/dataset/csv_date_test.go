package dataset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDateForms(t *testing.T) {
	for want, texts := range map[string][]string{
		"1990-04-01T00:00:00Z": {"1990Q2", "1990-Q2", "1990 Q2", "1990q2", "1990:Q2", "Q2 1990", "Q2-1990", "Q2/1990", "2Q1990", "2Q 1990",
			"1990M04", "1990-M4", "1990m4", "04/1990", "4/1990", "4-1990", "1990-04", "1990-4", "1990/04", "1990/4",
			"Apr 1990", "April 1990", "APR 1990", "apr-1990", "Apr. 1990", "1990 Apr", "1990-Apr", "April, 1990", "1990 April", "Apr1990"},
		"2000-01-31T00:00:00Z": {"2000-01-31", "2000-1-31", "2000/01/31", "2000/1/31", "2000.01.31", "31/1/2000", "31.01.2000", "31-1-2000", "1/31/2000",
			"31 Jan 2000", "31-Jan-2000", "31 January 2000", "January 31, 2000", "Jan 31 2000", "Monday, 31 January 2000", "Mon 31 Jan 2000", "31st January 2000",
			"31Jan2000", "2000-Jan-31", "2000 Jan 31", "2000-W05-1", "2000W051", "2000-W05", "2000 W5", "KW 5/2000", "KW05 2000", "2000-KW05", "31 de enero de 2000"},
		"2000-01-31T14:30:00Z": {"31/1/2000 14:30", "31/1/2000 2:30 PM", "1/31/2000 2:30:00 pm", "31.1.2000, 14:30:00", "2000/01/31 14:30Z", "31 Jan 2000 14:30", "Jan 31, 2000 2:30 p.m.",
			"Mon, 31 Jan 2000 14:30:00 GMT", "2000-1-31 14:30", "31/1/2000 16:30 +02:00", "31/1/2000T14:30"},
		"2017-01-01T00:00:00Z":   {"2016-12-31T23:59:60Z", "2016-12-31 23:59:60", "31/12/2016 23:59:60", "31 Dec 2016 23:59:60"},
		"2000-01-31T00:00:00.5Z": {"31/1/2000 0:00:00.5", "1/31/2000 12:00:00.5 AM"},
		"2004-12-27T00:00:00Z":   {"2004-W53"},
		"2000-05-05T00:00:00Z":   {"5/5/2000", "5.5.2000"},
		"1999-12-01T00:00:00Z":   {"Dec-99", "Dec 99", "Dec '99", "1-Dec-99", "01-Dec-99", "December-99"},
		"2000-01-31T10:00:00Z":   {"31-Jan-00 10:00", "31 Jan 00 10:00"},
		"2000-02-29T00:00:00Z":   {"2000-060", "2000D060", "2000-D60", "2000-060T00:00"},
		"2014-07-01T00:00:00Z":   {"Q3 '14", "Q3/14", "Q3-14", "3Q14", "2014-H2", "H2 2014", "2H2014", "2014-S2", "2. Halbjahr 2014", "2e semestre 2014"},
		"1999-01-01T00:00:00Z":   {"1999/00", "1999-00", "1999/2000", "1999-2000", "FY1999", "FY 1999/00"},
		"2000-10-09T00:00:00Z":   {"9. 10. 2000", "2000. 10. 9.", "9 października 2000", "9. oktober 2000", "41. KW 2000", "Woche 41/2000", "Montag, 9. Oktober 2000", "Mo 09.10.2000", "lundi 9 octobre 2000", "lun. 09/10/2000", "lunes, 9 de octubre de 2000", "Mon 10/9/2000", "Mon 2000-10-09"},
		"":                       {"1/12/99", "99-12-01", "", "2000", "2000.5", "1990Q5", "1990Q0", "Q1", "13/13/2000", "31/2/2000", "2000/13/01", "1/2-2000", "Foo 2000", "Ma 2000", "Jan 32, 2000", "31/1/00", "2005-W53", "2000M13", "2000-01-31x", "3/4/2000", "2001-366", "2001-000", "1999-2001", "1999/99", "Foo 09.10.2000", "Die 31.01.2000", "5 09.10.2000", "31/1/2000 25:00", "31/1/2000 13:00 PM", "31/1/2000 noon", strings.Repeat("1", 100)},
	} {
		for _, text := range texts {
			got, err := ParseDate(text)
			if want == "" {
				if err == nil {
					t.Errorf("%q is %v", text, got)
				}
				continue
			}
			if err != nil || got.Format(time.RFC3339Nano) != want {
				t.Errorf("%q is %v (%v), want %s", text, got, err, want)
			}
		}
	}
}

// TestMonthNames reads the names and the usual short forms of months in order, in as many languages as there are lines.
func TestMonthNames(t *testing.T) {
	for _, names := range []string{
		"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", "Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez", "janv févr mars avr mai juin juil août sept oct nov déc",
		"ene feb mar abr may jun jul ago sept oct nov dic", "gen feb mar apr mag giu lug ago set ott nov dic", "jan fev mar abr mai jun jul ago set out nov dez",
		"jan feb mrt apr mei jun jul aug sep okt nov dec", "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
		"sty lut mar kwi maj cze lip sie wrz paź lis gru", "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
		"leden únor březen duben květen červen červenec srpen září říjen listopad prosinec", "led úno bře dub kvě čvn čvc srp zář říj lis pro",
		"ledna února března dubna května června července srpna září října listopadu prosince", "január február marec apríl máj jún júl august september október november december",
		"jan febr márc ápr máj jún júl aug szept okt nov dec", "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
		"Oca Şub Mar Nis May Haz Tem Ağu Eyl Eki Kas Ara", "OCAK ŞUBAT MART NİSAN MAYIS HAZİRAN TEMMUZ AĞUSTOS EYLÜL EKİM KASIM ARALIK",
		"tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu", "tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu",
		"Ιαν Φεβ Μαρ Απρ Μαϊ Ιουν Ιουλ Αυγ Σεπ Οκτ Νοε Δεκ", "Ιανουάριος Φεβρουάριος Μάρτιος Απρίλιος Μάιος Ιούνιος Ιούλιος Αύγουστος Σεπτέμβριος Οκτώβριος Νοέμβριος Δεκέμβριος",
		"січень лютий березень квітень травень червень липень серпень вересень жовтень листопад грудень", "янв фев мар апр май июн июл авг сен окт ноя дек",
		"януари февруари март април май юни юли август септември октомври ноември декември",
		"Januari Februari Maret April Mei Juni Juli Agustus September Oktober November Desember",
		"Oca Þub Mar Nis May Haz Tem Aðu Eyl Eki Kas Ara", "styczeñ luty marzec kwiecieñ maj czerwiec lipiec sierpieñ wrzesieñ pa\u009fdziernik listopad grudzieñ", // of code pages
	} {
		for i, name := range strings.Fields(names) {
			if got := monthOf(name); got != i+1 {
				t.Errorf("%s is month %d, want %d", name, got, i+1)
			}
		}
	}
	for _, name := range []string{"ma", "juin juil", "čer", "x", "listo2", "marr"} {
		if got := monthOf(name); got != 0 {
			t.Errorf("%s is month %d", name, got)
		}
	}
}

// TestOtherCalendars refuses years of the Buddhist, the Persian and the Islamic calendar, unless they are asked for, and reads Japanese eras.
func TestOtherCalendars(t *testing.T) {
	for text, want := range map[string]string{
		"2564-03-01": "Buddhist calendar: subtract 543", "01/03/2564": "Buddhist", "13/03/2564": "Buddhist", "มี.ค. 2564": "", "2564-03": "Buddhist", "1400/01/13": "Persian or Islamic",
		"1442-07-13": "Persian", "1400-01": "", "1500-01-01": "", "2399-12-31": "",
	} {
		_, err := ReadCSV(strings.NewReader("t,y\n"+text+",1\n"), CSVOptions{})
		if want != "" {
			mustFail(t, err, want)
		} else if err != nil && strings.Contains(err.Error(), "calendar") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ReadCSV(strings.NewReader("t,y\n2564-03-01,1\n"), CSVOptions{Time: TimeISO}); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{"令和元年5月1日": "2019-05-01", "令和3年3月": "2021-03-01", "平成31年4月30日": "2019-04-30", "昭和64年1月7日": "1989-01-07"} {
		if got, err := ParseDate(text); err != nil || got.Format(time.DateOnly) != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
}

// TestDateColumns reads every form from whole columns, in memory and as a stream.
func TestDateColumns(t *testing.T) {
	const day = 86400.0
	for name, test := range map[string]struct {
		dates string // separated by |
		opt   CSVOptions
		want  []float64
		time  TimeFormat
	}{
		"trimestres":                         {"1970-T1|1970-T2|1970-T3", CSVOptions{}, []float64{0, 90 * day, 181 * day}, TimeQuarter},
		"quarters":                           {"1970Q1|1970Q2|1970Q3", CSVOptions{}, []float64{0, 90 * day, 181 * day}, TimeQuarter},
		"months by name":                     {"Jan 1970|Feb 1970|March 1970", CSVOptions{}, []float64{0, 31 * day, 59 * day}, TimeNamed},
		"day first, by the third":            {"1/2/1970|3/2/1970|13/2/1970", CSVOptions{}, []float64{31 * day, 33 * day, 43 * day}, TimeDMY},
		"month first, by the third":          {"1/2/1970|1/3/1970|1/13/1970", CSVOptions{}, []float64{day, 2 * day, 12 * day}, TimeMDY},
		"day first, told":                    {"1/2/1970|3/2/1970", CSVOptions{Time: TimeDMY}, []float64{31 * day, 33 * day}, TimeDMY},
		"month first, told":                  {"1/2/1970|1/3/1970", CSVOptions{Time: TimeMDY}, []float64{day, 2 * day}, TimeMDY},
		"first of the year":                  {"1/1/1970|1/1/1971|1/1/1972", CSVOptions{}, []float64{0, 365 * day, 730 * day}, TimeDMY},
		"points and a time":                  {"1.2.1970 06:00|13.2.1970 06:00", CSVOptions{}, []float64{31.25 * day, 43.25 * day}, TimeDMY},
		"months without leading zero":        {"1970-1|1970-10|1970-11", CSVOptions{}, []float64{0, 273 * day, 304 * day}, TimeISO},
		"weeks":                              {"1970-W02|1970-W03", CSVOptions{}, []float64{4 * day, 11 * day}, TimeWeek},
		"year first":                         {"1970/01/02|1970/1/3", CSVOptions{}, []float64{day, 2 * day}, TimeYMD},
		"commas within":                      {`"Jan 2, 1970"|"Jan 3, 1970"`, CSVOptions{}, []float64{day, 2 * day}, TimeNamed},
		"two digits, day first":              {"31/1/70|1/2/70", CSVOptions{}, []float64{30 * day, 31 * day}, TimeDMY},
		"two digits, month first":            {"1/30/70|1/31/70", CSVOptions{}, []float64{29 * day, 30 * day}, TimeMDY},
		"two digits, points":                 {"01.02.70|02.02.70", CSVOptions{}, []float64{31 * day, 32 * day}, TimeDMY},
		"two digits, back and forth":         {"29/01/70|30/01/70|02/02/70|03/02/70", CSVOptions{}, []float64{28 * day, 29 * day, 32 * day, 33 * day}, TimeDMY},
		"two digits, by steps":               {"01/01/70|01/04/70|01/07/70|01/10/70|01/01/71", CSVOptions{}, []float64{0, 90 * day, 181 * day, 273 * day, 365 * day}, TimeDMY},
		"two digits, told":                   {"01/02/70|02/02/70", CSVOptions{Time: TimeMDY}, []float64{day, 32 * day}, TimeMDY},
		"weekdays tell the order":            {"Fri 1/2/1970|Fri 2/6/1970", CSVOptions{}, []float64{day, 36 * day}, TimeMDY},
		"days of years":                      {"1970-001|1970-365|1971-001", CSVOptions{}, []float64{0, 364 * day, 365 * day}, TimeISO},
		"days of years as numbers":           {"1973364|1973365|1974001", CSVOptions{NumberDates: true}, []float64{1459 * day, 1460 * day, 1461 * day}, TimeYYYYDDD},
		"half-years":                         {"1970-H1|1970-H2", CSVOptions{}, []float64{0, 181 * day}, TimeHalf},
		"fiscal years":                       {"1970/71|1971/72|1972/73", CSVOptions{}, []float64{0, 365 * day, 730 * day}, TimeFiscal},
		"fiscal years like months":           {"2001-02|2002-03|2003-04", CSVOptions{}, []float64{11323 * day, 11688 * day, 12053 * day}, TimeFiscal},
		"fiscal years, one that is no month": {"2011/12|2012/13", CSVOptions{}, []float64{14975 * day, 15340 * day}, TimeFiscal},
		"months like a fiscal year":          {"2000-01|2000-02|2000-03", CSVOptions{}, []float64{10957 * day, 10988 * day, 11017 * day}, TimeISO},
		"one month like two years":           {"2011/12|2012/01", CSVOptions{}, []float64{15309 * day, 15340 * day}, TimeYMD},
		"slashes, quoted":                    {`"1/2/1970"|"13/2/1970"`, CSVOptions{}, []float64{31 * day, 43 * day}, TimeDMY},
	} {
		t.Run(name, func(t *testing.T) {
			text := "t,y\n"
			for i, d := range strings.Split(test.dates, "|") {
				text += fmt.Sprintf("%s,%d\n", d, i)
			}
			test.opt.Seconds = true
			s, rep, err := readCSV(strings.NewReader(text), test.opt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.X); diff != "" || s.XUnit != unixSeconds || rep.Time != test.time {
				t.Errorf("unit %q, %q (-want +got):\n%s", s.XUnit, rep.Time, diff)
			}
			of, _, bad, rep, err := streamed(strings.NewReader(text), test.opt, 1, blockSize)
			if err != nil || len(bad) > 0 || rep.Time != test.time {
				t.Fatalf("%q, %v, %v", rep.Time, bad, err)
			}
			if diff := cmp.Diff(test.want, of.X); diff != "" {
				t.Errorf("streamed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDateColumnErrors(t *testing.T) {
	for name, test := range map[string]struct {
		dates string
		opt   CSVOptions
		want  []string
	}{
		"nothing decides":           {"1/2/1970|2/2/1970|3/2/1970", CSVOptions{}, []string{"line 2, column 1", `"1/2/1970" may be 1 February 1970 or 2 January 1970`, `CSVOptions.Time: "dmy"`, `CSVOptions.Time: "mdy"`}},
		"both decide":               {"13/2/1970|2/13/1970", CSVOptions{}, []string{"line 3", `"2/13/1970" is not a date written as 31/1/2000`, "one way"}},
		"a name among quarters":     {"1970Q1|Jan 1970", CSVOptions{}, []string{"line 3", `"Jan 1970" is not a date written as 2000Q1, as the first row is`, "one way"}},
		"a quarter among ISO dates": {"1970-01-01|1970Q2", CSVOptions{}, []string{"line 3", `"1970Q2" is not an ISO date, as the first row is`}},
		"a quarter among slashes":   {"1/2/1970|1970Q2", CSVOptions{}, []string{"line 3", `"1970Q2" is not a date written as 31/1/2000`}},
		"a number among quarters":   {"1970Q1|1970.25", CSVOptions{}, []string{"line 3", `"1970.25" is not a date written as 2000Q1, as the first row is`}},
		"a quarter among numbers":   {"1970|1970Q2", CSVOptions{}, []string{"line 3", `"1970Q2" is not a finite number, as the first row is`}},
		"told otherwise":            {"1970Q1|1970Q2", CSVOptions{Time: TimeMDY}, []string{"line 2", `"1970Q1" is not a date written as 1/31/2000 (it is one written as 2000Q1)`}},
		"two digits, in any order":  {"01/02/03|02/02/03", CSVOptions{}, []string{"line 2", `"01/02/03" may be 1 February 2003, 2 January 2003 or 3 February 2001`, `"dmy"`, "four digits"}},
		"two digits, years first":   {"21/01/04|21/01/05|21/01/06|21/01/07|21/01/08", CSVOptions{}, []string{`"21/01/04" may be 21 January 2004 or 4 January 2021`, "four digits"}},
		"two digits, only a year":   {"99/12/31|00/01/01", CSVOptions{}, []string{"line 2", `"99/12/31"`, "four digits"}},
		"a day of no week":          {"Mon 1/2/1970|Tue 1/3/1970", CSVOptions{}, []string{"line 2", `"Mon 1/2/1970"`}},
		"a name and a day":          {"Jan 28|Jan 29|Jan 30|Jan 31|Feb 01", CSVOptions{}, []string{"days without a year", "four digits"}},
		"across the centuries":      {"Dec-68|Jan-69", CSVOptions{}, []string{"from 1969 to 2068", "four digits"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := "t,y\n"
			for i, d := range strings.Split(test.dates, "|") {
				text += fmt.Sprintf("%s,%d\n", d, i)
			}
			_, err := ReadCSV(strings.NewReader(text), test.opt)
			mustFail(t, err, test.want...)
		})
	}
	for name, text := range map[string]string{"plain": "t,y\n1/2/1970,1\n2/2/1970,2\n", "quoted": "t,y\n1/2/1970,1\n\"2/2/1970\",2\n"} {
		_, _, _, _, err := streamed(strings.NewReader(text), CSVOptions{}, 1, blockSize)
		if err == nil || !strings.Contains(err.Error(), `CSVOptions.Time: "dmy"`) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s, streamed: %v", name, err)
		}
	}
}

// TestNumbersOfRows: 2019001, 2019002, … are days of a year unless the name of their column says that they count the rows.
func TestNumbersOfRows(t *testing.T) {
	for name, want := range map[string]TimeFormat{"no": TimeNumber, "x": TimeYYYYDDD} {
		_, rep, err := readCSV(strings.NewReader(name+",y\n2019001,5\n2019002,6\n2019003,7\n"), CSVOptions{NumberDates: true})
		if err != nil || rep.Time != want {
			t.Errorf("%s: %q, %v", name, rep.Time, err)
		}
	}
}

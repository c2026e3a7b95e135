package dataset

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// file is a csv file that an office, a logger or a person writes, with the values that are read from it, or the words of its
// refusal.
type file struct {
	name, text string
	opt        CSVOptions
	x0, x1     string // the first and the last x: dates as 2015-01-31 14:30, or numbers
	y0, y1     float64
	unit       string
	refused    []string // texts of the error; nil for a file that is read
}

// rowsOf has a row for each i.
func rowsOf(n int, row func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(row(i) + "\n")
	}
	return b.String()
}

// alwaysRead are the kinds of files that every release must read, or refuse with advice on what to type.
var alwaysRead = []file{
	{name: "thousands in quotes", text: "date,sales\n2015-01-01,\"1,025.10\"\n2015-02-01,980.00\n", x0: "2015-01-01", x1: "2015-02-01", y0: 1025.1, y1: 980},
	{name: "whole thousands in quotes", text: "date,sales\n2015-01-01,\"1,025\"\n2015-02-01,980\n", x0: "2015-01-01", x1: "2015-02-01", y0: 1025, y1: 980},
	{name: "per cent", text: "date,rate\n2015-01-01,10.51%\n2015-02-01,9%\n", x0: "2015-01-01", x1: "2015-02-01", y0: 10.51, y1: 9, unit: "%"},
	{name: "a German export", text: "Datum;Umsatz\r\n01.01.2015;1.025,10\r\n02.01.2015;980,00\r\n", x0: "2015-01-01", x1: "2015-01-02", y0: 1025.1, y1: 980},
	{name: "a French export", text: "Date;Montant\r\n13/01/2015;1 025,10 \x80\r\n14/01/2015;980,00 \x80\r\n", x0: "2015-01-13", x1: "2015-01-14", y0: 1025.1, y1: 980, unit: "€"},
	{name: "--missing -127", text: "t,y\n0,20.5\n1,-127.0\n2,-127\n3,21\n", opt: CSVOptions{Missing: []string{"-127"}}, x0: "0", x1: "3", y0: 20.5, y1: 21},
	{name: "UTF-16 of a spreadsheet", text: testkit.UTF16("\ufeffDatum\tWert\r\n01.01.2015\t5,5\r\n02.01.2015\t6,25\r\n", binary.LittleEndian), x0: "2015-01-01", x1: "2015-01-02", y0: 5.5, y1: 6.25},
	{name: "months as decimal years", text: "year,y\n2015.0417,5\n2015.125,6\n2015.2083,7\n", x0: "2015.0417", x1: "2015.2083", y0: 5, y1: 7},
	{name: "two digits of the year beside a month", text: "month,y\nDec-99,5\nJan-00,6\n", x0: "1999-12-01", x1: "2000-01-01", y0: 5, y1: 6},
	{name: "a long table", text: "week,shop,sold\n2015-01-05,Aachen,5\n2015-01-05,Bonn,6\n", refused: []string{`column 2 ("shop"): begins with "Aachen"`, "CSVOptions.Y", `CSVOptions.Keys: "shop"`}},
	{name: "a long table with its keys", text: "week,shop,sold\n2015-01-05,Aachen,5\n2015-01-05,Bonn,6\n", opt: CSVOptions{Y: "sold", Keys: []string{"shop"}}, x0: "2015-01-05", x1: "2015-01-05", y0: 5, y1: 6},
}

// officeFiles were collected before the reader was tried on them.
var officeFiles = []file{
	// Loggers.
	{name: "Campbell, header alone", text: "TIMESTAMP,Temp,RECORD\n\"2015-01-31 14:30:00\",5.5,1\n\"2015-01-31 14:40:00\",NAN,2\n\"2015-01-31 14:50:00\",6.5,3\n", x0: "2015-01-31 14:30", x1: "2015-01-31 14:50", y0: 5.5, y1: 6.5},
	{name: "Campbell, four lines above", text: "\"TOA5\",\"Site\",\"CR1000\",\"1\"\n\"TIMESTAMP\",\"RECORD\",\"Temp\",\"RH\",\"P\"\n\"TS\",\"RN\",\"C\",\"%\",\"hPa\"\n\"2015-01-31 14:30:00\",1,5.5,80,1000\n\"2015-01-31 14:40:00\",2,5.5,80,1000\n", refused: []string{"line 1", "tail -n +2 FILE"}},
	{name: "HOBO", text: "#,\"Date Time\",\"Temp\"\n1,01/13/15 02:00:00 PM,5.5\n2,01/13/15 03:00:00 PM,6\n", refused: []string{"01/13/15", "four digits"}},
	{name: "AM and PM", text: "Date,T\n1/13/2015 12:00 AM,5.5\n1/13/2015 2:30 PM,6.5\n", x0: "2015-01-13", x1: "2015-01-13 14:30", y0: 5.5, y1: 6.5},
	{name: "Unix seconds", text: "t,y\n1420070400,5\n1420074000,6\n", x0: "2015-01-01", x1: "2015-01-01 01:00", y0: 5, y1: 6},
	{name: "Unix milliseconds of a browser", text: "ts;y\n1420070400000;5,5\n1420074000000;6,5\n", x0: "2015-01-01", x1: "2015-01-01 01:00", y0: 5.5, y1: 6.5},
	{name: "seconds of an experiment", text: "# a run\n# t y\n0.0 5.5\n0.1 6.5\n", x0: "0", x1: "0.1", y0: 5.5, y1: 6.5},
	{name: "ISO with a zone", text: "time,y\n2015-01-01T01:00:00+01:00,5\n2015-01-01T02:00:00+0100,6\n", x0: "2015-01-01", x1: "2015-01-01 01:00", y0: 5, y1: 6},
	{name: "ISO, basic form", text: "time,y\n20150101T000000Z,5\n20150101T123000Z,6\n", x0: "2015-01-01", x1: "2015-01-01 12:30", y0: 5, y1: 6},
	{name: "hours of the DWD", text: "STATIONS_ID;MESS_DATUM;  QN_9;TT_TU;eor\n44;2015010100;3;5.5;eor\n44;2015010101;3;-999;eor\n44;2015010102;3;6.5;eor\n", opt: CSVOptions{X: "MESS_DATUM", Y: "TT_TU", Missing: []string{"-999"}}, x0: "2015-01-01", x1: "2015-01-01 02:00", y0: 5.5, y1: 6.5},
	{name: "commas of a data base", text: "2015-01-01 00:00:00.000,5\n2015-01-01 00:00:01.500,6\n", x0: "2015-01-01", x1: "2015-01-01 00:00:01.5", y0: 5, y1: 6},
	{name: "date and time in two columns", text: "Date;Time;T\n31.01.2015;14:30;5,5\n31.01.2015;14:40;6,5\n", refused: []string{"spread over", "Time", "2024-01-31 14:30"}},
	{name: "date and hour in two columns", text: "date,hour,load\n2015-01-01,1,5\n2015-01-01,2,6\n2015-01-02,1,7\n", opt: CSVOptions{Y: "load"}, refused: []string{"spread over", "hour"}},
	// Offices.
	{name: "year and month in two columns", text: "year,month,v\n2015,1,5\n2015,2,6\n2015,3,7\n", refused: []string{"spread over", "month", "2024-01"}},
	{name: "SILSO without a header", text: rowsOf(24, func(i int) string {
		return fmt.Sprintf("%d;%02d;%.3f;%d.5", 2015+i/12, i%12+1, 2015.042+float64(i)/12, i)
	}), refused: []string{"spread over"}},
	{name: "SILSO by its columns", text: rowsOf(24, func(i int) string {
		return fmt.Sprintf("%d;%02d;%.3f;%d.5", 2015+i/12, i%12+1, 2015.042+float64(i)/12, i)
	}), opt: CSVOptions{X: "3", Y: "4", DecimalPoint: true}, x0: "2015.042", x1: "2016.959", y0: 0.5, y1: 23.5},
	{name: "FRED", text: "observation_date,GDP\n2015-01-01,5.5\n2015-04-01,.\n2015-07-01,6.5\n", refused: []string{"line 3", `"."`, `CSVOptions.Missing: "."`}},
	{name: "FRED, told", text: "observation_date,GDP\n2015-01-01,5.5\n2015-04-01,.\n2015-07-01,6.5\n", opt: CSVOptions{Missing: []string{"."}}, x0: "2015-01-01", x1: "2015-07-01", y0: 5.5, y1: 6.5},
	{name: "Eurostat, across", text: "geo,2015,2016,2017\nDE,5,6,7\n", refused: []string{"a column for each time", "melt", "2015"}},
	{name: "months across", text: "Year,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec\n2015,1,2,3,4,5,6,7,8,9,10,11,12\n", refused: []string{"a column for each time", "melt", "Year"}},
	{name: "quarters", text: "quarter,gdp\n2015Q1,5\n2015Q2,6\n", x0: "2015-01-01", x1: "2015-04-01", y0: 5, y1: 6},
	{name: "quarters, the year last", text: "q;gdp\nQ4 2015;5\nQ1 2016;6\n", x0: "2015-10-01", x1: "2016-01-01", y0: 5, y1: 6},
	{name: "ISO weeks", text: "week,n\n2015-W01,5\n2015-W02,6\n", x0: "2014-12-29", x1: "2015-01-05", y0: 5, y1: 6},
	{name: "a title above", text: "Consumption of gas,,\nSource: Office,,\nDate,Gas,Oil\n2015-01-01,5,1\n2015-01-02,6,1\n2015-01-03,7,1\n", refused: []string{"line 1", "tail -n +3 FILE"}},
	{name: "merged years", text: "Year,Month,v\n2015,Jan,5\n,Feb,6\n,Mar,7\n,Apr,8\n", opt: CSVOptions{Y: "v"}, refused: []string{"merged", "ffill"}},
	{name: "a source below", text: "date,v\n2015-01-01,5\n2015-01-02,6\nSource: Office\n", refused: []string{"line 4", "remove the line"}},
	{name: "French months", text: "mois;v\njanv. 2015;5,5\nfévr. 2015;6,5\nao\u00fbt 2015;7,5\n", x0: "2015-01-01", x1: "2015-08-01", y0: 5.5, y1: 7.5},
	{name: "German months in Windows-1252", text: "Monat;v\n1. M\xe4rz 2015;5,5\n1. Mai 2015;6,5\n", x0: "2015-03-01", x1: "2015-05-01", y0: 5.5, y1: 6.5},
	{name: "Spanish days", text: "fecha;v\n31 de enero de 2015;5,5\n1 de diciembre de 2015;6,5\n", x0: "2015-01-31", x1: "2015-12-01", y0: 5.5, y1: 6.5},
	{name: "months written 01/2015", text: "t,v\n01/2015,5\n12/2015,6\n", x0: "2015-01-01", x1: "2015-12-01", y0: 5, y1: 6},
	{name: "months written 201501", text: "t,v\n201512,5\n201601,6\n201602,7\n", x0: "2015-12-01", x1: "2016-02-01", y0: 5, y1: 7},
	{name: "fiscal years", text: "year,v\n2001/02,5\n2002/03,6\n2003/04,7\n", refused: []string{"2001/02", "fiscal"}},
	{name: "fiscal years that are no months", text: "year,v\n1998/99,5\n1999/00,6\n2000/01,7\n", refused: []string{"2000/01", "fiscal", "first day"}},
	{name: "days of a spreadsheet", text: "date,v\n42005,5\n42006,6\n42007,7\n", refused: []string{"spreadsheet", "1899-12-30"}},
	{name: "years of two digits", text: "date,v\n31.12.14,5\n01.01.15,6\n", refused: []string{"31.12.14", "four digits"}},
	{name: "American dates that prove it", text: "date,v\n1/2/2015,5\n1/13/2015,6\n", x0: "2015-01-02", x1: "2015-01-13", y0: 5, y1: 6},
	{name: "dates that prove nothing", text: "date,v\n1/2/2015,5\n1/3/2015,6\n", refused: []string{"line 2", `"1/2/2015"`, `CSVOptions.Time: "dmy"`, `CSVOptions.Time: "mdy"`}},
	{name: "German thousands that prove nothing", text: "Datum;n\n01.01.2015;1.025\n02.01.2015;980\n", refused: []string{`"1.025" may be 1.025 or 1025`, "CSVOptions.DecimalComma"}},
	{name: "three decimals in quotes", text: "t,y\n1,\"1,234\"\n2,\"2,345\"\n", refused: []string{`"1,234" may be 1234 or 1.234`, "CSVOptions.DecimalPoint"}},
	{name: "a bank", text: "Buchung;Betrag;Text\n02.01.2015;-1.234,56;Miete\n03.01.2015;99,00;\"Lohn; Januar\"\n", x0: "2015-01-02", x1: "2015-01-03", y0: -1234.56, y1: 99},
	{name: "Swiss", text: "Datum;CHF\n02.01.2015;1'234.50\n03.01.2015;99.00\n", x0: "2015-01-02", x1: "2015-01-03", y0: 1234.5, y1: 99},
	{name: "dollars", text: "date,paid\n2015-01-02,\"$1,234.50\"\n2015-01-03,-$99.00\n", x0: "2015-01-02", x1: "2015-01-03", y0: 1234.5, y1: -99, unit: "$"},
	{name: "accounts in parentheses", text: "date,paid\n2015-01-02,1234.50\n2015-01-03,(99.00)\n", refused: []string{"line 3", `"(99.00)"`, "-5"}},
	{name: "Excel's first line", text: "sep=;\r\nt;y\r\n0;1,5\r\n1;2,5\r\n", refused: []string{"line 1", "tail -n +2 FILE"}},
	{name: "errors of Excel", text: "t;y\n0;1,5\n1;#NV\n2;2,5\n", refused: []string{"line 3", `CSVOptions.Missing: "#NV"`}},
	{name: "pandas with its index", text: ",date,y\n0,2015-01-01,5\n1,2015-01-02,6\n", refused: []string{`column 2 ("date")`, `CSVOptions.X and CSVOptions.Y choose`}},
	{name: "R without the first name", text: "\"date\",\"y\"\n\"1\",2015-01-01,5\n\"2\",2015-01-02,6\n\"3\",2015-01-03,7\n", refused: []string{"2 fields", "sed"}},
	{name: "gzip", text: testkit.Gzip("t,y\n0,1.5\n1,2.5\n"), x0: "0", x1: "1", y0: 1.5, y1: 2.5},
	{name: "old Mac", text: "t,y\r0,1.5\r1,2.5\r", refused: []string{"tr '\\r' '\\n'"}},
	{name: "Thai years", text: "date,y\n2558-01-01,5\n2558-01-02,6\n", refused: []string{"2558-01-01", "calendar"}},
	{name: "Japanese dates", text: "date,y\n2015年1月1日,5\n2015年1月2日,6\n", refused: []string{"an era", "2024-07-01"}},
	{name: "zones by name", text: "t,y\n2015-01-01 00:00 CET,5\n2015-01-01 01:00 CET,6\n", refused: []string{"CET", "+02:00"}},
	{name: "below a limit", text: "date,c\n2015-01-01,5\n2015-01-02,<0.5\n", refused: []string{"line 3", `"<0.5"`, "limit"}},
	{name: "several values in bars", text: "t|a|b\n0|1.5|9\n1|2.5|8\n", opt: CSVOptions{Y: "b"}, x0: "0", x1: "1", y0: 9, y1: 8},
	{name: "blanks of fixed width", text: "  year    tmax \n  2015     5.5 \n  2016    12.5 \n", x0: "2015", x1: "2016", y0: 5.5, y1: 12.5},
	{name: "a header twice", text: "t,y\n0,1.5\nt,y\n1,2.5\n", refused: []string{"line 3", `"t"`}},
	{name: "a unit beside each value", text: "Time,temp\n2015-01-01,21.5 °C\n2015-01-02,21.6 °C\n", refused: []string{`"21.5 °C"`, "a unit or a flag"}},
	{name: "ordinal dates", text: "d,v\n2015364,5\n2015365,6\n2016001,7\n", x0: "2015-12-30", x1: "2016-01-01", y0: 5, y1: 7},
	{name: "stores by number, across", text: rowsOf(41, func(i int) string {
		if i == 0 {
			return "date,store,sold"
		}
		return fmt.Sprintf("2015-01-%02d,%d,%d", 1+(i-1)/4, 1+(i-1)%4, i)
	}), opt: CSVOptions{Y: "sold", Keys: []string{"store"}}, x0: "2015-01-01", x1: "2015-01-10", y0: 1, y1: 40},
	{name: "weekdays", text: "d,v\n\"Monday, May 4, 2015\",5\n\"Tuesday, May 5, 2015\",6\n", refused: []string{"Monday", "days of the week"}},
	{name: "quotation marks that csv has not", text: "d,v\n'2015-01-01','5'\n'2015-01-02','6'\n", refused: []string{"'2015-01-01'", "sed"}},
	{name: "names of zones", text: "t,v\n2015-01-01 12:00 Europe/Berlin,5\n2015-01-02 12:00 Europe/Berlin,6\n", refused: []string{"Europe/Berlin", "+02:00"}},
	{name: "half-years", text: "p,v\n2015H1,5\n2015H2,6\n", refused: []string{"2015H1", "half-year", "2024-07-01"}},
	{name: "hours to 24:00", text: "t,v\n2015-01-01 23:00,5\n2015-01-01 24:00,6\n", x0: "2015-01-01 23:00", x1: "2015-01-02", y0: 5, y1: 6},
	{name: "days without blanks", text: "d,v\n01MAY2015,5\n02MAY2015,6\n", x0: "2015-05-01", x1: "2015-05-02", y0: 5, y1: 6},
	{name: "points before three digits, between tabs", text: "t\tv\n0\t20.125\n1\t21.375\n", refused: []string{`"20.125" may be 20.125 or 20125`, "CSVOptions.DecimalPoint"}},
	{name: "a row of units", text: "time,temp\ns,degC\n0,5\n1,6\n", refused: []string{"line 2", `"s"`}},
	{name: "an infinite value", text: "t,v\n0,5\n1,inf\n", refused: []string{"line 3", `CSVOptions.Missing: "inf"`}},
	{name: "quarters in French", text: "p;v\n2015-T1;5\n2015-T2;6\n", refused: []string{"2015-T1"}},
	{name: "no header, and the first row lacks its last value", text: "2015-01-01;5;\n2015-01-02;6;1\n2015-01-03;7;2\n", x0: "2015-01-01", x1: "2015-01-03", y0: 5, y1: 7},
	{name: "quarters of Stata", text: "q,gdp\n1990q1,5\n1990q2,6\n", x0: "1990-01-01", x1: "1990-04-01", y0: 5, y1: 6},
	{name: "a station before the day", text: "stn;time;tre200d0\nBAS;20240105;5.5\nBAS;20240106;6.5\nBAS;20240107;7.5\n", refused: []string{`column 1 ("stn"): begins with "BAS"`}},
	{name: "years and weeks as numbers", text: "t,v\n202351,5\n202352,6\n202401,7\n202402,8\n", refused: []string{`"202351" may be a year and a week`, `\1-W\2`}},
	{name: "EasyLog: a serial number in the first row", text: "Kitchen,Time,Celsius(\xb0C),Serial\n1,2024-01-05 00:00:00,20.5,0100\n2,2024-01-05 00:10:00,20.6\n3,2024-01-05 00:20:00,20.7\n", opt: CSVOptions{X: "Time", Y: "3"}, refused: []string{"line 3", "3 instead of 4", "cut -d',' -f1-3 FILE"}},
	{name: "a search engine's title", text: "Category: All\n\nWeek,flu\n2024-01-07,5\n2024-01-14,6\n2024-01-21,7\n", refused: []string{"line 1", "has 1 field,", "tail -n +3 FILE"}},
	{name: "an oscilloscope", text: "Source,CH1\nUnits,s,V\n0.000000E+00,5.5E-01\n1.000000E-06,6.5E-01\n", refused: []string{"two lines stand above the values", "sed 2d FILE"}},
	{name: "JSON", text: "[{\"t\": 0, \"y\": 1}]", refused: []string{"JSON", "read_json"}},
}

// decimalSigns are two values in a column between separators, with other text that may show how they are written. They give y0
// and y1, or a refusal.
var decimalSigns = []file{
	// A point before three digits in all cells.
	{name: "integers with points between semicolons", text: "Jahr;n\n2015;1.234\n2016;5.678\n"},
	{name: "round thousands between semicolons", text: "Jahr;n\n2015;1.000\n2016;2.000\n"},
	{name: "a decimal comma beside them", text: "Jahr;n;p\n2015;1.234;1,5\n2016;5.678;2,5\n"},
	{name: "a decimal point beside them", text: "Jahr;n;p\n2015;1.234;1.5\n2016;5.678;2.5\n"},
	{name: "both signs beside them", text: "Jahr;n;p;q\n2015;1.234;1.5;1,5\n2016;5.678;2.5;2,5\n"},
	{name: "a clock with a point beside them, and dates with points", text: "Tag;n;um\n01.01.2015;1.234;12.30\n02.01.2015;5.678;14.45\n"},
	{name: "a clock with a point beside years", text: "Jahr;n;um\n2015;1.234;12.30\n2016;5.678;14.45\n"},
	{name: "x with a decimal comma", text: "t;n\n0,5;1.234\n1,5;5.678\n"},
	{name: "a decimal comma in one row between commas", text: "year,n\n2015,1.234\n2016,\"5.678,9\"\n", refused: []string{"another decimal sign"}},
	{name: "three decimals between commas", text: "year,n\n2015,1.234\n2016,5.678\n", y0: 1.234, y1: 5.678},
	{name: "three decimals between tabs", text: "year\tn\n2015\t1.234\n2016\t5.678\n"},
	{name: "three decimals between bars", text: "year|n\n2015|1.234\n2016|5.678\n"},
	{name: "three decimals between blanks", text: "year n\n2015 1.234\n2016 5.678\n"},
	{name: "a leading zero between blanks", text: "year n\n2015 0.234\n2016 5.678\n", y0: 0.234, y1: 5.678},
	{name: "four digits before the point", text: "year\tn\n2015\t1234.567\n2016\t5.678\n", y0: 1234.567, y1: 5.678},
	{name: "two marks", text: "year\tn\n2015\t1.234.567\n2016\t5.678\n", y0: 1234567, y1: 5678},
	{name: "the option", text: "Jahr;n\n2015;1.234\n2016;5.678\n", opt: CSVOptions{DecimalComma: true}, y0: 1234, y1: 5678},
	// A comma before three digits in all cells.
	{name: "commas between semicolons", text: "Jahr;n\n2015;1,234\n2016;5,678\n", y0: 1.234, y1: 5.678},
	{name: "commas between semicolons beside points", text: "year;n;p\n2015;1,234;1.5\n2016;5,678;2.5\n"},
	{name: "commas and small numbers between semicolons", text: "Jahr;n\n2015;1,234\n2016;987\n"},
	{name: "commas in quotes", text: "year,n\n2015,\"1,234\"\n2016,\"5,678\"\n"},
	{name: "commas in quotes beside points", text: "year,n,p\n2015,\"1,234\",0.5\n2016,\"5,678\",1.5\n", y0: 1234, y1: 5678},
	{name: "commas in quotes and small numbers", text: "year,n\n2015,\"1,234\"\n2016,987\n", y0: 1234, y1: 987},
	{name: "commas between tabs", text: "year\tn\n2015\t1,234\n2016\t5,678\n"},
	// Files in which a cell shows, or should show, which mark is the decimal sign.
	{name: "one decimal", text: "year\tn\n2015\t1,2\n2016\t5,678\n", y0: 1.2, y1: 5.678},
	{name: "both marks", text: "year\tn\n2015\t1,234.5\n2016\t5,678\n", y0: 1234.5, y1: 5678},
	{name: "both marks, German", text: "Jahr;n\n2015;1.234,5\n2016;5.678\n", y0: 1234.5, y1: 5678},
	{name: "apostrophes and points", text: "Jahr;n\n2015;1'234\n2016;5.678\n"},
	{name: "blanks before thousands", text: "Jahr;n\n2015;1 234\n2016;5 678\n", y0: 1234, y1: 5678},
	{name: "a sign that a later cell contradicts", text: "year\tn\n2015\t1,2\n2016\t5.6\n", refused: []string{"another decimal sign"}},
}

// TestDecimalSigns: a number with a mark before three digits is read if its column or the file shows what the mark means, and
// else refused with advice on what to type, both as a whole and as a stream.
func TestDecimalSigns(t *testing.T) {
	for _, f := range decimalSigns {
		s, _, err := readCSV(strings.NewReader(f.text), f.opt)
		if f.y0 == 0 {
			want := append(f.refused, "CSVOptions.DecimalPoint", "CSVOptions.DecimalComma")
			t.Run(f.name, func(t *testing.T) { mustFail(t, err, want...) })
			continue
		}
		var y []float64
		if _, err := StreamCSV(strings.NewReader(f.text), f.opt, 1, func(_ int, b *CSVBlock) error {
			y = append(y, b.Y...)
			return nil
		}); err != nil {
			t.Errorf("%s: as a stream: %v", f.name, err)
		}
		if want := []float64{f.y0, f.y1}; err != nil || !slices.Equal(s.Y, want) || !slices.Equal(y, want) {
			t.Errorf("%s: %v and %v, %v", f.name, s.Y, y, err)
		}
	}
}

func TestOfficeFiles(t *testing.T) {
	for _, f := range append(alwaysRead, officeFiles...) {
		t.Run(f.name, func(t *testing.T) {
			opt := f.opt
			opt.SkipMissing, opt.Seconds, opt.NumberDates = true, true, true
			s, rep, err := readCSV(strings.NewReader(f.text), opt)
			if f.refused != nil {
				mustFail(t, err, f.refused...)
				t.Log(err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			at := func(x float64) string {
				if !rep.Dates() {
					return fmt.Sprint(x)
				}
				whole := math.Floor(x)
				text := time.Unix(int64(whole), int64(1e9*(x-whole))).UTC().Format("2006-01-02 15:04:05.999")
				return strings.TrimSuffix(strings.TrimSuffix(text, ":00"), " 00:00")
			}
			last := s.Len() - 1
			if at(s.X[0]) != f.x0 || at(s.X[last]) != f.x1 || s.Y[0] != f.y0 || s.Y[last] != f.y1 || rep.Unit != f.unit {
				t.Errorf("from (%s, %v) to (%s, %v) %q", at(s.X[0]), s.Y[0], at(s.X[last]), s.Y[last], rep.Unit)
			}
			if opt.Keys != nil {
				return
			}
			var x, y []float64
			if _, err := StreamCSV(strings.NewReader(f.text), opt, 1, func(_ int, b *CSVBlock) error {
				x, y = append(x, b.X...), append(y, b.Y...)
				return nil
			}); err != nil || fmt.Sprint(x, y) != fmt.Sprint(s.X, s.Y) {
				t.Errorf("as a stream: %v, %v, %v", x, y, err)
			}
		})
	}
}

// TestFormsDocumented reads the examples of docs/data.md: each format of x has a row there, and reads what stands in it.
func TestFormsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/data.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, format := range TimeFormats {
			if !strings.Contains(cells[1], fmt.Sprintf("`%s`", format)) {
				continue
			}
			documented++
			for i, example := range strings.Split(cells[2], "`") {
				if _, ok := format.date(example); i%2 == 1 && !ok {
					t.Errorf("%s does not read %s", format, example)
				}
			}
		}
	}
	if documented != len(TimeFormats) {
		t.Errorf("%d of %d formats have a row", documented, len(TimeFormats))
	}
}

package dataset

import (
	"slices"
	"strings"
	"testing"
)

// TestMerged reads tables of which a year, a month, a day or a name stands only in the first of its rows, or above the first of its columns, whole and as a
// stream of small blocks.
func TestMerged(t *testing.T) {
	const day = 86400.0
	for text, want := range map[string]struct {
		merged int
		days   []float64 // since 2015
	}{
		"Year,Month,Sales\n2015,Jan,5\n,Feb,6\n,Mar,7\n2016,Jan,8\n,Feb,9\n":                         {1, []float64{0, 31, 59, 365, 396}},
		"Jahr;Quartal;Wert\n2015;Q1;5,5\n;Q2;6,5\n;Q3;7\n;Q4;8\n;Summe;27\n2016;Q1;9\n;Q2;1\n":       {1, []float64{0, 90, 181, 273, 365, 456}},
		";;Wert\n2015;;\n;Januar;5,5\n;März;6,5\n2016;;\n;Januar;8\n;Februar;8\n":                    {1, []float64{0, 59, 365, 396}},
		"Year,Month,Day,n\n2015,Jan,1,5\n,,2,6\n,,3,6\n,Feb,1,7\n,,2,8\n":                            {2, []float64{0, 1, 2, 31, 32}},
		"Month,Day,n\n2015-01,1,5\n,2,6\n2015-02,1,7\n,2,8\n":                                        {1, []float64{0, 1, 31, 32}},
		"Month,Day,n\nJanuary 2015,1,5\n,2,6\nFebruary 2015,1,7\n,2,8\n":                             {1, []float64{0, 1, 31, 32}},
		"Datum;Uhrzeit;kW\n01.01.2015;00:00;5\n;12:00;6\n13.01.2015;00:00;7\n;12:00;8\n":             {1, []float64{0, 0.5, 12, 12.5}},
		"Shop,Date,n\n\"Ulm, Bonn\",2015-01-01,5\n,2015-01-02,6\nKiel,2015-01-01,7\n,2015-01-02,8\n": {1, []float64{0, 1, 0, 1}},
		"x,2015,,,2016,,\nRegion,Jan,Feb,Mar,Jan,Feb,Mar\nBonn,5,6,7,8,9,1\n":                        {0, []float64{0, 31, 59, 365, 396, 425}},
		"Wert;;;\n;2015;;;;2016\nLand;Q1;Q2;Q3;Q4;Q1\nBonn;5;6,5;7;8;9\n":                            {0, []float64{0, 90, 181, 273, 365}},
		"\tQ1\t\tQ2\t\nLand\t2015\t2016\t2015\t2016\nBonn\t5\t6\t7\t8\n":                             {0, []float64{0, 365, 90, 456}},
		"Region,2015-01-01,,,2015-01-02,,\n,00:00,06:00,12:00,00:00,06:00,12:00\nBonn,1,2,3,4,5,6\n": {0, []float64{0, 0.25, 0.5, 1, 1.25, 1.5}},
		"x,2015,,,2016,,\nRegion,Q1,Q2,Sum,Q1,Q2,Sum\nBonn,5,6,7,8,9,1\n":                            {0, []float64{0, 90, 365, 456}},
		"Region,2015-01,,,2015-02,,\n,1,2,3,1,2,3\nBonn,1,2,3,4,5,6\n":                               {0, []float64{0, 1, 2, 31, 32, 33}},

		"Woche;n\n2015;\nKW 2;5\nKW 3;6\n2016;\nKW 2;8\nKW 3;9\n": {0, []float64{4, 11, 375, 382}},

		"Period,n\n2015,\nJanuary,5\nFebruary,6\n2016,9\nJanuary,8\nFebruary,9\nSource: Office\n": {0, []float64{0, 31, 365, 396}},
		"Zeit;n\n\"2015\";11\nQ1;5\n Q2;6\nQ3;5,5\nQ4;4\n":                                        {0, []float64{0, 90, 181, 273}},

		"Monat;Jahr;Wert\nJan;2015;5\nFeb;;6\nMrz;;7\nJan;2016;8\nFeb;;9\n":                            {1, []float64{0, 31, 59, 365, 396}},
		"Row Labels,n\n2015,9\nQtr1,3\nJan,1\nMar,2\nQtr2,6\nApr,6\n2016,2\nQtr1,2\nJan,2\nTotal,11\n": {0, []float64{0, 59, 90, 365}},

		"level,date\n5,2015-01-01\n,2015-01-02\n,2015-01-03\n,2015-01-04\n":                   {0, []float64{0}},                        // a value, and no number of rows
		"t,y,z\n2015-01-01,1,5\n2015-01-02,1,6\n,1,7\n2015-01-04,1,8\n,1,9\n2015-01-06,1,8\n": {0, []float64{0, 1, 3, 5}},               // few have no date
		"note,t,y\n,2015-01-01,5\nnew,2015-01-02,6\n,2015-01-03,7\n,2015-01-04,8\n":           {0, []float64{0, 1, 2, 3}},               // what is above is no value
		"t,run,y\n2015-01-01,2,5\n,1,6\n2015-01-02,2,7\n,1,8\n":                               {0, []float64{0, 1}},                     // numbers that descend
		"Year,Jan,Feb,Mar\n2015,5,6,7\n2016,5,6,7\n":                                          {0, []float64{0, 31, 59, 365, 396, 425}}, // one row of names
	} {
		for _, size := range []int{16, blockSize} {
			var s Series
			stream := &csvStream{opt: CSVOptions{Seconds: true, NumberDates: true, SkipMissing: true, PassLabels: true}, size: size, visit: func(_ int, b *CSVBlock) error {
				s.X = append(s.X, b.X...)
				return nil
			}}
			if err := stream.run(strings.NewReader(text), 1); err != nil || len(stream.rep.Merged) != want.merged {
				t.Errorf("%q: %v, %v", text, stream.rep.Merged, err)
				continue
			}
			var days []float64
			for _, x := range s.X {
				days = append(days, (x-year(2015))/day)
			}
			if !slices.Equal(days, want.days) {
				t.Errorf("%q: days %v, want %v", text, days, want.days)
			}
		}
	}
	below := ";Wert\n2015;\nUmsatz;5\nKosten;3\n2016;11\nUmsatz;6\nKosten;4\nQuelle: Amt\n" // words below each year
	series, rep, err := readCSV(strings.NewReader(below), CSVOptions{Y: "Wert", Keys: []string{"2"}})
	if err != nil || !slices.Equal(series.X, []float64{2015, 2015, 2016, 2016}) || !slices.Equal(series.Y, []float64{5, 3, 6, 4}) || !rep.Years {
		t.Errorf("%v, %v", series, err)
	}
}

// Package data holds the recorded series that are small and free enough to be shipped inside the module.
//
// README.md beside this file says for each series where it comes from, under which licence, and how it was made. Recordings
// that are larger, or whose licence forbids passing them on, are not here: package dataset finds or downloads them, and
// stores them in this folder.
package data

import _ "embed"

// CO2Weekly is the text of co2-weekly.csv: weekly mean concentration of CO2 in the air at Mauna Loa, 29 March 1958 to
// 29 December 2001. A header and 2284 rows, one a week; columns date (ISO 8601, a Saturday), decimal_year and co2_ppm
// (parts per million by volume, one decimal; empty in the 59 weeks without a measurement).
//
// Most callers want dataset.CO2, which parses it.
//
//go:embed co2-weekly.csv
var CO2Weekly string

// Coal is the text of coal.csv: the disasters in British coal mines with ten deaths or more, 1851 to 1962. A header and 112 rows,
// one a year; columns year and disasters.
//
//go:embed coal.csv
var Coal string

// SunspotsZurich is the text of sunspots-zurich.csv: the monthly mean relative sunspot number, version 1, January 1749 to
// December 1983. A header and 2820 rows, one a month without a gap; columns month, decimal_year (its middle) and sunspot_number.
//
// Most callers want dataset.SunspotsZurich, which parses it.
//
//go:embed sunspots-zurich.csv
var SunspotsZurich string

package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestFilesAsPeopleHaveThem reads what spreadsheets and offices of statistics write, in German, English and French among others: the first
// and the last row to the right values, whole and as a stream in small blocks.
func TestFilesAsPeopleHaveThem(t *testing.T) {
	const day = 86400.0
	for name, c := range map[string]struct {
		text         string
		x0, x1       float64 // in days since 2015 if x are dates
		y0, y1       float64
		xName, yName string
		unit         string
	}{
		"a counter of loggers":        {"TIMESTAMP,RECORD,Temp\n" + rowsOf("2015-01-%02d,1%02d,5.5\n", 25), 0, 24, 5.5, 5.5, "TIMESTAMP", "Temp", ""},
		"sides of an account, both":   {"t;Soll;Haben\n2015-01-01;5,5;1,5\n2015-01-02;6,5;2,5\n", 0, 1, 5.5, 6.5, "t", "Soll", ""},
		"one-letter words":            {"week,y,n\n2015-01-01,Y,5\n2015-01-02,N,6\n", 0, 1, 5, 6, "week", "n", ""},
		"half-years, Hj.":             {"t;v\n1. Hj. 2015;5,5\n2. Hj. 2015;6,5\n", 0, 181, 5.5, 6.5, "t", "v", ""},
		"periods of hours":            {"t;v\n31.01.2015 9:00–10:00;5,5\n31.01.2015 23:00–0:00;6,5\n", 30 + 9.0/24, 30 + 23.0/24, 5.5, 6.5, "t", "v", ""},
		"tabs, the first name empty":  {"\t2015\t2016\t2017\nQ1\t5\t5\t5\nQ2\t5\t5\t5\nQ3\t5\t5\t5\nQ4\t5\t5\t6\n", 0, 1004, 5, 6, "", "value", ""},
		"months of SAS":               {"DATE,AIR\nJAN15,5\nFEB15,6\nDEC15,7\n", 0, 334, 5, 7, "DATE", "AIR", ""},
		"Swedish quarters":            {"kvartal;v\n2015 kv1;5,5\n2015 kv2;6,5\n", 0, 90, 5.5, 6.5, "kvartal", "v", ""},
		"quarters by number words":    {"t,v\nFirst quarter 2015,5\nSecond quarter of 2015,6\n", 0, 90, 5, 6, "t", "v", ""},
		"weeks behind a dash":         {"t,v\n2015 - KW01,5\n2015 - KW02,6\n", -3, 4, 5, 6, "t", "v", ""},
		"periods of a day":            {"t;v\n31/01/2015 23:30-23:45;5,5\n31/01/2015 23:45-00:00;6,5\n", 30 + 23.5/24, 30 + 23.75/24, 5.5, 6.5, "t", "v", ""},
		"points and commas, a value":  {"Datum,T\n13.01.2015,\"20,500\"\n14.01.2015,\"19,25\"\n", 12, 13, 20.5, 19.25, "Datum", "T", ""},
		"a comment of PANGAEA":        {"/* DATA DESCRIPTION:\nCitation:\tSmith, J\n\tAge [ka BP]\n*/\nDate\tCO2 [ppmv]\n2015-01-01\t5.5\n2015-01-02\t6.5\n", 0, 1, 5.5, 6.5, "Date", "CO2 [ppmv]", ""},
		"marks behind years, wide":    {"YEAR JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC\n\n2015** 5 5 5 5 5 5 5 5 5 5 5 6\n2016* 5 5 5 5 5 5 5 5 5 5 5 7\n", 0, 700, 5, 7, "YEAR", "value", ""},
		"footnotes with numbers":      {"Year,v\n2015,5\n2016,6\n(1) Break in series.\n[2] Provisional.\n", 2015, 2016, 5, 6, "Year", "v", ""},
		"tables of InfluxDB":          {"#datatype,string,long,dateTime,double\n,result,table,_time,_value\n,,0,2015-01-01T00:00:00Z,5.5\n\n#datatype,string,long,dateTime,double\n,result,table,_time,_value\n,,1,2015-01-02T00:00:00Z,6.5\n", 0, 1, 5.5, 6.5, "_time", "_value", ""},
		"months of CBS":               {"Perioden;CPI\n2015MM01;5,5\n2015MM02;6,5\n", 0, 31, 5.5, 6.5, "Perioden", "CPI", ""},
		"Kibana":                      {"t,n\n\"Jan 1, 2015 @ 00:00:00.000\",5\n\"Jan 1, 2015 @ 12:00:00.000\",6\n", 0, 0.5, 5, 6, "t", "n", ""},
		"quarter-hours":               {"Datum;Viertelstunde;kWh\n" + strings.ReplaceAll(halfHours("2015-01-01", 96, 1)+halfHours("2015-01-02", 96, 1), ",", ";"), 0, 1 + 95.0/96, 1, 96, "Datum", "kWh", ""},
		"a flag in the first cell":    {"t,v\n2015-01-01,12.1p\n2015-02-01,9.5\n", 0, 31, 12.1, 9.5, "t", "v", ""},
		"pence":                       {"t,v\n2015-01-01,12.1p\n2015-02-01,9.5p\n", 0, 31, 12.1, 9.5, "t", "v", "p"},
		"an hour beside digits":       {"# STN,YYYYMMDD,HH,T\n260,20150101,1,5\n260,20150101,24,6\n260,20150102,1,7\n", 1.0 / 24, 1 + 1.0/24, 5, 7, "YYYYMMDD", "T", ""},
		"R's names of dates":          {"\"V1\"\n\"2015-01-01\" 5\n\"2015-01-02\" 6\n\"2015-01-03\" 7\n", 0, 2, 5, 7, "", "V1", ""},
		"six digits, the year last":   {"Datum;v\n301215;5,5\n311215;6,5\n010116;7,5\n", 363, 365, 5.5, 7.5, "Datum", "v", ""},
		"six digits, the month first": {"Date,v\n123015,5\n123115,6\n010116,7\n", 363, 365, 5, 7, "Date", "v", ""},
		"dates across":                {"Shop,11/01/2015,12/01/2015,13/01/2015\nBonn,5,6,7\n", 10, 12, 5, 7, "time", "value", ""},
		"dates across, descending":    {"Shop,01/13/2015,01/12/2015,01/11/2015\nBonn,5,6,7\n", 12, 10, 5, 7, "time", "value", ""},
		"codes of INSEE":              {"Libellé;Date;2015-01;Codes;2015-02;Codes;2015-03;Codes\nIndice;12/01/2024;5.5;A;6.5;A;7.5;P\n", 0, 59, 5.5, 7.5, "time", "value", ""},
		"codes without a name":        {"Libellé;2015-01;;2015-02;;2015-03;\nIndice;5.5;A;6.5;A;7.5;P\n", 0, 59, 5.5, 7.5, "time", "value", ""},
		"months by their cells":       {"Zeit;Label;Wert\n2015;Januar;5,5\n2015;Februar;6,5\n2015;März;7,5\n", 0, 59, 5.5, 7.5, "Zeit", "Wert", ""},
		"whole fields below":          {"\"a\",\"2015M01\",\"2015M02\",\"2015M03\",\"2015M04\"\n\"b\",5,6,6,7\n\n\"Updated:\"\n\"20240115 08:00\"\n1,\"Monthly prices.\"\n", 0, 90, 5, 7, "time", "value", ""},
		"quoted thousands":            {"date,sales\n2015-01-01,\"1,025.10\"\n2015-02-01,\"980.00\"\n", 0, 31, 1025.1, 980, "date", "sales", ""},
		"whole thousands":             {"date,sales\n2015-01-01,\"1,025\"\n2015-02-01,980\n", 0, 31, 1025, 980, "date", "sales", ""},
		"per cent":                    {"date,rate\n2015-01-01,10.51%\n2015-02-01,9%\n", 0, 31, 10.51, 9, "date", "rate", "%"},
		"dollars":                     {"Month,Revenue\n1/1/2015,\"$1,025\"\n1/2/2015,$980\n1/31/2015,$7\n", 0, 30, 1025, 7, "Month", "Revenue", "$"},
		"German":                      {"Datum;Umsatz\r\n01.01.2015;1.025,10\r\n01.02.2015;980,00\r\n", 0, 31, 1025.1, 980, "Datum", "Umsatz", ""},
		"German, in euros, Latin-1":   {"Datum;Betr\xe4ge\r\n01.01.2015;1.025,10 \x80\r\n01.02.2015;980,00 \x80\r\n", 0, 31, 1025.1, 980, "Datum", "Beträge", "€"},
		"German, Excel's first line":  {"sep=;\r\nDatum;Wert\r\n01.01.2015;1.025,10\r\n01.02.2015;2\r\n", 0, 31, 1025.1, 2, "Datum", "Wert", ""},
		"its line above a title":      {"sep=;\nVersion CSV1|Tool SE|x\n\n;SN: 2100\nTag;kWh;kW\n01.01.2015;5,5;1\n01.02.2015;6,5;1\n", 0, 31, 5.5, 6.5, "Tag", "kWh", ""},
		"more fields above":           {"a;b;c;d;e\nDatum;Wert;x\n01.01.2015;5,5;1,5\n01.02.2015;6,5;1,5\n01.03.2015;7,5;1,5\n", 0, 59, 5.5, 7.5, "Datum", "Wert", ""},
		"two lines of names":          {"                 Temp\n  Date   Time    Out\n---------\n01/13/15  9:00a  5.5\n01/13/15 10:00a  6.5\n01/13/15  9:00p  7.5\n", 12.375, 12.875, 5.5, 7.5, "Date", "Out", ""},
		"hours with a letter":         {"Date,Time,v\n01/13/15,9:00a,5\n01/13/15,9:00p,6\n", 12.375, 12.875, 5, 6, "Date", "v", ""},
		"a fraction of a day":         {"UT Date,mag\n2015-01-01.5,5\n2015-01-02.25,6\n", 0.5, 1.25, 5, 6, "UT Date", "mag", ""},
		"a date beside Julian ones":   {"HJD,UT Date,Camera,mag\n7023.5,2015-01-01.5,bd,5.5\n7024.5,2015-01-02.5,bd,6.5\n7025.5,2015-01-03.5,bd,7.5\n", 0.5, 2.5, 5.5, 7.5, "UT Date", "mag", ""},
		"dates behind values":         {"kWh, p, Start, End\n0.5,3.1,2015-01-01T00:00Z,x\n0.7,3.2,2015-01-01T12:00Z,x\n0.6,3.3,2015-01-02T00:00Z,x\n", 0, 1, 0.5, 0.6, "Start", "kWh", ""},
		"dates behind a depth":        {"depth,v,taken\n1,5,2015-01-01\n2,7,2015-01-02\n3,6,2015-01-03\n", 1, 3, 5, 6, "depth", "v", ""},
		"one date behind depths":      {"depth,v,taken\n1,5,2015-01-01\n3,7,2015-01-01\n2,6,2015-01-02\n", 1, 2, 5, 6, "depth", "v", ""},
		"clocks of any name":          {"Tag;Messung;kWh\n01.01.2015;06:00;5,5\n01.01.2015;18:00;6,5\n02.01.2015;06:00;7,5\n", 0.25, 1.25, 5.5, 7.5, "Tag", "kWh", ""},
		"midnights":                   {"Opname;Tijdstip;kWh\n01-01-2015;00:00:00;5,5\n02-01-2015;00:00:00;6,5\n13-01-2015;00:00:00;7,5\n", 0, 12, 5.5, 7.5, "Opname", "kWh", ""},
		"half-hours":                  {"date,period,load\n" + halfHours("2015-01-01", 48, 1) + halfHours("2015-01-02", 50, 1), 0, 1 + 47.0/48, 1, 50, "date", "load", ""},
		"hours without a name":        {halfHours("2015-01-01", 23, 0) + halfHours("2015-01-02", 23, 0), 0, 1 + 23.0/24, 0, 23, "", "", ""},
		"hours to their end":          {"date,no,load\n" + halfHours("2015-01-01", 24, 1) + halfHours("2015-01-02", 23, 1), 1.0 / 24, 1 + 23.0/24, 1, 23, "date", "load", ""},
		"seconds of a day":            {"date,sec_of_day,flow\n2015-01-01,0,5\n2015-01-01,43200,6\n2015-01-02,900,7\n", 0, 1 + 900/86400.0, 5, 7, "date", "flow", ""},
		"minutes of a day":            {"date,minutes,flow\n2015-01-01,0,5\n2015-01-01,720,6\n2015-01-02,720,7\n", 0, 1.5, 5, 7, "date", "flow", ""},
		"seconds up to 59":            {"date,flow,seconds\n2015-01-01,5,0\n2015-01-01,6,30\n2015-01-02,7,15\n", 0, 1, 5, 7, "date", "flow", ""},
		"a remark of a logger last":   {"#,Date Time,Temp,Stopped\n1,02/01/15 12:00:00 AM,5.5,\n2,02/01/15 12:00:00 PM,6,\n3,02/02/15 12:00:00 AM,6,\n4,02/02/15 12:00:00 PM,6,\n5,02/03/15 12:00:00 AM,7.5,\n6,02/03/15 12:08:10 AM,,Logged\n", 31, 33, 5.5, 7.5, "Date Time", "Temp", ""},
		"the archive of Keeling":      {"  Yr, Mn,    Date,      Date,     CO2,seasonally\n    ,   ,        ,          ,        ,  adjusted\n    ,   ,   Excel,          ,   [ppm],   [ppm]\n2015, 01,   42019, 2015.0411,   5.5,   1\n2015, 02,   42050, 2015.1260,   6.5,   1\n2015, 03,   42078, 2015.2027,   7.5,   1\n", 0, 59, 5.5, 7.5, "Yr", "CO2", ""},
		"Roman months":                {"Okres;v\nI 2015;5,5\nII 2015;6\nIII 2015;6\nIV 2015;6\nV 2015;7,5\n", 0, 120, 5.5, 7.5, "Okres", "v", ""},
		"days of Roman months":        {"t;v\n1.I.2015;5,5\n1 II 2015;6,5\n", 0, 31, 5.5, 6.5, "t", "v", ""},
		"quarters behind a colon":     {"DATE,v\n2015:1,5\n2015:2,5\n2015:3,5\n2015:4,5\n2016:1,6\n", 0, 365, 5, 6, "DATE", "v", ""},
		"quarters, the latest first":  {"t,v\n2016-1,6\n2015-4,5\n2015-3,5\n2015-2,5\n2015-1,7\n", 365, 0, 6, 7, "t", "v", ""},
		"24 shops":                    {"date,shop,load\n" + halfHours("2015-01-01", 24, 1) + halfHours("2015-01-02", 24, 1), 0, 1, 1, 24, "date", "shop", ""},
		"days of six digits":          {"Zst;Datum;Stunde;KFZ\n5101;150101;01;5\n5101;150101;24;6\n5101;150102;01;7\n", 1.0 / 24, 25.0 / 24, 5, 7, "Datum", "KFZ", ""},
		"days of six digits alone":    {"Zst;Datum;KFZ\n5101;150101;5\n5101;150102;6\n5101;150131;7\n", 0, 30, 5, 7, "Datum", "KFZ", ""},
		"counts before dates":         {"  11 2015-01-01\n  12 2015-01-02\n   9 2015-01-03\n", 0, 2, 11, 9, "", "", ""},
		"LabVIEW":                     {"LabVIEW Measurement\t\nDate\t2015/01/02\n***End_of_Header***\t\nChannels\t1\n***End_of_Header***\t\t\nX_Value\tVoltage\tComment\n0.5\t5\n1\t6.5\n1.5\t7\n", 0.5, 1.5, 5, 7, "X_Value", "Voltage", ""},
		"a remark in the first row":   {"No,Time,v,Serial\n1,2015-01-01,5,x9\n2,2015-01-02,6\n3,2015-01-03,7\n4,2015-01-04,8\n", 0, 3, 5, 8, "Time", "v", ""},
		"names before numbers":        {"2015-01-01 00:00:00 T=5.5 H=1\n2015-01-01 12:00:00 T=6.5 H=2\n2015-01-02 00:00:00 T=-7.5 H=3\n", 0, 1, 5.5, -7.5, "", "", ""},
		"names before units":          {"t,v\n1,temp=5.5C\n2,temp=6C\n", 1, 2, 5.5, 6, "t", "v", "C"},
		"Fortran":                     {" 0.5 1.5D+01\n 1.0 2.5D-01\n 1.5 3.5D+00\n", 0.5, 1.5, 15, 3.5, "", "", ""},
		"a bank's long preface":       {"Konto:;1;\nIBAN:;CH1;\nVon:;2015-01-01;\nBis:;2015-03-01;\nAnfang:;1500;\nIn:;CHF;\n\nDatum;Zeit;Soll;Saldo;Text\n" + rowsOf("2015-01-%02d;;-%d.5;1;x\n", 25), 0, 24, -1.5, -25.5, "Datum", "Soll", ""},
		"one field less above":        {"Quelle:;\"Amt, Bonn\"\nAbfrage:;02.06.2024 12:00\nZeit:;MEZ\nName:;Bonn\nNr.:;16\nFluss:;Isar\nNull:;\"505,18 m\"\n\nDatum;W;Status\n2015-01-01 00:00;5;a\n2015-01-01 12:00;6;a\n2015-01-02 00:00;7;a\n", 0, 1, 5, 7, "Datum", "W", ""},
		"the World Bank":              {"\"Data Source\",\"WDI\",\n\n\"Last Updated\",\"2024-05-30\",\n\n\"Country\",\"Code\",\"2011\",\"2012\",\"2013\",\"2014\",\"2015\",\n\"Germany\",\"DEU\",\"5\",\"6\",\"7\",\"8\",\"9\",\n", 2011, 2015, 5, 9, "time", "value", ""},
		"a station behind dates":      {"fecha;indicativo;tmed\n" + rowsOf("2015-01-%02d;3195;%d,5\n", 25), 0, 24, 1.5, 25.5, "fecha", "tmed", ""},
		"a price for long":            {"date,price,n\n" + rowsOf("2015-01-%02d,5,%d\n", 25), 0, 24, 5, 5, "date", "price", ""},
		"six digits of a day":         {"day,v\n150130,5\n150131,6\n150201,7\n", 29, 31, 5, 7, "day", "v", ""},
		"a country with a zero":       {"day,land,n\n" + rowsOf("2015-01-%02d,05,%d.5\n", 25), 0, 24, 1.5, 25.5, "day", "n", ""},
		"no rain for long":            {"date,rain,t\n" + rowsOf("2015-01-%02d,0,%d\n", 25), 0, 24, 0, 0, "date", "rain", ""},
		"the BLS":                     {"Series Id:,C1,,,\nNot adjusted,,,,\nTitle:,All,,,\n,,,,\nYear,Q1,Q2,Q3,Q4\n2015,5,6,7,8\n2016,5,6,7,9\n", 0, 639, 5, 9, "Year", "value", ""},
		"a title of two fields":       {"Report,Sales,,,\nBy,Ann,,,\nDate,a,b,c,d\n2015-01-01,5,6,7,8\n2015-01-02,6,6,7,9\n", 0, 1, 5, 6, "Date", "a", ""},
		"semicolons in names":         {",Trade ;  NSW ;,Trade ;  V ;\nUnit,$,$\nType,a,a\nJan-2015,5,6\nFeb-2015,6,6\nMar-2015,7,6\n", 0, 59, 5, 7, "", "Trade ;  NSW ;", ""},
		"marks of the Met Office":     {"Oxford\nMarked ---.\n  yyyy  mm  tmax  sun\n         degC hours\n  2015   1  5.5   50.3#\n  2015   2  6.5*  ---\n  2015   3  7.5   50.5\n", 0, 59, 5.5, 7.5, "yyyy", "tmax", ""},
		"letters of footnotes":        {"Year,n\n2015(a),5\n2016,6 (b)\n2017,7\n(a) Revised.\n", 2015, 2017, 5, 7, "Year", "n", ""},
		"below a limit":               {"Datum;c\n01.01.2015;5,5\n02.01.2015;<0,5\n31.01.2015;< 1\n", 0, 30, 5.5, 0.5, "Datum", "c", ""},
		"an arrow":                    {rowsOf("2015-01-01 08:%02d:00.5 -> %d\n", 25), (8*60 + 1.0 + 0.5/60) / 1440, (8*60 + 25.0 + 0.5/60) / 1440, 1, 25, "", "", ""},
		"the column with errors":      {"TIME,TIMECORR,SAP_FLUX,SAP_FLUX_ERR\n1.5,0.1,5,1\n2.5,0.3,6,1\n3.5,0.2,7,1\n", 1.5, 3.5, 5, 7, "TIME", "SAP_FLUX", ""},
		"errors without a sign":       {"mjd,limit,mag,magerr\n1.5,16,5,1\n2.5,17,6,1\n3.5,16,7,1\n", 1.5, 3.5, 5, 7, "mjd", "mag", ""},
		"as Go writes times":          {"t,v\n2015-01-01 00:00:00.5 +0000 UTC,5\n2015-01-01 13:00:00.5 +0100 CET,6\n", 0.5 / 86400, 0.5 + 0.5/86400, 5, 6, "t", "v", ""},
		"milliseconds behind a colon": {"Scan,Time,v\n1,01/13/2015 00:00:00:500,5\n2,01/13/2015 12:00:00:500,6\n", 12 + 0.5/86400, 12.5 + 0.5/86400, 5, 6, "Time", "v", ""},
		"a column of milliseconds":    {"Date,Time,ms,LEVEL\n2015-01-01,00:00:00,0,5\n2015-01-01,12:00:00,0,6\n", 0, 0.5, 5, 6, "Date", "LEVEL", ""},
		"a type of record":            {"Gerät,Zeit,Aufzeichnungstyp,mg\nA,2015-01-01 00:00,0,5\nA,2015-01-01 12:00,0,6\nA,2015-01-02 00:00,0,7\n", 0, 1, 5, 7, "Zeit", "mg", ""},
		"weeks of health offices":     {"mmwr_year,mmwr_week,cases\n2015,2,5\n2015,3,6\n", 4, 11, 5, 6, "mmwr_year", "cases", ""},
		"clocks without a name":       {"2015-01-01 0000 5\n2015-01-01 1200 6\n2015-01-02 0000 7\n", 0, 1, 5, 7, "", "", ""},
		"hours with decimals":         {"Year,Month,Day,Hour,Kp\n2015,1,1.0,0.0,5\n2015,1,1.0,12.0,6\n", 0, 0.5, 5, 6, "Year", "Kp", ""},
		"half-years by their column":  {"Semestre,v\n2015-1,5\n2015-2,6\n", 0, 181, 5, 6, "Semestre", "v", ""},
		"commas between names":        {"% of the archive\n% Year, Month,  Anomaly, Unc.\n 2015 1 5.5 1\n 2015 2 6.5 1\n", 0, 31, 5.5, 6.5, "Year", "Anomaly", ""},
		"a mark of bytes within":      {"\ufefft,v\n1,5\n\ufefft,v\n2,6\n", 1, 2, 5, 6, "t", "v", ""},
		"two shops, by their number":  {"date,shop,load\n2015-01-01,1,5\n2015-01-01,2,6\n2015-01-02,1,7\n2015-01-02,2,8\n", 0, 1, 1, 2, "date", "shop", ""},
		"elapsed beside a distance":   {"distance,elapsed (s),depth\n0,1.5,5\n25,3.1,6\n50,4.5,7\n", 0, 50, 5, 7, "distance", "depth", ""},
		"elapsed alone":               {"lap,elapsed\n1,61.5\n2,62.5\n3,61\n", 1, 3, 61.5, 61, "lap", "elapsed", ""},
		"rows about a device":         {"No,At,Unit,v\n1,,Bonn,\n2,2015-01-01,C,5\n3,2015-01-02,C,6\n4,2015-01-03,C,7\n", 0, 2, 5, 7, "At", "v", ""},
		"German months":               {"Monat;Wert\nJanuar 2015;1.025,1\nMärz 2015;980,5\n", 0, 59, 1025.1, 980.5, "Monat", "Wert", ""},
		"German exponents":            {"t;y\n0;1,051E+03\n1;9,8E+02\n", 0, 1, 1051, 980, "t", "y", ""},
		"French, by steps":            {"Date;Ventes\n01/01/2015;1\u202f025,10\n01/02/2015;980,00\n01/03/2015;7\n01/04/2015;8\n01/05/2015;9,5\n01/01/2016;7\n", math.NaN(), 0, 0, 0, "", "", ""},
		"French, a year by steps": {"Date;Ventes\n01/01/2015;1\u202f025,10\n" + months("/2015;1\n", 2, 12) + "01/01/2016;9\n01/02/2016;980,00\n",
			0, 396, 1025.1, 980, "Date", "Ventes", ""},
		"French months":                 {"Mois;Valeur\njanv. 2015;1\u00a0025,10\nfévr. 2015;980,00\n", 0, 31, 1025.1, 980, "Mois", "Valeur", ""},
		"American hours":                {"At,Load\n01/02/2015 11:00 AM,1.5\n01/02/2015 12:00 PM,2\n01/02/2015 1:00 PM,3\n01/02/2015 2:00 PM,4\n" + "01/13/2015 2:00 PM,5\n", 1 + 11/24.0, 12 + 14/24.0, 1.5, 5, "At", "Load", ""},
		"Swiss":                         {"Datum;Wert\n01.01.2015;1'025.10\n01.02.2015;980.00\n", 0, 31, 1025.1, 980, "Datum", "Wert", ""},
		"Indian":                        {"date,v\n2015-01-01,\"12,34,567\"\n2015-02-01,\"1,025.5\"\n", 0, 31, 1234567, 1025.5, "date", "v", ""},
		"accounts":                      {"date,profit\n2015-01-01,(449.14)\n2015-02-01,12.5\n", 0, 31, -449.14, 12.5, "date", "profit", ""},
		"rows counted":                  {"\"\",date,value\n1,2015-01-01,5\n2,2015-02-01,6\n", 0, 31, 5, 6, "date", "value", ""},
		"year and month":                {"Year,Month,Value\n2015,1,5\n2015,2,6\n", 0, 31, 5, 6, "Year", "Value", ""},
		"year, month by name":           {"Year,Month,Value\n2015,Jan,5\n2015,Feb,6\n", 0, 31, 5, 6, "Year", "Value", ""},
		"day, month, year":              {"Tag;Monat;Jahr;Wert\n3;1;2015;5\n3;2;2015;6,5\n", 2, 33, 5, 6.5, "Jahr", "Wert", ""},
		"down to the hour":              {"year,month,day,hour,value\n2015,1,1,0,5\n2015,1,1,12,6\n", 0, 0.5, 5, 6, "year", "value", ""},
		"date and time":                 {"Date,Time,Value\n2015-01-01,00:00,5\n2015-01-01,12:00,6\n", 0, 0.5, 5, 6, "Date", "Value", ""},
		"a date beside them":            {"date,year,month,value\n2015-01-01,2015,1,5\n2015-02-01,2015,2,6\n", 0, 31, 5, 6, "date", "value", ""},
		"a title":                       {"Sales report\nGenerated: 2020-05-01\n\nDate,Sales\n2015-01-01,5\n2015-02-01,6\n", 0, 31, 5, 6, "Date", "Sales", ""},
		"a title with a comma":          {"Sales, all shops\n\nDate;Sales;x\n2015-01-01;5,5;1\n2015-02-01;6,5;1\n", 0, 31, 5.5, 6.5, "Date", "Sales", ""},
		"quarters beside years":         {"Year,Quarter,GDP\n2015,1,5\n2015,2,6\n", 0, 90, 5, 6, "Year", "GDP", ""},
		"quarters with a Q":             {"Jahr;Quartal;BIP\n2015;Q1;5\n2015;Q2;6\n", 0, 90, 5, 6, "Jahr", "BIP", ""},
		"weeks beside years":            {"Year,Week,Cases\n2015,2,5\n2015,3,6\n", 4, 11, 5, 6, "Year", "Cases", ""},
		"a period beside a year":        {"Series ID,Year,Period,Value\nA1,2015,M01,5\nA1,2015,M02,6\n", 0, 31, 5, 6, "Year", "Value", ""},
		"German weeks":                  {"Woche;Fälle\nKW 02/2015;5\nKW 03/2015;6\n", 4, 11, 5, 6, "Woche", "Fälle", ""},
		"German quarters":               {"Quartal;BIP\n1. Quartal 2015;5\n2. Quartal 2015;6\n", 0, 90, 5, 6, "Quartal", "BIP", ""},
		"German months, two digits":     {"Monat;Wert\nJan 15;5\nMär 15;6,5\n", 0, 59, 5, 6.5, "Monat", "Wert", ""},
		"Spanish":                       {"Fecha;Importe\n1 de enero de 2015;5\n2 de marzo de 2015;6,5\n", 0, 60, 5, 6.5, "Fecha", "Importe", ""},
		"o'clock":                       {"Zeit;kW\n01.01.2015 00:00 Uhr;5\n01.01.2015 12:00 Uhr;6\n", 0, 0.5, 5, 6, "Zeit", "kW", ""},
		"words for true":                {"date,open\n2015-01-01,TRUE\n2015-02-01,FALSE\n", 0, 31, 1, 0, "date", "open", ""},
		"three decimals":                {"t;y\n0;0.125\n1;1.025\n", 0, 1, 0.125, 1.025, "t", "y", ""},
		"rows counted, time named":      {",errvel,t,vel\n0,1.6,2364.5,6.9\n1,1.5,2365.5,5\n", 2364.5, 2365.5, 6.9, 5, "t", "vel", ""},
		"errors before values":          {"bjd,rv_err,rv\n2450275.5,1.1,10.8\n2450603.5,1.2,4.6\n", 2450275.5, 2450603.5, 10.8, 4.6, "bjd", "rv", ""},
		"time last":                     {"value,time\n5,10\n6,11\n", 10, 11, 5, 6, "time", "value", ""},
		"date last":                     {"sales,date\n5,2015-01-01\n6,2015-02-01\n", 0, 31, 5, 6, "date", "sales", ""},
		"words before dates":            {"shop,date,sales\nBonn,2015-01-01,5\nBonn,2015-02-01,6\n", 0, 31, 5, 6, "date", "sales", ""},
		"no header":                     {"10.5,-9.5,3.0,FEROS\n11.5,-4.5,3.0,FEROS\n12.25,-1.5,3.0,HARPS\n", 10.5, 12.25, -9.5, -1.5, "", "", ""},
		"no header, dates":              {"2015-01-01;5,5\n2015-02-01;6,5\n2015-03-01;7,5\n", 0, 59, 5.5, 7.5, "", "", ""},
		"no header, days first":         {"01/01/2015 5\n13/01/2015 6\n14/02/2015 7\n", 0, 44, 5, 7, "", "", ""},
		"no header, counted":            {"1\t5\n2\t7\n3\t6\n", 1, 3, 5, 6, "", "", ""},
		"numbers for names":             {"0,1\n0,5.5\n1,6.5\n2,7.5\n", 0, 2, 5.5, 7.5, "0", "1", ""},
		"whole, names and first row":    {"0,1\n0,5\n1,6\n2,7\n", 0, 2, 5, 7, "0", "1", ""},
		"a title over one wide row":     {"\"Jobs, by sex\"\n\n\"sex\",\"2015M01\",\"2015M02\",\"2015M03\"\n\"both\",\"5\",\"6\",\"7\"\n", 0, 59, 5, 7, "time", "value", ""},
		"Eurostat":                      {"freq,geo\\TIME_PERIOD\t2015-01 \t2015-02 \t2015-03 \nM,DE\t5.5 \t6 b\t7.5 p\n", 0, 59, 5.5, 7.5, "time", "value", ""},
		"24 dates, which are no hours":  {"land,2015-01-01,2015-01-02,2015-01-03,2015-01-04,2015-01-05,2015-01-06,2015-01-07,2015-01-08,2015-01-09,2015-01-10,2015-01-11,2015-01-12,2015-01-13,2015-01-14,2015-01-15,2015-01-16,2015-01-17,2015-01-18,2015-01-19,2015-01-20,2015-01-21,2015-01-22,2015-01-23,2015-01-24\nDE,5.5" + strings.Repeat(",6", 22) + ",7.5\n", 0, 23, 5.5, 7.5, "time", "value", ""},
		"marks without a name":          {"\"Libellé\";\"Indice\"\n\"idBank\";\"0017\"\n\"Mise à jour\";\"15/02/2024 08:45\"\n\"2015-01\";\"5.5\";\"A\"\n\"2015-02\";\"6.5\";\"A\"\n\"2015-03\";\"7.5\";\"P\"\n", 0, 59, 5.5, 7.5, "Libellé", "Indice", ""},
		"years for names":               {"1999,2000\n1,6.5\n2,7.5\n3,8.5\n", 1, 3, 6.5, 8.5, "1999", "2000", ""},
		"whole above fractions":         {"1,2\n2,6.5\n3,7.5\n4,8.5\n", 2, 4, 6.5, 8.5, "1", "2", ""},
		"names in a comment":            {"# BJD     Detrended data    errors,   Model \n10.5   1.25   0.5   1\n11.5   1.5   0.5   1\n", 10.5, 11.5, 1.25, 1.5, "BJD", "Detrended data", ""},
		"a remark at the end":           {"10.5 1.25 0.5\n11 1.3 0.4 #chip 1 used\n11.5 1.5 0.5\n", 10.5, 11.5, 1.25, 1.5, "", "", ""},
		"a hash that is no remark":      {"t,y,note\n1,2,a\n2,3,b#1\n3,4,#5\n", 1, 3, 2, 4, "t", "y", ""},
		"the end of a day":              {"t,y\n2015-01-01 24:00,1\n2015-01-02 12:00,2\n2015-01-02 24:00,3\n", 1, 2, 1, 3, "t", "y", ""},
		"hours to the end of a day":     {"Datum;Stunde;y\n01.01.2015;12:00 Uhr;2\n01.01.2015;24:00 Uhr;3\n02.01.2015;6:00 Uhr;4\n", 0.5, 1.25, 2, 4, "Datum", "y", ""},
		"a date and an hour":            {"date,hour,load\n2015-01-01,6,2\n2015-01-01,24,3\n2015-01-02,6,4\n", 0.25, 1.25, 2, 4, "date", "load", ""},
		"a comment without names":       {"# from the archive, in days\n10.5 1.25 0.5\n11.5 1.5 0.5\n", 10.5, 11.5, 1.25, 1.5, "", "", ""},
		"a total above":                 {"Monat;v\nSumme;11\n2015-01-01;5\n2015-02-01;6\n2015-03-01;7\n", 0, 59, 5, 7, "Monat", "v", ""},
		"the Bundesbank":                {"\"\";BBK01.A;BBK01.A_FLAGS\n\"\";Rendite;\nEinheit;% p.a.;\nStand vom;01.02.2024 12:00:00;\n2015-01;5,5;\n2015-02;6,5;\n2015-03;7,5;\n", 0, 59, 5.5, 7.5, "", "BBK01.A", ""},
		"thin spaces":                   {"date;v\n2015-01-01;1\u2009025,10\n2015-02-01;980,5\n", 0, 31, 1025.1, 980.5, "date", "v", ""},
		"words before numbers":          {"id,date,v\nA,2015-01-01,5\n7,2015-02-01,6\n8,2015-03-01,7\n9,2015-04-01,8\n", 0, 90, 5, 8, "date", "v", ""},
		"a padded title":                {"Umsatz 2015;;\n;;\nDatum;Umsatz;Kosten\n01.01.2015;1.025,10;1\n01.02.2015;980,00;1\n", 0, 31, 1025.1, 980, "Datum", "Umsatz", ""},
		"empty columns":                 {";;;\n;Datum;;Wert\n;01.01.2015;;5,5\n;01.02.2015;;6,5\n", 0, 31, 5.5, 6.5, "Datum", "Wert", ""},
		"names in two lines":            {"Monat;Umsatz;Umsatz\n;Inland;Ausland\n2015-01-01;5,5;1\n2015-02-01;6,5;1\n", 0, 31, 5.5, 6.5, "Monat", "Umsatz", ""},
		"a logger's units":              {"TIMESTAMP,RECORD,Temp\nTS,RN,Deg C\n,,Avg\n\"2015-01-01 00:00:00\",0,5\n\"2015-01-01 12:00:00\",1,6\n2015-01-02 00:00:00,2,7\n", 0, 1, 5, 7, "TIMESTAMP", "Temp", ""},
		"SAP":                           {"----------\n|Datum     |   Betrag|Wae|\n----------\n|01.01.2015|1.025,10-|EUR|\n|01.02.2015|  980,00 |EUR|\n----------\n", 0, 31, -1025.1, 980, "Datum", "Betrag", ""},
		"psql":                          {" at         | v\n------------+---\n 2015-01-01 | 5\n 2015-02-01 | 6\n", 0, 31, 5, 6, "at", "v", ""},
		"a second date":                 {"Datum von;Datum bis;Last [MW]\n01.01.2015 00:00;01.01.2015 12:00;5,5\n01.01.2015 12:00;02.01.2015 00:00;6,5\n", 0, 0.5, 5.5, 6.5, "Datum von", "Last [MW]", ""},
		"from and to":                   {"Datum;Von;Bis;MW\n01.01.2015;00:00;12:00;5,5\n01.01.2015;12:00;24:00;6,5\n", 0, 0.5, 5.5, 6.5, "Datum", "MW", ""},
		"a station before dates":        {"station_id,date,tavg\n44,2015-01-01,5\n44,2015-01-02,6\n", 0, 1, 5, 6, "date", "tavg", ""},
		"down to the minute":            {"year,month,day,hour,minute,value\n2015,1,1,0,0,5\n2015,1,1,12,30,6\n", 0, 12.5 / 24, 5, 6, "year", "value", ""},
		"down to the second":            {"YYYY MM DD hh mm ss value\n2015 1 1 0 0 0 5\n2015 1 1 12 0 0 6\n", 0, 0.5, 5, 6, "YYYY", "value", ""},
		"days of the year":              {"year,doy,value\n2015,1,5\n2015,32,6\n", 0, 31, 5, 6, "year", "value", ""},
		"half-years beside years":       {"Jahr;Halbjahr;Wert\n2015;1;5\n2015;2;6\n", 0, 181, 5, 6, "Jahr", "Wert", ""},
		"quarters in words":             {"Jahr;Quartal;BIP\n2015;1. Quartal;5\n2015;2. Quartal;6\n", 0, 90, 5, 6, "Quartal", "BIP", ""},
		"bare quarters":                 {"Quartal;BIP\n1/2015;5\n2/2015;6\n", 0, 90, 5, 6, "Quartal", "BIP", ""},
		"bare weeks":                    {"KW;v\n02/2015;5\n03/2015;6\n", 4, 11, 5, 6, "KW", "v", ""},
		"weeks in digits":               {"yearweek,v\n201502,5\n201503,6\n", 4, 11, 5, 6, "yearweek", "v", ""},
		"months called a quarter":       {"quarter,v\n2015-01,5\n2015-04,6\n", 0, 90, 5, 6, "quarter", "v", ""},
		"hours without a sign":          {"date,time,v\n20150101,0,5\n20150101,30,5\n20150101,1200,6\n", 0, 0.5, 5, 6, "date", "v", ""},
		"hours in digits":               {"date,time,v\n2015-01-01,0000,5\n2015-01-01,1200,6\n", 0, 0.5, 5, 6, "date", "v", ""},
		"digits and a time":             {"date,time,v\n20150101,00:00,5\n20150101,12:00,6\n", 0, 0.5, 5, 6, "date", "v", ""},
		"unnamed ends":                  {"date,v,,\n2015-01-01,5\n2015-02-01,6,\n", 0, 31, 5, 6, "date", "v", ""},
		"accounts in dollars":           {"date,profit\n2015-01-01,\" $ (1,025.10)\"\n2015-02-01,\" $ 12.50 \"\n", 0, 31, -1025.1, 12.5, "date", "profit", "$"},
		"whole euros":                   {"Datum;Preis\n01.01.2015;1.025,-\n01.02.2015;12,50\n", 0, 31, 1025, 12.5, "Datum", "Preis", ""},
		"whole francs":                  {"Datum;Preis\n01.01.2015;1'025.–\n01.02.2015;12.50\n", 0, 31, 1025, 12.5, "Datum", "Preis", ""},
		"thousands beside fractions":    {"Monat;Gäste;Quote\n2015-01-01;3.025;12,5\n2015-02-01;4.980;9,75\n", 0, 31, 3025, 4980, "Monat", "Gäste", ""},
		"thousands beside points":       {"Month;Guests;Rate\n2015-01-01;3,025;12.5\n2015-02-01;4,980;9.75\n", 0, 31, 3025, 4980, "Month", "Guests", ""},
		"o'clock with points":           {"Zeit;v\n01.01.2015 00.00;5\n01.01.2015 12.00;6\n", 0, 0.5, 5, 6, "Zeit", "v", ""},
		"as C writes times":             {"t,v\nThu Jan  1 00:00:00 2015,5\nThu Jan  1 12:00:00 2015,6\n", 0, 0.5, 5, 6, "t", "v", ""},
		"as JavaScript writes times":    {"t,v\nThu Jan 01 2015 00:00:00 GMT+0000 (Coordinated Universal Time),5\nThu Jan 01 2015 13:00:00 GMT+0100 (CET),6\n", 0, 0.5, 5, 6, "t", "v", ""},
		"as Oracle writes times":        {"t,v\n01-JAN-15 12.00.00.000000000 AM,5\n01-JAN-15 12.00.00.000000000 PM,6\n", 0, 0.5, 5, 6, "t", "v", ""},
		"Chinese":                       {"日期,值\n2015年1月1日,5\n2015年2月1日,6\n", 0, 31, 5, 6, "日期", "值", ""},
		"Japanese months":               {"月,値\n2015年1月,5\n2015年2月,6\n", 0, 31, 5, 6, "月", "値", ""},
		"Korean":                        {"날짜,값\n2015년 1월 1일,5\n2015년 2월 1일,6\n", 0, 31, 5, 6, "날짜", "값", ""},
		"Russian":                       {"Месяц;Значение\nянварь 2015;5,5\nмарт 2015;6,5\n", 0, 59, 5.5, 6.5, "Месяц", "Значение", ""},
		"hours alone":                   {"t,y\n2015-01-01T00,5\n2015-01-01T12,6\n", 0, 0.5, 5, 6, "t", "y", ""},
		"hours behind a blank":          {"t,y\n2015-01-01 00,5\n2015-01-01 12,6\n", 0, 0.5, 5, 6, "t", "y", ""},
		"underscores":                   {"t,y\n2015_01_01,5\n2015_02_01,6\n", 0, 31, 5, 6, "t", "y", ""},
		"a zone behind minutes":         {"t,y\n2015-01-01 00:00-06:00,5\n2015-01-01 12:00-06:00,6\n", 0.25, 0.75, 5, 6, "t", "y", ""},
		"as Java writes zones":          {"t,y\n2015-01-01T01:00:00+01:00[Europe/Berlin],5\n2015-01-01T13:00:00+01:00[Europe/Berlin],6\n", 0, 0.5, 5, 6, "t", "y", ""},
		"as SAS writes dates":           {"t,y\n01JAN15,5\n01FEB15,6\n", 0, 31, 5, 6, "t", "y", ""},
		"as SAS writes times":           {"t,y\n01JAN2015:00:00:00,5\n01JAN2015:12:00:00,6\n", 0, 0.5, 5, 6, "t", "y", ""},
		"as web servers write times":    {"t,y\n01/Jan/2015:00:00:00 +0000,5\n01/Jan/2015:12:00:00 +0000,6\n", 0, 0.5, 5, 6, "t", "y", ""},
		"fiscal quarters":               {"t,y\nFY2015Q1,5\nFY2015Q2,6\n", 0, 90, 5, 6, "t", "y", ""},
		"fiscal quarters, two digits":   {"t,y\nQ1 FY15,5\nQ2 FY15,6\n", 0, 90, 5, 6, "t", "y", ""},
		"weeks as wk":                   {"t,y\nWk 2 2015,5\nWk 3 2015,6\n", 4, 11, 5, 6, "t", "y", ""},
		"hours that end":                {"Date,Hour Ending,MW\n01/01/2015,12:00,5\n01/13/2015,24:00,6\n", 0.5, 13, 5, 6, "Date", "MW", ""},
		"a day of the week":             {"date,day_of_week,sales\n2015-01-01,4,5.5\n2015-01-02,5,6.5\n", 0, 1, 5.5, 6.5, "date", "sales", ""},
		"a code":                        {"date,store_id,sales\n2015-01-01,7,5.5\n2015-01-02,7,6.5\n", 0, 1, 5.5, 6.5, "date", "sales", ""},
		"only a day of the week":        {"date,weekday,shop\n2015-01-01,4,a\n2015-01-02,5,a\n", 0, 1, 4, 5, "date", "weekday", ""},
		"a month last":                  {"value,month\n5,2015-01\n6,2015-02\n", 0, 31, 5, 6, "month", "value", ""},
		"names behind %":                {"% lab\n% BJD  flux\n10.5  1.25\n11.5  1.5\n", 10.5, 11.5, 1.25, 1.5, "BJD", "flux", ""},
		"flags of Eurostat":             {"TIME_PERIOD\tOBS_VALUE\n2015-01\t5.5 \n2015-02\t6.5 b\n2015-03\t7.5 p\n", 0, 59, 5.5, 7.5, "TIME_PERIOD", "OBS_VALUE", ""},
		"a flag first":                  {"t,y\n2015-01,5.5 p\n2015-02,6.5\n", 0, 31, 5.5, 6.5, "t", "y", ""},
		"reals":                         {"Data;Valor\n01/01/2015;R$ 1.025,10\n31/01/2015;-R$ 980,00\n", 0, 30, 1025.1, -980, "Data", "Valor", "R$"},
		"crowns":                        {"Dato;Beløp\n01.01.2015;kr 1 025,10\n01.02.2015;kr 980,00\n", 0, 31, 1025.1, 980, "Dato", "Beløp", "kr"},
		"a switch":                      {"t,state\n2015-01-01,off\n2015-01-02,on\n", 0, 1, 0, 1, "t", "state", ""},
		"yes and no":                    {"t,alarm\n2015-01-01,N\n2015-01-02,Y\n", 0, 1, 0, 1, "t", "alarm", ""},
		"a logger's first line":         {"\"TOA5\",\"CR1000\",\"1234\",\"std\",\"table\"\n\"TIMESTAMP\",\"RECORD\",\"Temp\"\n\"TS\",\"RN\",\"Deg C\"\n\"\",\"\",\"Avg\"\n\"2015-01-01 00:00:00\",0,5\n\"2015-01-01 12:00:00\",1,6\n\"2015-01-02 00:00:00\",2,7\n", 0, 1, 5, 7, "TIMESTAMP", "Temp", ""},
		"a place above":                 {"latitude,longitude,elevation,zone\n52.52,13.42,38.0,GMT\n\ntime,temperature\n2015-01-01T00:00,5\n2015-01-01T12:00,6\n2015-01-02T00:00,7\n", 0, 1, 5, 7, "time", "temperature", ""},
		"R's names of rows":             {"\"date\" \"y\"\n\"1\" \"2015-01-01\" 5\n\"2\" \"2015-01-02\" 6\n\"3\" \"2015-01-03\" 7\n", 0, 2, 5, 7, "date", "y", ""},
		"printed by pandas":             {"        date    y\n0  2015-01-01  5.0\n1  2015-01-02  6.0\n2  2015-01-03  7.0\n", 0, 2, 5, 7, "date", "y", ""},
		"names of rows, tabs":           {"date\ty\n1\t2015-01-01\t5\n2\t2015-01-02\t6\n3\t2015-01-03\t7\n", 0, 2, 5, 7, "date", "y", ""},
		"names behind # and blanks":     {"# MJD mag err\n10.5  1.25 0.5\n11.5  1.5 0.5\n", 10.5, 11.5, 1.25, 1.5, "MJD", "mag", ""},
		"an empty comment below":        {"# KNMI\n#\n# STN,YYYYMMDD,   TG\n#\n  260,20150101,   55\n  260,20150102,   65\n", 20150101, 20150102, 55, 65, "YYYYMMDD", "TG", ""},
		"the header once more":          {"t,y\n2015-01-01,5\nt,y\n2015-01-02,6\nt,y\n", 0, 1, 5, 6, "t", "y", ""},
		"the date of a download":        {"flow,updated,freq,TIME_PERIOD,OBS_VALUE\nA,11/01/24 23:00,M,2015-01,5.5\nA,11/01/24 23:00,M,2015-02,6.5\nA,11/01/24 23:00,M,2015-03,7.5\n", 0, 59, 5.5, 7.5, "TIME_PERIOD", "OBS_VALUE", ""},
		"start, stop and time":          {"#group,false,true\n,result,_start,_time,_value\n,,2015-01-01T00:00:00Z,2015-01-02T00:00:00Z,5.5\n,,2015-01-01T00:00:00Z,2015-01-03T00:00:00Z,6.5\n,,2015-01-01T00:00:00Z,2015-01-04T00:00:00Z,7.5\n", 1, 3, 5.5, 7.5, "_time", "_value", ""},
		"labels before values":          {"Buchungstag;Verwendung;Betrag\n01.01.2015;Miete;5,50 €\n02.01.2015;Strom;6,50 €\n03.01.2015;Miete;7,50 €\n", 0, 2, 5.5, 7.5, "Buchungstag", "Betrag", "€"},
		"codes before values":           {"REF_DATE,GEO,UOM_ID,SCALE,VALUE\n2015-01,Canada,17,0,5.5\n2015-02,Canada,17,0,6.5\n2015-03,Canada,17,0,7.5\n", 0, 59, 5.5, 7.5, "REF_DATE", "VALUE", ""},
		"Destatis":                      {"Index: Monate;;\nStatistik;;\n;;Index\n;;2020=100\n2015;Januar;5,5\n2015;Februar;6,5\n2015;März;7,5\n", 0, 59, 5.5, 7.5, "", "Index", ""},
		"quarters of Destatis":          {"BIP;;\n;;Wert\n2015;1. Quartal;5,5\n2015;2. Quartal;6,5\n2015;3. Quartal;7,5\n", 0, 181, 5.5, 7.5, "", "Wert", ""},
		"no header, units":              {"0 ms, 5.5 C\n10 ms, 6.5 C\n20 ms, 7.5 C\n", 0, 20, 5.5, 7.5, "", "", "C"},
		"the USGS":                      {"# WARNING\n#\nagency_cd\tsite_no\tdatetime\tflow\tflow_cd\n5s\t15s\t20d\t14n\t10s\nUSGS\t0164\t2015-01-01\t5.5\tA\nUSGS\t0164\t2015-01-02\t6.5\tA\nUSGS\t0164\t2015-01-03\t7.5\tA\n", 0, 2, 5.5, 7.5, "datetime", "flow", ""},
		"months without names":          {"2015;01;2015.042;  5.5;1\n2015;02;2015.123;  6.5;1\n2015;03;2015.204;  7.5;1\n", 0, 59, 5.5, 7.5, "", "", ""},
		"a second date with points":     {"Buchung;Valuta;Text;Umsatz;\n01.01.2015;01.01.2015;A 1;5,50;\n31.01.2015;02.01.2015;B 2;6,50;\n01.02.2015;01.02.2015;C;7,50;\n", 0, 31, 5.5, 7.5, "Buchung", "Umsatz", ""},
		"a time from and to":            {"Datum;Zeit von;Zeit bis;kWh\n01.01.2015;00:00;12:00;5,5\n01.01.2015;12:00;24:00;6,5\n", 0, 0.5, 5.5, 6.5, "Datum", "kWh", ""},
		"hours with an h":               {"Date;Heure;Valeur\n01/01/2015;12h00;5,5\n31/01/2015;12h00;6,5\n", 0.5, 30.5, 5.5, 6.5, "Date", "Valeur", ""},
		"p. m. with blanks":             {"Fecha;Hora;Valor\n01/01/2015;12:00:00 p. m.;5,5\n31/01/2015;12:00:00 a. m.;6,5\n", 0.5, 30, 5.5, 6.5, "Fecha", "Valor", ""},
		"klokken":                       {"Dato;Verdi\n1. jan. 2015 kl. 12.00;5,5\n2. jan. 2015 kl. 00.00;6,5\n", 0.5, 1, 5.5, 6.5, "Dato", "Verdi", ""},
		"a short German date":           {"Datum;Wert\n1. Jan. 15;5,5\n1. Mrz. 15;6,5\n", 0, 59, 5.5, 6.5, "Datum", "Wert", ""},
		"millions of dollars":           {"t,y\n2015-01-01,$5.5M\n2015-01-02,$6.5M\n", 0, 1, 5.5, 6.5, "t", "y", "$M"},
		"millions of euros":             {"t;y\n2015-01-01;5,5 Mio. €\n2015-01-02;6,5 Mio. €\n", 0, 1, 5.5, 6.5, "t", "y", "Mio. €"},
		"a place in each row":           {"station,date,latitude,name,tmax\nA1,2015-01-01,52.4,\"B, C\",5\nA1,2015-01-02,52.4,\"B, C\",6\nA1,2015-01-03,52.4,\"B, C\",7\n", 0, 2, 5, 7, "date", "tmax", ""},
		"observations counted first":    {"Obs,v,YEAR\n" + strings.Join(strings.Fields("1,5,1947 2,4,1948 3,6,1949 4,7,1950 5,7,1951 6,7,1952 7,7,1953 8,8,1954 9,9,1955 10,6,1956"), "\n"), 1947, 1956, 5, 6, "YEAR", "v", ""},
		"names in brackets":             {"<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>\nA,D,2015-01-01,000000,5.5\nA,D,2015-01-02,000000,6.5\nA,D,2015-01-05,000000,7.5\n", 0, 4, 5.5, 7.5, "DATE", "OPEN", ""},
		"six digits of time":            {"<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>\nA,D,20150101,000000,5.5\nA,D,20150101,120000,6.5\nA,D,20150102,003000,7.5\n", 0, 1 + 0.5/24, 5.5, 7.5, "DATE", "OPEN", ""},
		"a time without a name":         {"2015.01.01,00:00,5.5,1\n2015.01.01,12:00,6.5,1\n2015.01.02,00:00,7.5,1\n", 0, 1, 5.5, 7.5, "", "", ""},
		"French weeks":                  {"Semaine;Valeur\n2015-S02;5,5\n2015-S03;6,5\n", 4, 11, 5.5, 6.5, "Semaine", "Valeur", ""},
		"a separator, and a comma":      {"sep=,\na,t,y\nx,2015-01-01,5\nx,2015-01-02,6\nx,2015-01-03,7\nx,2015-01-04,8\n", 0, 3, 5, 8, "t", "y", ""},
		"tonnes below the header":       {"t,y\ns,t\n0,5\n1,6\n", 0, 1, 5, 6, "t", "y", ""},
		"kilowatts":                     {"time,kW,temp\n2015-01-01,5.5,1\n2015-01-02,6.5,2\n", 0, 1, 5.5, 6.5, "time", "kW", ""},
		"true before numbers":           {"date,open,sales\n2015-01-01,TRUE,5\n2015-01-02,FALSE,6\n", 0, 1, 5, 6, "date", "sales", ""},
		"hours and minutes":             {"date,hrmn,temp\n20150101,0000,5\n20150101,0030,5\n20150101,1200,6\n", 0, 0.5, 5, 6, "date", "temp", ""},
		"a time zone beside a time":     {"Datum;Tid (UTC);temp\n2015-01-01;00:00:00;5\n2015-01-01;12:00:00;6\n", 0, 0.5, 5, 6, "Datum", "temp", ""},
		"a start time":                  {"TYPE,DATE,START TIME,END TIME,USAGE\nE,2015-01-01,00:00,00:59,5\nE,2015-01-01,12:00,12:59,6\n", 0, 0.5, 5, 6, "DATE", "USAGE", ""},
		"days without names":            {"2015;01;01;2015.001;5;1\n2015;01;02;2015.004;6;1\n2015;02;01;2015.085;7;1\n", 0, 31, 5, 7, "", "", ""},
		"hours without names":           {"2015 01 01 00 5 1\n2015 01 01 01 6 1\n2015 01 01 12 7 1\n", 0, 0.5, 5, 7, "", "", ""},
		"minutes without names":         {"2015 1 1 0 0 5\n2015 1 1 0 30 6\n2015 1 1 12 0 7\n", 0, 0.5, 5, 7, "", "", ""},
		"days of a year, hours":         {"2015   1  0   5.5  1\n2015   1 12   6.5  1\n2015   2  0   7.5  1\n", 0, 1, 5.5, 7.5, "", "", ""},
		"the same by name":              {"year,doy,hour,v\n2015,1,0,5\n2015,1,12,6\n2015,2,0,7\n", 0, 1, 5, 7, "year", "v", ""},
		"parts of days of a year":       {"year doy v\n2015 1.25 5\n2015 1.75 6\n2015 2.25 7\n", 0.25, 1.25, 5, 7, "year", "v", ""},
		"six digits without a name":     {"150130 5\n150131 6\n150201 7\n150202 8\n", 29, 32, 5, 8, "", "", ""},
		"counts of six digits":          {"150101 5\n150102 6\n150103 7\n150104 8\n", 150101, 150104, 5, 8, "", "", ""},
		"the end of each time":          {"FROM,TO,v\n201501010000,201501010030,5\n201501010030,201501010100,6\n201501010100,201501010130,7\n", 201501010000, 201501010100, 5, 7, "FROM", "v", ""},
		"times in UTC":                  {"Data;Hora UTC;mm\n2015/01/01;0000 UTC;5,5\n2015/01/01;1200 UTC;6,5\n", 0, 0.5, 5.5, 6.5, "Data", "mm", ""},
		"months behind words":           {"Navn;Stasjon;Tid(norsk);v\nOslo;SN1;01.2015;5,5\nOslo;SN1;02.2015;6,5\nOslo;SN1;03.2015;7,5\n", 1.2015, 3.2015, 5.5, 7.5, "Tid(norsk)", "v", ""},
		"Finnish parts of dates":        {"Vuosi,Kk,Pv,Klo,v\n2015,1,1,00:00,5\n2015,1,1,12:00,6\n", 0, 0.5, 5, 6, "Vuosi", "v", ""},
		"names above units":             {"#YY  MM DD hh mm WDIR WSPD GST\n#yr  mo dy hr mn degT m/s m/s\n2015 01 01 00 00 5 6 7\n2015 01 01 12 00 6 7 8\n", 0, 0.5, 5, 6, "YY", "WDIR", ""},
		"settings with tabs":            {"Lat:\t45\nLon:\t8\nHeight:\t250\nBase:\tx\n\ntime,G,T\n20150101:0010,5,1\n20150101:0110,6,1\n", 10.0 / 1440, 70.0 / 1440, 5, 6, "time", "G", ""},
		"flags without a blank":         {"Datum;v\n01.01.2015;5,5\n13.01.2015;6,5e\n", 0, 12, 5.5, 6.5, "Datum", "v", ""},
		"a footnote's number":           {"date,v\n2015-01-01,5.5\n2015-01-02,6.5 1)\n", 0, 1, 5.5, 6.5, "date", "v", ""},
		"EViews":                        {"obs,v\n2015:01,5\n2015:02,6\n", 0, 31, 5, 6, "obs", "v", ""},
		"years and small numbers":       {"2000,1,1,5\n2001,2,2,6\n2002,3,3,7\n", 2000, 2002, 1, 3, "", "", ""},
		"IPAC":                          {"\\\\Title = 'a'\n|  HJD   | MAG  |\n| double |double|\n|        | mag  |\n 2450000.5  5.5 \n 2450001.5  6.5 \n", 2450000.5, 2450001.5, 5.5, 6.5, "HJD", "MAG", ""},
		"an empty first value":          {"utc,local,load\n2015-01-01T00:00Z,2015-01-01T01:00+01:00,\n2015-01-01T12:00Z,2015-01-01T13:00+01:00,5\n2015-01-02T00:00Z,2015-01-02T01:00+01:00,6\n", 0.5, 1, 5, 6, "utc", "load", ""},
		"values before dates":           {"id,amount,created,due\ntx1,5,2015-01-01,2015-01-03\ntx2,6,2015-01-02,2015-01-04\n", 0, 1, 5, 6, "created", "amount", ""},
		"two Julian dates":              {"oid,expid,hjd,mjd,mag\n7,1,2450000.5,50000.1,5\n7,4,2450001.5,50001.1,6\n7,9,2450002.5,50002.1,7\n", 2450000.5, 2450002.5, 5, 7, "hjd", "mag", ""},
		"hours from and to":             {"MTU (CET/CEST),Price\n01.01.2015 00:00 - 01.01.2015 01:00,5\n01.01.2015 12:00 - 01.01.2015 13:00,6\n", 0, 0.5, 5, 6, "MTU (CET/CEST)", "Price", ""},
		"hours of a day, from and to":   {"t,y\n01.01.2015 00:00 - 12:00,5\n01.01.2015 12:00 - 24:00,6\n", 0, 0.5, 5, 6, "t", "y", ""},
		"weeks from and to":             {"t,y\n2015-01-05 - 2015-01-11,5\n2015-01-12 - 2015-01-18,6\n", 4, 11, 5, 6, "t", "y", ""},
		"the end tells the order":       {"t,y\n05/01/2015 - 11/01/2015,5\n12/01/2015 - 18/01/2015,6\n", 4, 11, 5, 6, "t", "y", ""},
		"web servers, whole":            {"t,y\n[01/Jan/2015:00:00:00 +0000],5\n[01/Jan/2015:12:00:00 +0000],6\n", 0, 0.5, 5, 6, "t", "y", ""},
		"as Unix writes times":          {"t,y\nThu Jan  1 00:00:00 UTC 2015,5\nThu Jan  1 12:00:00 UTC 2015,6\n", 0, 0.5, 5, 6, "t", "y", ""},
		"Russian short months":          {"t;y\nянв.15;5\nмар.15;6\n", 0, 59, 5, 6, "t", "y", ""},
		"Russian quarters":              {"t;y\n1 кв. 2015;5\nII квартал 2015;6\n", 0, 90, 5, 6, "t", "y", ""},
		"Polish quarters":               {"t;y\n2015 kw. I;5\nII kw. 2015;6\n", 0, 90, 5, 6, "t", "y", ""},
		"Hungarian quarters":            {"t;y\n2015. I. negyedév;5\n2015. II. negyedév;6\n", 0, 90, 5, 6, "t", "y", ""},
		"as R writes quarters":          {"t;y\n2015 Qtr1;5\n2015 Qtr2;6\n", 0, 90, 5, 6, "t", "y", ""},
		"Chinese, GBK":                  {"t,y\n2015\xc4\xea1\xd4\xc21\xc8\xd5,5\n2015\xc4\xea2\xd4\xc21\xc8\xd5,6\n", 0, 31, 5, 6, "t", "y", ""},
		"Japanese, Shift JIS":           {"t,y\n2015\x94N1\x8c\x8e1\x93\xfa,5\n2015\x94N2\x8c\x8e1\x93\xfa,6\n", 0, 31, 5, 6, "t", "y", ""},
		"Korean, EUC-KR":                {"t,y\n2015\xb3\xe2 1\xbf\xf9,5\n2015\xb3\xe2 2\xbf\xf9,6\n", 0, 31, 5, 6, "t", "y", ""},
		"marks of footnotes":            {"t;y\n2015-01;5,5\n2015-02;6,5*\n2015-03;1.007,5 (p)\n", 0, 59, 5.5, 1007.5, "t", "y", ""},
		"a first mark of a footnote":    {"t;y\n2015-01;5,5²\n2015-02;6,5\n", 0, 31, 5.5, 6.5, "t", "y", ""},
		"a remark behind a number":      {"t,y\n2015-01,5\n2015-02,6 # checked\n", 0, 31, 5, 6, "t", "y", ""},
		"thousands and millions":        {"t,y\n2015-01,1.5M\n2015-02,980.5K\n", 0, 31, 1.5, 0.9805, "t", "y", "M"},
		"per cent before":               {"t;y\n2015-01;%12,5\n2015-02;%9\n", 0, 31, 12.5, 9, "t", "y", "%"},
		"crowns with a point":           {"t;y\n2015-01;1.012,50 kr.\n2015-02;9,00 kr.\n", 0, 31, 1012.5, 9, "t", "y", "kr."},
		"cubic metres":                  {"t,y\n2015-01,12.5 m3/s\n2015-02,9 m3/s\n", 0, 31, 12.5, 9, "t", "y", "m3/s"},
		"thousands beside hundreds":     {"t;y\n1;1.025\n2;980\n3;1.030\n4;975\n5;990\n6;1.000\n", 1, 6, 1025, 1000, "t", "y", ""},
		"English, between semicolons":   {"t;y\n1;1,025\n2;980\n3;1,030\n4;975\n5;990\n6;1,000\n", 1, 6, 1025, 1000, "t", "y", ""},
		"a title above blanks":          {"Heathrow\nLat 51.479 Lon -0.449, 25m amsl\n  yyyy  mm  tmax  sun\n            degC  hours\n  2015  1  5.5  45\n  2015  2  6.5  50\n  2015  3  7.5  55\n  2015  4  8.5*  60  Provisional\n", 0, 90, 5.5, 8.5, "yyyy", "tmax", ""},
		"a title above counted rows":    {"some flows\n t y\n1 5 6\n2 7 8\n3 9 9.5\n", 5, 9, 6, 9.5, "t", "y", ""},
		"a title above bare rows":       {"some more words\n2015-01-01 5\n2015-01-02 6\n2015-01-03 7\n", 0, 2, 5, 7, "", "", ""},
		"a title and no names":          {"Pegel Köln [cm]\n01.01.2015 00:00;5\n01.01.2015 12:00;6\n02.01.2015 00:00;7\n", 0, 1, 5, 7, "", "", ""},
		"ARFF":                          {"@RELATION air\n@ATTRIBUTE date DATE\n@DATA\n2015-01-01,5\n2015-01-02,6\n2015-01-03,7\n", 0, 2, 5, 7, "", "", ""},
		"a year with a mark":            {"year,y\n2001,5\n2002,7\n2003*,6\n", 2001, 2003, 5, 6, "year", "y", ""},
		"a month with a mark":           {"month;y\nJan 2015;5\nFeb 2015 (p);6\n", 0, 31, 5, 6, "month", "y", ""},
		"13 periods of a year":          {"Fiscal Year,Period,y\n" + periods(2015, 13) + periods(2016, 13), 0, 365 + 336, 1, 13, "Fiscal Year", "y", ""},
		"12 periods of a year":          {"Year,Period,y\n" + periods(2015, 12) + periods(2016, 12), 0, 365 + 335, 1, 12, "Year", "y", ""},
		"years with periods":            {"t,y\n" + strings.ReplaceAll(periods(2015, 13), ",P", " P"), 0, 336, 1, 13, "t", "y", ""},
		"fixed width, decimal commas":   {"Datum       Temp   Wind\n01.01.2015   5,5    1,5\n02.01.2015   6,5\n03.01.2015          2,5\n04.01.2015  10,5    1,5\n05.01.2015   9,5    1,5\n06.01.2015   7,5    1,5\n", 0, 5, 5.5, 7.5, "Datum", "Temp", ""},
		"a 13th month for the mean":     {"Year,Period,y\n2015,M11,5\n2015,M12,6\n2015,M13,99\n2016,M01,7\n2016,M13,99\n", 304, 365, 5, 7, "Year", "y", ""},
		"numbers of columns":            {"Year,Area,Yield\n(1),(2),(3)\n2001,5.5,1\n2002,6.5,1\n2003,7.5,1\n", 2001, 2003, 5.5, 7.5, "Year", "Area", ""},
		"Vietnamese months":             {"t;y\nTháng 1/2015;5\ntháng 02 năm 2015;6\n", 0, 31, 5, 6, "t", "y", ""},
		"Latvian months":                {"t;y\n2015. gada janvāris;5\n2015. gada marts;6\n", 0, 59, 5, 6, "t", "y", ""},
		"Arabic months":                 {"t,y\nيناير 2015,5\nفبراير 2015,6\n", 0, 31, 5, 6, "t", "y", ""},
		"months of quarters":            {"t,y\nJan-Mar 2015,5\nApr-Jun 2015,6\n", 0, 90, 5, 6, "t", "y", ""},
		"as DB2 writes times":           {"t,y\n2015-01-01-12.00.00.000000,5\n2015-01-02-12.00.00.000000,6\n", 0.5, 1.5, 5, 6, "t", "y", ""},
		"Swedish weeks":                 {"Vecka;y\nv. 2 2015;5\nv. 3 2015;6\n", 4, 11, 5, 6, "Vecka", "y", ""},
		"fiscal years of two digits":    {"t,y\nFY15,5\nFY16,6\n", 0, 365, 5, 6, "t", "y", ""},
		"hours as ranges":               {";Hours;SYS\n01-01-2015;00 - 01;20,5\n01-01-2015;12 - 13;21\n13-01-2015;23 - 00;22,5\n", 0, 12 + 23.0/24, 20.5, 22.5, "", "SYS", ""},
		"clocks with points":            {"Date;Time;CO\n10/01/2015;18.00.00;2,6\n13/01/2015;06.00.00;2\n", 9.75, 12.25, 2.6, 2, "Date", "CO", ""},
		"two digits of a year":          {"Year,Month,y\n14,12,5\n15,1,6\n15,2,7\n", -31, 31, 5, 7, "Year", "y", ""},
		"a day of the week behind":      {"t;y\n05.01.2015 (Mo);5\n13.01.2015 (Di);6\n", 4, 12, 5, 6, "t", "y", ""},
		"one of Japan":                  {"t,y\n2015/1/5(月),5\n2015/1/6(火),6\n", 4, 5, 5, 6, "t", "y", ""},
		"a plus behind":                 {"t;y\n01/2015;1.025,50-\n02/2015;980,00+\n", 0, 31, -1025.5, 980, "t", "y", ""},
		"two titles, one row, a source": {"\"Tabela 17\"\n\"Brasil\";\"Mês\"\n\"\";\"janeiro 2015\";\"fevereiro 2015\";\"março 2015\"\n\"Brasil\";\"1,25\";\"1\";\"1,5\"\n\"Fonte: IBGE\"\n", 0, 59, 1.25, 1.5, "time", "value", ""},
		"settings above a blank line":   {"Sample\tA1\nAcquired\t2015-01-01 10:00\n\nR.Time (min)\tmV\n0.5\t5\n1\t6\n1.5\t8\n", 0.5, 1.5, 5, 8, "R.Time (min)", "mV", ""},
		"a spectrum":                    {"SpectraSuite Data File\nUser: ann\n>>>>>Begin Data<<<<<\n200.5\t5\n200.9\t6\n201.5\t7\n>>>>>End Data<<<<<\n", 200.5, 201.5, 5, 7, "", "", ""},
		"a column of indicators":        {"date,ind,rain\n2015-01-01,0,5\n2015-01-02,0,6\n", 0, 1, 5, 6, "date", "rain", ""},
		"weeks below years":             {"Week,2014,2015,2016\n1,5,6,7\n2,6,7,8\n3,7,8,9\n", -367, 382, 5, 9, "Week", "value", ""},
		"hours with points":             {"Date;Time;CO\n10/03/2015;18.00;5,5\n10/03/2015;19.00;6\n10/03/2015;20.00;6\n10/03/2015;21.00;6\n13/03/2015;06.00;7,5\n", 68.75, 71.25, 5.5, 7.5, "Date", "CO", ""},
		"decimal hours":                 {"Date;Time;CO\n10.03.2015;0.00;5,5\n10.03.2015;0.50;6,5\n10.03.2015;1.00;7,5\n", 68, 68, 5.5, 7.5, "Date", "CO", ""},
		"a log":                         {"[2015-01-01 00:00:00] 5.5\n[2015-01-01 12:00:00] 6.5\n[2015-01-02 00:00:00] 7.5\n", 0, 1, 5.5, 7.5, "", "", ""},
		"about":                         {"Year,n\n2015,5\n2016,c. 6\nc. 2017,6\n2018,~7\n", 2015, 2018, 5, 7, "Year", "n", ""},
		"provisional without a blank":   {"Jahr;n\n2015;980\n2016;990p\n", 2015, 2016, 980, 990, "Jahr", "n", ""},
		"Vierteljahre":                  {"Jahr;Vierteljahr;n\n2015;1. Vierteljahr;5\n2015;2. Vierteljahr;6\n", 0, 90, 5, 6, "Vierteljahr", "n", ""},
		"Vierteljahre, in short":        {"t;y\n1. Vj. 2015;5\n2. Vj. 2015;6\n", 0, 90, 5, 6, "t", "y", ""},
		"French ordinal numbers":        {"t;y\n1er trimestre 2015;5\n2ème trimestre 2015;6\n", 0, 90, 5, 6, "t", "y", ""},
		"fiscal years before quarters":  {"t,y\nFY15 Q1,5\nFY15 Q2,6\n", 0, 90, 5, 6, "t", "y", ""},
		"Chinese quarters":              {"t,y\n2015年第1季度,5\n2015年第2季度,6\n", 0, 90, 5, 6, "t", "y", ""},
		"French weeks by their column":  {"Année;Semaine;Cas\n2015;S02;5\n2015;S03;6\n", 4, 11, 5, 6, "Semaine", "Cas", ""},
		"periods of SAP":                {"t;y\n001/2015;1.025,50-\n002/2015;980,00\n", 0, 31, -1025.5, 980, "t", "y", ""},
		"eight digits, the day first":   {"Datum;y\n01012015;5\n13012015;6\n", 0, 12, 5, 6, "Datum", "y", ""},
		"eight digits, the month first": {"Date,y\n01012015,5\n01132015,6\n", 0, 12, 5, 6, "Date", "y", ""},
		"frequencies of eight digits":   {"freq,y\n10012000,5\n10013000,6\n10014000,7\n", 10012000, 10014000, 5, 7, "freq", "y", ""},
		"an interval of ISO 8601":       {"t,y\n2015-01-05/2015-01-11,5\n2015-01-12/2015-01-18,6\n", 4, 11, 5, 6, "t", "y", ""},
		"a zone between brackets":       {"t,y\n01/13/2015 00:00:00 - 01/13/2015 12:00:00 (CET),5\n01/13/2015 12:00:00 - 01/14/2015 00:00:00 (CET),6\n", 12, 12.5, 5, 6, "t", "y", ""},
		"German, DOS":                   {"Monat;y\nFebruar 2015;5\nM\x84rz 2015;6\n", 31, 59, 5, 6, "Monat", "y", ""},
		"French, an old Mac":            {"Mois;y\rf\x8evrier 2015;5\rao\x9et 2015;6\r", 31, 212, 5, 6, "Mois", "y", ""},
		"dashes of Windows":             {"Monat;Ertr\xe4ge\nJanuar 2015;\x965,5\nFebruar 2015;6\n", 0, 31, -5.5, 6, "Monat", "Erträge", ""},
		"a pivot table":                 {"Summe von y;Spalten;;;\nZeilen;2014;2015;2016;Gesamtergebnis\nJan;1,5;2;3;6\nFeb;1;2;4,5;7\nGesamtergebnis;2;4;7;13\n", -365, 396, 1.5, 4.5, "Zeilen", "value", ""},
		"a row of digits and hours":     {"POSTE;LAT;AAAAMMJJHH;RR1;QRR1;T\n0108;45.9;2015010100;5.5;1;3.1\n0108;45.9;2015010101;6.5;1;3.5\n0108;45.9;2015010102;7.5;1;2.5\n", 2015010100, 2015010102, 5.5, 7.5, "AAAAMMJJHH", "RR1", ""},
		"a quality before values":       {"STATIONS_ID;MESS_DATUM;QN;TT\n1048;2015-01-01;3;5.5\n1048;2015-01-02;3;6.5\n1048;2015-01-03;3;7.5\n", 0, 2, 5.5, 7.5, "MESS_DATUM", "TT", ""},
		"years called Zeit":             {"Code;Label;Zeit;Ort;Index\n61111;VPI;2015;DE;5,5\n61111;VPI;2016;DE;6,5\n61111;VPI;2017;DE;7,5\n", 2015, 2017, 5.5, 7.5, "Zeit", "Index", ""},
		"hours called HE01":             {"Date,HE,MW\n01/13/2015,HE01,5\n01/13/2015,HE24,6\n", 12 + 1.0/24, 13, 5, 6, "Date", "MW", ""},
		"a column of AM and PM":         {"Date,Time,AM/PM,v\n01/13/2015,12:00,AM,5\n01/13/2015,12:00,PM,6\n", 12, 12.5, 5, 6, "Date", "v", ""},
		"a log with its level":          {"[2015-01-01 00:00:00] INFO 5.5\n[2015-01-01 12:00:00] INFO 6\n[2015-01-02 00:00:00] INFO 7\n[2015-01-02 12:00:00] INFO 7.5\n", 0, 1.5, 5.5, 7.5, "", "", ""},
		"numbers and fields":            {"t,y\n0,1.025\n1,980\n", 0, 1, 1.025, 980, "t", "y", ""},
	} {
		for _, size := range []int{1, 40, blockSize} {
			opt := CSVOptions{Seconds: true, PassLabels: true, SkipMissing: true}
			s, rep, err := readCSV(strings.NewReader(c.text), opt)
			of, _, bad, _, streamErr := streamed(strings.NewReader(c.text), opt, 2, size)
			if math.IsNaN(c.x0) {
				if err == nil || streamErr == nil {
					t.Errorf("%s: read as %v", name, s)
				}
				continue
			}
			if err != nil || streamErr != nil || len(bad) > 0 {
				t.Errorf("%s: %v; %v %v", name, err, streamErr, bad)
				continue
			}
			x0, x1 := c.x0, c.x1
			if s.XUnit == unixSeconds {
				x0, x1 = 1420070400+day*x0, 1420070400+day*x1
			}
			last := s.Len() - 1
			if s.X[0] != x0 || s.X[last] != x1 || s.Y[0] != c.y0 || s.Y[last] != c.y1 || s.XName != c.xName || s.YName != c.yName || rep.Unit != c.unit {
				t.Errorf("%s: %+v, unit %q", name, s, rep.Unit)
			}
			if of.X[last] != s.X[last] || of.Y[last] != s.Y[last] {
				t.Errorf("%s, streamed in blocks of %d: %+v", name, size, of)
			}
		}
	}
}

// TestBracketedNames finds a column by its name with the brackets that the file has, and without.
func TestBracketedNames(t *testing.T) {
	for _, name := range []string{"<CLOSE>", "CLOSE"} {
		s, _, err := readCSV(strings.NewReader("<DATE>,<OPEN>,<CLOSE>,<b>x</b>\n2015-01-01,5,6,1\n2015-01-02,6,7,2\n"), CSVOptions{Y: name})
		if err != nil || s.Y[1] != 7 || s.YName != "CLOSE" {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if s, _, err := readCSV(strings.NewReader("t,<b>x</b>\n1,5\n2,6\n"), CSVOptions{Y: "<b>x</b>"}); err != nil || s.YName != "<b>x</b>" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestBelowTable leaves out what stands below a table, and nothing else.
func TestBelowTable(t *testing.T) {
	const table, wide = "Monat;Wert\n2015-01;5\n2015-02;6\n", "t,v,a,b\n1,5,1,1\n2,6,1,1\n"
	for text, left := range map[string]int{
		table: 0, table + "Summe;11\n": 1, table + "\nQuelle: Amt\nHinweis: vorläufig\n": 2, table + "\"Source: A; B\"\n": 1, table + "____\n1) vorläufig\n© Amt, 2024\n": 2, table + "(2 rows)\n": 1, "day      v\n-------- --\n2015-01-01 5\n2015-01-02 6\n\n(2 rows affected)\n": 1, table + "2 rows in set (0.00 sec)\n": 1, table + "___\n\xa9 Amt, 2024\nStand: 01.02.2024 / 10:00:00\n": 2,
		table + "____\n(C)opyright Amt\nStand: 1\n": 2, wide + "-99.99\nNINA34\n5N-5S 170W-120W\n": 3, wide + "3\n": -1, wide + "-9.5\n": -1, wide + "3,7,a\n": -1,
		table + "2015-0\n": -1, table + "Jahre\nJahr;Wert;x\n2015;5;1\n": -1, table + "x;7\n": -1, "Monat;Wert\n2015-01;5\nSumme;5\n2015-01;6\n": -1,
		table + "Total 2015;11\n": 1, table + "Durchschnitt 2014-2015;11\nQ1 2015 total;11\n": 2, table + "Station 2015;11\n": -1,
	} {
		s, rep, err := readCSV(strings.NewReader(text), CSVOptions{})
		if left < 0 {
			if err == nil {
				t.Errorf("%q is read", text)
			}
		} else if err != nil || s.Len() != 2 || len(rep.Below) != left {
			t.Errorf("%q: %v, %d rows, %v below", text, err, s.Len(), rep.Below)
		}
	}
}

// TestAligned: columns of fixed width that line up with their names may have blank cells, such as flags. Others are refused, and no row is skipped as a title.
func TestAligned(t *testing.T) {
	const head, rows = "DATE       TMAX F TMIN\n---------- ---- - ----\n", "2015-01-01  5.5   -1.5\n2015-01-02  6.5 E -2.5\n2015-01-03        -2.5\n2015-01-04 10.5   -3.5\n2015-01-05  9.5\n"
	for text, want := range map[string]int{head + rows: 4, head + rows + rows[:23*2]: 6, head + "2015-01-01 5 E 1\n2015-01-02 5 1\n2015-01-03 5 1\n2015-01-04 5 1\n2015-01-05 5 1\n": -1} {
		s, rep, err := readCSV(strings.NewReader(text), CSVOptions{Seconds: true, SkipMissing: true})
		if want < 0 != (err != nil) || err == nil && (s.Len() != want || s.Y[2] != 10.5 || s.YName != "TMAX" || rep.Title != 0) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	// Below a title, and with names of several words that do not line up with the numbers.
	const above = "Level of the river\nStation: K 17\n\n   Date      Level (cm)   Flow, m3/s\n"
	below := "2015-01-01     5.5        2.70\n2015-01-02     6.5\n2015-01-03                3.70\n2015-01-04    10.5        2.70\n2015-01-05     9.5        2.70\n2015-01-06     9.5        2.70\n"
	s, rep, err := readCSV(strings.NewReader(strings.Replace(above, ",", "", 1)+below), CSVOptions{Seconds: true, SkipMissing: true})
	if err != nil || s.Len() != 5 || s.Y[2] != 10.5 || s.YName != "Level (cm)" || rep.Title != 3 || rep.Columns[2] != "Flow m3/s" || rep.Also.Lines[4] != 10 {
		t.Errorf("%v, %v, %q, %q", s, err, s.YName, rep.Columns)
	}
	wide := strings.Repeat("2015-01-01  5.5   -1.5\n2015-01-02  6.5 E -2.5\n", headSize/40) + "2015-01-05 1234567.5 2\n"
	if s, _, err := readCSV(strings.NewReader(head+wide), CSVOptions{Seconds: true, SkipMissing: true}); err == nil || !strings.Contains(err.Error(), "1234567.5") {
		t.Errorf("a word across columns: %d rows, %v", s.Len(), err)
	}
}

// TestTotals leaves out sums and means between the rows, unless the table begins once more behind one.
func TestTotals(t *testing.T) {
	const year = "Jan %[1]d;5\nFeb %[1]d;6\n"
	for text, want := range map[string]int{
		fmt.Sprintf("m;y\n"+year+"Total %[1]d;11\n"+"Jan 2016;5\nFeb 2016;6\n", 2015):                               1,
		"m;y\n01/01/2015;5\n01/02/2015;6\nSumme 2015;11\n01/01/2016;5\nMittelwert;8\n01/13/2016;6\nTotal 2016;11\n": 2,
		"m;y\n" + strings.Repeat("Jan 2015;5\nFeb 2015;6\nTotal;11\n", 2):                                           -1,
	} {
		s, rep, err := readCSV(strings.NewReader(text), CSVOptions{Seconds: true})
		if want < 0 != (err != nil) || err == nil && (s.Len() != 4 || rep.Totals != want) {
			t.Errorf("%q: %v, %d rows, %d totals", text, err, s.Len(), rep.Totals)
		}
		for _, size := range []int{1, 20, blockSize} { // by two workers, whose blocks come in any order
			_, lines, bad, rep, err := streamed(strings.NewReader(text), CSVOptions{Seconds: true}, 2, size)
			if err != nil || len(lines) != 4 || want < 0 != (len(bad) > 0) || rep.Totals != max(want, 0) {
				t.Errorf("%q in blocks of %d: %v, %v, %d totals", text, size, err, bad, rep.Totals)
			}
		}
	}
}

// TestThirteenthMonth leaves out the totals of years that the EIA writes as their thirteenth month.
func TestThirteenthMonth(t *testing.T) {
	const text = "YYYYMM,y\n201501,5\n201511,6\n201512,7\n201513,99\n201601,8\n201602,9\n201613,99\n"
	s, rep, err := readCSV(strings.NewReader(text), CSVOptions{Seconds: true, NumberDates: true})
	if err != nil || s.Len() != 5 || s.X[3] != year(2016) || s.Y[3] != 8 || rep.Totals != 1 || len(rep.Below) != 1 {
		t.Errorf("%v, %v, %d totals", s, err, rep.Totals)
	}
}

// TestTableBelow leaves out another table below the one that is read if it is much shorter, and tells of it if it is not.
func TestTableBelow(t *testing.T) {
	yearly := func(first, rows int) (text string) {
		for i := range rows {
			text += fmt.Sprintf("%d,%d,1\n", first+i, i)
		}
		return text
	}
	months := "month,a,b\n"
	for i := range 60 {
		months += fmt.Sprintf("%d%02d,%d,1\n", 2000+i/12, i%12+1, i)
	}
	opt := CSVOptions{NumberDates: true, Seconds: true}
	s, rep, err := readCSV(strings.NewReader(months+"\n Annual: January to December\n"+yearly(2000, 20)), opt)
	if err != nil || s.Len() != 60 || len(rep.Below) != mostBad || rep.Below[0].Line != 63 {
		t.Errorf("%v, %d rows, %v below", err, s.Len(), rep.Below)
	}
	for text, want := range map[string]string{
		months + "\nAnnual\n" + yearly(2000, 40):                          "another table seems to begin at line 63, with \"Annual\": write each table to a file of its own",
		months + "Annual\n" + yearly(2000, 15) + "200512,5,1\n":           "things are wrong",
		months + "Logger restarted\n200501;5;1\n200502;5;1\n200503;5;1\n": "things are wrong",
	} {
		if s, _, err := readCSV(strings.NewReader(text), opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d rows, %v, want %s", s.Len(), err, want)
		}
	}
}

// TestBelowDecidesNothing reads thousands as such although a number without a mark stands below the table.
func TestBelowDecidesNothing(t *testing.T) {
	s, _, err := readCSV(strings.NewReader("t,y\n2001,\"148,025\"\n2002,\"148,030\"\n\nSource: Office,2024\n"), CSVOptions{})
	if err != nil || s.Len() != 2 || s.Y[1] != 148030 {
		t.Errorf("%v, %v", s.Y, err)
	}
}

// TestCoarser reads the months of a table that begins with the years and quarters of the same time, and no others.
func TestCoarser(t *testing.T) {
	years, quarters, months := "2001,1\n2002,2\n2003,3\n", "", ""
	for i := range 12 {
		quarters += fmt.Sprintf("%d Q%d,%d\n", 2001+i/4, 1+i%4, i)
	}
	for i, name := range strings.Fields("JAN FEB MAR APR MAY") {
		months += fmt.Sprintf("2001 %s,%d.5\n", name, i)
	}
	opt := CSVOptions{NumberDates: true, Seconds: true}
	for text, want := range map[string]string{years + quarters + months: "years and quarters", years + months: "years", quarters + months: "quarters"} {
		s, rep, err := readCSV(strings.NewReader("Title,RPI\nUnit,Index\n"+text), opt)
		if err != nil || s.Len() != 5 || s.Y[0] != 0.5 || rep.Coarser != want || rep.Period != "month" {
			t.Errorf("%q: %v, %v, %q", text, s.Y, err, rep.Coarser)
		}
	}
	long := strings.Repeat(" ", 9<<10)
	if s, rep, err := readCSV(strings.NewReader("Title,RPI\nNotes,x"+long+"\n"+years+quarters+months), opt); err != nil || s.Len() != 5 || rep.Coarser != "years and quarters" {
		t.Errorf("below a long note: %v, %v, %q", s.Y, err, rep.Coarser)
	}
	for _, text := range []string{months + years, "2001,1\n2002,2\n" + months, strings.ReplaceAll(years, "200", "199") + months} {
		if s, _, err := readCSV(strings.NewReader("t,y\n"+text), opt); err == nil {
			t.Errorf("%q: %v", text, s.Y)
		}
	}
}

// TestBelowWide leaves out what stands below a wide table: a total, and the notes of an office of statistics.
func TestBelowWide(t *testing.T) {
	for text, want := range map[string]struct{ rows, below int }{
		"Monat;2001;2002;2003\nJanuar;1;2;3\nFebruar;4;5;6\nSumme;5;7;9\n":                                                                        {6, 1},
		"YR DJF MAM JJA SON\n2001 1 2 3 4\n2002 5 6 7 8\n2003 9\nQuelle Amt\n":                                                                    {9, 1},
		"Jahr;Q1;Q2;Q3;Q4\n2001;1;2;3;4\n2002;5;6;7;8\nSumme;6;8;10;12\n":                                                                         {8, 1},
		"\"a\",\"2001\",\"2002\",\"2003\",\"2004\"\n\"b\",\"1\",\"2\",\"3\",\"4\"\n\n\"Legend:\"\n\"..\",\"not available\"\n\"1\",\"Not all.\"\n": {4, 3},
	} {
		s, rep, err := readCSV(strings.NewReader(text), CSVOptions{Seconds: true, SkipMissing: true})
		if err != nil || s.Len() != want.rows || len(rep.Below) != want.below {
			t.Errorf("%q: %v, %d rows, %v below", text, err, s.Len(), rep.Below)
		}
	}
}

// TestWide reads tables with a column for each time as if each cell were a row, and refuses those of which it cannot tell the time.
func TestWide(t *testing.T) {
	const day = 86400.0
	since := year(2001)
	hours := ""
	for h := 1; h <= 24; h++ {
		hours += fmt.Sprintf(",H%d", h)
	}
	plain := strings.ReplaceAll(hours, "H", "")
	weeks := ""
	for w := 1; w <= 52; w++ {
		weeks += fmt.Sprintf(",KW%d", w)
	}
	days, fourWeeks := plain+",25,26,27,28,29,30,31", ",P1,P2,P3,P4,P5,P6,P7,P8,P9,P10,P11,P12,P13"
	for header, c := range map[string]struct {
		row    string  // the cells before the times
		then   string  // those of the second row; "" for one row
		n      int     // observations; 0 for an error
		x0, x1 float64 // days since 2001, or numbers
		y1     float64 // the last, where y is 1 in column 2, 2 in column 3, and so on
	}{
		"Month,2001,2002,2003":                  {"Jan", "Feb", 6, 0, 761, 3},
		"Monat,2001,2002,2003":                  {"Januar", "Februar", 6, 0, 761, 3},
		"Quarter,2001,2002,2003":                {"Q1", "Q2", 6, 0, 820, 3},
		"Jahr,Jan,Feb,Mär":                      {"2001", "2002", 6, 0, 424, 3},
		"Year,Q1,Q2,Q3,Q4":                      {"2001", "2002", 8, 0, 638, 4},
		"Jahr,T1,T2,T3,T4,Summe":                {"2001", "2002", 8, 0, 638, 4},
		" ,Qtr1,Qtr2,Qtr3,Qtr4":                 {"2001", "2002", 8, 0, 638, 4},
		"Year,1,2,3,4,5,6,7,8,9,10,11,12":       {"2001", "2002", 24, 0, 699, 12},
		"Monat,2001,2002,2003,Mittel":           {"Januar", "Februar", 6, 0, 761, 3},
		"Month,2003,2002,2001":                  {"Jan", "Feb", 6, 730, 31, 3},
		"Country,1992,1991,1990":                {"DE", "", 3, 1992, 1990, 3},
		"geo,2015M03,2015M02,2015M01":           {"DE", "", 3, 5172, 5113, 3},
		"Hora,2001-01-01,2001-01-02,2001-01-03": {"00:00", "12:00", 6, 0, 2.5, 3},
		"Year,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec,J-D,D-N": {"2001", "2002", 24, 0, 699, 12},
		"geo,2015M01,2015M02,2015M03":                                  {"DE", "", 3, 5113, 5172, 3},
		"geo,Feb 2015,Mar 2015,Apr 2015":                               {"DE", "", 3, 5144, 5203, 3},
		"Country,1990,1991,1992,":                                      {"DE", "", 3, 1990, 1992, 3},
		"Country,X1990,X1991,X1992":                                    {"DE", "", 3, 1990, 1992, 3},
		"Country,1990 [YR1990],1991 [YR1991],1992 [YR1992]":            {"DE", "", 3, 1990, 1992, 3},
		"geo,1990,1991,1992,1993,1994,note":                            {"DE", "", 5, 1990, 1994, 5},
		"Country,Lat,1/22/20,1/23/20,1/24/20":                          {"DE,51.5", "", 3, 6960, 6962, 4},
		"Year,May,June,July,Aug,Sep,Ann":                               {"2001", "2002", 10, 120, 608, 5},
		"Jahr,Mai,Juni,Mittel":                                         {"2001", "2002", 4, 120, 516, 2},
		"Year,Jan,Feb,Mar,Apr,May,Jun":                                 {"2001", "2002", 12, 0, 516, 6},
		"Year,Annual,Jan,Feb,Mar":                                      {"2001,7", "2002,7", 6, 0, 424, 4},
		"Year,Station,Jan,Feb,Mar":                                     {"2001,Bonn", "2002,Bonn", 6, 0, 424, 4},
		"Winter,Nov,Dec,Jan,Feb":                                       {"2000/01", "2001/02", 8, -61, 396, 4},
		"Year,DJF,MAM,JJA,SON,Ann":                                     {"2001", "2002", 8, 0, 638, 4},
		"YR,DJF,JFM,FMA,MAM,AMJ,MJJ,JJA,JAS,ASO,SON,OND,NDJ":           {"2001", "2002", 24, 0, 699, 12},
		"Jahr,Winter,Frühling,Sommer,Herbst":                           {"2001", "2002", 8, 0, 638, 4},
		"day,00:00,12:00,18:00":                                        {"2001-01-01", "2001-01-02", 6, 0, 1.75, 3},
		"date" + hours:                                                 {"2001-01-01", "2001-01-02", 48, 1 / 24.0, 2, 24},
		"date" + plain:                                                 {"01.01.2001", "02.01.2001", 48, 1 / 24.0, 2, 24},
		"datum" + hours:                                                {"20010101", "20010102", 48, 1 / 24.0, 2, 24},

		"week,Mon,Tue,Wed,Thu,Fri":                                      {"2015-W01", "2015-W02", 10, 5110, 5121, 5},
		"Year,Q1,Q2,Q3,Total":                                           {"2001", "2002", 6, 0, 546, 3},
		"Mes,Ventas 2001,Ventas 2002":                                   {"Enero", "Febrero", 4, 0, 396, 2},
		"Month,Costs 2001,Sales 2001,Costs 2002,Sales 2002":             {"Jan", "Feb", 4, 0, 396, 3},
		"Country,GDP 2001,GDP 2002,GDP 2003,Pop 2001,Pop 2002,Pop 2003": {"DE", "", 3, 2001, 2003, 3},
		"Datum,11.01.2001,12.01.2001,13.01.2001":                        {"Umsatz", "", 3, 10, 12, 3},
		"Month,Sales 2001,Sales 2002,Costs 2001":                        {"Jan", "Feb", 4, 0, 396, 2},
		"Monat,2001":                                                    {"Jan", "Feb", 2, 0, 31, 1},
		"Country,1990,1991,% change,1992":                               {"DE", "FR", 6, 1990, 1992, 4},
		"Country,2001 GDP,2002 GDP,2003 GDP":                            {"DE", "", 3, 2001, 2003, 3},
		"geo,2001Q1,2001Q2,2001,2002Q1":                                 {"DE", "", 3, 0, 365, 4},
		"Year,Jan,Feb,Mar,Q1,Apr,May,Jun,Q2,Total":                      {"2001", "2002", 12, 0, 516, 7},
		"Account,Jan-01,Feb-01,Mar-01,Total":                            {"Sales", "", 3, 0, 59, 3},
		"Year" + fourWeeks:                                              {"2001", "2002", 26, 0, 365 + 336, 13},
		"Jahr" + weeks:                                                  {"2001", "2002", 104, 0, 364 + 51*7, 52},
		"Year,Month" + days:                                             {"2001,1", "2001,3", 62, 0, 89, 32},
		"zone,year,month,day" + strings.ToLower(hours):                  {"1,2001,1,1", "1,2001,1,2", 48, 1 / 24.0, 2, 27},
		"year,month,day,00:00,12:00,18:00":                              {"2001,1,1", "2001,1,2", 6, 0, 1.75, 5},
		"Name" + days:                                                   {"a", "b", 0, 0, 0, 0},
		"Month" + days:                                                  {"2001-01", "2001-03", 62, 0, 89, 31},

		"day,2001,2002,2003":                            {"1", "2", 0, 0, 0, 0}, // rows are days of these years
		"Country,1990,1991,Note,1992,1993,1994":         {"DE", "FR", 0, 0, 0, 0},
		"Line,,2015,2015,2015,2015,2016,2016,2016,2016": {"a,b", "", 0, 0, 0, 0},
		"site,Jan,Feb,Mar":                              {"Bonn", "Köln", 0, 0, 0, 0},
		"year,May,Jun,Jul":                              {"1999/00", "2000/01", 0, 0, 0, 0},
		"Year,Jul,Aug,Sep,Oct,Nov,Dec,Jan,Feb":          {"2001", "2002", 0, 0, 0, 0},
		"place,2003,2002,2001,2002,2003":                {"a", "b", 0, 0, 0, 0},
		"KW,Mon.,Tue.,Wed.,Thu.,Fri.,Sat.,Sun.":         {"1", "2", 0, 0, 0, 0},
	} {
		columns := strings.Count(header, ",")
		row := func(before string) string {
			for i := strings.Count(before, ","); i < columns; i++ {
				before += fmt.Sprintf(",%d", i+1)
			}
			return before + "\n"
		}
		text := header + "\n" + row(c.row)
		if c.then != "" {
			text += row(c.then)
		}
		for _, size := range []int{64, blockSize} {
			var s Series
			stream := &csvStream{opt: CSVOptions{Seconds: true, NumberDates: true, SkipMissing: true}, size: size, visit: func(_ int, b *CSVBlock) error {
				s.X, s.Y = append(s.X, b.X...), append(s.Y, b.Y...)
				if len(b.Bad) > 0 {
					return b.Bad[0]
				}
				return nil
			}}
			err := stream.run(strings.NewReader(text), 1)
			if c.n == 0 {
				if err == nil || !strings.Contains(err.Error(), "are times, but a row is one observation") && !strings.Contains(err.Error(), "write both years there") {
					t.Errorf("%s: %v, %v", header, s, err)
				}
				continue
			}
			if err != nil || s.Len() != c.n {
				t.Errorf("%s: %v, %v", header, s, err)
				continue
			}
			x0, x1 := s.X[0], s.X[c.n-1]
			if stream.rep.Dates() {
				x0, x1 = (x0-since)/day, (x1-since)/day
			}
			if math.Abs(x0-c.x0) > 1e-6 || math.Abs(x1-c.x1) > 1e-6 || s.Y[c.n-1] != c.y1 {
				t.Errorf("%s: x from %v to %v, last y %v", header, x0, x1, s.Y[c.n-1])
			}
		}
	}
}

// TestMeasures reads the measure of a wide table that the options name, or the first, and says how to read the others.
func TestMeasures(t *testing.T) {
	for _, names := range []string{"Sales 2001,Sales 2002,Costs 2001,Costs 2002", "Sales 2001,Costs 2001,Sales 2002,Costs 2002"} {
		for y, want := range map[string][]float64{"": {1, 2, 1, 2}, "Sales": {1, 2, 1, 2}, "Costs": {3, 4, 3, 4}, "Costs 2002": {4, 4}} {
			row := ",1,2,3,4\n"
			if strings.HasPrefix(names, "Sales 2001,C") {
				row = ",1,3,2,4\n"
			}
			s, rep, err := readCSV(strings.NewReader("Month,"+names+"\nJan"+row+"Feb"+row), CSVOptions{Y: y, Seconds: true})
			if len(want) == 2 { // one column, below months without a year
				if err == nil || !strings.Contains(err.Error(), "a date without a year?") {
					t.Errorf("%s, y %q: %v, %v", names, y, s, err)
				}
			} else if err != nil || !slices.Equal(s.Y, want) || s.X[1] != year(2002) || y == "" && !strings.Contains(rep.Wide, `CSVOptions.Y: "Costs" reads`) {
				t.Errorf("%s, y %q: %v, %v, %q", names, y, s, err, rep.Wide)
			}
		}
	}
}

// TestMonthsByNumber reads the rows 1 to 12 of a table with a column for each year as months, if they are all there and their name does not say otherwise.
func TestMonthsByNumber(t *testing.T) {
	for name, want := range map[string]bool{"Monat": true, "": true, "store": false, "month, 11": false} {
		name, rows, _ := strings.Cut(name, ", ")
		last, err := strconv.Atoi(rows)
		if err != nil {
			last = 12
		}
		text := name + ",2001,2002,2003\n"
		for i := range last {
			text += fmt.Sprintf("%d,1,2,%d\n", i+1, i)
		}
		s, rep, err := readCSV(strings.NewReader(text+"Mittel 2001-2003,1,2,3\n"), CSVOptions{Seconds: true})
		if want != (err == nil) || want && (s.Len() != 36 || s.X[35] != year(2003)+334*86400 || s.Y[35] != 11 || rep.Period != "month") {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}

// TestNotWide reads a column of tables that have only some names of times, or of which a column is chosen.
func TestNotWide(t *testing.T) {
	for header, y := range map[string]string{
		"t,1990,1991,1992,b": "", "year,Q1,Q2,Q3": "", "year,1,2,3,4": "", "year,H1,H2,H3": "", "t,Mon,Tue,Wed,Thu,Fri": "",
		"date,May,April": "", "t,2000,1500,1700": "", "date,1990,1991": "", "year,July,mean": "", "year,Mar,May": "", "1990,1991,a,b": "", "Year,Q1,Q2,Q3,Q4": "Q2",
	} {
		n := strings.Count(header, ",")
		s, _, err := readCSV(strings.NewReader(header+"\n2001"+strings.Repeat(",1", n)+"\n2002"+strings.Repeat(",2", n)+"\n"), CSVOptions{Y: y})
		if err != nil || s.Len() != 2 {
			t.Errorf("%s: %v, %v", header, s, err)
		}
	}
}

// TestWideErrors names the column of a cell that is no number, and a row of another width.
func TestWideErrors(t *testing.T) {
	_, _, err := readCSV(strings.NewReader("Year,Q1,Q2,Q3,Q4\n2001,1,2,3,4\n2002,1,a,3,4\n2003,1,2\n"), CSVOptions{})
	for _, want := range []string{`line 3, column 3 ("Q2"): "a" is not a finite number`, "line 4: wrong number of fields: 3, where the first line has 5"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestLevels finds the column that tells devices apart that take turns, and none of days, of words that tell nothing, or of two times.
func TestLevels(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		apart int
		want  string
	}{
		"two devices": {[]string{"M1", "M2"}, 30, "device"}, "three": {[]string{"a", "b", "c"}, 30, "device"}, "the same level": {[]string{"M1", "M2"}, 0, ""},
		"days": {[]string{"Mon", "Tue", "Wed"}, 30, ""}, "numbers": {[]string{"1", "2"}, 30, ""}, "one": {[]string{"M1"}, 30, ""},
		"one after the other": {strings.Split(strings.Repeat("a ", 20)+strings.Repeat("b ", 19)+"b", " "), 30, ""},
	} {
		text := "day,device,y\n"
		for i := range 40 {
			k := i % len(c.texts)
			level := 0
			if len(c.texts[k]) > 0 {
				level = c.apart * int(c.texts[k][len(c.texts[k])-1])
			}
			text += fmt.Sprintf("%d,%s,%d\n", i+1, c.texts[k], level+i%5)
		}
		_, rep, err := readCSV(strings.NewReader(text), CSVOptions{PassLabels: true})
		if err != nil || rep.Levels != c.want {
			t.Errorf("%s: %q, %v", name, rep.Levels, err)
		}
	}
}

// TestBareMonths reads rows of a year and twelve numbers as months, if nobody chose a column, and no other rows of thirteen.
func TestBareMonths(t *testing.T) {
	const twelve = " 1 2 3 4 5 6 7 8 9 10 11 12.5\n"
	for text, months := range map[string]int{
		"2001" + twelve + "2002" + twelve + "2003" + twelve: 36, "2001" + twelve + "2002" + twelve + "2004" + twelve: 3, "1" + twelve + "2" + twelve + "3" + twelve: 3,
	} {
		for y, n := range map[string]int{"": months, "3": 3} {
			if s, _, err := readCSV(strings.NewReader(text), CSVOptions{Y: y}); err != nil || s.Len() != n {
				t.Errorf("%q, y %q: %v, %v", text, y, s, err)
			}
		}
	}
}

// TestPeriods tells dates without a day from days.
func TestPeriods(t *testing.T) {
	for text, want := range map[string]string{
		"2000-01": "month", "2000M01": "month", "01/2000": "month", "Jan 2000": "month", "Jan-00": "month", "2000/01": "month", "1990Q1": "quarter", "T1 2000": "quarter",
		"2000-W05": "week", "2000-W05-1": "", "2000-01-01": "", "1.1.2000": "", "1 Jan 2000": "", "2000": "", "31-Jan-00": "", "2000-01-01T10:00": "",
	} {
		_, rep, err := readCSV(strings.NewReader("t;y\n"+text+";1\n"), CSVOptions{Seconds: true})
		if err != nil || rep.Period != want {
			t.Errorf("%s: %q, %v", text, rep.Period, err)
		}
	}
	if _, rep, _ := readCSV(strings.NewReader("t;y\n200012;1\n200101;2\n"), CSVOptions{NumberDates: true}); rep.Period != "month" {
		t.Errorf("%q", rep.Period)
	}
}

// TestSpreadsheetDays reads days as spreadsheets count them, where the name of their column says that they are dates.
func TestSpreadsheetDays(t *testing.T) {
	for _, c := range []struct {
		name   string
		format TimeFormat
		first  float64
	}{{"Datum", TimeExcel, 1704067200}, {"Month", TimeExcel, 1704067200}, {"position", TimeNumber, 45292}} {
		s, rep, err := readCSV(strings.NewReader(c.name+";y\n45292,0;1\n45292,5;2\n"), CSVOptions{Seconds: true, NumberDates: true})
		if err != nil || rep.Time != c.format || s.X[0] != c.first {
			t.Errorf("%s: %v as %s, %v", c.name, s.X, rep.Time, err)
		}
	}
}

// TestPointedPeriods reads months and quarters behind a point, where they go from the last of a year to the first of the next, and no
// parts of years.
func TestPointedPeriods(t *testing.T) {
	for text, want := range map[string]TimeFormat{
		"2014.11 2014.12 2015.01": TimeYYYYdMM, "2014.1 2014.11 2014.12 2015.01": TimeYYYYdMM, "2014.1 2014.2 2014.3 2014.4 2015.1": TimeYYYYdQ, "2014.4 2015.1 2015.2": TimeYYYYdQ,
		"2014.09 2014.12 2015.03": TimeYYYYdMM, "2014,3 2014,4 2015,1": TimeYYYYdQ, "2015.1 2014.4 2014.3": TimeYYYYdQ,
		"2014.1 2014.2 2014.3 2014.4 2014.5": TimeNumber, "2014.04 2014.12 2014.21": TimeNumber, "2014.1 2015.1 2016.1": TimeNumber, "2014.1 2014.2 2015.2": TimeNumber, "2014.08 2015.04": TimeNumber,
	} {
		s, rep, err := readCSV(strings.NewReader("t;y\n"+strings.ReplaceAll(text, " ", ";1\n")+";2\n"), CSVOptions{Seconds: true, NumberDates: true})
		if err != nil || rep.Time != want {
			t.Errorf("%s: %v as %q, %v", text, s.X, rep.Time, err)
		}
	}
}

// TestGuessed tells of numbers that may be 1000 times as large.
func TestGuessed(t *testing.T) {
	for text, want := range map[string]string{
		"t;y\n1;3.025\n2;4.500\n": "3.025", "t\ty\n1\t3.025\n2\t4.500\n": "3.025", "t,y\n1,3.025\n": "", "t;y\n1;3.025\n2;0.5\n": "", "t;y;z\n1;3.025;0.5\n2;4.500;1\n": "",
	} {
		_, rep, err := readCSV(strings.NewReader(text), CSVOptions{})
		if err != nil || rep.Guessed != want {
			t.Errorf("%q: %q, %v", text, rep.Guessed, err)
		}
	}
}

// TestDigits reads times that are written as one number, and not as times since 1970.
func TestDigits(t *testing.T) {
	for text, format := range map[string]TimeFormat{
		"2024013114 2024013115": TimeHours, "202401311400 202401311500": TimeMinutes, "20240131140000 20240131150000": TimeDigits,
		"20240131T140000Z 20240131T150000Z": TimeISO, "20240131T1400 20240131T1500": TimeISO,
	} {
		a, b, _ := strings.Cut(text, " ")
		s, rep, err := readCSV(strings.NewReader("t,y\n"+a+",1\n"+b+",2\n"), CSVOptions{Seconds: true, NumberDates: true})
		if err != nil || rep.Time != format || s.X[0] != 1706709600 || s.X[1] != 1706713200 {
			t.Errorf("%s: %v as %s, %v", text, s.X, rep.Time, err)
		}
	}
}

// months writes the first days of months, with the day first.
func months(rest string, from, to int) (text string) {
	for m := from; m <= to; m++ {
		text += "01/" + string([]byte{'0' + byte(m/10), '0' + byte(m%10)}) + rest
	}
	return text
}

// TestRefusedWithAdvice refuses what could be read wrongly, or cannot be read, and says what to do.
func TestRefusedWithAdvice(t *testing.T) {
	for text, want := range map[string]string{
		"t,y\n1-Jan,5\n2-Jan,6\n":                                                       "a date without a year? add it, in four digits",
		"month,y\nJan,5\nFeb,6\n":                                                       "a date without a year? add it",
		"Year,Period,y\n2015,P01,5\n2015,P02,6\n2015,P03,6\n":                           "periods up to 3 may be months, or have four weeks each",
		"Period,y\nFY2015 P01,5\nFY2015 P02,6\n":                                        "a period of a fiscal year? write the month that it is",
		"week,y\n01/20,5\n02/20,6\n":                                                    "a date without a year? add it",
		"year,y\n98,1\n99,2\n00,3\n01,4\n":                                              "0 follows 99: write years with four digits",
		"date,y\n2020-01-01,5\n,2\n,7\n2021-01-01,5\n,2\n":                              "3 of 5 rows with a y have no x: where a value stands once",
		"date,time\n2020-01-01,0:20:00\n2020-01-02,0:21:00\n":                           "a duration? write a duration as a number",
		"date,y\n2020-01-01,3,5\n2020-01-02,4,5\n":                                      "a comma within a number? quote such numbers",
		"date,y\n2020-01-01,5\n2020-02-01,> 0.5\n":                                      "a value below or above a limit? sed -E 's/[<>]=? *[0-9.]+//g' FILE",
		"date;y\n2020-01-01;5\n2020-02-01;>0,5\n":                                       "sed -E 's/[<>]=? *[0-9]+,[0-9]+//g' FILE leaves such cells empty",
		"date,y\n2020-01-01,5 ± 0.2\n":                                                  "a value and its error? write them in two columns",
		"t,y\n“2020-01-01”,“5”\n":                                                       "quotation marks as in print? write \" for them",
		"t,y\n２０２０-０１-０１,5\n":                                                           "write numbers with the digits 0 to 9",
		"t,y\n0:05.5,5\n":                                                               "it is a time of day: make one column",
		"id,opened,status\n1,2020-01-01,open\n2,2020-01-02,closed\n3,2020-01-02,open\n": "if each row is an event, write a file with the number of events of each day",
		"date,customer,amount\n2020-01-01,c1,5\n2020-01-01,c2,6\n":                      "y: column 2 (\"customer\") begins with \"c1\", no number",
		"date,y\n2020-01-01,١١\n":                                                       "write numbers with the digits 0 to 9",
		"t,y\n1900-1904,5\n1905-1909,6\n":                                               "a range of years? write the first",
		"t,y\nWeek of 2020-01-06,5\nWeek of 2020-01-13,6\n":                             "words before a date? remove them",
		"Tertial;y\n2015T1;5\n2015T2;6\n":                                               "seems to be one of three parts of a year",
		"t,y\nFeb-Apr 2015,5\nMar-May 2015,6\n":                                         "a range of months? write the first, or the quarter",
		"y\n5\n6\n7\n":                                                                  "awk '{print NR \";\" $0}' FILE puts numbers",
		"t,y\n12:00 AM,5\n1:00 AM,6\n":                                                  "as sed 's/^/2024-01-31 /' FILE does",
		"date,TMP\n2020-01-01,\"+0012,1\"\n2020-01-02,\"-0007,1\"\n":                    "the code of its quality",
		"key,opened,closed\nA-1,2020-01-01,\nA-2,2020-01-02,\n":                         "if each row is an event, write a file with the number of events",
		"month,y\nJan 2020,5\nFeb 2020,6\n2020 Total,11\nJan 2020,5\n":                  "a total? remove the line",
		"t,y\n1,5\n2,6\nTotal,11\n1,4\n":                                                "a total? remove the line",
		"t,y\n1,T=5\n2,H=6\n":                                                           `"H=6" has "H=", and the numbers above have "T="`,
		"day  a   b\n2020-01-01 5 1\n2020-01-02   2\n2020-01-03 7 1\n":                  "a blank cell? write NA there",
		"t,y,z\n1,5,1\n2,6\n3,7,1\n":                                                    "wrong number of fields: 2, where the first line has 3",
		"t,y,z\n1,5,1\n2,6,1\n3\n":                                                      "wrong number of fields: 1",
		"USW1,20240101,TMAX,5\nUSW1,20240101,TMIN,6\nUSW1,20240102,TMAX,7\n":            "y: column 3 begins with \"TMAX\"",
		"t,y\n2000,5\n2001,6\n2000 Q1,5\n2000 Q2,6\n":                                   "write all x in one way, or leave the rows of one kind",
		"Year,Period,Weeks,y\n2015,P10,4,5\n2015,P11,4,6\n2015,P12,5,7\n":               "periods of four or five weeks are no months",
		"Period,Weeks,y\nFY2015 P10,4,5\nFY2015 P11,4,6\nFY2015 P12,5,7\n":              "periods of four or five weeks are no months",
		"Datum;y\n010115;5\n020115;6\n050115;7\n":                                       "may have its year last: write dates as 2015-01-31",
		"week,y\nKW01-21,5\nKW02-21,6\n":                                                "write years with four digits",
		"t,y\nPast quarter 2015,5\nLast quarter 2015,6\n":                               "write quarters as 2015Q1",
		"t;Soll;Haben\n1;5,5;\n2;;6,5\n3;7,5;0\n":                                       "column 2 (\"Soll\") has the numbers of one side of an account, and column 3 (\"Haben\")",
		"Date,Paid out (£),Paid in (£)\n2015-01-01,5,0\n2015-01-02,0,6\n":               "has the numbers of one side of an account",
		"2018;2019;2020\n5,5;6,5;7,5\n5,7;6,7;7,7\n":                                    "no column has the rest of the time: write it in a first column",
		"Q1,Q2,Q3,Q4\n5,6,7,8\n6,7,8,9\n":                                               "no column has the rest of the time",
		daysByMonths:                                                                    "the rows seem to be days, and the columns months",
		"Datum,T\n13.01.2015,\"20,500\"\n14.01.2015,\"19,250\"\n":                       "may be 20500 or 20.500",
		"year,sex,n\n2015,F,5\n2015,M,6\n2016,F,7\n2016,M,8\n":                          `column 2 ("sex") begins with "F", no number`,
		"t,y\n2015-01-01 00:00-00:15,5\n2015-01-01 00:15-00:30,6\n":                     "a period, or a zone? write the begin alone",
		"t,y\n2015-01-01 00:00-01:00,5\n2015-01-01 01:00-02:00,6\n":                     "a period, or a zone? write the begin alone",
		"t,y\n31/1/2015 00:00-00:15,5\n31/1/2015 10:00-05:00,6\n":                       "is not a date written as",
		"t,y\nw/e 3 Jan 2021,5\nw/e 10 Jan 2021,6\n":                                    "words before a date? remove them",
		"t,y\n2015-01-01,20-22\n2015-01-02,20-23\n":                                     "a range? write its middle",
		"t,y\n2015-01-01,5.50 CR\n2015-01-02,6.50 DR\n":                                 "write a minus before those of one side of the account",
		"Umsatz;S/H;Datum\n5,50;S;01.01.2015\n6,50;H;02.01.2015\n7,50;S;03.01.2015\n":   "on which side of an account each number of column 1 (\"Umsatz\") stands",
		"JD & RV \\\\\n2458000 & 5 \\\\\n2458001 & 6 \\\\\n":                            "a table of LaTeX, not csv: write , for &",
		"\"Date,Value\"\n\"2020-01-01,5\"\n\"2020-01-02,6\"\n":                          "remove those around whole lines",
		"t,y\n1,3,5\n2,4,5\n3,5,5\n":                                                    "a comma within a number?",
		"Datum;Umsatz\n01.01.2020;1.025\n02.01.2020;1.030\n":                            "may be 1025 or 1.025, and no other number of the column tells which",
		"month,y\n2020-01,5\n2020-02,6\n2020-03,7\nQ1,18\n2020-04,5\n2020-05,6\n":       "the header once more, or a total? remove the line",
	} {
		if s, _, err := readCSV(strings.NewReader(text), CSVOptions{Seconds: true, SkipMissing: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}

// daysByMonths has a row for each day and a column for each month of a year, and no names.
var daysByMonths = func() (text string) {
	for day := 1; day <= 31; day++ {
		text += fmt.Sprint(day)
		for month := 1; month <= 12; month++ {
			cell := fmt.Sprintf(";%d.5", day+month)
			if time.Date(2015, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() != day {
				cell = ";"
			}
			text += cell
		}
		text += "\n"
	}
	return text
}()

// TestSidesBelow refuses amounts without a sign of which the first rows are all on one side of the account.
func TestSidesBelow(t *testing.T) {
	rows := rowsOf("%d;%d,5;S\n", 700)
	for text, want := range map[string]bool{rows: true, rows + "701;5,5;H\n": false} {
		_, _, err := readCSV(strings.NewReader("t;Betrag;S/H\n"+text), CSVOptions{SkipMissing: true})
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "other side of the account") {
			t.Errorf("%v, want it read: %v", err, want)
		}
	}
}

// rowsOf is a text for each number from 1 to n, which it has twice.
func rowsOf(format string, n int) (text string) {
	for i := 1; i <= n; i++ {
		text += fmt.Sprintf(format, i, i)
	}
	return text
}

// TestRaggedBelowHeader: a row with too many fields is an error, also below a header that is repeated.
func TestRaggedBelowHeader(t *testing.T) {
	if s, _, err := readCSV(strings.NewReader("t,y\n1,2\n2,3\nt,y\n3,4,5,6\n4,5\n"), CSVOptions{}); err == nil || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("read as %v, error %v", s, err)
	}
}

// periods are rows of the periods of a year, with their number for a value.
func periods(year, last int) (rows string) {
	for n := 1; n <= last; n++ {
		rows += fmt.Sprintf("%d,P%02d,%d\n", year, n, n)
	}
	return rows
}

// halfHours are rows of the half-hours of a day, or of its hours, up to the last from the first, with their number for a value.
func halfHours(day string, last, first int) (rows string) {
	for n := first; n <= last; n++ {
		rows += fmt.Sprintf("%s,%d,%d\n", day, n, n)
	}
	return rows
}

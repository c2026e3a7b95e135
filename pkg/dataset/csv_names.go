package dataset

import (
	"regexp"
	"strings"
)

// partNames are what columns with parts of a date are named.
var partNames = map[string]*regexp.Regexp{
	"year": regexp.MustCompile(`(?i)^((mmwr|epi|iso|fiscal|financial|calendar)[_ ]?year|` +
		`fy|year|yr|yyyy|yy|jahr|année|annee|an|año|anno|jaar|ano|år|vuosi|rok|év)$`),
	"month": regexp.MustCompile(`(?i)^(month|mon|mn|mm|mo|monat|mois|mes|mese|maand|mês|period|måned|månad|` +
		`kk|kuukausi|miesi[ąa]c|měsíc|mesic|hónap)$`),
	"period": regexp.MustCompile(`(?i)^((fiscal|accounting|4[- ]?weeks?|four[- ]weeks?)?[-_ ]?(period|per|p|pd)|` +
		`période|periode|periodo)$`),
	"quarter": regexp.MustCompile(`(?i)^(quarter|qtr|q|quartal|vierteljahr|trimestre|kwartaal)$`),
	"week": regexp.MustCompile(`(?i)^(year|jahr|année|iso|epi|mmwr|date)?[-_ /]?` +
		`(week|wk|(?-i:kw|KW)|woche|kalenderwoche|semaine|semana|settimana)[-_ /]?(year|jahr|no\.?|nr\.?)?$`),
	"day":     regexp.MustCompile(`(?i)^(day|dd|dy|tag|jour|día|dia|giorno|dag|pv|päivä|dzie[ńn]|den|nap)$`),
	"ordinal": regexp.MustCompile(`(?i)^(doy|jday|yday|julian[ _.]?day|day[ _.]?of[ _.]?(the[ _.]?)?year)$`),
	"half":    regexp.MustCompile(`(?i)^(half([-_ ]?year)?|halbjahr|semester|semestre)$`),
	"hour":    regexp.MustCompile(`(?i)^(hours?([ _]?ending)?|(?-i:HE)|hr|hh|stunden?|heures?|horas?|ora|uur)$`),
	"minute":  regexp.MustCompile(`^((?i:minutes?|min|mn|minuut|minuto)|mm)$`),
	"second":  regexp.MustCompile(`(?i)^(seconds?|sec|ss|sekunde|seconde|segundo|secondo)$`),
	"time": regexp.MustCompile(`(?i)^((time|uhrzeit|zeit|heure|hora|ora|tijd)?[-_ ]?(von|from|start|beginn|anfang)|` +
		`(start|begin|anfangs)[-_ ]?(time|zeit)|` +
		`(time|uhrzeit|zeit|heure|hora|ora|tijd|tid|klo|kello|godzina|čas|hr_?mn|hhmm(ss)?)([-_ ]?\(?(utc|gmt|lst|cet|mez)\)?)?)$`),
}

// weeksName is the name of a column that counts the weeks of each period.
var weeksName = regexp.MustCompile(`(?i)^(no\.? of |number of |#)?(weeks|wochen|semaines)( in .*)?$`)

// thirds is the name of a column of periods of four months, which are written as quarters are: T1 to T3.
var thirds = regexp.MustCompile(`(?i)^(tertial|tertiaal|cuatrimestre|quadrimestre|quadrimestral)$`)

// numberedMonth is a month as M01.
var numberedMonth = regexp.MustCompile(`^M(0[1-9]|1[0-2])$`)

// counter is the name of a column that only counts the rows.
var counter = regexp.MustCompile(`(?i)^(|unnamed: ?0|index|row|record|id|#|no\.?|nr\.?)$`)

// timeName is the name of a column of times, in words, and julianName of Julian dates.
var (
	timeName = regexp.MustCompile(`(?i)^(x|t|_?times?|time[_ ]?(stamp|period)|date ?time|dates?|zeit|tiempo|tijd|` +
		`[bhmt]*jd([-_ ].*)?|(time|date|t)[-_ ]?[(\[].*)$`)
	julianName = regexp.MustCompile(`(?i)^[bhmt]*jd([-_ ].*)?$`)
)

// hourly is the name of a column that may number hours, or none: 24 shops are not the hours of a day.
var hourly = regexp.MustCompile(`(?i)^(|no\.?|nr\.?|h[er]?|std\.?|(time )?period|interval(l|lo)?|` +
	`.*(hour|stunde|heure|hora|uur|ora|timme|godzina).*)$`)

const since = `([ _.](?:of|past|since|after|des|seit|du|del)[ _.].*)?$` // midnight

// ofDay are the names of columns that count from the beginning of a day, by the seconds of what they count.
var ofDay = map[int]*regexp.Regexp{
	1:  regexp.MustCompile(`(?i)^(?:s|secs?|seconds?|sekunden?|secondes|segundos)` + since),
	60: regexp.MustCompile(`(?i)^(?:mins?|minutes?|minuten?|minutos)` + since),
}

// errorName is the name of a column of standard deviations.
var errorName = regexp.MustCompile(`(?i)^(d|e|s)_|(^|[^\pL])err|err(or)?s?([^\pL]|$)|sigma|` +
	`^(sd|se|std|stdev|unc|uncertainty)($|[-_ ])|[-_ ](sd|se|std|stdev|unc|uncertainty)$`)

// ErrorName reports whether a column is named as one of standard deviations is.
func ErrorName(name string) bool { return errorName.MatchString(name) }

// errorOf is what such a name has beside that of the values: mag_err, magerr, e_mag.
var errorOf = regexp.MustCompile(`(?i)^(d|e|s|err|error|sigma|unc)[-_ ]|` +
	`[-_ ]?(err|error|sigma|sd|se|std|stdev|unc|uncertainty)$`)

// withErrors are the names of columns, in small letters, for which another column is named as their standard deviations.
func withErrors(names []string) map[string]bool {
	of := map[string]bool{}
	for _, name := range names {
		if errorName.MatchString(name) {
			of[strings.ToLower(errorOf.ReplaceAllString(name, ""))] = true
		}
	}
	delete(of, "")
	return of
}

// asideName is the name of a column of numbers that are no observations: codes, and parts of a date beside others.
var asideName = regexp.MustCompile(`(?i)^(year|month|week|weekday|day|dates?|hour|quarter|dow|doy|` +
	`day[ _.]?of[ _.]?(the[ _.]?)?(week|year|month)|` +
	`week[ _.]?(no|nr|number|of[ _.]?year)|` +
	`jahr|monat|woche|wochentag|(?-i:kw|KW)|tag|stunde|quartal|vierteljahr|jour|mois|semaine|trimestre|année|` +
	`time|uhrzeit|heure|hora|qn(_\d+)?|` +
	`decimal|ms|milli(second)?s?|lat(itude)?|lon(gitude)?|lng|elevation|altitude|i?ind|indicat(or|eur)|qc|` +
	`flags?|settlement[_ ]?period|elapsed([_ (\[].*)?)$|(^|[_ .-])(id|code|nbr|type)$|typ$`)

// valueName is the name of the column of values among others that say what they are of.
var valueName = regexp.MustCompile(`(?i)^(obs[_ ]?value|_?value|wert|valeur|valor|valore|waarde|värde|` +
	`wartość|hodnota|verdi|værdi)$`)

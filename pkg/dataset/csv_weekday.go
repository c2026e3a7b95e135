package dataset

import (
	"regexp"
	"strings"
	"time"
)

// weekdayNames are those of English, German, French, Spanish, Italian, Dutch, Portuguese, Japanese and Korean, from Sunday on.
var weekdayNames = [7][]string{
	strings.Fields("sunday sonntag dimanche domingo domenica zondag 日 일"),
	strings.Fields("monday montag lundi lunes lunedì maandag segunda 月 월"),
	strings.Fields("tuesday dienstag mardi martes martedì dinsdag terça 火 화"),
	strings.Fields("wednesday mittwoch mercredi miércoles miercoles mercoledì woensdag quarta 水 수"),
	strings.Fields("thursday donnerstag jeudi jueves giovedì donderdag quinta 木 목"),
	strings.Fields("friday freitag vendredi viernes venerdì vrijdag sexta 金 금"),
	strings.Fields("saturday samstag sonnabend samedi sábado sabado sabato zaterdag 土 토"),
}

// unknownWeekday is a name that begins those of several days.
const unknownWeekday = time.Weekday(-1)

// beforeDate is a name, shortened or not, and what follows it.
var beforeDate = regexp.MustCompile(`^(\pL{2,12}|[日月火水木金土일월화수목금토])(?:-feira)?\.?,?\s+(.*\d.*)$`)

// weekdayBehind is a date and the name between brackets behind it.
var weekdayBehind = regexp.MustCompile(`^(.*\d)\s?[(（](\pL{1,12}\.?)[)）]$`)

// cutWeekday cuts the name of a day of the week, or at least its first two letters, off a date.
func cutWeekday(text string) (rest string, day time.Weekday, ok bool) {
	if text == "" || text[0]-'0' <= 9 {
		return text, 0, false
	}
	m := beforeDate.FindStringSubmatch(text)
	if m == nil {
		return text, 0, false
	}
	name := strings.ToLower(m[1])
	for i, names := range weekdayNames {
		for _, full := range names {
			if !strings.HasPrefix(full, name) {
				continue
			}
			if ok && day != time.Weekday(i) {
				return m[2], unknownWeekday, true
			}
			day, ok = time.Weekday(i), true
		}
	}
	return m[2], day, ok
}

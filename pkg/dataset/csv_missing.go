package dataset

import "slices"

// addCode adds a text for a missing value that is a number.
func (s *csvStream) addCode(text string) {
	w, ok := splitNumber(text)
	if !ok || w.unit != "" {
		return
	}
	sign, _ := w.sign()
	v, err := numberStyle{comma: sign == ','}.value(text)
	if err != nil {
		return
	}
	s.codes = append(s.codes, v)
	for _, c := range "-+(.,0123456789" { // with which it may begin; the others are those of − and –, and of currencies
		s.suspect[c] = true
	}
	for c := 0x80; c < len(s.suspect); c++ {
		s.suspect[c] = true
	}
}

// missingAt reports whether a cell of a column of numbers is missing: by its text, or because its value is one of the codes. Where its marks leave
// two values open, the style of the column decides, once it is known.
func (s *csvStream) missingAt(place int, text []byte) bool {
	if s.isMissing(text) {
		return true
	}
	if len(s.codes) == 0 || place == s.x || !s.suspect[text[0]] {
		return false
	}
	v, ok := 0.0, false
	if !s.styles[place].comma {
		v, ok = decimal(text)
	}
	if !ok {
		w, split := splitNumber(cellText(text))
		if !split {
			return false
		}
		style := numberStyle{comma: s.styles[place].comma, unit: w.unit}
		if sign, _ := w.sign(); sign != 0 {
			style.comma = sign == ','
		}
		var err error
		if v, err = style.value(cellText(text)); err != nil {
			return false
		}
	}
	return slices.Contains(s.codes, v)
}

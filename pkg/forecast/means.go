package forecast

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// ParseMean reads a mean function for observations at x, terms separated by +:
//
//	intercept              a constant
//	trend, trend(D)        polynomials of degree 1 to D on the range of x, without the constant; D is 1 if left out
//	fourier(P, H)          H harmonics of the period P; H is 1 if left out
//	step(T), kink(T)       a change of level, or of slope, at the time T
//	NAME                   a column of x (gppl.Inputs.WithColumn), by its name
//
// "none" and an empty text are no mean, nil. Names of terms may be in any case; a column whose name is that of a term is
// written column(NAME). time reads T, as gppl.Trend and the others want it; nil reads a number.
func ParseMean(text string, x gppl.Inputs, time func(text string) (float64, error)) (gppl.Mean, error) {
	if text = strings.TrimSpace(text); text == "" || strings.EqualFold(text, "none") {
		return nil, nil
	}
	if time == nil {
		time = func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	}
	var parts []gppl.Mean
	for _, term := range splitTerms(text) {
		m, err := parseMeanTerm(term, x, time)
		if err != nil {
			return nil, fmt.Errorf("forecast: the term %q of the mean %q: %w", term, text, err)
		}
		parts = append(parts, m)
	}
	var mean gppl.Mean = gppl.AddMeans(parts...)
	if len(parts) == 1 {
		mean = parts[0]
	}
	if err := mean.Check(); err != nil {
		return nil, err
	}
	return mean, nil
}

// splitTerms splits a text at each + that is not within parentheses.
func splitTerms(text string) (terms []string) {
	depth, from := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == '+' && depth == 0:
			terms = append(terms, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return append(terms, strings.TrimSpace(text[from:]))
}

func parseMeanTerm(term string, x gppl.Inputs, time func(string) (float64, error)) (gppl.Mean, error) {
	name, rest, called := strings.Cut(term, "(")
	name = strings.TrimSpace(name)
	var args []string
	if called {
		inside, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
		if !closed {
			return nil, fmt.Errorf("a closing parenthesis is missing")
		}
		for _, a := range strings.Split(inside, ",") {
			args = append(args, strings.TrimSpace(a))
		}
	}
	want := func(least, most int) error {
		if n := len(args); n < least || n > most {
			return fmt.Errorf("it has %d arguments, want %d to %d", n, least, most)
		}
		return nil
	}
	whole := func(i, otherwise int) (int, error) {
		if len(args) <= i {
			return otherwise, nil
		}
		return strconv.Atoi(args[i])
	}
	switch strings.ToLower(name) {
	case "intercept":
		return gppl.Intercept{}, want(0, 0)
	case "trend":
		if err := want(0, 1); err != nil {
			return nil, err
		}
		degree, err := whole(0, 1)
		if err != nil {
			return nil, err
		}
		return gppl.NewTrend(degree, x), nil
	case "fourier":
		if err := want(1, 2); err != nil {
			return nil, err
		}
		period, err := strconv.ParseFloat(args[0], 64)
		if err != nil {
			return nil, err
		}
		harmonics, err := whole(1, 1)
		return gppl.Fourier{Period: period, Harmonics: harmonics}, err
	case "step", "kink":
		if err := want(1, 1); err != nil {
			return nil, err
		}
		at, err := time(args[0])
		if err != nil {
			return nil, err
		}
		if strings.EqualFold(name, "step") {
			return gppl.Step{At: at}, nil
		}
		return gppl.Kink{At: at}, nil
	case "column":
		if err := want(1, 1); err != nil {
			return nil, err
		}
		term = args[0]
	}
	if _, ok := x.Column(term); ok {
		return gppl.Regressor{Name: term}, nil
	}
	terms := "intercept, trend(D), fourier(P, H), step(T) and kink(T)"
	if names := x.ColumnNames(); len(names) > 0 {
		return nil, fmt.Errorf("there is no such term nor column: there are %s, and the columns %s", terms, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("there is no such term: there are %s, and no columns", terms)
}

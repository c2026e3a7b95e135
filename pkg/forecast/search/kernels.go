package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Auto lists the kernels that "auto" stands for in a list of kernels (ParseKernels): smooth, less smooth and rough signals,
// signals of many scales, exact and drifting seasons, and sums of them.
var Auto = []string{
	"SE", "Matern52", "Matern32", "Laplace", "RQ", "Periodic", "LocPer", "SE + Periodic", "SE + LocPer", "Laplace + Matern52",
}

// families are the kernels that ParseKernel knows, with arbitrary values.
var families = []struct {
	name   string
	kernel gppl.Kernel
}{
	{"SE", gppl.SE{Variance: 1, Lengthscale: 1}},
	{"Laplace", gppl.Laplace{Variance: 1, Lengthscale: 1}},
	{"Matern32", gppl.Matern32{Variance: 1, Lengthscale: 1}},
	{"Matern52", gppl.Matern52{Variance: 1, Lengthscale: 1}},
	{"RQ", gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: 1}},
	{"Periodic", gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 1}},
	{"LocPer", gppl.LocPer{Variance: 1, Lengthscale: 1, Period: 1, PeriodicLengthscale: 1}},
	{"SpectralMixture", gppl.SpectralMixture{Variance: 1, Lengthscale: 1, Period: 1}},
	{"SHO", gppl.SHO{Variance: 1, Period: 1, Quality: 1}},
	{"DampedTrend", gppl.DampedTrend{Variance: 1, Lengthscale: 1, Memory: 1}},
	{"Rotation", gppl.Rotation{Variance: 1, Period: 1, Quality: 1, Difference: 1, Mix: 1}},
	{"Cosine", gppl.Cosine{Variance: 1, Period: 1}},
}

// KernelNames returns the names of the kernels that ParseKernel knows.
func KernelNames() (names []string) {
	for _, f := range families {
		names = append(names, f.name)
	}
	return names
}

// ParseKernel reads a kernel by name, or sums and products of kernels: "SE", "matern52", "SE + LocPer", "SE * Periodic",
// "(SE + RQ) * Periodic", "ChangePoint(SE, Matern32)". All parameters are 1, except the location of a change, which is 0. A term
// White stands for the noise that every model has, and adds nothing.
func ParseKernel(text string) (gppl.Kernel, error) {
	p := kernelParser{text: strings.TrimSpace(text)}
	k, err := p.sum(0)
	if err == nil && p.next() != "" {
		err = p.unexpected(p.next())
	}
	if err != nil {
		return nil, err
	}
	if k == nil {
		return nil, fmt.Errorf("the kernel %q is noise alone, which every model has anyway: name a kernel of the signal",
			p.text)
	}
	return k, nil
}

// kernelParser reads
//
//	sum = product { "+" product }    product = factor { "*" factor }
//	factor = name | "(" sum ")" | "ChangePoint" "(" sum "," sum ")"
type kernelParser struct {
	text string // the whole kernel
	at   int    // how far it has been read

	leaves int // kernel names read so far
}

// mostTerms is the largest number of terms and factors of a kernel, and of kernels in a list. More terms, with about three
// parameters each, would take hundreds of evaluations and could not be learnt well.
const mostTerms = 64

// maxNesting is how deep parentheses may be nested.
const maxNesting = 16

// next returns the next symbol or name without reading it, "" at the end.
func (p *kernelParser) next() string {
	rest := strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace)
	p.at = len(p.text) - len(rest)
	if end := strings.IndexFunc(rest, func(r rune) bool {
		return strings.ContainsRune("+*×(),", r) || unicode.IsSpace(r)
	}); end > 0 {
		return rest[:end]
	} else if end == 0 {
		r, _ := utf8.DecodeRuneInString(rest)
		return string(r)
	}
	return rest
}

// take reads the next symbol if it is one of symbols.
func (p *kernelParser) take(symbols ...string) bool {
	s := p.next()
	if s == "" || !slices.Contains(symbols, s) {
		return false
	}
	p.at += len(s)
	return true
}

func (p *kernelParser) unexpected(s string) error {
	if s == "" {
		return fmt.Errorf("the kernel %q ends too early", p.text)
	}
	return fmt.Errorf("%q was not expected in the kernel %q, after %q", s, p.text, strings.TrimSpace(p.text[:p.at]))
}

// sum returns nil if all terms are White.
func (p *kernelParser) sum(depth int) (gppl.Kernel, error) {
	var terms []gppl.Kernel
	for {
		k, err := p.product(depth)
		if err != nil {
			return nil, err
		}
		switch k := k.(type) {
		case nil:
			if depth > 0 {
				return nil, fmt.Errorf("the kernel %q has White within parentheses: it can only be a term of the whole sum", p.text)
			}
		case gppl.Sum:
			terms = append(terms, k.Terms()...)
		default:
			terms = append(terms, k)
		}
		if !p.take("+") {
			break
		}
	}
	if len(terms) == 0 {
		return nil, nil
	}
	return SumOf(terms), nil
}

// product returns nil for White.
func (p *kernelParser) product(depth int) (gppl.Kernel, error) {
	var factors []gppl.Kernel
	white := false
	for {
		k, err := p.factor(depth)
		if err != nil {
			return nil, err
		}
		switch k := k.(type) {
		case nil:
			white = true
		case gppl.Product:
			factors = append(factors, k.Factors()...)
		default:
			factors = append(factors, k)
		}
		if white && len(factors) > 0 {
			return nil, fmt.Errorf("the kernel %q has White as a factor: it can only be a term of the whole sum", p.text)
		}
		if !p.take("*", "×") {
			break
		}
	}
	switch len(factors) {
	case 0:
		return nil, nil
	case 1:
		return factors[0], nil
	}
	return gppl.Mul(factors...), nil
}

// factor returns nil for White.
func (p *kernelParser) factor(depth int) (gppl.Kernel, error) {
	if p.take("(") {
		if depth == maxNesting {
			return nil, fmt.Errorf("parentheses nested deeper than %d in the kernel %q", maxNesting, p.text)
		}
		k, err := p.sum(depth + 1)
		if err == nil && !p.take(")") {
			err = fmt.Errorf("the kernel %q lacks a closing parenthesis", p.text)
		}
		return k, err
	}
	name := p.next()
	if strings.Contains("+*×),", name) { // "" too
		return nil, p.unexpected(name)
	}
	if strings.EqualFold(name, "White") {
		p.at += len(name)
		return nil, nil
	}
	if strings.EqualFold(name, changePoint) {
		p.at += len(name)
		return p.change(depth)
	}
	for _, f := range families {
		if strings.EqualFold(f.name, name) {
			p.at += len(name)
			if p.leaves++; p.leaves > mostTerms {
				return nil, fmt.Errorf("the kernel that begins %.40q has more than %d terms and factors", p.text, mostTerms)
			}
			return f.kernel, nil
		}
	}
	return nil, fmt.Errorf("no kernel %q: there are %s, and sums and products such as SE + LocPer or SE * Periodic, "+
		"and ChangePoint(SE, SE)", name, strings.Join(KernelNames(), ", "))
}

const changePoint = "ChangePoint"

// change reads what follows the name of a change point.
func (p *kernelParser) change(depth int) (gppl.Kernel, error) {
	var parts [2]gppl.Kernel
	for i, before := range []string{"(", ","} {
		if depth == maxNesting || !p.take(before) {
			return nil, fmt.Errorf("write the change point in the kernel %q as ChangePoint(BEFORE, AFTER)", p.text)
		}
		var err error
		if parts[i], err = p.sum(depth + 1); err != nil {
			return nil, err
		}
	}
	if !p.take(")") {
		return nil, fmt.Errorf("the kernel %q lacks a closing parenthesis", p.text)
	}
	return gppl.ChangePoint{Before: parts[0], After: parts[1], Width: 1}, nil
}

// splitList splits a list at its commas, except those within parentheses.
func splitList(list string) (parts []string) {
	depth, from := 0, 0
	for i, r := range list {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth <= 0:
			parts, from = append(parts, list[from:i]), i+1
		}
	}
	return append(parts, list[from:])
}

// ParseKernels reads a list of kernels separated by commas; "auto" stands for [Auto]. It returns each name in a common form.
func ParseKernels(list string) ([]string, error) {
	var names []string
	for _, text := range splitList(list) {
		if strings.EqualFold(strings.TrimSpace(text), "auto") {
			names = append(names, Auto...)
			continue
		}
		k, err := ParseKernel(text)
		if err != nil {
			return nil, err
		}
		names = append(names, KernelName(k))
	}
	if len(names) > mostTerms {
		return nil, fmt.Errorf("%d kernels to compare: at most %d", len(names), mostTerms)
	}
	return names, nil
}

func hasPeriod(k gppl.Kernel) bool { return len(series.PeriodsOf(k.Params())) > 0 }

// KernelName returns the name that ParseKernel reads.
func KernelName(k gppl.Kernel) string {
	var names []string
	switch k := k.(type) {
	case gppl.Sum:
		for _, t := range k.Terms() {
			names = append(names, KernelName(t))
		}
		return strings.Join(names, " + ")
	case gppl.Product:
		for _, f := range k.Factors() {
			name := KernelName(f)
			if _, sum := f.(gppl.Sum); sum {
				name = "(" + name + ")"
			}
			names = append(names, name)
		}
		return strings.Join(names, " * ")
	case gppl.ChangePoint:
		return fmt.Sprintf("%s(%s, %s)", changePoint, KernelName(k.Before), KernelName(k.After))
	}
	name, _, _ := strings.Cut(k.String(), "(")
	return name
}

// SumOf returns the sum of one or more terms.
func SumOf(terms []gppl.Kernel) gppl.Kernel {
	if len(terms) == 1 {
		return terms[0]
	}
	return gppl.Add(terms...)
}

// TermsOf returns the terms of a sum, without noise.
func TermsOf(k gppl.Kernel) []gppl.Kernel {
	return slices.DeleteFunc(slices.Clone(SumTerms(k)), func(t gppl.Kernel) bool { _, white := t.(gppl.White); return white })
}

func SumTerms(k gppl.Kernel) []gppl.Kernel {
	if sum, ok := k.(gppl.Sum); ok {
		return sum.Terms()
	}
	return []gppl.Kernel{k}
}

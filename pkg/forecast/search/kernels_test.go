package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKernels(t *testing.T) {
	names, err := ParseKernels(" se, matern52 + LOCPER ,auto")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]string{"SE", "Matern52 + LocPer"}, Auto...), names); diff != "" {
		t.Error(diff)
	}
	if _, err := ParseKernels("SE + Foo"); err == nil || !strings.Contains(err.Error(), `"Foo"`) ||
		!strings.Contains(err.Error(), "LocPer") {
		t.Error(err)
	}
}

func TestParseKernel(t *testing.T) {
	for text, want := range map[string]string{
		"SE*Periodic + White":                  "SE * Periodic",
		" white+rq ":                           "RQ",
		"(SE + RQ) * periodic × Laplace":       "(SE + RQ) * Periodic * Laplace",
		"SE * (Periodic)+ ((LocPer))":          "SE * Periodic + LocPer",
		"SpectralMixture + SpectralMixture":    "SpectralMixture + SpectralMixture",
		"(SE + (RQ + Laplace)) + SE * (SE*RQ)": "SE + RQ + Laplace + SE * SE * RQ",
		"changepoint( SE+RQ ,Matern32) + SE":   "ChangePoint(SE + RQ, Matern32) + SE",
	} {
		k, err := ParseKernel(text)
		if err != nil || KernelName(k) != want {
			t.Errorf("%q: got %v (%v), want %s", text, k, err, want)
			continue
		}
		again, err := ParseKernel(KernelName(k))
		if err != nil || again.String() != k.String() {
			t.Errorf("%s is read as %v (%v), want %v", KernelName(k), again, err, k)
		}
	}
	for text, want := range map[string]string{
		"":                             "ends too early",
		"SE +":                         "ends too early",
		"SE RQ":                        `"RQ" was not expected`,
		"SE + * RQ":                    `"*" was not expected`,
		"(SE + RQ":                     "lacks a closing parenthesis",
		"SE)":                          `")" was not expected`,
		"SE * Foo":                     `no kernel "Foo"`,
		"White":                        "noise alone",
		"SE * White":                   "White as a factor",
		"(SE + White)":                 "White within parentheses",
		"White * SE":                   "White as a factor",
		"SE(RQ)":                       `"(" was not expected`,
		"ChangePoint":                  "ChangePoint(BEFORE, AFTER)",
		"ChangePoint(SE)":              "ChangePoint(BEFORE, AFTER)",
		"ChangePoint(SE, RQ":           "lacks a closing parenthesis",
		"ChangePoint(SE, White)":       "White within parentheses",
		"SE, RQ":                       `"," was not expected`,
		strings.Repeat("(", 99) + "SE": "nested deeper",
	} {
		if k, err := ParseKernel(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v (%v), want an error that says %s", text, k, err, want)
		}
	}
}

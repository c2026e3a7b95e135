package analysis

import (
	"fmt"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Auto are the kernels that are compared unless others are asked for: smooth, less smooth and rough signals, signals of many
// scales, rhythms that drift, and sums of them.
var Auto = []string{"SE", "Matern52", "Matern32", "Laplace", "RQ", "LocPer", "SE + Periodic", "SE + LocPer", "Laplace + Matern52"}

// families are the kernels that ParseKernel knows, at values of no importance.
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
}

// ParseKernel reads the name of a kernel or of a sum: "SE", "matern52", "SE + LocPer". All parameters are 1.
func ParseKernel(text string) (gppl.Kernel, error) {
	var terms []gppl.Kernel
	for _, name := range strings.Split(text, "+") {
		name = strings.TrimSpace(name)
		var found gppl.Kernel
		var known []string
		for _, f := range families {
			known = append(known, f.name)
			if strings.EqualFold(f.name, name) {
				found = f.kernel
			}
		}
		if found == nil {
			return nil, fmt.Errorf("analysis: no kernel %q: there are %s, and sums such as SE + LocPer", name, strings.Join(known, ", "))
		}
		terms = append(terms, found)
	}
	if len(terms) == 1 {
		return terms[0], nil
	}
	return gppl.Add(terms...), nil
}

// ParseKernels reads a list of kernels separated by commas; "auto" stands for [Auto]. Each is returned by its name in a
// common form.
func ParseKernels(list string) ([]string, error) {
	var names []string
	for _, text := range strings.Split(list, ",") {
		if strings.EqualFold(strings.TrimSpace(text), "auto") {
			names = append(names, Auto...)
			continue
		}
		k, err := ParseKernel(text)
		if err != nil {
			return nil, err
		}
		names = append(names, kernelName(k))
	}
	return names, nil
}

// kernelName returns the name that ParseKernel reads.
func kernelName(k gppl.Kernel) string {
	if sum, ok := k.(gppl.Sum); ok {
		var names []string
		for _, t := range sum.Terms() {
			names = append(names, kernelName(t))
		}
		return strings.Join(names, " + ")
	}
	name, _, _ := strings.Cut(k.String(), "(")
	return name
}

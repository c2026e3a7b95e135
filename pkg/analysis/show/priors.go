package show

import (
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/analysis"
)

// Priors says in sentences which priors were given, and likelihood and prior apart; nil without any.
func Priors(a *analysis.Analysis) (out []string) {
	for _, b := range a.Beliefs() {
		out = append(out, fmt.Sprintf("%s ~ %s, in the unit of the table: %.3g nats at the value that was learnt.", b.Name, b.Prior, b.Log))
	}
	if out != nil {
		out = append(out, fmt.Sprintf("The log likelihood is %.2f nats, the log density of the priors %.2f. BIC is by the likelihood alone.", -a.NLL(), a.Result.LogPrior))
	}
	return out
}

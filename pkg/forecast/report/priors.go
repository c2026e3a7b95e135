package report

import (
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/forecast"
)

// priorLines says in sentences which priors were given, and gives likelihood and prior apart; nil for none.
func priorLines(a *forecast.Analysis) (out []string) {
	for _, b := range a.Beliefs() {
		out = append(out, fmt.Sprintf("%s ~ %s, in the unit of the table; its log density at the learnt value is %.3g nats.",
			b.Name, b.Prior, b.Log))
	}
	if out != nil {
		out = append(out, fmt.Sprintf("The log likelihood is %.2f nats, the log density of the priors %.2f nats. "+
			"BIC uses the likelihood alone.", -a.NLL(), a.Result.LogPrior))
	}
	return out
}

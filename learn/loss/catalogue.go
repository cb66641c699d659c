package loss

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// Names returns the names that Parse takes, with a letter for what follows the colon.
func Names() []string {
	return []string{"mean", "ridge", "logistic", "absolute", "hinge", "pinball:τ", "insensitive:e",
		"squared-sigmoid", "phase-retrieval"}
}

// Parse returns the loss of a name, such as "hinge" or "pinball:0.9", in the form that Name
// returns. The error names the rule that the name, or the number in it, breaks.
func Parse(name string) (Loss, error) {
	switch name {
	case "mean":
		return MeanEstimation{}, nil
	case "ridge":
		return LeastSquares{}, nil
	case "logistic":
		return Logistic{}, nil
	case "absolute":
		return GLM[Absolute]{}, nil
	case "hinge":
		return GLM[Hinge]{}, nil
	case "squared-sigmoid":
		return GLM[SquaredSigmoid]{}, nil
	case "phase-retrieval":
		return GLM[PhaseRetrieval]{}, nil
	}
	family, number, _ := strings.Cut(name, ":")
	v, notNumber := strconv.ParseFloat(number, 64)
	switch {
	case notNumber != nil:
	case family == "pinball":
		l, err := NewPinball(v)
		return GLM[Pinball]{l}, err
	case family == "insensitive":
		l, err := NewInsensitive(v)
		return GLM[Insensitive]{l}, err
	}
	return nil, &check.Error{Name: "task", Value: fmt.Sprintf("%q", name),
		Rule: "one of " + strings.Join(Names(), ", ")}
}

package ensemble

import "fmt"

// Figures are the parameters in a mechanism's Title as numbers, unrounded. What the mechanism does not
// have is 0, and left out in JSON.
type Figures struct {
	M          float64 `json:"m,omitempty"`           // privacy allowance that a noise function is for
	Drawn      int     `json:"drawn,omitempty"`       // teachers of whom the majority is taken
	Answers    int     `json:"answers,omitempty"`     // most answers of a table that is priced for all of them
	Threshold  int     `json:"threshold,omitempty"`   // votes that a check asks for
	CheckSigma float64 `json:"check_sigma,omitempty"` // σ of the check's noise
	Sigma      float64 `json:"sigma,omitempty"`       // σ of normal noise on each count
	Scale      float64 `json:"scale,omitempty"`       // b of Laplace noise on each count
}

// text returns the parameters as they follow the name in a Title of k teachers.
func (f Figures) text(k int) string {
	switch {
	case f.M != 0:
		return fmt.Sprintf(", m = %v", f.M)
	case f.Drawn != 0:
		return fmt.Sprintf(", %d of %d", f.Drawn, k)
	case f.Answers != 0 && f.Sigma != 0:
		return fmt.Sprintf(", %d answers, σ = %s", f.Answers, fourDigits(f.Sigma))
	case f.Answers != 0:
		return fmt.Sprintf(", %d answers", f.Answers)
	case f.Threshold != 0:
		return fmt.Sprintf(", %d votes, σ = %s and %s", f.Threshold, fourDigits(f.CheckSigma),
			fourDigits(f.Sigma))
	case f.Sigma != 0:
		return ", σ = " + fourDigits(f.Sigma)
	case f.Scale != 0:
		return ", b = " + fourDigits(f.Scale)
	}
	return ""
}

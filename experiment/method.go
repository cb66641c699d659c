package experiment

import (
	"fmt"
	"image/color"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/shuffled"
)

// Method is a way to answer. Its name is used in files, its colour in every picture.
type Method string

// The methods.
const (
	MethodOpt      Method = "opt"       // γ_opt, the optimum
	MethodOptClear Method = "opt_clear" // γ_opt for teachers with a clear opinion
	MethodAgree    Method = "opt_agree" // the least Pr[label ≠ majority of the votes], uniform teachers
	MethodSub      Method = "sub"       // γ_Sub, subsampling m of K
	MethodDouble   Method = "dsub"      // γ_DSub, subsampling 2m-1 of K
	MethodConst    Method = "const"     // γ_const, randomised response
	MethodTight    Method = "tight"     // the largest private constant
	MethodGNMax    Method = "gnmax"     // vote counts with normal noise, the source's σ
	MethodGNExact  Method = "gnmax_exact"
	MethodVoteOpt  Method = "vote_opt" // the best mechanism on the votes of non-private teachers
	MethodDisjoint Method = "opt_t1"   // γ_opt where one record reaches one teacher
	MethodMajority Method = "majority" // the plain majority of the non-private teachers: no privacy
	MethodPrivate  Method = "teachers" // the plain majority of the private teachers

	// Ways of training, under the names that package shuffled has for them.
	MethodShuffle     = Method(shuffled.ShuffleG)
	MethodDPShuffle   = Method(shuffled.DPShuffleG)
	MethodPrivPub     = Method(shuffled.PrivPub)
	MethodPubPriv     = Method(shuffled.PubPriv)
	MethodInterleaved = Method(shuffled.Interleaved)
	MethodPublicOnly  = Method(shuffled.PublicOnly)
	MethodDPSGD       = Method(shuffled.DPSGD)
)

// look is how a method appears.
type look struct {
	title string
	color color.RGBA
	// dashes are lengths of line and gap in points; none is a full line. Lines that lie on
	// each other are told apart by them.
	dashes []float64
	glyph  int
}

// The colours are those of Okabe and Ito, told apart by every kind of colour vision, and
// two greys.
var looks = map[Method]look{
	MethodOpt:      {"γ_opt", rgb(0xD55E00), nil, 0},
	MethodOptClear: {"γ_opt, clear prior", rgb(0xCC79A7), []float64{6, 2}, 1},
	MethodAgree:    {"γ for agreement", rgb(0xE69F00), nil, 3},
	MethodSub:      {"γ_Sub", rgb(0x0072B2), []float64{5, 3}, 2},
	MethodDouble:   {"γ_DSub", rgb(0x56B4E9), []float64{2, 2}, 3},
	MethodConst:    {"γ_const (RR)", rgb(0x333333), []float64{8, 3, 2, 3}, 4},
	MethodTight:    {"RR, tight", rgb(0x999999), []float64{1, 2}, 5},
	MethodGNMax:    {"GNMax", rgb(0x009E73), nil, 4},
	MethodGNExact:  {"GNMax, exact σ", rgb(0x009E73), []float64{4, 3}, 3},
	MethodVoteOpt:  {"best vote count, t = 1", rgb(0xCC79A7), []float64{6, 2}, 1},
	MethodDisjoint: {"γ_opt, t = 1", rgb(0xE69F00), nil, 5},
	MethodMajority: {"majority, not private", rgb(0x999999), []float64{1, 2}, 0},
	MethodPrivate:  {"majority, private teachers", rgb(0x333333), []float64{2, 2}, 0},

	MethodShuffle:     {"ShuffleG, not private", rgb(0x333333), []float64{1, 2}, 0},
	MethodDPShuffle:   {"DP-ShuffleG", rgb(0x009E73), []float64{4, 3}, 3},
	MethodPrivPub:     {"Priv-Pub", rgb(0x0072B2), []float64{5, 3}, 2},
	MethodPubPriv:     {"Pub-Priv", rgb(0x56B4E9), []float64{2, 2}, 4},
	MethodInterleaved: {"Interleaved", rgb(0xD55E00), nil, 0},
	MethodPublicOnly:  {"Public Only", rgb(0x777777), []float64{8, 3, 2, 3}, 5},
	MethodSingle:      {"one private model", rgb(0x009E73), []float64{6, 2}, 2},
	MethodSinglePlain: {"one model, not private", rgb(0x333333), []float64{8, 3, 2, 3}, 0},
	MethodPublicModel: {"model of public data", rgb(0xCC79A7), []float64{2, 2}, 0},
	MethodDPSGD:       {"DP-SGD (not the source's)", rgb(0xCC79A7), []float64{6, 2}, 1},
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xFF}
}

// Title returns the method's name for people.
func (m Method) Title() string { return looks[m].title }

// checkMethods says whether a list of methods is among the allowed ones, each once.
func checkMethods(list []Method, allowed ...Method) error {
	if len(list) == 0 {
		return &check.Error{Name: "methods", Value: "none", Rule: "at least one"}
	}
	for i, m := range list {
		if !slices.Contains(allowed, m) {
			return &check.Error{Name: "methods", Value: fmt.Sprintf("%q", m), Rule: fmt.Sprintf("among %q", allowed)}
		}
		if slices.Contains(list[:i], m) {
			return &check.Error{Name: "methods", Value: fmt.Sprintf("%q twice", m), Rule: "different"}
		}
	}
	return nil
}

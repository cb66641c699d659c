package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/release"
)

// flagNames are the flags of one parameter.
type flagNames struct {
	flags []string // the likelier one first; the command's own is taken
	place place
}

// place is the position of a flag's name in the error about its parameter.
type place int

const (
	beforeRule place = iota
	afterRule        // in parentheses
	inText           // nowhere but in texts that name the parameter themselves (check.Namedf)
)

func before(flags ...string) flagNames { return flagNames{flags, beforeRule} }
func after(flags ...string) flagNames  { return flagNames{flags, afterRule} }
func within(flags ...string) flagNames { return flagNames{flags, inText} }

// flagsOf has the flags of the parameters that libraries name (check.Error, check.SettledBy,
// check.Namedf), where they have another name or stand elsewhere than the rule says (namesOf). No other table
// maps parameters to flags: a library names no flag.
var flagsOf = map[string]flagNames{
	// Votes, plans, means.
	"number of teachers K": before("K"), "privacy allowance m": before("m"),
	"epsilon": before("eps"), "delta": before("delta"), "teacher delta": before("teacher-delta"),
	"label epsilon": before("label-eps"), "prior mean": before("prior-mean"),
	"number of classes": before("num-classes", "classes"), "affected": before("affected"),
	"accuracy": before("accuracy"), "concentration": before("concentration"),
	"value of abstaining": before("abstain"), "gap": before("gap"),
	"shares": before("shares"), "cost": before("cost"), "shares and costs": after("shares", "cost"), "number of shares of yes": after("shares"), "accept constant": within("accept-constant"),
	"clients n": before("n"), "numbers per client k": before("k"), "dimension d": before("d"),
	"rho": before("rho"), "bits per number": before("bits"), "trials": before("trials"),
	"estimator": before("estimator"), "beta": before("beta"), "draws for beta": before("beta"),
	"teachers and classes": after("K"), "teachers, classes and affected": after("K"),
	"budget epsilon": before("budget-eps", "eps"), "budget delta": before("budget-delta", "delta"),
	"queries": before("queries"), "agreement": before("agreement"),

	// The statements about a mechanism.
	"mechanism": within("mechanism"), "table": within("table"), "classes": within("classes"), "words of classes": after("classes"),
	"same":             within("same"),
	"numbered classes": within("num-classes"),
	"threshold":        within("threshold"), "check ratio": within("check-ratio"),
	"data":    within("data"),
	"timeout": within("timeout"), "checkpoint": within("checkpoint"), "objective": within("objective"),
	"prior": within("prior"), "prior counts": within("prior-counts"), "shape": within("shape"),
	"method": within("method"), "on interrupt": within("on-interrupt"),
	"time to solve": within("solve-within"),

	// Files of votes.
	"id column": before("id-column"), "label column": before("label-column"),
	"vote columns": before("vote-columns"), "votes column": before("votes-column"),
	"vote column": before("vote-column"), "teacher column": before("teacher-column"),
	"query ids": before("query-ids"), "layout": within("layout"),
	"labels": before("labels"), "most yes": before("most-yes"), "yes from": before("yes-from"), "separator": before("separator"),
	"header row": within("header"), "format of the votes": within("format"),

	// A release.
	"accept weak":               within("accept-weak"),
	"compression of the labels": within("out-compression"), "draw": within("draw"),
	"encode": within("json"), "ensemble": within("ensemble"),
	"ensemble digest": within("ensemble-digest"), "force": within("force"),
	"format of the labels": within("out-format"), "head file": within("head-file"),
	"key": within("key"), "ledger": within("ledger"), "missing": within("missing"),
	"new charge": within("new-charge"), "new key": within("new-key"), "records": before("records"), "output file": within("out"), "request id": within("request-id"),
	"seed": within("insecure-seed"), "teachers": within("teachers"),
	"votes cast anew": within("votes-cast-anew"),

	// A server.
	"client CA": within("client-ca"), "listen": within("listen"),
	"TLS certificate": within("tls-cert"), "TLS key": within("tls-key"),

	// Training.
	"ball": after("ball", "set"), "batch size": after("batch"), "bound": after("ball"),
	"diameter of the set": after("set"), "gradient clip": after("clip"), "header": after("no-header"),
	"hold-out": before("hold-out"), "left out columns": after("all-but"), "lambda": after("l2"),
	"law of the number of runs": after("stopping"), "number of candidates": after("grid"),
	"output": after("average", "output"), "pair loss": after("task"),
	"rows per person": before("rows-per-person"), "sampling rate": after("rate"),
	"score epsilon": before("score-eps"), "share of the scores": after("score-share"),
	"target delta": after("delta"), "target epsilon": after("eps"), "weight": after("step-size"),
}

// namesOf returns the flags of a parameter: by the rule the one of its name, after what it must be.
func namesOf(parameter string) flagNames {
	if names, ok := flagsOf[parameter]; ok {
		return names
	}
	return after(strings.ReplaceAll(parameter, " ", "-"))
}

// FlagOf returns the likeliest flag of a parameter.
func FlagOf(p check.Parameter) string {
	if names, ok := flagsOf[string(p)]; ok {
		return "--" + names.flags[0]
	}
	return string(p)
}

// renamed replaces the text of an error and wraps it.
type renamed struct {
	error
	text string
}

func (e renamed) Error() string { return e.text }
func (e renamed) Unwrap() error { return e.error }

// NameFlag names the flags that settle an error, as far as the command has them and the error
// does not name them.
func NameFlag(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	flagOf := func(p check.Parameter) string {
		if flag := namesOf(string(p)).flags[0]; c.Flags().Lookup(flag) != nil {
			return "--" + flag
		}
		return FlagOf(p)
	}
	if text := check.NamedBy(err, flagOf); text != err.Error() {
		var missing *check.MissingError
		if errors.As(err, &missing) {
			text += seeHelp(c)
		}
		err = renamed{err, text}
	}
	var after []string
	for _, parameter := range check.Settling(err) {
		name, value, _ := strings.Cut(parameter, "=")
		names := namesOf(name)
		for _, flag := range names.flags {
			if c.Flags().Lookup(flag) == nil {
				continue
			}
			if names.place == inText {
				break
			}
			if names.place == beforeRule {
				if strings.Contains(err.Error(), "--") {
					return err
				}
				return fmt.Errorf("--%s: %w", flag, err)
			}
			if !strings.Contains(err.Error(), "--"+flag) {
				after = append(after, strings.TrimSuffix("--"+flag+" "+value, " "))
			}
			break
		}
	}
	if len(after) == 0 {
		return err
	}
	return fmt.Errorf("%w (%s)", err, strings.Join(after, ", "))
}

// RegisterAcceptWeak registers --accept-weak.
func RegisterAcceptWeak(c *cobra.Command, accept *bool) {
	c.Flags().BoolVar(accept, "accept-weak", false, param.Lookup(release.Charge{}, "accept-weak").Help)
}

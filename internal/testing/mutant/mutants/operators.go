package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// tokens has the operators that stand for another: an arithmetic one for its inverse, a comparison
// for the one with the other boundary and for its negation.
var tokens = map[token.Token][]token.Token{
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.REM: {token.QUO}, token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.AND},
	token.SHL: {token.SHR}, token.SHR: {token.SHL}, token.AND_NOT: {token.AND},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.INC: {token.DEC}, token.DEC: {token.INC},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.MUL_ASSIGN: {token.QUO_ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN},
	token.AND_ASSIGN: {token.OR_ASSIGN}, token.OR_ASSIGN: {token.AND_ASSIGN},
	token.XOR_ASSIGN: {token.AND_ASSIGN},
	token.SHL_ASSIGN: {token.SHR_ASSIGN}, token.SHR_ASSIGN: {token.SHL_ASSIGN},
}

// opposite has the words that stand for another: bounds, directions, truth.
var opposite = map[string]string{
	"Upper": "Lower", "Lower": "Upper", "upper": "lower", "lower": "upper",
	"Hi": "Lo", "Lo": "Hi", "hi": "lo", "lo": "hi", "up": "down", "down": "up",
	"Ceil": "Floor", "Floor": "Ceil", "max": "min", "min": "max", "Max": "Min", "Min": "Max",
	"ToPositiveInf": "ToNegativeInf", "ToNegativeInf": "ToPositiveInf",
	"true": "false", "false": "true",
}

// other is the word that stands for w, "" without one. A name that ends in Up has one in Down.
func other(w string) string {
	if o, ok := opposite[w]; ok {
		return o
	}
	if stem, ok := strings.CutSuffix(w, "Up"); ok {
		return stem + "Down"
	}
	if stem, ok := strings.CutSuffix(w, "Down"); ok {
		return stem + "Up"
	}
	return ""
}

// change adds the changes of n itself; those of its parts come with the parts.
func (f *finder) change(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.operator(n.OpPos, n.Op)
	case *ast.IncDecStmt:
		f.operator(n.TokPos, n.Tok)
	case *ast.AssignStmt:
		f.operator(n.TokPos, n.Tok)
	case *ast.UnaryExpr:
		if n.Op == token.SUB || n.Op == token.NOT {
			f.replace(n.Pos(), n.X.Pos(), "")
		}
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.BasicLit:
		f.number(n)
	case *ast.SliceExpr:
		f.bound(n.Low)
		f.bound(n.High)
	case *ast.Ident:
		if o := other(n.Name); o != "" {
			f.replace(n.Pos(), n.End(), o)
		}
	case *ast.CallExpr:
		f.call(n)
	case *ast.ReturnStmt:
		f.results(n)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	}
}

func (f *finder) operator(at token.Pos, old token.Token) {
	for _, t := range tokens[old] {
		f.replace(at, at+token.Pos(len(old.String())), t.String())
	}
}

// condition takes a branch never, always, and, unless the operator of cond is negated by itself,
// when it should not be taken.
func (f *finder) condition(cond ast.Expr) {
	text := f.text(cond)
	f.replace(cond.Pos(), cond.End(), "false && ("+text+")")
	f.replace(cond.Pos(), cond.End(), "true || ("+text+")")
	switch n := cond.(type) {
	case *ast.UnaryExpr:
		return
	case *ast.BinaryExpr:
		if n.Op != token.LAND && n.Op != token.LOR {
			return
		}
	}
	f.replace(cond.Pos(), cond.End(), "!("+text+")")
}

// number moves an integer and zero by one, and another float by a sixteenth.
func (f *finder) number(n *ast.BasicLit) {
	switch {
	case n.Kind == token.INT || n.Kind == token.FLOAT && strings.Trim(n.Value, "0.") == "":
		f.replace(n.Pos(), n.End(), "("+n.Value+" + 1)")
		f.replace(n.Pos(), n.End(), "("+n.Value+" - 1)")
	case n.Kind == token.FLOAT:
		f.replace(n.Pos(), n.End(), "("+n.Value+" * (1 + 0x1p-4))")
		f.replace(n.Pos(), n.End(), "("+n.Value+" * (1 - 0x1p-4))")
	}
}

// bound moves the bound of a slice by one; a number is moved as any other.
func (f *finder) bound(x ast.Expr) {
	if _, literal := x.(*ast.BasicLit); x == nil || literal {
		return
	}
	f.replace(x.Pos(), x.End(), "("+f.text(x)+") + 1")
	f.replace(x.Pos(), x.End(), "("+f.text(x)+") - 1")
}

// call leaves a directed rounding out, and turns an infinity.
func (f *finder) call(n *ast.CallExpr) {
	called := name(n.Fun)
	switch {
	case called == "math.Inf":
		f.replace(n.Pos(), n.Pos(), "-")
	case called == "math.Nextafter",
		len(n.Args) == 1 && (strings.HasSuffix(called, "Up") || strings.HasSuffix(called, "Down")):
		f.replace(n.Pos(), n.End(), "("+f.text(n.Args[0])+")")
	}
}

// results replaces one of the results by zero, where the type's name implies the spelling of zero.
// In a return that makes an error, only the error is replaced, by nil.
func (f *finder) results(n *ast.ReturnStmt) {
	declared := f.result()
	if len(n.Results) == 0 || len(n.Results) != declared.NumFields() {
		return
	}
	var i int
	for _, field := range declared.List {
		for range max(1, len(field.Names)) {
			zero := zeroOf(field.Type)
			if fails(n) && i < len(n.Results)-1 {
				zero = ""
			}
			if zero != "" && f.text(n.Results[i]) != zero {
				f.replace(n.Results[i].Pos(), n.Results[i].End(), zero)
			}
			i++
		}
	}
}

func zeroOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		switch x.Name {
		case "error":
			return "nil"
		case "string":
			return `""`
		case "int", "int64", "uint64", "float64":
			return "0"
		}
	case *ast.StarExpr, *ast.MapType, *ast.FuncType:
		return "nil"
	case *ast.ArrayType:
		if x.Len == nil {
			return "nil"
		}
	}
	return ""
}

// statements leaves out one statement of a list. One that declares is never left out.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch n := s.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE && f.text(n.Lhs[0]) != "_" {
				f.replace(n.Pos(), n.End(), "")
			}
		case *ast.BranchStmt:
			if n.Tok != token.FALLTHROUGH {
				f.replace(n.Pos(), n.End(), "")
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				f.replace(n.Pos(), n.End(), "")
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt:
			f.replace(n.Pos(), n.End(), "")
		}
	}
}

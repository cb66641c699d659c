package handle_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
)

// walker finds what a value gives out: by its exported fields, and by its exported methods that take
// nothing, or a context alone.
type walker struct {
	t       *testing.T
	reached map[string]bool // methods, as path of the package, type and name
	targets []reflect.Value // what can be overwritten
}

const module = "github.com/darrm/darrm"

var contextType = reflect.TypeFor[context.Context]()

// of returns what v gives out, and what that gives out, to the end.
func (w *walker) of(v any) []reflect.Value {
	w.targets = nil
	w.walk(reflect.ValueOf(v), nil)
	return w.targets[1:] // v itself is its owner's
}

func (w *walker) walk(v reflect.Value, path []reflect.Type) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			w.walk(v.Elem(), path)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			w.targets = append(w.targets, v.Elem())
			w.inside(v, path)
		}
	case reflect.Struct:
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		w.inside(p, path)
	case reflect.Slice:
		for i := range v.Len() {
			w.targets = append(w.targets, v.Index(i))
			if i < 4 {
				w.walk(v.Index(i), path)
			}
		}
	case reflect.Map:
		w.targets = append(w.targets, v)
	}
}

// inside walks from a pointer to a value: its fields and methods.
func (w *walker) inside(p reflect.Value, path []reflect.Type) {
	of := p.Type().Elem()
	if !strings.HasPrefix(of.PkgPath()+"/", module+"/") {
		return
	}
	for _, earlier := range path {
		if earlier == of {
			return
		}
	}
	path = append(path[:len(path):len(path)], of)
	if of.Kind() == reflect.Struct {
		for i := range of.NumField() {
			if of.Field(i).IsExported() {
				w.walk(p.Elem().Field(i), path)
			}
		}
	}
	for i := range p.NumMethod() {
		m := p.Method(i)
		var args []reflect.Value
		switch {
		case m.Type().NumIn() == 0:
		case m.Type().NumIn() == 1 && m.Type().In(0) == contextType:
			args = append(args, reflect.ValueOf(w.t.Context()))
		default:
			continue
		}
		w.reached[of.PkgPath()+"."+of.Name()+"."+p.Type().Method(i).Name] = true
		for _, out := range m.Call(args) {
			if !out.Type().Implements(reflect.TypeFor[error]()) {
				w.walk(out, path)
			}
		}
	}
}

// overwrite writes other's value of the same type, or zero where it has none, over each target. It
// returns how many it wrote.
func overwrite(targets, other []reflect.Value) int {
	values := map[reflect.Type]reflect.Value{}
	for _, v := range other {
		if v.Kind() != reflect.Map {
			values[v.Type()] = v
		}
	}
	for _, v := range targets {
		switch {
		case v.Kind() == reflect.Map:
			v.Clear()
		case values[v.Type()].IsValid():
			v.Set(values[v.Type()])
		default:
			v.SetZero()
		}
	}
	return len(targets)
}

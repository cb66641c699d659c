// Package handle copies what accessors give out and constructors take in. A value that promises
// something is immutable, but whoever holds a pointer to it can overwrite all of it at once: *p = *q
// compiles also where no field is exported. So no package shares such a pointer with its callers.
package handle

import "reflect"

// Copy returns a copy of *p, nil for nil.
func Copy[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// Deep returns a copy of v that shares nothing to which v's exported fields lead by pointers and
// slices. What unexported fields lead to nobody else can change.
func Deep[T any](v T) T {
	deep(reflect.ValueOf(&v).Elem())
	return v
}

func deep(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			deep(c.Elem())
			v.Set(c)
		}
	case reflect.Slice:
		if !v.IsNil() {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			v.Set(c)
			for i := range c.Len() {
				deep(c.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				deep(v.Field(i))
			}
		}
	}
}

// Made returns p, or for nil a pointer to zero, which promises nothing.
func Made[T any](p *T) *T {
	if p == nil {
		return new(T)
	}
	return p
}

// Package must unwraps values in tests.
package must

// TB is what Get needs of a test: *testing.T, *testing.B and *rapid.T have it.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Get returns v, or ends the test where err is not nil: must.Get(f(x))(t).
func Get[T any](v T, err error) func(TB) T {
	return func(t TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

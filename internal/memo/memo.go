// Package memo remembers answers that take long to work out.
package memo

import "sync"

// Of remembers answers by their questions. The zero value remembers 256, and forgets all when there
// are more. It is safe for concurrent use: two who ask the same at once both work it out.
type Of[Q comparable, A any] struct {
	Most int // answers; 0 is 256

	mu    sync.Mutex
	known map[Q]A
}

// Get returns the answer to q, which work gives where it is not known. An error is not remembered.
func (m *Of[Q, A]) Get(q Q, work func() (A, error)) (A, error) {
	m.mu.Lock()
	a, ok := m.known[q]
	m.mu.Unlock()
	if ok {
		return a, nil
	}
	a, err := work()
	if err != nil {
		return a, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	most := m.Most
	if most == 0 {
		most = 256
	}
	if m.known == nil || len(m.known) >= most {
		m.known = map[Q]A{}
	}
	m.known[q] = a
	return a, nil
}

package serve

import (
	"time"

	"github.com/darrm/darrm/internal/check"
)

// Limits bound what one request, and all together, may take. A zero is the default.
type Limits struct {
	Body  int64 // most bytes of a request's body; 4 MiB
	Batch int   // most queries of one request; 256
	// most requests that are worked on at once, of one client half of them, others wait; 256
	AtOnce  int
	Timeout time.Duration // longest that a request may wait and take; 30 s
	// Connections is the most that are open at once, others wait; 1024. PerAddress is the most from
	// one IPv4 address or one IPv6 network of 64 bits, others are closed; 128.
	Connections, PerAddress int
}

// Default limits.
const (
	DefaultBody        = 4 << 20
	DefaultBatch       = 256
	DefaultAtOnce      = 256
	DefaultTimeout     = 30 * time.Second
	DefaultConnections = 1024
	DefaultPerAddress  = 128
)

func (l *Limits) settle() error {
	if l.Body == 0 {
		l.Body = DefaultBody
	}
	if l.Batch == 0 {
		l.Batch = DefaultBatch
	}
	if l.AtOnce == 0 {
		l.AtOnce = DefaultAtOnce
	}
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	if l.Connections == 0 {
		l.Connections = DefaultConnections
	}
	if l.PerAddress == 0 {
		l.PerAddress = DefaultPerAddress
	}
	switch {
	case l.Body < 0 || l.Body > 1<<30:
		return &check.Error{Name: "max body", Value: l.Body, Rule: "between 1 and 2^30 bytes"}
	case l.Batch < 0 || l.Batch > 4096:
		return &check.Error{Name: "max batch", Value: l.Batch, Rule: "between 1 and 4096 requests"}
	case l.AtOnce < 0 || l.AtOnce > 1<<16:
		return &check.Error{Name: "max requests", Value: l.AtOnce, Rule: "between 1 and 65536"}
	case l.Connections < 0 || l.Connections > 1<<20:
		return &check.Error{Name: "max connections", Value: l.Connections, Rule: "between 1 and 2^20"}
	case l.PerAddress < 0 || l.PerAddress > 1<<20:
		return &check.Error{Name: "max per address", Value: l.PerAddress, Rule: "between 1 and 2^20"}
	case l.Timeout < 0:
		return &check.Error{Name: "request timeout", Value: l.Timeout, Rule: "more than 0"}
	}
	return nil
}

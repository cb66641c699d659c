package serve

import (
	"net"
	"net/netip"
	"sync"

	"golang.org/x/net/netutil"
)

// limit bounds how many connections are open, in all and from one address. Those beyond all wait in
// the system's queue; those beyond an address's share are closed, so that they keep nobody waiting.
func (s *Server) limit(l net.Listener) net.Listener {
	return &perAddress{
		Listener: netutil.LimitListener(l, s.Connections), most: s.PerAddress,
		open: map[netip.Prefix]int{},
		refused: func(from net.Addr) {
			s.journal.warn(sort{text: "connection closed: its address has too many"}, "from", from.String())
		},
	}
}

// perAddress takes so many connections from one address at once.
type perAddress struct {
	net.Listener
	most    int
	refused func(from net.Addr)
	mu      sync.Mutex
	open    map[netip.Prefix]int
}

// source returns the network under which a connection is counted: an IPv4 address, or the /64
// network of an IPv6 one. The owner of one address of a /64 network has all of it. ok is false on a
// Unix socket, which has none.
func source(a net.Addr) (p netip.Prefix, ok bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return p, false
	}
	ip := tcp.AddrPort().Addr().Unmap()
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	p, err := ip.Prefix(bits)
	return p, err == nil
}

func (l *perAddress) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from, ok := source(c.RemoteAddr())
		if !ok {
			return c, nil
		}
		if l.enter(from) {
			return &counted{Conn: c, leave: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		l.refused(c.RemoteAddr())
		c.Close()
	}
}

func (l *perAddress) enter(from netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from] >= l.most {
		return false
	}
	l.open[from]++
	return true
}

func (l *perAddress) leave(from netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from]--; l.open[from] == 0 {
		delete(l.open, from)
	}
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	c.leave() // first: closing makes room for one more, who may be of the same address
	return c.Conn.Close()
}

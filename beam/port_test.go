package darrmbeam

import (
	"net"
	"testing"
	"time"
)

// dialAll connects to the endpoint's port at every address of this machine: at the
// loopback ones it must succeed, at the others it must not.
func dialAll(t *testing.T, endpoint string) (tried []string) {
	t.Helper()
	_, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		ip := a.(*net.IPNet).IP
		if ip.IsLinkLocalUnicast() { // needs a zone
			continue
		}
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(ip.String(), port), 2*time.Second)
		if err == nil {
			conn.Close()
		}
		if (err == nil) != ip.IsLoopback() {
			t.Errorf("connecting to %s: %v", ip, err)
		}
		tried = append(tried, ip.String())
	}
	return tried
}

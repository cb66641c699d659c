// Package loopback recognises requests that name this machine as itself. A server on the loopback
// device that answers to other names answers to the scripts of whoever owns such a name and lets it
// lead here (DNS rebinding): to the browser they ask their own site.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// Host reports whether the Host of a request, with or without a port, is localhost or an address of
// the loopback device.
func Host(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]") // without a port
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(name, "localhost")
}

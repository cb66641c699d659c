package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// wires makes the connections of a listener refuse as this server does: what package http cannot
// read as a request, such as a header that is too large, it refuses in plain text by itself.
type wires struct {
	net.Listener
	server *Server
}

func (l *wires) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: c, server: l.server}
	if encrypted, ok := c.(*tls.Conn); ok {
		return &tlsWire{w, encrypted}, nil
	}
	return w, nil
}

type wire struct {
	net.Conn
	server *Server
}

// plainText follows the status line where package http refuses by itself. Responses of this server have
// Cache-Control there.
const plainText = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

func (c *wire) Write(b []byte) (int, error) {
	line, _, ok := bytes.Cut(b, []byte(plainText))
	status, ok2 := bytes.CutPrefix(line, []byte("HTTP/1.1 "))
	if !ok || !ok2 || bytes.IndexByte(line, '\n') >= 0 || len(status) < 3 {
		return c.Conn.Write(b)
	}
	code, _ := strconv.Atoi(string(status[:3]))
	if err := c.refuse(c.Conn, code); err != nil {
		return 0, err
	}
	return len(b), nil
}

// refuse responds to bytes that were no request.
func (c *wire) refuse(to io.Writer, code int) error {
	f := &failure{Kind: kindInvalid, Message: "this is no request of HTTP/1.1", status: code}
	switch code {
	case http.StatusRequestHeaderFieldsTooLarge:
		f.Kind = kindTooLarge
		f.Message = fmt.Sprintf("the header has more than %d bytes", maxHeader)
	case http.StatusNotImplemented:
		f.Message = "the Transfer-Encoding is not known"
	}
	body, err := json.Marshal(map[string]*failure{"error": f})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(to, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nConnection: close\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s\n", code, http.StatusText(code),
		len(body)+1, body); err != nil {
		return err // nobody is there
	}
	c.server.metrics.count(nil, f.Kind)
	c.server.journal.warn(sort{text: "refused", kind: f.Kind}, "status", f.status, "from",
		c.RemoteAddr().String())
	return nil
}

// CloseWrite lets package http wait until the other side has read a refusal.
func (c *wire) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// tlsWire is a wire with TLS, which package http does not see inside of it.
type tlsWire struct {
	*wire
	tls *tls.Conn
}

// ConnectionState shakes hands, in the time of a header, and returns what was agreed. Package http
// asks once, in the goroutine of the connection, before it reads.
func (c *tlsWire) ConnectionState() tls.ConnectionState {
	_ = c.SetDeadline(time.Now().Add(headerTimeout))
	err := c.tls.HandshakeContext(context.Background())
	_ = c.SetDeadline(time.Time{})
	if err != nil {
		c.server.journal.warn(sort{text: "connection failed"}, "cause", cut(err.Error()), "from",
			c.RemoteAddr().String())
		// HTTP without TLS can be told why; whatever package http reads next is an error.
		var header tls.RecordHeaderError
		if errors.As(err, &header) && header.Conn != nil && unencrypted[string(header.RecordHeader[:])] {
			_ = c.refuse(header.Conn, http.StatusBadRequest)
		}
		c.Conn.Close()
	}
	return c.tls.ConnectionState()
}

// unencrypted are the beginnings of requests without TLS.
var unencrypted = map[string]bool{"GET /": true, "HEAD ": true, "POST ": true, "PUT /": true,
	"OPTIO": true}

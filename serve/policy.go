package serve

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// policy is who may ask, and by which certificates. It is replaced whole, and read anew for each
// request.
type policy struct {
	clients members
	tls     *tls.Config // nil without TLS
}

// of returns who sent a request. Every token is compared with every hash in constant time. A
// certificate is verified for each request: a connection outlives the authority that is taken out,
// and the certificate that expires.
func (p *policy) of(r *http.Request) (*member, *failure) {
	if len(p.clients) == 0 { // only on a Unix socket: Listen sees to it
		return anybody, nil
	}
	if header := r.Header.Values("Authorization"); len(header) > 0 {
		scheme, token, ok := strings.Cut(header[0], " ")
		if len(header) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") {
			return nil, unauthorized("the header Authorization must be one bearer token")
		}
		sum := sha256.Sum256([]byte(token))
		var found *member
		for _, m := range p.clients {
			if m.has(sum) {
				found = m
			}
		}
		if found == nil {
			return nil, unauthorized("the token is not known")
		}
		return found, nil
	}
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, unauthorized("a token or a client certificate is required")
	}
	shown := r.TLS.PeerCertificates
	if !p.signed(shown) {
		return nil, unauthorized("the certificate has expired, or no authority of this server signed it")
	}
	for _, m := range p.clients {
		if m.Certificate != "" && m.Certificate == shown[0].Subject.CommonName {
			return m, nil
		}
	}
	return nil, unauthorized("the certificate is of no client")
}

// signed reports whether the authorities of now signed a client's certificate, which comes first of
// a chain.
func (p *policy) signed(chain []*x509.Certificate) bool {
	if p.tls == nil || p.tls.ClientCAs == nil { // the system's authorities sign for anybody
		return false
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: p.tls.ClientCAs, Intermediates: between,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err == nil
}

// SetClients replaces the clients, for every request that begins after it. On an error the old ones
// stay. They are never replaced by none: anybody who can open the socket could then ask, without a
// share and without a rate.
func (s *Server) SetClients(clients []Client) error {
	if s.unmade() {
		return errUnmade
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	all, err := s.admit(clients, s.at)
	if err != nil {
		return err
	}
	s.policy.Store(&policy{all, s.policy.Load().tls})
	return nil
}

// admit checks clients, of a server that listens at an address, or nil where it does not yet.
func (s *Server) admit(clients []Client, at *Address) (members, error) {
	before := s.policy.Load().clients
	all, err := newMembers(clients, before)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 && len(before) > 0 {
		return nil, usagef("no client is left who may ask: keep one table [[client]] in the configuration")
	}
	if at != nil {
		if err := at.check(all); err != nil {
			return nil, err
		}
	}
	// A share of nothing would look like a limit: frozen teachers' answers cost nothing each.
	for _, m := range all {
		if m.share != nil && s.Online.Teachers() == "frozen" {
			return nil, check.Want("share of client "+m.Name, m.share,
				"left out for frozen teachers, whose answers cost nothing each: see rate")
		}
	}
	for _, m := range all {
		if m.share == nil && m.Answers == nil {
			continue
		}
		switch together := s.Online.Plan().Together().Most > 0; {
		case together && m.share != nil:
			return nil, check.Want("share of client "+m.Name, m.share,
				"left out for a table for many answers, which cost nothing each: state answers")
		case !together && m.Answers != nil:
			return nil, check.Want("answers of client "+m.Name, *m.Answers,
				"left out but for a table for many answers: state epsilon and delta")
		}
	}
	for _, m := range all {
		if m.room == nil {
			m.room = make(chan struct{}, (s.AtOnce+1)/2)
		}
	}
	return all, nil
}

// Reload replaces the clients, and over TCP the files of certificates, which are read again, for
// every connection and every request that begins after it. On an error all stays as it was. A
// server that listens cannot go elsewhere: another address is an error.
func (s *Server) Reload(ctx context.Context, a Address, clients []Client) error {
	s = handle.Made(s)
	s.changing.Lock()
	defer s.changing.Unlock()
	if a.Listen == "" {
		a.Listen = DefaultListen
	}
	if s.at == nil || a.Listen != s.at.Listen {
		return usagef("%s = %q, but the server goes elsewhere only when it is started anew", listen, a.Listen)
	}
	all, err := s.admit(clients, &a)
	if err != nil {
		return err
	}
	next := &policy{clients: all}
	if network, _ := a.split(); network == "tcp" {
		if next.tls, err = a.tls(ctx); err != nil {
			return err
		}
	}
	s.at = &a
	s.policy.Store(next)
	return nil
}

package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/readfile"
	"github.com/darrm/darrm/release"
)

const maxCertificates = 1 << 20

// tls returns the configuration, with the certificates as they are now.
func (a *Address) tls(ctx context.Context) (*tls.Config, error) {
	own, err := a.pair(ctx)
	if err != nil {
		return nil, &release.InputError{Err: err}
	}
	// Without tickets: a client whose authority was taken out since does not even shake hands.
	config := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own},
		NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: true}
	if a.ClientCA == "" {
		return config, nil
	}
	b, err := readfile.Whole(ctx, a.ClientCA, maxCertificates)
	if err != nil {
		return nil, &release.InputError{Err: check.Namedf("%s: %w", clientCA, err)}
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	authorities, err := certificates(b)
	if err == nil && len(authorities) == 0 {
		err = errors.New("it has no certificates")
	}
	var expired error
	valid := false
	for _, c := range authorities {
		config.ClientCAs.AddCert(c)
		if wrong := current(c); wrong != nil {
			expired = wrong
		} else {
			valid = true // a bundle may have the old one beside the new
		}
	}
	if err == nil && !valid {
		err = expired
	}
	if err != nil {
		return nil, &release.InputError{Err: check.Namedf("%s = %q: %w", clientCA, a.ClientCA, err)}
	}
	return config, nil
}

// pair reads the server's certificate, with those between it and its authority, and its key. A
// certificate that is not valid now is an error, and so is a key that others may read: whoever has
// it reads the votes and the tokens.
func (a *Address) pair(ctx context.Context) (own tls.Certificate, err error) {
	cert, err := readfile.Whole(ctx, a.Cert, maxCertificates)
	if err != nil {
		return own, check.Namedf("%s: %w", tlsCert, err)
	}
	info, err := os.Stat(a.Key)
	if err != nil {
		return own, check.Namedf("%s: %w", tlsKey, err)
	}
	if info.Mode().IsRegular() && readfile.Shared(info) && !readfile.SharedByRoot(info) {
		return own, check.Namedf("%s = %q has mode %#o, so others than its owner may use it; only 0600 is "+
			"accepted, or 0640 where root owns it", tlsKey, a.Key, info.Mode().Perm())
	}
	key, err := readfile.Whole(ctx, a.Key, maxCertificates)
	if err != nil {
		return own, check.Namedf("%s: %w", tlsKey, err)
	}
	defer clear(key)
	if own, err = tls.X509KeyPair(cert, key); err != nil {
		return own, check.Namedf("%s = %q and %s = %q: %w", tlsCert, a.Cert, tlsKey, a.Key, err)
	}
	chain, err := certificates(cert)
	for _, c := range chain {
		if err == nil {
			err = current(c)
		}
	}
	if err != nil {
		return own, check.Namedf("%s = %q: %w", tlsCert, a.Cert, err)
	}
	return own, nil
}

// certificates returns the certificates of a PEM file.
func certificates(b []byte) (all []*x509.Certificate, err error) {
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// current returns an error unless a certificate is valid now.
func current(c *x509.Certificate) error {
	switch now := time.Now(); {
	case now.After(c.NotAfter):
		return fmt.Errorf("the certificate of %q expired at %s", c.Subject.CommonName,
			c.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(c.NotBefore):
		return fmt.Errorf("the certificate of %q is valid from %s", c.Subject.CommonName,
			c.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// expiry returns the time at which the first certificate of the server's chain expires.
func expiry(config *tls.Config) (first time.Time) {
	for _, der := range config.Certificates[0].Certificate {
		if c, err := x509.ParseCertificate(der); err == nil && (first.IsZero() || c.NotAfter.Before(first)) {
			first = c.NotAfter
		}
	}
	return first
}

package serve

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"time"
)

// Grace is the time for which a server that stops waits for requests in progress.
const Grace = 8 * time.Second

// maxHeader is the most bytes of a request's header; package http adds 4 KiB of its own.
const maxHeader = 16 << 10

// Serve answers on l until ctx ends. Then it takes no more requests, finishes those that it
// works on, and returns nil. Those that take longer than Grace are cut off: what they charged is
// answered when they ask again. l is closed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.unmade() || l == nil {
		return errUnmade
	}
	server := &http.Server{
		Handler: s, ReadTimeout: headerTimeout, WriteTimeout: 2*s.Timeout + headerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: log.New(s.journal, "", 0),
		DisableGeneralOptionsHandler: true, // it would answer everybody
	}
	defer s.journal.end()
	kept := s.keepHeads(ctx)
	stopped := make(chan error, 1)
	end := context.AfterFunc(ctx, func() {
		s.stopping.Store(true)
		s.Log.Info("stopping")
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), Grace)
		defer cancel()
		err := server.Shutdown(late)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		stopped <- err
	})
	said := "nothing"
	if _, text, any := s.Online.Stated(); any {
		said = text
	}
	s.Log.Info("listening", "on", l.Addr().Network()+":"+l.Addr().String(),
		"clients", len(s.policy.Load().clients), "stated_of_teachers", said)
	s.warnOfRest(ctx)
	err := server.Serve(&wires{l, s})
	if end() { // it never listened, or the listener failed
		kept()
		return errors.Join(err, server.Close())
	}
	err = <-stopped
	kept()
	s.Log.Info("stopped")
	return err
}

// warnOfRest tells the log where the server will stop before its ledger is spent.
func (s *Server) warnOfRest(ctx context.Context) {
	now, err := s.Online.State(ctx)
	if err != nil {
		return // the first request meets it too
	}
	if usable := s.Online.Usable(now); usable != now.Remaining {
		s.Log.Warn("the server stops before its ledger is spent, since a larger total would protect nobody",
			"usable", usable.String(), "left_of_the_ledger", now.Remaining.String())
	}
}

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

// Serve answers on l until ctx ends. Then it takes no more requests, finishes those that it
// works on, and returns nil. Those that take longer than Grace are cut off: what they charged is
// answered when they ask again. l is closed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s, ReadTimeout: headerTimeout, WriteTimeout: 2*s.Timeout + headerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(s.journal, "", 0),
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
		"clients", len(*s.clients.Load()), "stated_of_teachers", said)
	err := server.Serve(l)
	if end() { // it never listened, or the listener failed
		kept()
		return errors.Join(err, server.Close())
	}
	err = <-stopped
	kept()
	s.Log.Info("stopped")
	return err
}

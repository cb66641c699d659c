package serve

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
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

// headEvery is the time between two copies of the ledger's newest head to another place, where that
// is configured. headTime is the time that one copy may take.
const (
	headEvery = time.Second
	headTime  = 5 * time.Second
)

// keepHeads keeps the ledger's newest head from now on. What it returns ends that, after a last
// time.
func (s *Server) keepHeads(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() {
		every := time.NewTicker(headEvery)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				s.keepHead(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		keeping.Wait()
		s.keepHead(ctx)
	}
}

// keepHead keeps the newest head, and remembers whether that went well. It goes on when ctx ends.
func (s *Server) keepHead(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), headTime)
	defer cancel()
	err := s.Online.KeepHead(ctx)
	switch was := s.unkept.Swap(err != nil); {
	case err != nil:
		s.journal.error(sort{text: "head not kept", lasts: true}, "cause", err.Error())
	case was:
		s.journal.warn(sort{text: "head kept again"})
	}
}

// rest is what can still be charged to a client: the least of the ledger, of the rule on totals that
// protect nobody, and of the client's share. A client that may not look is told of its own share
// alone.
type rest struct {
	*release.Amount         // nil where a client that may not look has no share of it
	Answers         *uint64 `json:"answers,omitempty"` // of a table for many answers
}

// rest returns what is left for a client in a state of the ledger, or of now where the state is
// none; nil where it may not know, and where the ledger cannot be read: what was answered is not
// lost for that.
func (s *Server) rest(ctx context.Context, client *member, now ledger.State) *rest {
	var out rest
	looks := client.may(mayLook)
	if looks && now.Head.Seq == 0 {
		var err error
		if now, err = s.Online.State(ctx); err != nil {
			return nil
		}
	}
	left, known := ledger.Cost{}, looks
	if looks {
		left = s.Online.Usable(now)
	}
	if client.share != nil {
		spent, err := s.Online.SpentBy(ctx, client.Name)
		if err != nil {
			return nil
		}
		own := client.share.Cost().Minus(spent)
		if !known {
			left = own
		}
		left, known = release.Least(left, own), true
	}
	if known {
		amount := release.NewAmount(left)
		out.Amount = &amount
	}
	if s.Online.Plan().Together().Most > 0 &&
		(looks || client.Answers != nil) {
		most, taken, own, err := s.Online.Taken(ctx, client.Name)
		if err != nil {
			return nil
		}
		answers := minus(most, taken)
		if client.Answers != nil {
			mine := minus(*client.Answers, own)
			if !looks {
				answers = mine
			}
			answers = min(answers, mine)
		}
		out.Answers = &answers
	}
	if out == (rest{}) {
		return nil
	}
	return &out
}

// minus is a - b, and 0 where b is more.
func minus(a, b uint64) uint64 { return a - min(a, b) }
